import type { AddressSet } from "../../../fetching/index.ts";
import { listen, urlOf } from "../../listen.ts";
import { requireApiKey } from "../../middleware/api-key.ts";
import { receiveBodies } from "../../middleware/body.ts";
import { type Exchange, inLayers } from "../../middleware/exchange.ts";
import { limitClients, limitConcurrency, refuseWhileDraining } from "../../middleware/limits.ts";
import { answerProblems, observe } from "../../middleware/observe.ts";
import { guardOrigin } from "../../middleware/origin.ts";
import { secureHeaders } from "../../middleware/secure-headers.ts";
import { trackRequests } from "../../middleware/under-way.ts";
import { extractorPage, serveApiDocs, servePage } from "../../web/index.ts";
import { startJobRunner } from "./jobs/runner.ts";
import { PROBE_PATHS } from "./operations/probes.ts";
import type { ExtractorParts } from "./parts.ts";
import { extractorRoutes } from "./routes.ts";

export type ExtractorServerOptions = Omit<ExtractorParts, "isReady" | "draining" | "runner" | "hasApiKey"> & {
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly trustedProxies: AddressSet;
  /** Names that a Host header may hold; null: any, unless bound to loopback. */
  readonly allowedHosts: readonly string[] | null;
  readonly corsOrigins: readonly string[];
  readonly apiKey: string | null;
  /** Requests that are worked on at once; over it the answer is 429. */
  readonly maxConcurrentRequests: number;
  /** Of these, those of one client. */
  readonly maxPerClient: number;
  readonly sharesPort: boolean;
};

export type ExtractorServer = AsyncDisposable & {
  /** Where it is reached, without base path. */
  readonly url: string;
};

/** How long requests may go on after the signal to end, in ms. */
const GRACE_MS = 8_000;

/**
 * Whether a request is work: fetches pages, or asks for a crawl. A server that has too much to do is the one whose
 * metrics are wanted and whose jobs are watched and called off.
 */
const isWork = ({ request, path }: Exchange): boolean =>
  request.method === "POST" || /^\/https?(?::|%3a)/i.test(path);

/**
 * Opens the port, runs crawl jobs and answers until it is disposed of: then new work is refused, what runs may
 * finish within a grace, and jobs go back into the queue.
 * @throws Failure `invalid_usage` when the port cannot be had
 */
export function startExtractorServer(options: ExtractorServerOptions): ExtractorServer {
  const draining = new AbortController();
  const { maxConcurrentRequests, apiKey, host, log } = options;
  const underWay = trackRequests();
  const handler = inLayers(
    [
      observe({ metrics: options.app.metrics, quietPaths: PROBE_PATHS }),
      secureHeaders,
      answerProblems,
      guardOrigin({
        boundHost: host,
        allowedHosts: options.allowedHosts,
        corsOrigins: options.corsOrigins,
        guardedMethods: ["POST", "PUT", "PATCH", "DELETE"],
      }),
      answerProblems,
      servePage(extractorPage()),
      serveApiDocs,
      requireApiKey({ key: apiKey, openPaths: PROBE_PATHS }),
      refuseWhileDraining(() => draining.signal.aborted, PROBE_PATHS),
      underWay.layer,
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
    extractorRoutes({
      ...options,
      runner: { wake: () => runner.wake() },
      hasApiKey: apiKey !== null,
      isReady: () => !draining.signal.aborted,
      draining: draining.signal,
    }),
  );
  // Who does not get the port takes no job either; the first request comes when both are there.
  const listener = listen({ ...options, handler });
  const runner = startJobRunner(options);
  return {
    url: urlOf(host, listener.port),
    async [Symbol.asyncDispose]() {
      draining.abort();
      log.info("the server ends", { requests: underWay.count(), grace_ms: GRACE_MS });
      const cutOff = (): void => log.warning("requests cut off", { requests: underWay.callOff() });
      await Promise.all([listener.close(GRACE_MS, cutOff), runner[Symbol.asyncDispose]()]);
    },
  };
}
