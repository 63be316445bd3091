import { mkdirSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEFAULT_NETWORK, type Program, preferenceOf } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import { systemReason } from "../../../base/system-error.ts";
import { type JobQueue, openJobQueue } from "../../../crawler/index.ts";
import type { CrawlSpec, ExtractorServerOptions } from "../../../server/index.ts";
import { DEFAULT_CRAWL, extractionDefaults, type Settings } from "../../../settings/index.ts";

// What every server of pages and crawls reads out of the settings.

/** After so long without a word of its process a job is taken over, in ms. */
const LEASE_MS = 15_000;

/** Opens the queue of crawl jobs, which all servers of a state directory share. @throws Failure as `openJobQueue` */
export const openQueue = ({
  program,
  stateDirectory,
}: {
  readonly program: Program;
  readonly stateDirectory: string;
}): JobQueue<CrawlSpec> =>
  openJobQueue({
    directory: stateDirectory,
    maxQueued: program.settings.maxQueuedJobs,
    maxRunning: program.settings.maxRunningJobs,
    leaseMs: LEASE_MS,
    now: Date.now,
  });

/** The values for what requests leave out. */
export const defaultsOf = (settings: Settings): ExtractorServerOptions["defaults"] => ({
  extraction: extractionDefaults(settings),
  preference: preferenceOf(DEFAULT_NETWORK, settings),
  maxPages: settings.crawlerMaxPages,
  maxDepth: DEFAULT_CRAWL.maxDepth,
  concurrency: settings.crawlerConcurrency,
  hostDelayMs: Math.round(settings.crawlerRateLimit * 1000),
});

/** Below the root, of which callers know only what is in it, or where the server keeps its state. */
export const crawlPlaceOf = (
  root: string | null,
  stateDirectory: string,
): ExtractorServerOptions["crawlPlace"] =>
  root === null
    ? { path: join(stateDirectory, CRAWLS), shown: join(stateDirectory, CRAWLS), isForAll: false }
    : { path: join(root, CRAWLS), shown: CRAWLS, isForAll: true };

const CRAWLS = "crawls";

/** The directory that requests may write to. @throws Failure `invalid_settings` */
export function openRoot(written: string | null): string | null {
  if (written === null) return null;
  const path = resolve(written);
  try {
    mkdirSync(path, { recursive: true });
    if (statSync(path).isDirectory()) return realpathSync(path);
  } catch (cause) {
    const reason = systemReason(cause, "folder");
    throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_OUTPUT_ROOT ${path}: ${reason}`, { cause });
  }
  throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_OUTPUT_ROOT ${path} is not a directory`);
}
