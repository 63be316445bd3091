import type { TenantStatus } from "../../../tenants/index.ts";
import type { Handler } from "../../middleware/exchange.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { answerMcp, type McpOptions } from "../mcp/protocol.ts";
import type { SearchTimesRecord } from "./search-times.ts";

export type SearchRoutesOptions = McpOptions & {
  readonly isOffline: boolean;
  readonly defaultClientModel: string | null;
  /** False while starting and while ending. */
  readonly isReady: () => boolean;
  /** Whether a request carries the key; probes are answered without, but tell less. */
  readonly holdsKey: (request: Request) => boolean;
  readonly renderMetrics: () => string;
  /** Of those that share the port. */
  readonly processes: { readonly configured: number; readonly alive: () => number };
  readonly readSearchTimes: () => SearchTimesRecord;
};

/** Answered without a key and whatever the load: what load balancers and supervisors ask. */
export const PROBE_PATHS: readonly string[] = ["/health", "/ready"];

/** What `serve search` answers, below its base path. */
export function searchRoutes(options: SearchRoutesOptions): Handler {
  const fixed: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
    "/": { GET: async () => Response.json(about(options)) },
    "/mcp": { POST: (exchange) => mcp(exchange, options) },
    "/mcp/": { POST: (exchange) => mcp(exchange, options) },
    "/mcp.json": { GET: async (exchange) => Response.json(clientConfiguration(exchange, options)) },
    "/health": { GET: async (exchange) => Response.json(health(exchange, options)) },
    "/ready": { GET: async () => ready(options) },
    "/metrics": { GET: async () => metrics(options) },
    "/search-times": { GET: async () => Response.json(options.readSearchTimes()) },
    "/tenants/status": { GET: async () => Response.json({ tenants: statuses(options).map(toStatusRecord) }) },
  };
  return async (exchange) => {
    const { path, request } = exchange;
    const byMethod = fixed[path] ?? syncRoutes(path, options);
    if (!byMethod)
      throw new ProblemError({
        status: 404,
        code: "not_found",
        detail: `there is nothing at ${path.slice(0, 200)}`,
      });
    const method = request.method === "HEAD" ? "GET" : request.method;
    const handler = byMethod[method];
    if (handler) return handler(exchange);
    const allow = Object.keys(byMethod).join(", ");
    throw new ProblemError({
      status: 405,
      code: "method_not_allowed",
      detail: `${path} answers ${allow}`,
      headers: { allow },
    });
  };
}

const mcp: (exchange: Parameters<Handler>[0], options: SearchRoutesOptions) => Promise<Response> = (
  { request, body, keepOpen },
  options,
) => {
  keepOpen();
  return answerMcp(request, body, options);
};

const about = ({ name, version, isReady }: SearchRoutesOptions) => ({
  service: name,
  version,
  status: isReady() ? "ready" : "starting",
});

function clientConfiguration(
  { client, basePath }: Parameters<Handler>[0],
  { name, defaultClientModel }: SearchRoutesOptions,
) {
  const url = `${client.scheme}://${client.host}${basePath}/mcp`;
  return { defaultModel: defaultClientModel, mcpServers: { [name]: { type: "http", url } } };
}

const statuses = ({ registry }: SearchRoutesOptions): TenantStatus[] =>
  registry.list().map(({ codename }) => registry.status(codename));

/** Without the key what a probe needs, and of the tenants none: what they hold and where is not for everybody. */
function health({ request }: Parameters<Handler>[0], options: SearchRoutesOptions) {
  const all = statuses(options);
  const shown = options.holdsKey(request) ? all : [];
  const tenants = Object.fromEntries(
    shown.map((status) => [
      status.codename,
      {
        status: isHealthy(status) ? "healthy" : "degraded",
        source_type: status.source,
        doc_count: status.documentCount,
        built_at: status.builtAt,
        error: status.problem,
      },
    ]),
  );
  return {
    status: all.every(isHealthy) ? "healthy" : "degraded",
    tenant_count: all.length,
    tenants,
    infrastructure: {
      operation_mode: options.isOffline ? "offline" : "online",
      version: options.version,
      processes: { configured: options.processes.configured, alive: options.processes.alive() },
    },
  };
}

const isHealthy = ({ problem }: TenantStatus): boolean => problem === null;

const ready = ({ isReady }: SearchRoutesOptions): Response =>
  Response.json({ ready: isReady() }, { status: isReady() ? 200 : 503 });

const metrics = ({ renderMetrics }: SearchRoutesOptions): Response =>
  new Response(renderMetrics(), { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });

function syncRoutes(path: string, options: SearchRoutesOptions): Readonly<Record<string, Handler>> | null {
  const [, codename = "", action] = /^\/([a-z][a-z0-9_-]{1,63})\/sync\/(status|trigger)$/.exec(path) ?? [];
  if (action === "status")
    return { GET: async () => Response.json(toStatusRecord(options.registry.status(codename))) };
  if (action === "trigger") return { POST: async () => trigger(codename, options) };
  return null;
}

function trigger(codename: string, { registry, isOffline }: SearchRoutesOptions): Response {
  registry.status(codename);
  if (isOffline) throw refused(503, "offline", "the server runs in offline mode and syncs nothing");
  const outcome = registry.requestSync(codename);
  if (outcome === "running")
    throw refused(409, "already_running", `Tenant '${codename}' is being synced already`);
  if (outcome === "not_allowed")
    throw refused(
      409,
      "builds_not_allowed",
      `Tenant '${codename}' is a folder, and this server may not build its index (allow_index_builds is false); build it with: article-extractor index ${codename}`,
    );
  const message = `Tenant '${codename}' is synced soon`;
  return Response.json({ success: true, message, state: registry.status(codename).state }, { status: 202 });
}

const refused = (status: number, code: string, detail: string): ProblemError =>
  new ProblemError({ status, code, detail, members: { success: false } });

const toStatusRecord = (status: TenantStatus) => ({
  tenant: status.codename,
  source_type: status.source,
  state: status.state,
  last_started_at: status.lastStartedAt,
  last_completed_at: status.lastCompletedAt,
  next_run_at: status.nextRunAt,
  last_error: status.lastError,
  counts: status.counts ?? { fetched: 0, unchanged: 0, removed: 0, failed: 0 },
  index: { doc_count: status.documentCount, built_at: status.builtAt, building: status.isBuilding },
  test_queries: status.testQueries,
  history: status.history.map(({ startedAt, endedAt, counts, error }) => ({
    started_at: new Date(startedAt),
    completed_at: new Date(endedAt),
    counts,
    error,
  })),
});
