import { DEFAULT_NETWORK } from "../../../app/index.ts";
import type { JobRecord } from "../../../crawler/index.ts";
import { CRAWL } from "../../../options/index.ts";
import { notPageUrl, splitCredentials } from "../../../urls/index.ts";
import { pagesOf } from "../extractor/jobs/outcomes.ts";
import { placeName } from "../extractor/jobs/places.ts";
import { isOver, jobStatus, shownCrawl } from "../extractor/jobs/spec.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import { planOf } from "../extractor/requests.ts";
import type { McpOffer } from "./offer.ts";
import {
  ArgumentError,
  bindTool,
  integer,
  OFFSET,
  objectOf,
  optionalText,
  type RawArguments,
  requiredText,
  TEXT,
  TEXT_OR_NULL,
  type ToolCall,
  type ToolDefinition,
  type ToolFields,
  textWith,
  WHOLE,
  WHOLE_OR_NULL,
  wholeIn,
  written,
} from "./tool.ts";

/** The parts that tools for crawls need. */
type CrawlToolParts = Pick<ExtractorParts, "queue" | "news" | "runner" | "defaults" | "places">;

// A model that asks for a site means fewer pages than a person does.
const MAX_PAGES = { ...CRAWL.maxPages.kind, max: 1000, fallback: 50 };
const MAX_DEPTH = { ...CRAWL.maxDepth.kind, fallback: CRAWL.maxDepth.byDefault };
/** The most pages in one status. */
const LISTED_PAGES = 50;
/** How long a status may wait for the end of its job; most clients wait a minute for an answer. */
const WAIT_SECONDS = { min: 0, max: 50, fallback: 0 };

const CRAWL_SITE: ToolDefinition<CrawlToolParts> = {
  name: "crawl_site",
  description:
    "Store pages of a site as Markdown files, from url along its links. Returns at once; see crawl_status.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  inputSchema: objectOf(
    {
      url: TEXT,
      max_pages: wholeIn(MAX_PAGES),
      max_depth: wholeIn(MAX_DEPTH),
      prefix: textWith("only pages whose address begins so"),
    },
    ["url"],
  ),
  result: { job_id: TEXT, status: TEXT, directory: TEXT },
  isLoose: true,
  answer: submit,
};

const CRAWL_STATUS: ToolDefinition<CrawlToolParts> = {
  name: "crawl_status",
  description:
    "How far a crawl is; at its end its pages with their files, 50 at a time. wait: seconds for its end.",
  inputSchema: objectOf({ job_id: TEXT, wait: wholeIn(WAIT_SECONDS), offset: wholeIn(OFFSET) }, ["job_id"]),
  result: {
    job_id: TEXT,
    status: TEXT,
    progress: WHOLE,
    total: WHOLE,
    successful: WHOLE,
    failed: WHOLE,
    skipped: WHOLE,
    directory: TEXT,
    pages: { type: "array" },
    next_offset: WHOLE_OR_NULL,
    failure: TEXT_OR_NULL,
    warnings: { type: "array" },
  },
  isLoose: true,
  answer: status,
  empty: (raw) => ({ job_id: written(raw, "job_id") }),
};

/** The tools that crawl sites. */
export const crawls = (parts: CrawlToolParts): McpOffer => ({
  tools: [CRAWL_SITE, CRAWL_STATUS].map((definition) => bindTool(definition, parts)),
  instructions: "crawl_site stores many pages of one site as files; crawl_status tells when they are there.",
});

async function submit(raw: RawArguments, parts: CrawlToolParts, call: ToolCall): Promise<ToolFields> {
  const { queue, places, defaults } = parts;
  const url = requiredText(raw, "url");
  const split = splitCredentials(url);
  if (!split) throw new ArgumentError(`url: ${notPageUrl(url)}`);
  const prefix = optionalText(raw, "prefix");
  const plan = planOf(
    {
      allow_prefixes: prefix ? [prefix] : [],
      max_pages: integer(raw, "max_pages", MAX_PAGES),
      max_depth: integer(raw, "max_depth", MAX_DEPTH),
    },
    { defaults, seeds: [split.url], sitemaps: [] },
  );
  const caller = call.caller();
  const { place, shown } = await places.create(placeName(split.url));
  const job = await queue.submit({
    place,
    shown: shownCrawl(shown, plan),
    spec: {
      plan,
      authorizations: split.authorization === null ? [] : [[new URL(split.url).origin, split.authorization]],
      sitemapFiles: [],
      network: DEFAULT_NETWORK,
      directory: place,
      shownDirectory: shown,
      isFresh: false,
      caller,
    },
  });
  if (typeof job === "string") throw new ArgumentError("as many crawls wait as may; try again later");
  parts.runner.wake();
  return { job_id: job.id, status: job.state, directory: shown };
}

async function status(raw: RawArguments, parts: CrawlToolParts, call: ToolCall): Promise<ToolFields> {
  const id = requiredText(raw, "job_id");
  const seconds = integer(raw, "wait", WAIT_SECONDS);
  const offset = integer(raw, "offset", OFFSET);
  const job = await jobWithin(id, seconds, parts, call.signal());
  if (!job) throw new ArgumentError(`there is no job ${JSON.stringify(id.slice(0, 100))}`);
  const { job_id, status: state, progress, total, successful, failed, skipped, output_dir } = jobStatus(job);
  const pages = isOver(job) ? await Array.fromAsync(pagesOf(parts.places, job)) : [];
  const end = offset + LISTED_PAGES;
  return {
    job_id,
    status: state,
    progress,
    total,
    successful,
    failed,
    skipped,
    directory: output_dir,
    pages: pages.slice(offset, end).map(({ url, title, file_path, error, reason }) => ({
      url,
      title,
      file: file_path,
      problem: error?.message ?? reason,
      block: error?.block,
    })),
    next_offset: end < pages.length ? end : null,
    failure: job.error?.message ?? null,
    warnings: job.warnings,
  };
}

/** The job once it is over, or after this time; null when there is none. */
async function jobWithin(
  id: string,
  seconds: number,
  { queue, news }: CrawlToolParts,
  signal: AbortSignal,
): Promise<JobRecord | null> {
  const found = await queue.get(id);
  if (!found) return null;
  using watch = news.watch(found);
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const job = watch.latest();
    const leftMs = end - performance.now();
    if (!job || isOver(job) || signal.aborted || leftMs <= 0) return job;
    await watch.change(job, leftMs, signal);
  }
}
