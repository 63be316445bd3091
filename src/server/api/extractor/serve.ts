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
    /** Requests that are worked on at once; over it the answer is 429. */
    readonly maxConcurrentRequests: number;
    /** Of these, those of one client. */
    readonly maxPerClient: number;
  };

/**
 * Whether a request is work: fetches pages, or asks for a crawl. A server that has too much to do is the one whose
 * metrics are wanted and whose jobs are watched and called off.
 */
const isWork = ({ request, path }: Exchange): boolean =>
  request.method === "POST" || /^\/https?(?::|%3a)/i.test(path);

/**
 * Opens the port, runs crawl jobs and answers until it is disposed of; then jobs go back into the queue.
 * @throws Failure `invalid_usage` when the port cannot be had
 */
export function startExtractorServer(options: ExtractorServerOptions): RunningServer {
  const { maxConcurrentRequests, apiKey } = options;
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
        hasApiKey: apiKey !== null,
      }),
  });
  // Who does not get the port takes no job either; the first request comes when both are there.
  const runner = startJobRunner(options);
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await Promise.all([server[Symbol.asyncDispose](), runner[Symbol.asyncDispose]()]);
    },
  };
}
