import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { MAX_BODY_MS, receiveBodies } from "../../middleware/body.ts";
import type { Exchange, Layer } from "../../middleware/exchange.ts";
import {
  afterArrivals,
  limitClients,
  limitConcurrency,
  limitEach,
  limitTime,
} from "../../middleware/limits.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { limitUnread } from "../../middleware/unread.ts";
import { type RunningServer, type ServerPlace, serve } from "../../serve.ts";
import { searchFiles } from "../../web/pages.ts";
import { callsFetch } from "../mcp/pages.ts";
import { PROBE_PATHS } from "../site.ts";
import { openQueryLog } from "./query-log.ts";
import { type SearchRoutesOptions, searchRoutes } from "./routes.ts";

type SearchServerOptions = ServerPlace &
  Omit<SearchRoutesOptions, "isReady" | "queryLog" | "readQueries" | "access"> & {
    /** The most requests under way; others wait up to the timeout. */
    readonly maxConcurrentRequests: number;
    /** The most requests including waiting ones; beyond it the answer is an immediate 503. */
    readonly maxConnections: number;
    /** The most simultaneous requests from one client; beyond it the answer is 429. */
    readonly maxPerClient: number;
    readonly httpTimeoutMs: number;
    /** Origins whose pages may search; see `OriginRules`. */
    readonly corsOrigins: readonly string[];
    readonly log: Log;
    readonly metrics: Metrics;
    /** The file that counts queries, and the number of days to keep; null counts none. */
    readonly queries: { readonly path: string; readonly days: number } | null;
  };

/** Answers until it is disposed of. @throws Failure `invalid_usage` when the port is not available */
export function startSearchServer(options: SearchServerOptions): RunningServer {
  const { queries, corsOrigins, log, metrics } = options;
  const queryLog =
    queries &&
    openQueryLog({
      path: queries.path,
      days: queries.days,
      onTrouble: (error) => log.warning("queries are not counted", { error: String(error) }),
      onDamaged: (damage) => log.warning("the damaged log of queries is put aside", damage),
    });
  const server = serve(options, {
    corsOrigins,
    log,
    metrics,
    files: searchFiles(),
    probePaths: PROBE_PATHS,
    hostsVariable: "DOCS_SEARCH_ALLOWED_HOSTS",
    guardedMethods: ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"],
    limits: searchLimits(options),
    routes: ({ isReady, access }) =>
      searchRoutes({
        ...options,
        isReady,
        access,
        queryLog,
        readQueries: queryLog && { days: queries?.days ?? 0, read: queryLog.read },
      }),
  });
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      queryLog?.[Symbol.dispose]();
    },
  };
}

function searchLimits(options: SearchServerOptions): readonly Layer[] {
  const { maxConcurrentRequests, maxConnections, httpTimeoutMs } = options;
  const overloaded = (detail: string) => () =>
    new ProblemError(503, "overloaded", detail, { headers: { "retry-after": "1" } });
  const seconds = httpTimeoutMs / 1000;
  // A page that hangs must not keep anybody from searching.
  const workOf = ({ path, body }: Exchange) =>
    PROBE_PATHS.includes(path) ? null : callsFetch(path, body) ? "pages" : "searches";
  const connections = limitConcurrency({
    max: maxConnections,
    refuse: overloaded(`more than ${maxConnections} requests at once`),
  });
  const places = () =>
    limitConcurrency({
      max: maxConcurrentRequests,
      waitMs: httpTimeoutMs,
      maxWaiting: maxConnections,
      refuse: overloaded(`${maxConcurrentRequests} requests were under way for ${seconds} s`),
    });
  return [
    receiveBodies({ maxMs: Math.min(MAX_BODY_MS, httpTimeoutMs) }),
    limitEach(["pages", "searches"], workOf, (kind) => [
      limitClients(options.maxPerClient),
      // A page that waits for a place does not count as a connection yet, so that searches always have room.
      ...(kind === "pages" ? [places(), connections] : [connections, places()]),
      afterArrivals,
    ]),
    limitUnread(options, PROBE_PATHS),
    limitTime(
      httpTimeoutMs,
      () =>
        new ProblemError(408, "timeout", `the request took longer than ${seconds} s`, {
          headers: { connection: "close" },
        }),
    ),
  ];
}
