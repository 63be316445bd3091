import { receiveBodies } from "../../middleware/body.ts";
import type { Exchange } from "../../middleware/exchange.ts";
import { limitClients, limitConcurrency } from "../../middleware/limits.ts";
import { type RunningServer, type ServerPlace, serve } from "../../serve.ts";
import { extractorPage } from "../../web/index.ts";
import { startJobRunner } from "./jobs/runner.ts";
import type { ExtractorParts } from "./parts.ts";
import { extractorRoutes } from "./routes.ts";

export type ExtractorServerOptions = ServerPlace &
  Omit<ExtractorParts, "isReady" | "draining" | "runner" | "hasApiKey"> & {
    readonly corsOrigins: readonly string[];
    /** The most requests under way; beyond it the answer is 429. */
    readonly maxConcurrentRequests: number;
    /** The most requests from one client. */
    readonly maxPerClient: number;
  };

/**
 * Whether a request is work, that is, fetches pages or submits a crawl. Metrics must stay readable and jobs
 * must stay visible and cancellable on an overloaded server.
 */
const isWork = ({ request, path }: Exchange): boolean =>
  request.method === "POST" || /^\/https?(?::|%3a)/i.test(path);

/**
 * Opens the port, runs crawl jobs and answers until it is disposed of; then jobs return to the queue.
 * @throws Failure `invalid_usage` when the port is not available
 */
export function startExtractorServer(options: ExtractorServerOptions): RunningServer {
  const { maxConcurrentRequests } = options;
  const server = serve(options, {
    ...options,
    metrics: options.app.metrics,
    page: extractorPage(),
    guardedMethods: ["POST", "PUT", "PATCH", "DELETE"],
    limits: [
      receiveBodies(),
      limitClients({ max: options.maxPerClient, counts: isWork }),
      limitConcurrency({
        max: maxConcurrentRequests,
        waitMs: 0,
        maxWaiting: 0,
        counts: isWork,
        problem: {
          status: 429,
          code: "overloaded",
          detail: `more than ${maxConcurrentRequests} requests at once`,
          headers: { "retry-after": "1" },
        },
      }),
    ],
    routes: (state) =>
      extractorRoutes({
        ...options,
        ...state,
        runner: { wake: () => runner.wake() },
        hasApiKey: !state.access.isOpen,
      }),
  });
  // A server that does not get the port must not take a job either; the first request comes when both are
  // ready.
  const runner = startJobRunner(options);
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await Promise.all([server[Symbol.asyncDispose](), runner[Symbol.asyncDispose]()]);
    },
  };
}
