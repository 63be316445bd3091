/**
 * One subject of scripts/bench/browser.ts. Arguments: `ours` or `playwright`, the site's origin, the
 * directory for temporary files, pages at a time. For each line `FROM COUNT` on its standard input it fetches
 * that many pages and prints a line of JSON; for a line `live` it prints the size of its heap after a full
 * collection. It closes the browser at the end of the input.
 */
import { fullGC, heapStats } from "bun:jsc";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { silentLog } from "../../src/base/silent-log.ts";
import { createBrowserHost } from "../../src/fetching/browser/host.ts";
import { findBrowser } from "../../src/fetching/browser/hosts.ts";
import {
  createBrowserFetcher,
  createBrowsingSession,
  createEgress,
  DEFAULT_FETCH_LIMITS,
  parseEgressPolicy,
  systemResolve,
} from "../../src/fetching/index.ts";
import { parsePageUrl } from "../../src/urls/index.ts";

const [subject = "", origin = "", temporary = "", concurrency = "4"] = process.argv.slice(2);

/** Fetches a page's HTML after its scripts have run. */
type Client = AsyncDisposable & { readonly html: (url: string) => Promise<string> };

const executablePath =
  findBrowser({
    explicit: process.env.ARTICLE_EXTRACTOR_BROWSER_PATH || null,
    searchPath: process.env.PATH ?? "",
    platform: process.platform,
    home: process.env.HOME ?? "/",
  }) ?? "";
const hasSandbox = process.getuid?.() !== 0;

function openOurs(): Client {
  const host = createBrowserHost({
    executablePath,
    isHeaded: false,
    hasSandbox,
    environment: process.env,
    temporaryBase: join(temporary, "ours"),
    useTemporaryDirectory: (directory) => {
      process.env.TMPDIR = directory;
    },
    pid: process.pid,
    maxPages: 500,
    maxPageMb: 2048,
    log: silentLog,
  });
  const fetcher = createBrowserFetcher({
    host,
    egress: createEgress({
      policy: parseEgressPolicy("auto"),
      resolve: systemResolve,
      resolverTtlMs: 30_000,
    }),
    caller: { kind: "cli" },
    chooseProxy: () => null,
    userAgent: "article-extractor/bench",
    limits: DEFAULT_FETCH_LIMITS,
    log: silentLog,
    behaviour: { waitFor: null, scrolls: false, loadsMedia: false },
    session: createBrowsingSession(null, Date.now),
    isRequired: true,
    pause: null,
    pagesPerContext: 100,
  });
  return {
    async html(url) {
      const pageUrl = parsePageUrl(url);
      if (!pageUrl) throw new Error(url);
      return (await fetcher.fetch(pageUrl)).html;
    },
    async [Symbol.asyncDispose]() {
      await fetcher[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}

// This follows Playwright's documentation: one page per URL, loaded until the network is idle.
async function openPlaywright(): Promise<Client> {
  process.env.TMPDIR = temporary;
  const browser = await chromium.launch({ executablePath, chromiumSandbox: hasSandbox });
  const context = await browser.newContext();
  return {
    async html(url) {
      const page = await context.newPage();
      await page.goto(url, { waitUntil: "networkidle" });
      const html = await page.content();
      await page.close();
      return html;
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function fetchMany(client: Client, from: number, count: number): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < from + count) {
      const n = next++;
      const html = await client.html(`${origin}/page/${n}`);
      if (!html.includes(`Sent ${n} 19.`) || !html.includes(`Fetched ${n} 19.`))
        throw new Error(`${subject}: page ${n} is not whole`);
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, work));
}

/**
 * Measures what remains after a full collection, which tells a leak from garbage that was not collected yet.
 */
function measureLive(): { readonly liveMb: number; readonly liveObjects: number } {
  // The first collection runs the finalizers of what the second one frees.
  fullGC();
  fullGC();
  const { heapSize, extraMemorySize, objectCount } = heapStats();
  return { liveMb: (heapSize + extraMemorySize) / 1_000_000, liveObjects: objectCount };
}

const client = subject === "ours" ? openOurs() : await openPlaywright();
let rest = "";
for await (const chunk of Bun.stdin.stream()) {
  const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    if (line === "live") {
      console.log(JSON.stringify(measureLive()));
      continue;
    }
    const [from = 0, count = 0] = line.split(" ").map(Number);
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    await fetchMany(client, from, count);
    const { user, system } = process.cpuUsage(cpu);
    console.log(JSON.stringify({ elapsedMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 }));
  }
}
await client[Symbol.asyncDispose]();
