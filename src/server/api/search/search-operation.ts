import { didYouMean } from "../../../base/nearest.ts";
import { subscriberNetwork } from "../../../fetching/index.ts";
import { anchoredSections, headingPath, rangeOfFragment, type SearchHit } from "../../../search/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import type { Exchange } from "../../middleware/exchange.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { endOfPart } from "../mcp/parts.ts";
import { countsOf, rounded, runSearchCall, type SearchCallOptions } from "../mcp/search-call.ts";
import { ArgumentError, integer } from "../mcp/tool.ts";
import { type ApiOperation, answerOf, invalidRequest, parseWith, problem } from "../openapi.ts";
import * as schemas from "./schemas.ts";

type SearchOperationOptions = Pick<SearchCallOptions, "searchTimeoutMs" | "queryLog" | "onSearched"> & {
  readonly registryOf: (exchange: Exchange) => TenantRegistry;
  readonly onCall: (tool: string, outcome: "success" | "error", durationMs: number) => void;
};

/** The search for programs and boxes on other pages: `GET /search`. */
export const searchOperation = (options: SearchOperationOptions): ApiOperation => ({
  method: "get",
  path: "/search",
  tag: "search",
  summary: "Searches the tenants that the caller may see",
  query: schemas.SearchQuery,
  answers: {
    200: answerOf("A page of hits", schemas.SearchAnswer),
    404: problem("There is no such tenant, library or version"),
    422: problem("A parameter is wrong; `detail` says which, and what is allowed"),
    409: problem("Search is switched off for the tenant"),
    503: problem("The tenant has no index that can be searched now, or the server is ending"),
    504: problem("The search took longer than `search_timeout`"),
  },
  handle: async ({ exchange, query }) => {
    const started = performance.now();
    try {
      const answer = await search(query, options, exchange);
      options.onCall("search", "success", performance.now() - started);
      return Response.json(answer);
    } catch (error) {
      options.onCall("search", "error", performance.now() - started);
      if (error instanceof ArgumentError) throw invalidRequest(error.message, []);
      throw error;
    }
  },
});

const FACETS = ["kind", "language", "version", "tenant", "group"] as const;

async function search(
  raw: Readonly<Record<string, string>>,
  options: SearchOperationOptions,
  exchange: Exchange,
) {
  const registry = options.registryOf(exchange);
  const withSections = groupsByDocument(raw.group_by);
  const facets = facetNames(raw.facets ?? "");
  const { q = "", facets: _, group_by: __, per_tenant: ___, preview, ...others } = raw;
  const perTenant =
    raw.per_tenant === undefined ? undefined : integer(raw, "per_tenant", { min: 1, max: 100, fallback: 1 });
  if (preview !== undefined && preview !== "true" && preview !== "false")
    throw new ArgumentError("preview must be true or false");
  if (q.trim() === "") throw new ArgumentError("q is required");
  const { searchTimeoutMs, onSearched } = options;
  const queryLog = preview === "true" ? null : options.queryLog;
  const { query, size, offset, resolved, answer, skipped, note } = await runSearchCall(
    { ...others, query: q },
    { registry, searchTimeoutMs, queryLog, onSearched },
    { client: () => subscriberNetwork(exchange.client.address), isCounted: true, withSections, perTenant },
  );
  const counted = answer.counts && countsOf({ ...answer.counts, values: valuesOf(registry, answer) });
  return {
    query,
    hits: answer.hits.map((hit) => ({
      tenant: hit.tenant,
      docs_name: displayNameOf(registry, hit.tenant),
      ...toHit(hit, withSections),
    })),
    offset,
    size,
    ...counted,
    facets: Object.fromEntries(facets.map((name) => [name, counted?.facets[name] ?? {}])),
    resolved,
    skipped,
    note,
    failures: skipped && answer.failures.map((one) => failureOf(registry, one)),
    processing_time_ms: Math.round(answer.queryMs * 100) / 100,
  };
}

type Answer = Awaited<ReturnType<TenantRegistry["searchTogether"]>>;

const failureOf = (registry: TenantRegistry, { tenant, failure }: Answer["failures"][number]) => ({
  tenant,
  docs_name: displayNameOf(registry, tenant),
  code: failure.code,
  message: failure.message,
});

/** Counts of all facets. */
function valuesOf(registry: TenantRegistry, { counts, tenants }: Answer) {
  const tenant = new Map<string, number>();
  const group = new Map<string, number>();
  const groupOf = new Map(registry.list().map((one) => [one.codename, one.group]));
  for (const [place, codename] of tenants.entries()) {
    const total = counts?.totals[place] ?? 0;
    if (total === 0) continue;
    tenant.set(codename, total);
    const name = groupOf.get(codename);
    if (name) group.set(name, (group.get(name) ?? 0) + total);
  }
  const none = { kind: new Map<string, number>(), language: new Map(), version: new Map() };
  return { ...none, ...counts?.values, tenant, group };
}

/** Returns the display name of a tenant, even of a tenant that was removed a moment ago. */
const displayNameOf = (registry: TenantRegistry, tenant: string): string =>
  registry.list().find(({ codename }) => codename === tenant)?.displayName ?? tenant;

function groupsByDocument(value: string | undefined): boolean {
  if (value === undefined || value === "") return false;
  if (value === "document") return true;
  throw new ArgumentError("group_by must be document");
}

function facetNames(text: string): readonly (typeof FACETS)[number][] {
  if (text.trim() === "*") return FACETS;
  const wanted = text.split(",").flatMap((name) => name.trim() || []);
  for (const name of wanted)
    if (!FACETS.some((one) => one === name))
      throw new ArgumentError(
        `facets: ${JSON.stringify(name.slice(0, 100))} is none of ${FACETS.join(", ")} and *${didYouMean(name, FACETS)}`,
      );
  return FACETS.filter((name) => wanted.includes(name));
}

const MILLISECONDS_A_DAY = 86_400_000;

function toHit(hit: SearchHit, withSections: boolean) {
  const { url, title, anchor, headings, snippet, score, sections } = hit;
  const { kind, language, version, date } = hit.attributes;
  return {
    url,
    title,
    anchor,
    headings,
    heading: headingPath(hit),
    snippet,
    score: rounded(score),
    kind,
    language: language || null,
    version: version || null,
    date: date === 0 ? null : new Date(date * MILLISECONDS_A_DAY).toISOString().slice(0, 10),
    sections: withSections ? sections : undefined,
  };
}

/** A document, or a section of it, for the pages: `GET /document`. */
export const documentOperation = ({ registryOf, queryLog }: SearchOperationOptions): ApiOperation => ({
  method: "get",
  path: "/document",
  tag: "search",
  summary: "A document, or one of its sections, as Markdown",
  query: schemas.DocumentQuery,
  answers: {
    200: answerOf("It", schemas.Document),
    404: problem("There is no such tenant, document or section"),
    422: problem("A parameter is wrong; `errors` names it"),
    503: problem("The tenant has no index that can be read now, or the server is ending"),
  },
  handle: async ({ exchange, query }) => {
    const { uri, tenant: wanted, max_chars, preview } = parseWith(schemas.DocumentQuery, query, "query");
    const registry = registryOf(exchange);
    const document = await registry.fetch(wanted || null, uri);
    const { tenant, url, title, markdown } = document;
    const [, fragment = ""] = /#(.*)$/s.exec(uri) ?? [];
    const range = fragment === "" ? { start: 0, end: markdown.length } : rangeOfFragment(document, fragment);
    if (range === null)
      throw new ProblemError(404, "unknown_section", `${url} has no section #${fragment.slice(0, 200)}`);
    if (preview !== "true") queryLog?.fetched(url);
    const end = max_chars === undefined ? range.end : endOfPart(markdown, range, max_chars);
    return Response.json({
      tenant,
      docs_name: displayNameOf(registry, tenant),
      url,
      title,
      markdown: markdown.slice(range.start, end),
      is_cut: end < range.end,
      total_chars: markdown.length,
      sections: fragment === "" ? anchoredSections(document) : undefined,
    });
  },
});
