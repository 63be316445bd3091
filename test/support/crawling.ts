import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserMachine } from "../../src/app/app.ts";
import { type App, DEFAULT_NETWORK, type NetworkOptions, openApp } from "../../src/app/index.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import {
  type CrawlEvent,
  type CrawlJobOptions,
  type CrawlPlan,
  type CrawlSummary,
  createCrawlPlan,
  type PageOutcome,
} from "../../src/crawler/index.ts";
import type { ManifestEntry } from "../../src/crawler/manifest.ts";
import type { CrawlRequest } from "../../src/crawler/plan.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { testProgram } from "./program.ts";
import { temporaryDirectory } from "./temporary.ts";

/** Makes a plan that does not wait between requests. */
export function crawlPlan(changes: Partial<CrawlRequest>): CrawlPlan {
  return createCrawlPlan({
    seeds: [],
    sitemaps: [],
    allowPrefixes: [],
    denyPrefixes: [],
    maxPages: 1000,
    maxDepth: 10,
    concurrency: 5,
    hostDelayMs: 0,
    hasAdaptiveDelay: false,
    followsLinks: true,
    obeysRobots: true,
    respectsMetaRobots: false,
    discoversSitemaps: false,
    readsDocuments: false,
    trustsLastModified: false,
    preference: "http_only",
    extraction: { ...DEFAULT_EXTRACTION, minWordCount: 5, renderings: ["markdown"] },
    ...changes,
  });
}

/** These fields of the manifest file are what tests read. */
export type ManifestFile = {
  readonly job_id: string;
  readonly status: string;
  readonly started_at: string;
  readonly completed_at: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly total_pages: number;
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
  readonly duration_seconds: number;
  readonly skipped_links: Readonly<Record<string, number>>;
  readonly error: { readonly code: string } | null;
  readonly results: readonly ManifestEntry[];
};

export type CrawlResult = {
  readonly events: readonly CrawlEvent[];
  readonly outcomes: readonly PageOutcome[];
  /** The last event gives these, and those of earlier runs are among them. */
  readonly allOutcomes: readonly PageOutcome[];
  readonly summary: CrawlSummary;
  readonly manifest: ManifestFile | null;
  /** Names of the Markdown files, sorted. */
  readonly files: readonly string[];
  /** By path and query. */
  outcomeOf(path: string): PageOutcome | undefined;
};

export type CrawlPlace = AsyncDisposable & {
  readonly path: string;
  crawl(
    plan: CrawlPlan,
    options?: Partial<CrawlJobOptions> & {
      readonly signal?: AbortSignal;
      readonly network?: Partial<NetworkOptions>;
      readonly onEvent?: (event: CrawlEvent) => void;
    },
  ): Promise<CrawlResult>;
};

/** Puts the program's modules together as its shell does; a machine adds its browser. */
export const openTestApp = (machine: BrowserMachine | null = null): App =>
  openApp(testProgram(), { caller: { kind: "cli" }, shell: "cli", log: silentLog, machine });

/** Makes an empty directory into which this process crawls. */
export async function crawlPlace(app: App): Promise<CrawlPlace> {
  const place = temporaryDirectory();
  const { path } = place;
  return {
    ...place,
    async crawl(plan, { signal, network, onEvent, ...options } = {}) {
      await using session = app.openSession({ ...DEFAULT_NETWORK, ...network });
      const job = {
        output: { kind: "directory", path },
        jobId: null,
        isFresh: false,
        authorizations: new Map(),
      } as const;
      const events: CrawlEvent[] = [];
      const allOutcomes: PageOutcome[] = [];
      for await (const event of session.crawl(
        plan,
        { ...job, ...options },
        signal ?? new AbortController().signal,
      )) {
        events.push(event);
        onEvent?.(event);
        if (event.kind === "finished") allOutcomes.push(...(await Array.fromAsync(event.outcomes())));
      }
      return { ...(await readResult(path, events)), allOutcomes };
    },
  };
}

/** Crawls once into a directory that is removed afterwards. */
export async function crawlOnce(
  app: App,
  ...[plan, options]: Parameters<CrawlPlace["crawl"]>
): Promise<CrawlResult> {
  await using place = await crawlPlace(app);
  return await place.crawl(plan, options);
}

/** Crawls a site once, from its home page. */
export const crawlSite = (
  app: App,
  { origin }: { readonly origin: string },
  changes: Partial<CrawlRequest> = {},
  options: Parameters<CrawlPlace["crawl"]>[1] = {},
): Promise<CrawlResult> => crawlOnce(app, crawlPlan({ seeds: [`${origin}/`], ...changes }), options);

async function readResult(
  path: string,
  events: readonly CrawlEvent[],
): Promise<Omit<CrawlResult, "allOutcomes">> {
  const last = events.at(-1);
  if (last?.kind !== "finished") throw new Error("the crawl did not tell that it finished");
  const outcomes = events.flatMap((event) => (event.kind === "page" ? [event.outcome] : []));
  const manifest = Bun.file(join(path, "manifest.json"));
  return {
    events,
    outcomes,
    summary: last.summary,
    manifest: (await manifest.exists()) ? await manifest.json() : null,
    files: (await readdir(path)).filter((name) => name.endsWith(".md")).sort(),
    outcomeOf: (wanted) => outcomes.find(({ url }) => new URL(url).pathname + new URL(url).search === wanted),
  };
}
