import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesPutAside } from "../../src/base/damaged.ts";
import { requireBinary, runBinary } from "../support/binary.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const DEPLOYMENT = {
  infrastructure: { mcp_host: "127.0.0.1", mcp_port: 1024, allow_index_builds: true },
  tenants: [{ source_type: "filesystem", codename: "tool", docs_name: "Tool", docs_root_dir: "docs" }],
};
const INDEX = ["--dir=docs", "--index-file=folder.index"];
const SEARCH = ["search", ...INDEX, "hosts"];

let root: TemporaryDirectory;
let site: ReturnType<typeof serveNumberedSite>;
const place = (name: string): string => join(root.path, name);
const ENVIRONMENT = { DOCS_SEARCH_STATE_DIR: "search-state" };
const run = (...words: readonly string[]) => runBinary(words, { cwd: root.path, env: ENVIRONMENT });
const crawl = (...words: readonly string[]) =>
  run("crawl", site.origin, "--output-dir=crawl", "--rate-limit=0", "--no-browser", ...words);

beforeAll(async () => {
  requireBinary();
  root = temporaryDirectory();
  site = serveNumberedSite({ pages: 2 });
  mkdirSync(place("docs"));
  writeFileSync(place("docs/proxies.md"), "# Proxies\n\nNO_PROXY lists hosts that go without.\n");
  writeFileSync(place("deployment.json"), JSON.stringify(DEPLOYMENT));
  for (const done of [await crawl(), await run("index", ...INDEX), await run("sync", "--all")])
    expect([done.exitCode, done.stderr]).toEqual([0, expect.any(String)]);
  await using server = await startExtractor({ directory: root.path });
  const id = await submitJob(server, { seeds: [site.origin], output_dir: "job", max_pages: 1 });
  await untilJob(server, id, isOver);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  root[Symbol.dispose]();
});

/** Makes a database one of another version. */
function setVersion(name: string, change: (own: number) => number): void {
  using database = new Database(place(name), { readwrite: true });
  const own = database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
  database.run(`PRAGMA user_version = ${change(own)}`);
}

const lines = (text: string): readonly string[] => text.trim().split("\n");

test.each([-1, 1])("a crawl %i version away is refused in one line, and --fresh begins anew", async (by) => {
  const file = "crawl/.article-extractor/frontier.sqlite";
  setVersion(file, (own) => own + by);
  const before = readFileSync(place(file));
  const refused = await crawl();
  expect([refused.exitCode, lines(refused.stderr)]).toEqual([
    2,
    [expect.stringMatching(/the crawl of another version of this program .* --fresh/)],
  ]);
  expect(readFileSync(place(file))).toEqual(before);
  const fresh = await crawl("--fresh");
  expect(fresh.exitCode).toBe(0);
});

test("jobs of a later version are refused in one line", async () => {
  setVersion("state/jobs.sqlite", (own) => own + 1);
  const start = startExtractor({ directory: root.path });
  await expect(start).rejects.toThrow(
    /jobs\.sqlite holds the server's jobs of a newer version of this program.*"}\n/,
  );
  setVersion("state/jobs.sqlite", (own) => own - 1);
});

test("jobs of an earlier version are put aside, and read again from their manifests", async () => {
  setVersion("state/jobs.sqlite", (own) => own - 1);
  await using server = await startExtractor({ directory: root.path });
  const { jobs } = (await (await server.get("/crawl")).json()) as { jobs: unknown[] };
  expect(jobs).toContainEqual(
    expect.objectContaining({ status: "completed", output_dir: expect.stringMatching(/job$/) }),
  );
  expect(await filesPutAside(place("state"))).toEqual([expect.stringContaining("jobs.sqlite")]);
});

test("the syncs of a later version are refused in one line", async () => {
  setVersion("search-state/state.sqlite", (own) => own + 1);
  const sync = await run("sync", "--all");
  expect([sync.exitCode, lines(sync.stderr)]).toEqual([
    2,
    [
      expect.stringMatching(
        /state\.sqlite holds the server's state of a newer version of this program: it has format/,
      ),
    ],
  ]);
  setVersion("search-state/state.sqlite", (own) => own - 1);
});

test("the syncs of an earlier version are put aside with a warning, and a sync ends well", async () => {
  setVersion("search-state/state.sqlite", (own) => own - 1);
  const env = { ...ENVIRONMENT, ARTICLE_EXTRACTOR_LOG_LEVEL: "warning" };
  const sync = await runBinary(["sync", "--all"], { cwd: root.path, env });
  expect(await filesPutAside(place("search-state"))).toHaveLength(1);
  expect([sync.exitCode, sync.stderr]).toEqual([0, expect.stringContaining("damaged state is put aside")]);
});

test.each([-1, 1])("an index %i version away is refused in one line, and built again", async (by) => {
  const bytes = readFileSync(place("folder.index"));
  // The header of 4096 bytes has the version at byte 8, and ends with its own checksum.
  const format = bytes.readUInt32LE(8) + by;
  bytes.writeUInt32LE(format, 8);
  bytes.writeUInt32LE(Bun.hash.crc32(bytes.subarray(0, 4092)), 4092);
  writeFileSync(place("folder.index"), bytes);
  const refused = await run(...SEARCH);
  expect([refused.exitCode, lines(refused.stderr)]).toEqual([
    1,
    [expect.stringMatching(new RegExp(`has format ${format}, this version reads \\d+; build it again`))],
  ]);
  expect((await run("index", ...INDEX)).exitCode).toBe(0);
  expect((await run(...SEARCH)).stdout).toContain("proxies.md");
});
