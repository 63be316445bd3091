import type { FailureRecord } from "../../../base/failure.ts";
import { type Gauge, gaugeOf } from "../../../base/metrics.ts";
import type { TenantRegistry, TenantStatus } from "../../../tenants/index.ts";
import { type Access, requireAllTenants } from "../../middleware/access.ts";
import type { Exchange, Grant, Handler } from "../../middleware/exchange.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { type DocumentationOptions, documentation } from "../mcp/documentation.ts";
import type { McpProgram } from "../mcp/offer.ts";
import { configurationOperation, forEachGrant, mcpOperation, withMcpSlash } from "../mcp/operation.ts";
import { type ApiOperation, answerOf, LIMITED, parseWith, problem, z } from "../openapi.ts";
import { createSite, type SiteParts } from "../site.ts";
import type { QueriesRecord, QueriesWish } from "./query-log.ts";
import * as schemas from "./schemas.ts";
import { documentOperation, searchOperation } from "./search-operation.ts";

export type SearchRoutesOptions = DocumentationOptions &
  McpProgram &
  SiteParts & {
    readonly isOffline: boolean;
    readonly deploymentState: () => DeploymentState;
    readonly defaultClientModel: string | null;
    /** Probes are answered without a key but tell less. */
    readonly access: Access;
    /** Returns the present problems of the server, as sentences that anybody may read. */
    readonly problems: () => Promise<readonly string[]>;
    /** Reads the searches of at most the given number of days; null if searches are not counted. */
    readonly readQueries: {
      readonly days: number;
      readonly read: (wish: QueriesWish) => QueriesRecord;
    } | null;
  };

/** How far the deployment file is in force. */
export type DeploymentState = {
  /** When it was last taken over. */
  readonly takenAt: Date;
  /** Why the file as it is now was not; null when it was. */
  readonly error: FailureRecord | null;
  /** The fields of `infrastructure` that differ from those of the start, which hold until the next. */
  readonly needRestart: readonly string[];
};

/** All routes of `serve search`, below its base path. */
export function searchRoutes(options: SearchRoutesOptions): Handler {
  const limitedTo = (tenants: Grant["tenants"]) =>
    tenants ? options.registry.limitedTo(tenants) : options.registry;
  const registryFor = forEachGrant(limitedTo);
  const registryOf: RegistryOf = ({ grant }) => registryFor(grant);
  const hasApiKey = !options.access.isOpen;
  const { name, version, isReady, onCall, defaultClientModel } = options;
  const { searchTimeoutMs, queryLog, onSearched } = options;
  const searches = { registryOf, searchTimeoutMs, queryLog, onSearched, onCall };
  const offerTo = (tenants: Grant["tenants"]) => documentation({ ...options, registry: limitedTo(tenants) });
  const { handle } = createSite(options, {
    description: "Documentation search: MCP for language models, and the state of the tenants.",
    about: () => ({ service: name, version, status: isReady() ? "ready" : "starting" }),
    aboutSchema: schemas.About,
    health: async ({ exchange }) => {
      const grant = await options.access.grantOf(exchange.request);
      return Response.json(await health(grant, grant && registryFor(grant), options));
    },
    healthSchema: schemas.Health,
    gauges: async () => (await options.registry.statuses()).flatMap(gaugesOf),
    operations: [
      mcpOperation({ name, version, onCall, hasApiKey, offerTo, versionOf: () => options.registry.list() }),
      configurationOperation({ name, hasApiKey, defaultClientModel }),
      searchOperation(searches),
      documentOperation(searches),
      analyticsOperation(options.readQueries),
      ...tenantOperations(options, registryOf),
    ],
  });
  return withMcpSlash(handle);
}

/** The tenants that a caller sees. */
type RegistryOf = (exchange: Exchange) => TenantRegistry;

const CODENAME = "{[a-z][a-z0-9_-]{1,63}}";

const analyticsOperation = (log: SearchRoutesOptions["readQueries"]): ApiOperation => ({
  method: "get",
  path: "/analytics",
  tag: "operation",
  summary: "What people look for, and do not find",
  description: "A browser is shown a page without a key; it asks for one.",
  query: schemas.QueriesQuery,
  answers: {
    200: {
      description: "Queries by how often they were asked",
      content: { "application/json": schemas.Queries, "text/html": z.string() },
    },
    403: LIMITED,
    404: problem("Queries are not counted here: infrastructure.query_log_days is 0"),
    422: problem("A parameter is out of its range; `errors` names it"),
  },
  handle: async ({ exchange, query }) => {
    requireAllTenants(exchange);
    const { days, size } = parseWith(schemas.QueriesQuery, query, "query");
    if (log) return Response.json(log.read({ days: Math.min(days ?? log.days, log.days), size }));
    throw new ProblemError(
      404,
      "queries_not_counted",
      "queries are not counted here: infrastructure.query_log_days of the deployment file says for how many days",
    );
  },
});

const whyOperation = (registryOf: RegistryOf): ApiOperation => ({
  method: "get",
  path: "/tenants/why",
  tag: "tenants",
  summary: "Why a page is not found, or under which address it is indexed",
  query: schemas.WhyQuery,
  answers: { 200: answerOf("What each tenant that the address belongs to says", schemas.Why) },
  handle: async ({ exchange, query }) => {
    const { url, query: words } = parseWith(schemas.WhyQuery, query, "query");
    const answers = await registryOf(exchange).why(url, words?.trim() || null);
    const shown = (message: string): string =>
      exchange.grant?.tenants ? withoutPaths({ code: "internal", message }).message : message;
    return Response.json({
      url,
      answers: answers.map(({ sentence, ...rest }) => ({ ...rest, sentence: shown(sentence) })),
    });
  },
});

function tenantOperations(options: SearchRoutesOptions, registryOf: RegistryOf): ApiOperation[] {
  const unknown = problem("There is no such tenant");
  return [
    {
      method: "get",
      path: "/tenants/status",
      tag: "tenants",
      summary: "The state of every tenant",
      answers: { 200: answerOf("All of them", schemas.Tenants) },
      handle: async ({ exchange }) =>
        Response.json({
          tenants: (await registryOf(exchange).statuses()).map((one) => toStatusRecord(one, exchange.grant)),
        }),
    },
    whyOperation(registryOf),
    {
      method: "get",
      path: "/{codename}/sync/status",
      pattern: `/:codename${CODENAME}/sync/status`,
      tag: "tenants",
      summary: "The state of a tenant",
      params: schemas.TenantParams,
      answers: { 200: answerOf("It", schemas.Tenant), 404: unknown },
      handle: async ({ exchange, param }) =>
        Response.json(toStatusRecord(await registryOf(exchange).status(param("codename")), exchange.grant)),
    },
    {
      method: "post",
      path: "/{codename}/sync/trigger",
      pattern: `/:codename${CODENAME}/sync/trigger`,
      tag: "tenants",
      summary: "Asks for a sync of a tenant",
      params: schemas.TenantParams,
      answers: {
        202: answerOf("It is synced soon", schemas.Triggered),
        404: unknown,
        409: problem("It is being synced already, or this server may not build its index"),
        503: problem("The server is ending, or runs in offline mode and syncs nothing"),
      },
      handle: async ({ exchange, param }) =>
        trigger(param("codename"), registryOf(exchange), options.isOffline),
    },
  ];
}

/**
 * The answer of a probe. Without a key it says nothing about the tenants: their number, contents and places are
 * not public. With a key for some of them it says nothing about the others.
 * @param seen the tenants that the caller sees; null without a key
 */
async function health(grant: Grant | null, seen: TenantRegistry | null, options: SearchRoutesOptions) {
  const { takenAt, error, needRestart } = options.deploymentState();
  const all = await (seen ?? options.registry).statuses();
  const problems = await options.problems();
  const shown = seen ? all : [];
  const seesAll = grant?.tenants === null;
  const tenants = Object.fromEntries(
    shown.map((status) => [
      status.codename,
      {
        status: isHealthy(status) ? "healthy" : "degraded",
        source_type: status.source,
        doc_count: status.documentCount,
        built_at: status.builtAt,
        error: shownTo(grant, status.problem),
      },
    ]),
  );
  return {
    status: error === null && problems.length === 0 && all.every(isHealthy) ? "healthy" : "degraded",
    problems: [...problems],
    tenant_count: seen ? all.length : undefined,
    tenants,
    infrastructure: {
      operation_mode: options.isOffline ? "offline" : "online",
      version: options.version,
      processes: { configured: options.processes.configured, alive: options.processes.alive() },
      // Problems of the file may name any tenant.
      deployment: seesAll ? { taken_at: takenAt, error, needs_restart: needRestart } : undefined,
      query_log_days: seesAll ? (options.readQueries?.days ?? 0) : undefined,
    },
  };
}

/** Returns gauges that show a tenant that is out of date; times are left out before the first build or sync. */
function gaugesOf({ codename, builtAt, lastCompletedAt, documentCount, problem }: TenantStatus): Gauge[] {
  const tenant = { tenant: codename };
  return [
    gaugeOf("tenant_degraded", tenant, problem === null ? 0 : 1),
    ...(documentCount === null ? [] : [gaugeOf("tenant_documents", tenant, documentCount)]),
    ...(builtAt ? [gaugeOf("tenant_index_timestamp_seconds", tenant, builtAt.getTime() / 1000)] : []),
    ...(lastCompletedAt
      ? [gaugeOf("tenant_sync_timestamp_seconds", tenant, lastCompletedAt.getTime() / 1000)]
      : []),
  ];
}

const shownTo = (grant: Grant | null, failure: FailureRecord | null): FailureRecord | null =>
  failure && grant?.tenants ? withoutPaths(failure) : failure;

/** A failure's message for callers who need not know where the server keeps its files. */
export const withoutPaths = (failure: FailureRecord): FailureRecord => ({
  ...failure,
  message: failure.message
    .replace(/\bfile:\/\/\S+/g, "file://…")
    .replace(/(?<![\w:/.…-])\/(?:[^\s/:]{1,255}\/){1,100}/g, "…/"),
});

const isHealthy = ({ problem }: TenantStatus): boolean => problem === null;

async function trigger(codename: string, registry: TenantRegistry, isOffline: boolean): Promise<Response> {
  registry.describe(codename);
  if (isOffline) throw refused(503, "offline", "the server runs in offline mode and syncs nothing");
  const outcome = await registry.requestSync(codename);
  if (outcome === "running")
    throw refused(409, "already_running", `Tenant '${codename}' is being synced already`);
  if (outcome === "not_allowed")
    throw refused(
      409,
      "builds_not_allowed",
      `Tenant '${codename}' is a folder, and this server may not build its index (allow_index_builds is false); build it with: article-extractor index ${codename}`,
    );
  const message = `Tenant '${codename}' is synced soon`;
  const { state } = await registry.status(codename);
  return Response.json({ success: true, message, state }, { status: 202 });
}

const refused = (status: number, code: string, detail: string): ProblemError =>
  new ProblemError(status, code, detail, { members: { success: false } });

const toStatusRecord = (status: TenantStatus, grant: Grant | null) => ({
  tenant: status.codename,
  docs_name: status.displayName,
  description: status.description,
  source_type: status.source,
  state: status.state,
  last_started_at: status.lastStartedAt,
  last_completed_at: status.lastCompletedAt,
  next_run_at: status.nextRunAt,
  last_error: shownTo(grant, status.lastError),
  problem: shownTo(grant, status.problem),
  counts: status.counts ?? { fetched: 0, unchanged: 0, removed: 0, failed: 0 },
  index: {
    doc_count: status.documentCount,
    built_at: status.builtAt,
    bytes: status.indexBytes,
    building: status.isBuilding,
  },
  left_out: status.leftOut,
  test_queries: status.testQueries,
  history: status.history.map(({ startedAt, endedAt, counts, error }) => ({
    started_at: new Date(startedAt),
    completed_at: new Date(endedAt),
    counts,
    error: shownTo(grant, error),
  })),
});
