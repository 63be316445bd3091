import type { Database } from "../../../base/database/index.ts";
import type { Log } from "../../../base/log.ts";
import type { AddressSet } from "../../../fetching/index.ts";
import type { Metrics } from "../../../metrics.ts";
import { type Listener, listen, urlOf } from "../../listen.ts";
import { keyCheck, requireApiKey } from "../../middleware/api-key.ts";
import { MAX_BODY_MS, receiveBodies } from "../../middleware/body.ts";
import { type Exchange, inLayers } from "../../middleware/exchange.ts";
import {
  afterArrivals,
  limitClients,
  limitConcurrency,
  limitTime,
  refuseWhileDraining,
} from "../../middleware/limits.ts";
import { answerProblems, observe } from "../../middleware/observe.ts";
import { guardOrigin } from "../../middleware/origin.ts";
import { secureHeaders } from "../../middleware/secure-headers.ts";
import { searchPage, servePage } from "../../web/index.ts";
import { PROBE_PATHS, type SearchRoutesOptions, searchRoutes } from "./routes.ts";
import { openSearchTimes } from "./search-times.ts";

export type SearchServerOptions = Omit<SearchRoutesOptions, "isReady" | "readSearchTimes" | "holdsKey"> & {
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly trustedProxies: AddressSet;
  /** Names that a Host header may hold; null: any, unless bound to loopback. */
  readonly allowedHosts: readonly string[] | null;
  readonly apiKey: string | null;
  /** Requests that are worked on at once; others wait up to the timeout. */
  readonly maxConcurrentRequests: number;
  /** Requests that are here at once, the waiting ones included; over it the answer is 503 at once. */
  readonly maxConnections: number;
  /** Of these, those of one client; over it the answer is 429. */
  readonly maxPerClient: number;
  readonly httpTimeoutMs: number;
  readonly sharesPort: boolean;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Keeps the times of searches, for all processes on the port. */
  readonly timesDatabase: Database;
};

export type SearchServer = AsyncDisposable & {
  /** Where it is reached, without base path. */
  readonly url: string;
};

/** How long requests may go on after the signal to end, in ms. */
const GRACE_MS = 8_000;

/**
 * Opens the port and answers until it is disposed of: then new work is refused and what runs may finish.
 * @throws Failure `invalid_usage` when the port cannot be had
 */
export function startSearchServer(options: SearchServerOptions): SearchServer {
  let isDraining = false;
  const { maxConcurrentRequests, maxConnections, httpTimeoutMs } = options;
  const overloaded = { status: 503, code: "overloaded", headers: { "retry-after": "1" } };
  const isNoProbe = ({ path }: Exchange): boolean => !PROBE_PATHS.includes(path);
  const times = openSearchTimes({
    database: options.timesDatabase,
    onTrouble: (error) => options.log.warning("the times of searches are not kept", { error: String(error) }),
  });
  const handler = inLayers(
    [
      observe({ metrics: options.metrics, quietPaths: PROBE_PATHS }),
      secureHeaders,
      answerProblems,
      guardOrigin({
        boundHost: options.host,
        allowedHosts: options.allowedHosts,
        corsOrigins: [],
        guardedMethods: ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"],
      }),
      servePage(searchPage()),
      requireApiKey({ key: options.apiKey, openPaths: PROBE_PATHS }),
      refuseWhileDraining(() => isDraining, PROBE_PATHS),
      receiveBodies({ maxMs: Math.min(MAX_BODY_MS, httpTimeoutMs) }),
      limitClients({ max: options.maxPerClient, counts: isNoProbe }),
      limitConcurrency({
        max: maxConnections,
        waitMs: 0,
        maxWaiting: 0,
        counts: isNoProbe,
        problem: { ...overloaded, detail: `more than ${maxConnections} requests at once` },
      }),
      limitConcurrency({
        max: maxConcurrentRequests,
        waitMs: httpTimeoutMs,
        maxWaiting: maxConnections,
        counts: isNoProbe,
        problem: {
          ...overloaded,
          detail: `${maxConcurrentRequests} requests were under way for ${httpTimeoutMs / 1000} s`,
        },
      }),
      limitTime(httpTimeoutMs, {
        status: 408,
        code: "timeout",
        detail: `the request took longer than ${httpTimeoutMs / 1000} s`,
        headers: { connection: "close" },
      }),
      afterArrivals,
    ],
    searchRoutes({
      ...options,
      isReady: () => !isDraining,
      holdsKey: keyCheck(options.apiKey),
      onCall: (tool, outcome, durationMs) => {
        options.onCall(tool, outcome, durationMs);
        if (tool === "root_search") times.record(outcome, durationMs);
      },
      readSearchTimes: times.read,
    }),
  );
  const listener: Listener = listen({ ...options, handler });
  return {
    url: urlOf(options.host, listener.port),
    async [Symbol.asyncDispose]() {
      isDraining = true;
      await listener.close(GRACE_MS);
      times[Symbol.dispose]();
    },
  };
}
