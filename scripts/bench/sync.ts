/**
 * Measures what a sync of a website and of a git repository on loopback costs, the first time and after 1 % has
 * changed; then the latency of searches in a server that is syncing. Every figure is asserted as well as printed.
 *
 *   make bench-sync [PAGES=1000] [FILES=5000] [OUT=FILE]
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { proseOf } from "../../test/support/docs-site.ts";
import { serveGit } from "../../test/support/git-server.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import {
  callSearch,
  introduce,
  keep,
  linesOf,
  PROGRAM,
  percentile,
  printTable,
  readOptions,
  startServer,
} from "./bench.ts";

const options = readOptions({ pages: 1000, files: 5000, seconds: 20 });
const { pages, files, seconds: quietSeconds } = options;

using directory = temporaryDirectory();
const { path: work } = directory;
const env = {
  PATH: process.env.PATH,
  HOME: work,
  DOCS_SEARCH_STATE_DIR: join(work, "state"),
  DOCS_SEARCH_GIT_PROTOCOLS: "http",
  ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
};

type Synced = {
  readonly what: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
  readonly requests: number;
  readonly bytes: number;
  readonly counts: string;
  /** How many documents were analysed; the others were carried over. Null when the index was not built. */
  readonly analysed: number | null;
};

type Count = () => Promise<{ readonly requests: number; readonly bytes: number }>;

/** Runs `sync` once. */
async function sync(what: string, codename: string, count: Count): Promise<Synced> {
  await count();
  const startedAt = performance.now();
  const child = Bun.spawn([PROGRAM, "sync", codename, "--verbose"], {
    cwd: work,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = (performance.now() - startedAt) / 1000;
  if (exitCode !== 0) throw new Error(`sync ${codename}: ${stderr.slice(-2000)}`);
  const built = stderr.split("\n").find((line) => line.includes('"index built"'));
  const { documents = 0, unchanged = 0 } = built ? JSON.parse(built) : {};
  const usage = child.resourceUsage();
  const counted = await count();
  return {
    what,
    seconds,
    cpuSeconds: Number(usage?.cpuTime.total ?? 0) / 1e6,
    peakRssMb: (usage?.maxRSS ?? 0) / 1024 / 1024,
    requests: counted.requests,
    bytes: counted.bytes,
    counts: /\d+ fetched.*/.exec(stdout)?.[0] ?? "",
    analysed: built ? documents - unchanged : null,
  };
}

function requireAnalysed({ what, analysed }: Synced, expected: number | null): void {
  if (analysed !== expected) throw new Error(`${what}: ${analysed} documents were analysed, not ${expected}`);
}

async function openSite() {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "sync-site.ts"), String(pages)], {
    stdin: "pipe",
    stdout: "pipe",
  });
  const lines = linesOf(child.stdout);
  const sitemap = (await lines.next()).value ?? "";
  const command = async (text: string): Promise<{ requests: number; bytes: number; statuses: object }> => {
    child.stdin.write(`${text}\n`);
    child.stdin.flush();
    return JSON.parse((await lines.next()).value ?? "{}");
  };
  return { sitemap, command, count: () => command("count"), [Symbol.dispose]: () => child.kill() };
}

async function measureWebsite(site: Awaited<ReturnType<typeof openSite>>): Promise<Synced[]> {
  const changed = Math.ceil(pages / 100);
  await site.command("dates on");
  const first = await sync("website, first", "manual", site.count);
  requireAnalysed(first, pages);
  const same = await sync("website, nothing changed", "manual", site.count);
  requireAnalysed(same, null);
  await site.command(`change ${changed}`);
  const dated = await sync("website, 1 % changed, dates in the sitemap", "manual", site.count);
  requireAnalysed(dated, changed);
  await site.command("dates off");
  await sync("website, dates gone", "manual", site.count);
  await site.command(`change ${changed}`);
  const tagged = await sync("website, 1 % changed, ETags only", "manual", site.count);
  requireAnalysed(tagged, changed);
  return [first, same, dated, tagged];
}

async function measureRepository(server: Awaited<ReturnType<typeof serveGit>>): Promise<Synced[]> {
  const repository = await server.create("handbook");
  const changed = Math.ceil(files / 100);
  const texts: Record<string, string> = {};
  for (let index = 0; index < files; index++)
    texts[`docs/part-${index % 50}/page-${index}.md`] = `# Page ${index}\n\n${proseOf(`${index}`, 300)}\n`;
  // Documentation folders contain other files besides documents.
  for (let index = 0; index < files / 5; index++)
    texts[`docs/images/${index}.png`] = proseOf(`image ${index}`, 2000);
  const count: Count = async () => {
    const counted = {
      requests: server.requests.length - before.requests,
      bytes: server.sentBytes() - before.bytes,
    };
    before = { requests: server.requests.length, bytes: server.sentBytes() };
    return counted;
  };
  let before = { requests: 0, bytes: 0 };
  await repository.commit(texts);
  const first = await sync("repository, first", "handbook", count);
  requireAnalysed(first, files);
  const same = await sync("repository, nothing changed", "handbook", count);
  requireAnalysed(same, null);
  for (let index = 0; index < changed; index++) {
    const page = Math.floor((index * files) / changed);
    texts[`docs/part-${page % 50}/page-${page}.md`] =
      `# Page ${page}\n\n${proseOf(`${page} changed`, 300)}\n`;
  }
  await repository.commit(texts);
  const second = await sync("repository, 1 % changed", "handbook", count);
  requireAnalysed(second, changed);
  return [first, same, second];
}

const QUERIES = [
  "harbour sluice",
  "lantern keeper chart",
  "mooring barge current",
  "beacon",
  "tide gauge signal ferry",
];

/** Searches one after another, 100 a second, until told to stop; returns the latencies in ms. */
async function searchUntil(url: string, isOver: () => boolean): Promise<number[]> {
  const latencies: number[] = [];
  for (let next = performance.now(); !isOver(); next += 10) {
    await Bun.sleep(Math.max(0, next - performance.now()));
    const query = QUERIES[latencies.length % QUERIES.length];
    const startedAt = performance.now();
    const { structuredContent } = await callSearch(`${url}/mcp`, { tenant_codename: "handbook", query });
    if (structuredContent.error !== null || structuredContent.results.length === 0)
      throw new Error(`a search failed: ${JSON.stringify(structuredContent)}`);
    latencies.push(performance.now() - startedAt);
  }
  return latencies;
}

const summarise = (when: string, latencies: readonly number[]) => ({
  when,
  searches: latencies.length,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  max: percentile(latencies, 1),
});

/** Searches in one tenant while the server syncs another for the first time and builds its index. */
async function measureLatency() {
  await using server = await startServer((port) => [PROGRAM, "serve", "search", "--port", port], env);
  const { url } = server;
  const status = async () =>
    (await (await fetch(`${url}/manual/sync/status`)).json()) as {
      state: string;
      history: { counts: { fetched: number } }[];
    };
  const warmUntil = performance.now() + 3000;
  await searchUntil(url, () => performance.now() > warmUntil);
  const quietUntil = performance.now() + quietSeconds * 1000;
  const quiet = await searchUntil(url, () => performance.now() > quietUntil);
  await rm(join(work, "manual"), { recursive: true, force: true });
  await fetch(`${url}/manual/sync/trigger`, { method: "POST" });
  let isOver = false;
  const watching = (async () => {
    const before = (await status()).history.length;
    for (;;) {
      await Bun.sleep(100);
      const { state, history } = await status();
      if (state === "idle" && history.length > before) break;
    }
    isOver = true;
  })();
  const busy = await searchUntil(url, () => isOver);
  await watching;
  const { history } = await status();
  if (history.at(-1)?.counts.fetched !== pages)
    throw new Error("the sync meanwhile did not fetch every page");
  return [summarise("quiet", quiet), summarise("during a sync", busy)];
}

using site = await openSite();
await using server = await serveGit();
await mkdir(join(work, "state"));
const tenants = [
  {
    source_type: "online",
    codename: "manual",
    docs_name: "Manual",
    docs_root_dir: "manual",
    docs_sitemap_url: site.sitemap,
  },
  {
    source_type: "git",
    codename: "handbook",
    docs_name: "Handbook",
    docs_root_dir: "handbook",
    git_repo_url: `${server.origin}/handbook.git`,
    git_subpaths: ["docs"],
  },
];
const infrastructure = { mcp_host: "127.0.0.1", allow_index_builds: true, crawler_browser_first: false };
await Bun.write(join(work, "deployment.json"), JSON.stringify({ infrastructure, tenants }));
const about = await introduce(`${pages} pages, ${files} documents`);
const syncs = [...(await measureWebsite(site)), ...(await measureRepository(server))];
printTable(syncs);
const latencies = await measureLatency();
printTable(latencies);
await keep(options.out, { ...about, pages, files, syncs, latencies });
