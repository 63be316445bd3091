import { within } from "../../../base/abort.ts";
import type { Database } from "../../../base/database/index.ts";
import { type Gauge, gaugeOf } from "../../../base/metrics.ts";
import { receiveBodies } from "../../middleware/body.ts";
import type { Exchange, Handler } from "../../middleware/exchange.ts";
import { limitClients, limitConcurrency, limitEach } from "../../middleware/limits.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { limitUnread } from "../../middleware/unread.ts";
import { type RunningServer, type ServerPlace, serve } from "../../serve.ts";
import { extractorFiles } from "../../web/pages.ts";
import { otherErrorForms } from "../firecrawl/errors.ts";
import { otherRoutes, otherWorkOf } from "../firecrawl/routes.ts";
import { eventOf } from "../firecrawl/webhook.ts";
import { crawls } from "../mcp/crawls.ts";
import { joinOffers } from "../mcp/offer.ts";
import { configurationOperation, countCalls, mcpOperation, withMcpSlash } from "../mcp/operation.ts";
import { callsFetch, pages } from "../mcp/pages.ts";
import type { ApiOperation, z } from "../openapi.ts";
import { createSite, PROBE_PATHS } from "../site.ts";
import { JobNews } from "./jobs/news.ts";
import { JobRunner } from "./jobs/runner.ts";
import { Webhooks } from "./jobs/webhooks.ts";
import { crawlOperations } from "./operations/crawl.ts";
import { eventsOperation } from "./operations/events.ts";
import { extractOperation, readPageOperation } from "./operations/extract.ts";
import type { ExtractorParts } from "./parts.ts";
import { About, Health } from "./schemas/answers.ts";
import { requestSchemas } from "./schemas/requests.ts";

export type ExtractorServerOptions = ServerPlace &
  Omit<ExtractorParts, "isReady" | "draining" | "news" | "requests" | "runner" | "hasApiKey" | "webhooks"> & {
    /** The state that the processes of this machine share. */
    readonly database: Database;
    /** The queue as this process's running jobs see it, which ask again themselves. */
    readonly runningQueue: ExtractorParts["queue"];
    readonly corsOrigins: readonly string[];
    /** The most requests under way; beyond it the answer is 429. */
    readonly maxConcurrentRequests: number;
    /** The most requests from one client. */
    readonly maxPerClient: number;
  };

/**
 * Returns the kind of work that a request does, since hanging pages must not keep anybody from crawls. Null for anything
 * else: metrics must stay readable, and jobs visible and cancellable, on an overloaded server.
 */
function workOf({ request, path, body }: Exchange): "pages" | "crawls" | null {
  if (/^\/https?(?::|%3a)/i.test(path)) return "pages";
  const otherWork = otherWorkOf(request.method, path);
  if (otherWork !== null || request.method !== "POST") return otherWork;
  return path === "/" || callsFetch(path, body) ? "pages" : "crawls";
}

/**
 * Opens the port, runs crawl jobs and answers until it is disposed of; then jobs return to the queue.
 * @throws Failure `invalid_usage` when the port is not available
 */
export function startExtractorServer(options: ExtractorServerOptions): RunningServer {
  const { maxConcurrentRequests } = options;
  const news = new JobNews(options.queue);
  const webhooks = new Webhooks({ ...options, eventOf: (form, event) => eventOf(form, event, options) });
  const server = serve(options, {
    ...options,
    metrics: options.app.metrics,
    errorForms: [otherErrorForms],
    files: options.role === "worker" ? [] : extractorFiles(),
    probePaths: PROBE_PATHS,
    hostsVariable: "ARTICLE_EXTRACTOR_ALLOWED_HOSTS",
    guardedMethods: ["POST", "PUT", "PATCH", "DELETE"],
    limits: [
      receiveBodies(),
      limitEach(["pages", "crawls"], workOf, () => [
        limitClients(options.maxPerClient),
        limitConcurrency({
          max: maxConcurrentRequests,
          refuse: () =>
            new ProblemError(429, "overloaded", `more than ${maxConcurrentRequests} requests at once`, {
              headers: { "retry-after": "1" },
            }),
        }),
      ]),
      limitUnread(options, PROBE_PATHS),
    ],
    routes: (state) =>
      extractorRoutes({
        ...options,
        ...state,
        news,
        webhooks,
        requests: requestSchemas(options.defaults),
        runner: { wake: () => runner?.wake() },
        hasApiKey: !state.access.isOpen,
      }),
  });
  // A server that does not get the port must not take a job either; the first request comes when both are ready.
  webhooks.start();
  const runner = options.role === "api" ? null : new JobRunner({ ...options, queue: options.runningQueue });
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await Promise.all([
        server[Symbol.asyncDispose](),
        runner?.[Symbol.asyncDispose](),
        webhooks[Symbol.asyncDispose](),
      ]);
      news[Symbol.dispose]();
    },
  };
}

/** All routes of `serve extractor`, below its base path. */
function extractorRoutes(parts: ExtractorParts): Handler {
  const startedAt = performance.now();
  const { name, version, isReady } = parts;
  const about = (basePath: string): z.output<typeof About> => ({
    service: name,
    version,
    status: isReady() ? "ready" : "draining",
    docs: `${basePath}/docs`,
  });
  const { handle } = createSite(parts, {
    description: "Articles of web pages, and crawls of whole sites.",
    about: parts.role === "worker" ? null : about,
    aboutSchema: About,
    health: async () => Response.json(await health(parts, performance.now() - startedAt)),
    healthSchema: Health,
    gauges: () => gaugesOf(parts),
    canWork: async () =>
      (await inTime(parts.queue.isWhole?.())) !== false &&
      // Others extract pages without the jobs.
      (parts.role !== "worker" || (await inTime(parts.queue.counts())) !== null),
    operations: parts.role === "worker" ? [] : operations(parts),
    routes: parts.role === "worker" ? [] : otherRoutes(parts),
  });
  return withMcpSlash(handle);
}

const operations = (parts: ExtractorParts): ApiOperation[] => [
  extractOperation(parts),
  ...crawlOperations(parts),
  eventsOperation(parts),
  configurationOperation({ ...parts, defaultClientModel: null }),
  mcpOperation({
    ...parts,
    offerTo: () => joinOffers([pages({ ...parts, ...parts.defaults }), crawls(parts)]),
    onCall: countCalls(parts.app.metrics),
  }),
  readPageOperation(parts),
];

async function health(parts: ExtractorParts, uptimeMs: number): Promise<z.output<typeof Health>> {
  const { name, version, app, role } = parts;
  const [jobs, runners, found] = await Promise.all([
    inTime(parts.queue.counts()),
    inTime(parts.queue.runners?.()),
    parts.problems(),
  ]);
  const problems = jobs === null ? ["the jobs cannot be read", ...found] : found;
  return {
    status: problems.length > 0 ? "degraded" : "healthy",
    problems: [...problems],
    service: name,
    version,
    role,
    uptime_seconds: Math.round(uptimeMs / 100) / 10,
    cache: { size: app.cache.size, max_size: app.cache.maxSize },
    workers: app.extractor.workers,
    browser: { available: app.browserPath() !== null },
    jobs,
    job_workers: runners,
    processes: { configured: parts.processes.configured, alive: parts.processes.alive() },
  };
}

/** Returns the gauges that all servers of one queue share. */
async function gaugesOf(parts: ExtractorParts): Promise<Gauge[]> {
  const { queue } = parts;
  const [jobs, waiting] = await Promise.all([inTime(queue.counts()), inTime(queue.waiting?.())]);
  return [
    ...(jobs
      ? [
          gaugeOf("crawl_jobs", { state: "queued" }, jobs.queued),
          gaugeOf("crawl_jobs", { state: "running" }, jobs.running),
        ]
      : []),
    ...(waiting
      ? [gaugeOf("crawl_pages_waiting", {}, waiting.pages), gaugeOf("crawl_hosts_waiting", {}, waiting.hosts)]
      : []),
  ];
}

/** How long a probe waits for the queue, in ms. */
const PROBE_MS = 1000;

/** Null when the queue does not answer in time, whatever the reason; a process without it is alive all the same. */
const inTime = <T>(asked: Promise<T> | undefined): Promise<T | null> =>
  within(PROBE_MS, asked ?? Promise.resolve(null), () => null).catch(() => null);
