import { JOB_STATES, type JobRecord } from "../../../../crawler/index.ts";
import { subscriberNetwork } from "../../../../fetching/index.ts";
import { readJsonBody } from "../../../middleware/body.ts";
import { callerOf, isLocalCaller } from "../../../middleware/origin.ts";
import { ProblemError } from "../../../middleware/problem.ts";
import {
  type ApiCall,
  type ApiOperation,
  BODY_PROBLEMS,
  parseWith,
  problem,
  UNKNOWN_JOB,
  z,
} from "../../openapi.ts";
import { jobStatus, shownCrawl } from "../jobs/spec.ts";
import type { ExtractorParts } from "../parts.ts";
import { readCrawl, readNetwork, requireSelectors } from "../requests.ts";
import { JobList, JobStatus, Manifest, SubmittedJob } from "../schemas/answers.ts";
import { CrawlRequest } from "../schemas/requests.ts";

const JOB_PATH = z.object({ job_id: z.string().min(1).openapi({ description: "As POST /crawl gave it" }) });

const ListQuery = z.object({
  limit: z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, "must be a whole number from 1 to 1000")
    .optional()
    .openapi({ description: "Jobs at most, the newest first (default 100)" }),
  status: z.enum(JOB_STATES).optional().openapi({ description: "Only jobs of this state" }),
});

const json = (schema: z.ZodType) => ({ "application/json": schema });

/** A crawl of a site of one page. */
const CRAWL_EXAMPLE = { output_dir: "example-org", seeds: ["https://example.org/"], max_pages: 5 };

/** Operations on crawl jobs: submit, list, show, cancel, and the manifest. */
export const crawlOperations = (parts: ExtractorParts): ApiOperation[] => [
  {
    method: "post",
    path: "/crawl",
    tag: "crawl jobs",
    summary: "Submit a crawl job",
    body: { schema: CrawlRequest, example: CRAWL_EXAMPLE },
    answers: {
      ...BODY_PROBLEMS,
      202: {
        description: "The job waits for its turn",
        content: json(SubmittedJob),
        headers: { Location: { description: "Where its status is" } },
      },
      403: problem("A path leads out of the output root, or the Origin is foreign"),
      409: problem("An unfinished job has this output directory"),
      429: problem("As many jobs wait as may, or too many requests", {
        "Retry-After": { description: "Seconds to wait" },
      }),
    },
    handle: (call) => submit(call, parts),
  },
  {
    method: "get",
    path: "/crawl",
    tag: "crawl jobs",
    summary: "List crawl jobs",
    query: ListQuery,
    answers: {
      200: { description: "The newest jobs first", content: json(JobList) },
      422: problem("A parameter is wrong"),
    },
    handle: async ({ query }) => {
      const { limit, status } = parseWith(ListQuery, query, "query");
      const jobs = await parts.queue.list({ limit: Number(limit ?? 100), state: status ?? null });
      return Response.json({ jobs: jobs.map(jobStatus), ...(await parts.queue.counts()) });
    },
  },
  {
    method: "get",
    path: "/crawl/{job_id}",
    tag: "crawl jobs",
    summary: "Poll a job's status",
    params: JOB_PATH,
    answers: { 200: { description: "Where it stands", content: json(JobStatus) }, 404: UNKNOWN_JOB },
    handle: async (call) => Response.json(jobStatus(await requireJob(call, parts))),
  },
  {
    method: "delete",
    path: "/crawl/{job_id}",
    tag: "crawl jobs",
    summary: "Cancel a job",
    description: "A job that waits or has ended answers 200; one that runs answers 202 and stops soon.",
    params: JOB_PATH,
    answers: {
      200: { description: "It does not run (any more)", content: json(JobStatus) },
      202: { description: "It is stopping", content: json(JobStatus) },
      404: UNKNOWN_JOB,
    },
    handle: async (call) => {
      const job = await parts.queue.cancel((await requireJob(call, parts)).id);
      if (!job) throw unknownJob(call.param("job_id"));
      return Response.json(jobStatus(job), { status: job.state === "running" ? 202 : 200 });
    },
  },
  {
    method: "get",
    path: "/crawl/{job_id}/manifest",
    tag: "crawl jobs",
    summary: "Download the manifest of a completed job",
    params: JOB_PATH,
    answers: {
      200: { description: "The manifest", content: json(Manifest) },
      400: problem("The job is not completed"),
      404: problem("There is no such job, or a later crawl has replaced its manifest"),
    },
    handle: async (call) => manifest(await requireJob(call, parts), parts),
  },
];

/** @throws ProblemError 404 */
export async function requireJob(call: ApiCall, { queue }: ExtractorParts): Promise<JobRecord> {
  const id = call.param("job_id");
  const job = await queue.get(id);
  if (!job) throw unknownJob(id);
  return job;
}

const unknownJob = (id: string): ProblemError =>
  new ProblemError({
    status: 404,
    code: "unknown_job",
    detail: `there is no job ${JSON.stringify(id.slice(0, 100))}`,
  });

async function submit({ exchange }: ApiCall, parts: ExtractorParts): Promise<Response> {
  const { app, queue, places, defaults, hasApiKey, runner } = parts;
  const rules = { ...parts.paths, runsElsewhere: queue.isShared };
  const request = parseWith(CrawlRequest, readJsonBody(exchange), "body");
  const egress = callerOf(exchange, hasApiKey);
  const caller = { isLocal: isLocalCaller(egress) };
  const network = await readNetwork(request.network, request.prefer_browser, { rules, caller });
  const reading = await readCrawl(request, { defaults, rules, caller });
  const directory = await places.find(request.output_dir, caller);
  {
    await using session = app.openSession(network, egress, {
      client: subscriberNetwork(exchange.client.address),
    });
    // A bad selector is reported before the job is accepted.
    await requireSelectors(reading.plan.extraction, session, exchange.signal());
  }
  const job = await queue.submit({
    place: directory,
    shown: shownCrawl(request.output_dir, reading.plan),
    spec: {
      ...reading,
      network,
      directory,
      shownDirectory: request.output_dir,
      isFresh: request.fresh ?? false,
      caller: egress,
    },
  });
  if (job === "full")
    throw new ProblemError({
      status: 429,
      code: "queue_full",
      detail: "as many jobs wait as may",
      headers: { "retry-after": "30" },
    });
  if (job === "in_use")
    throw new ProblemError({
      status: 409,
      code: "output_in_use",
      detail: "another job that has not ended yet has this output directory",
    });
  exchange.log.info("job accepted", { job_id: job.id });
  const runners = await queue.runners?.().catch(() => null);
  if (runners === 0) exchange.log.warning("no process runs jobs", { job_id: job.id });
  runner.wake();
  return Response.json(
    { job_id: job.id, status: "queued", progress: 0, total: 0 },
    { status: 202, headers: { location: `${exchange.basePath}/crawl/${job.id}` } },
  );
}

async function manifest(job: JobRecord, { places }: ExtractorParts): Promise<Response> {
  if (job.state !== "completed")
    throw new ProblemError({
      status: 400,
      code: "job_not_completed",
      detail: `the job is ${job.state}; only a completed one has a manifest`,
    });
  const file = await places.manifest(job);
  if (!file)
    throw new ProblemError({
      status: 404,
      code: "manifest_gone",
      detail: "the manifest is gone, or a later crawl into the same directory has replaced it",
    });
  return new Response(file, { headers: { "content-type": "application/json" } });
}
