import type { BunFile } from "bun";
import type { NetworkOptions } from "../../../../app/index.ts";
import { JOB_STATES, type JobRecord } from "../../../../crawler/index.ts";
import { withStored } from "../../../../extraction/index.ts";
import { subscriberNetwork } from "../../../../fetching/index.ts";
import { readJsonBody } from "../../../middleware/body.ts";
import type { Exchange } from "../../../middleware/exchange.ts";
import { callerOf } from "../../../middleware/origin.ts";
import { ProblemError } from "../../../middleware/problem.ts";
import { streamAnswer } from "../../../middleware/unread.ts";
import {
  type ApiCall,
  type ApiOperation,
  answerOf,
  BODY_PROBLEMS,
  parseWith,
  problem,
  RETRY_AFTER,
  UNKNOWN_JOB,
  z,
} from "../../openapi.ts";
import { DOWNLOAD_FORMATS, downloadResponse } from "../jobs/download.ts";
import { countOutcomes, findPages, pagesOf } from "../jobs/outcomes.ts";
import { type CrawlPlaces, placeName } from "../jobs/places.ts";
import { type CrawlSpec, jobStatus, shownCrawl } from "../jobs/spec.ts";
import type { WebhookForm, WebhookTarget } from "../jobs/webhook-store.ts";
import type { ExtractorParts } from "../parts.ts";
import { readCrawl, readNetwork, readWebhook, requireSelectors, type SelectorFields } from "../requests.ts";
import {
  JobDetails,
  JobList,
  JobOutcomes,
  JobPages,
  JobStatus,
  Manifest,
  SubmittedJob,
} from "../schemas/answers.ts";
import type { CrawlRequestFields } from "../schemas/requests.ts";
import { type ArticleWish, readWish } from "../wish.ts";

const JOB_PATH = z.object({ job_id: z.string().min(1).openapi({ description: "As POST /crawl gave it" }) });

const limit = (description: string) =>
  z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, "must be a whole number from 1 to 1000")
    .optional()
    .openapi({ description });

const ListQuery = z.object({
  limit: limit("Jobs at most, the newest first (default 100)"),
  status: z.enum(JOB_STATES).optional().openapi({ description: "Only jobs of this state" }),
});

const PagesQuery = z.object({
  status: z.enum(["success", "failed", "skipped"]).optional(),
  reason: z
    .string()
    .max(100)
    .optional()
    .openapi({ description: "Only pages with this code of a failure, or skipped for this reason" }),
  host: z.string().max(300).optional().openapi({ description: "Only pages of this host, with its port" }),
  offset: z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .optional()
    .openapi({ description: "Pages to leave out before the first one (default 0)" }),
  limit: limit("Most pages to return (default 100)"),
});

const DownloadQuery = z.object({ format: z.enum(DOWNLOAD_FORMATS) });

const TEXT = z.string();

const LISTED = {
  400: problem("The job is not completed"),
  404: problem("There is no such job, or a later crawl has replaced its manifest"),
};

/** A crawl of a site of one page. */
const CRAWL_EXAMPLE = { output_dir: "example-org", seeds: ["https://example.org/"], max_pages: 5 };

/** A batch of one page. */
const BATCH_EXAMPLE = { urls: ["https://example.org/"], fields: ["title", "markdown"] };

/** Operations on crawl jobs: submit, list, show, cancel, and what completed ones have. */
export const crawlOperations = (parts: ExtractorParts): ApiOperation[] => [
  submitOperation(parts),
  batchOperation(parts),
  ...jobOperations(parts),
  ...pageOperations(parts),
];

const JOBS = { method: "get", path: "/crawl", tag: "crawl jobs" } as const;
const JOB = { ...JOBS, path: "/crawl/{job_id}", params: JOB_PATH } as const;

const submitOperation = (parts: ExtractorParts): ApiOperation => ({
  ...JOBS,
  method: "post",
  summary: "Submit a crawl job",
  body: { schema: parts.requests.CrawlRequest, example: CRAWL_EXAMPLE },
  answers: { ...SUBMITTED, 409: problem("An unfinished job has this output directory") },
  handle: async ({ exchange }) => {
    const request = parseWith(parts.requests.CrawlRequest, readJsonBody(exchange), "body");
    return await submit(request, exchange, parts);
  },
});

const batchOperation = (parts: ExtractorParts): ApiOperation => ({
  ...JOBS,
  method: "post",
  path: "/batch",
  summary: "Extract a list of pages as a job",
  description: [
    "The job is a crawl that follows no links and asks no robots.txt. Its download as `jsonl` has a line for each URL,",
    "in the order of the list: `url` and the fields as of `POST /`, or `url` and `error`, with `code` and `message`.",
  ].join(" "),
  body: { schema: parts.requests.BatchRequest, example: BATCH_EXAMPLE },
  answers: SUBMITTED,
  handle: async ({ exchange }) => {
    const request = parseWith(parts.requests.BatchRequest, readJsonBody(exchange), "body");
    const { urls, network, prefer_browser, options, save_images, webhook, ...wish } = request;
    const limits = { max_pages: urls.length, max_depth: 0, follow_links: false, ignore_robots: true };
    const crawl = { seeds: urls, network, prefer_browser, options, save_images, webhook, ...limits };
    return await submit(crawl, exchange, parts, wish);
  },
});

const SUBMITTED = {
  ...BODY_PROBLEMS,
  202: {
    ...answerOf("The job waits for its turn", SubmittedJob),
    headers: { Location: { description: "Where its status is" } },
  },
  403: problem("A path leads out of the output root, or the Origin is foreign"),
  429: problem("As many jobs wait as may, or too many requests", RETRY_AFTER),
};

const jobOperations = (parts: ExtractorParts): ApiOperation[] => [
  {
    ...JOBS,
    summary: "List crawl jobs",
    query: ListQuery,
    answers: {
      200: answerOf("The newest jobs first", JobList),
      422: problem("A parameter is wrong"),
    },
    handle: async ({ query }) => {
      const { limit, status } = parseWith(ListQuery, query, "query");
      const jobs = await parts.queue.list({ limit: Number(limit ?? 100), state: status ?? null });
      return Response.json({ jobs: jobs.map(jobStatus), ...(await parts.queue.counts()) });
    },
  },
  {
    ...JOB,
    summary: "Poll a job's status",
    answers: { 200: answerOf("Where it stands", JobDetails), 404: UNKNOWN_JOB },
    handle: async (call) => {
      const job = await requireJob(call, parts);
      const webhook = parts.webhooks.statusOf(job.id);
      return Response.json({ ...jobStatus(job), ...(webhook && { webhook }) });
    },
  },
  {
    ...JOB,
    method: "delete",
    summary: "Cancel a job",
    description: "A job that waits or has ended answers 200; one that runs answers 202 and stops soon.",
    answers: {
      200: answerOf("It does not run (any more)", JobStatus),
      202: answerOf("It is stopping", JobStatus),
      404: UNKNOWN_JOB,
    },
    handle: async (call) => {
      const job = await parts.queue.cancel((await requireJob(call, parts)).id);
      if (!job) throw unknownJob(call.param("job_id"));
      return Response.json(jobStatus(job), { status: job.state === "running" ? 202 : 200 });
    },
  },
  {
    ...JOB,
    path: "/crawl/{job_id}/manifest",
    summary: "Download the manifest of a completed job",
    answers: { 200: answerOf("The manifest", Manifest), ...LISTED },
    handle: async (call) => {
      const manifest = await requireManifest(await requireJob(call, parts), parts.places);
      return streamAnswer(manifest, { "content-type": "application/json" }, 0);
    },
  },
];

const pageOperations = (parts: ExtractorParts): ApiOperation[] => [
  {
    ...JOB,
    path: "/crawl/{job_id}/pages",
    summary: "List pages of a completed job",
    description: "Some pages at a time, in the order in which they were found, and how many match.",
    query: PagesQuery,
    answers: {
      200: answerOf("The pages", JobPages),
      ...LISTED,
      422: problem("A parameter is wrong"),
    },
    handle: async (call) => {
      const { status, reason, host, offset, limit } = parseWith(PagesQuery, call.query, "query");
      const job = await requirePages(call, parts);
      const wish = { status: status ?? null, reason: reason ?? null, host: host ?? null };
      const place = { offset: Number(offset ?? 0), limit: Number(limit ?? 100) };
      return Response.json(await findPages(pagesOf(parts.places, job), wish, place));
    },
  },
  {
    ...JOB,
    path: "/crawl/{job_id}/outcomes",
    summary: "Count the pages of a completed job by host, and by the reason why they were not extracted",
    answers: { 200: answerOf("The counts", JobOutcomes), ...LISTED },
    handle: async (call) =>
      Response.json(await countOutcomes(pagesOf(parts.places, await requirePages(call, parts)))),
  },
  {
    ...JOB,
    path: "/crawl/{job_id}/download",
    summary: "Download all pages of a completed job in one file",
    description: [
      "`zip`: the Markdown files with their saved pictures; `jsonl`: a line a page with `url`, `title`, `word_count`, `content_hash`, `file_path`",
      "and `markdown`; `llms.txt`: the titles and addresses, as llmstxt.org has them.",
    ].join(" "),
    query: DownloadQuery,
    answers: {
      200: {
        description: "The file, sent while it is made",
        content: { "application/zip": TEXT, "application/jsonl": TEXT, "text/plain": TEXT },
      },
      ...LISTED,
      422: problem("The format is none of these"),
    },
    handle: async (call) => {
      const { format } = parseWith(DownloadQuery, call.query, "query");
      return await downloadResponse(format, await requirePages(call, parts), parts.places);
    },
  },
];

/** @throws ProblemError 404 */
export const requireJob = (call: ApiCall, { queue }: ExtractorParts): Promise<JobRecord> =>
  findJob(call.param("job_id"), queue);

/** @throws ProblemError 404 */
export async function findJob(id: string, queue: ExtractorParts["queue"]): Promise<JobRecord> {
  const job = await queue.get(id);
  if (!job) throw unknownJob(id);
  return job;
}

const unknownJob = (id: string): ProblemError =>
  new ProblemError(404, "unknown_job", `there is no job ${JSON.stringify(id.slice(0, 100))}`);

/** @param batch what of each article is wanted, where the crawl is a batch */
async function submit(
  request: CrawlRequestFields,
  exchange: Exchange,
  parts: ExtractorParts,
  batch?: ArticleWish,
): Promise<Response> {
  const job = await acceptCrawl(request, exchange, parts, { batch });
  return Response.json(
    { job_id: job.id, status: "queued", progress: 0, total: 0 },
    { status: 202, headers: { location: `${exchange.basePath}/crawl/${job.id}` } },
  );
}

/** What a crawl is given besides its request. */
type GivenToCrawl = {
  /** What the request's own network options do not have. */
  readonly network?: Partial<NetworkOptions>;
  /** The names of the selectors' fields in messages. */
  readonly selectors?: SelectorFields;
  /** What of each article is wanted, where the crawl is a batch. */
  readonly batch?: ArticleWish | undefined;
  /** The form of what the webhook is told, where it is another API's. */
  readonly webhookForm?: WebhookForm | undefined;
};

/** Puts a crawl into the queue. @throws ProblemError for a request that is not accepted */
export async function acceptCrawl(
  request: CrawlRequestFields,
  exchange: Exchange,
  parts: ExtractorParts,
  given: GivenToCrawl = {},
): Promise<JobRecord> {
  const { app, queue, places, defaults, hasApiKey, runner } = parts;
  const { batch } = given;
  const rules = { ...parts.paths, runsElsewhere: queue.isShared };
  const egress = callerOf(exchange, hasApiKey);
  const read = await readNetwork(request.network, request.prefer_browser, rules);
  const network = { ...read, ...given.network };
  const { webhookForm: form } = given;
  const webhook = request.webhook && { ...(await readWebhook(request.webhook, egress, app)), form };
  const reading = batch
    ? withWish(await readCrawl(request, defaults, rules, "urls"), batch)
    : await readCrawl(request, defaults, rules);
  const written = request.output_dir?.trim() ?? "";
  const { place: directory, shown: shownDirectory } =
    written === ""
      ? await places.create(placeName(reading.plan.seeds[0] ?? reading.plan.sitemaps[0]))
      : { place: await places.find(written), shown: written };
  {
    await using session = app.openSession(network, egress, {
      client: subscriberNetwork(exchange.client.address),
    });
    // A bad selector is reported before the job is accepted.
    await requireSelectors(reading.plan.extraction, session, exchange.signal(), given.selectors);
  }
  const accepted = await queue.submit({
    place: directory,
    shown: { ...shownCrawl(shownDirectory, reading.plan), ...(batch && { is_batch: true }) },
    spec: {
      ...reading,
      network,
      directory,
      shownDirectory,
      isFresh: request.fresh ?? false,
      caller: egress,
      batch,
    },
  });
  const job = requireAccepted(accepted);
  if (webhook) await addWebhook(job, webhook, parts);
  exchange.log.info("job accepted", { job_id: job.id });
  // The directory exists once the caller has the answer. The job opens it again, and reports any problem with it.
  await places.open(directory).catch(() => {});
  const runners = await queue.runners?.().catch(() => null);
  if (runners === 0) exchange.log.warning("no process runs jobs", { job_id: job.id });
  runner.wake();
  return job;
}

/** A job whose webhook cannot be kept does not run: its caller is told that it was not accepted. */
async function addWebhook({ id }: JobRecord, webhook: WebhookTarget, parts: ExtractorParts): Promise<void> {
  try {
    parts.webhooks.add(id, webhook);
  } catch (error) {
    await parts.queue.cancel(id);
    throw error;
  }
}

/** @throws ProblemError 429, 409 */
function requireAccepted(job: JobRecord | "full" | "in_use"): JobRecord {
  if (job === "full")
    throw new ProblemError(429, "queue_full", "as many jobs wait as may", {
      headers: { "retry-after": "30" },
    });
  if (job === "in_use")
    throw new ProblemError(
      409,
      "output_in_use",
      "another job that has not ended yet has this output directory",
    );
  return job;
}

/** The same crawl with the renderings that a wish needs besides those of stored pages. */
function withWish<Reading extends Pick<CrawlSpec, "plan">>(reading: Reading, wish: ArticleWish): Reading {
  const { plan } = reading;
  const renderings = withStored(readWish(wish).renderings);
  return { ...reading, plan: { ...plan, extraction: { ...plan.extraction, renderings } } };
}

/** @throws ProblemError 400 while there is no manifest, 404 when it is gone */
async function requireManifest(
  job: JobRecord,
  places: CrawlPlaces,
): Promise<BunFile | ReadableStream<Uint8Array>> {
  if (job.state !== "completed")
    throw new ProblemError(
      400,
      "job_not_completed",
      `the job is ${job.state}; only a completed one has a manifest`,
    );
  const file = await places.manifest(job);
  if (file) return file;
  const detail = "the manifest is gone, or a later crawl into the same directory has replaced it";
  throw new ProblemError(404, "manifest_gone", detail);
}

/** @returns a job whose pages are listed @throws ProblemError as `requireManifest` */
async function requirePages(call: ApiCall, parts: ExtractorParts): Promise<JobRecord> {
  const job = await requireJob(call, parts);
  const found = await requireManifest(job, parts.places);
  if (found instanceof ReadableStream) await found.cancel();
  return job;
}
