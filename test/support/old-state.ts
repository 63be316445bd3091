/**
 * The state that the program leaves on the disk, kept in `test/fixtures` for each version, so that later versions are tried
 * on it. After a release, `sh scripts/bun test/support/old-state.ts` makes the folder of that version; folders of earlier
 * versions stay as they are.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "../../src/base/version.ts";
import { runBinary } from "./binary.ts";
import { startExtractor } from "./extractor-server.ts";
import { startForwardProxy } from "./forward-proxy.ts";
import { type NumberedSite, serveNumberedSite } from "./numbered-site.ts";
import { until } from "./until.ts";

export const SITE = "http://weirside.example/";
export const FIXTURES = join(import.meta.dir, "../fixtures");
const PAGES = 6;

/** A site whose address is always the same, since it is asked through a proxy. */
export async function serveFixedSite(): Promise<
  { readonly site: NumberedSite; readonly env: Readonly<Record<string, string>> } & AsyncDisposable
> {
  const answers = {
    "/login": { body: "<p>Welcome to the mill.</p>", headers: { "set-cookie": "mill=1; Max-Age=999999999" } },
  };
  const site = serveNumberedSite({ pages: PAGES, answers });
  const hosts = { "weirside.example": site.origin.replace("http://", "") };
  const proxy = await startForwardProxy({ credentials: null, hosts });
  return {
    site,
    env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** The words of a crawl of the site with these pages at most; the first crawl ends half-way. */
export const crawlWords = (pages: number): readonly string[] => [
  "crawl",
  SITE,
  "--output-dir=crawl",
  `--max-pages=${pages}`,
  "--rate-limit=0",
  "--ignore-robots",
  "--no-browser",
];

export const SESSION = { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: "session.json" };
const DEPLOYMENT = {
  infrastructure: { mcp_host: "127.0.0.1", mcp_port: 1024, allow_index_builds: true, keys_file: "keys.json" },
  tenants: [{ source_type: "filesystem", codename: "tool", docs_name: "Tool", docs_root_dir: "docs" }],
};

/** Leaves state of all kinds in a directory: crawl, index of a folder, tenant, keys, jobs, session. */
async function makeState(root: string): Promise<void> {
  await using served = await serveFixedSite();
  const run = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const result = await runBinary(words, {
      cwd: root,
      env: { DOCS_SEARCH_STATE_DIR: "search-state", ...served.env, ...env },
    });
    if (result.exitCode !== 0) throw new Error(`${words.join(" ")} failed: ${result.stderr}`);
  };
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "docs/proxies.md"), "# Proxies\n\nNO_PROXY lists hosts that go without.\n");
  writeFileSync(join(root, "deployment.json"), JSON.stringify(DEPLOYMENT));
  await run(crawlWords(3));
  await run(["index", "--dir=docs", "--index-file=folder.index"]);
  await run(["sync", "--all"]);
  await run(["keys", "add", "reader"]);
  await run([`${SITE}login`, "--no-browser", "--min-words=0", "-o", "/dev/null"], SESSION);
  await using server = await startExtractor({ directory: root, env: served.env });
  const body = { seeds: [SITE], output_dir: "job", max_pages: 1 };
  const answer = await server.post("/crawl", body);
  if (answer.status !== 202) throw new Error(`the job was not accepted: ${await answer.text()}`);
  await until(
    async () => await (await server.get("/crawl")).text(),
    (jobs) => jobs.includes('"completed"'),
  );
  server.signal("SIGTERM");
  await server.exited;
}

if (import.meta.main) {
  const root = mkdtempSync(join(tmpdir(), "state-"));
  await makeState(root);
  const folder = join(FIXTURES, `state-${VERSION}`);
  rmSync(folder, { recursive: true, force: true });
  // Marks of processes that are gone.
  cpSync(root, folder, { recursive: true, filter: (path) => !path.endsWith(".owners") });
  rmSync(root, { recursive: true });
}
