import { Failure } from "../../../base/failure.ts";
import { SNIPPET_STYLES } from "../../../search/index.ts";
import type { TenantDetail, TenantRegistry } from "../../../tenants/index.ts";
import {
  ArgumentError,
  choice,
  flag,
  integer,
  optionalText,
  type RawArguments,
  requiredText,
  requiredWords,
} from "./arguments.ts";
import { type Place, type Range, rangeAround, sliceWhole } from "./excerpt.ts";

export type ToolOptions = {
  readonly registry: TenantRegistry;
  readonly searchTimeoutMs: number;
  readonly includeStats: boolean;
  /** `surrounding` lets a fragment, query or context narrow what is fetched; `full` does not. */
  readonly fetchMode: "full" | "surrounding";
  readonly fetchSurroundingChars: number;
};

/** The fields of a result; every answer of the tool has all of them, with or without an error. */
export type ToolResult = Readonly<Record<string, unknown>> & { readonly error: string | null };

export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema: object;
  /** @throws ArgumentError, Failure */
  readonly answer: (raw: RawArguments, options: ToolOptions) => Omit<ToolResult, "error">;
  /** The result without content, for errors. */
  readonly empty: (raw: RawArguments) => Omit<ToolResult, "error">;
};

const text = { type: "string" };
// Some clients cannot map a list of types, so this is none.
const error = { anyOf: [text, { type: "null" }] };
const tenants = {
  type: "array",
  items: {
    type: "object",
    properties: { codename: text, description: text },
    required: ["codename", "description"],
  },
};

const object = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
});
/**
 * Makes the schema of a result; all fields are required, except the named ones, because they are always
 * there.
 */
const result = (properties: object, optional: readonly string[] = []) =>
  object(
    { ...properties, error },
    [...Object.keys(properties), "error"].filter((name) => !optional.includes(name)),
  );

/** The five tools (docs/mcp.md), in the order in which clients use them. */
export const TOOLS: readonly Tool[] = [
  {
    name: "find_tenant",
    description: "Find documentation sets by topic or name; tolerates typos.",
    inputSchema: object({ query: text }, ["query"]),
    outputSchema: result({ query: text, count: { type: "integer" }, tenants }),
    answer: (raw, { registry }) => {
      const query = requiredText(raw, "query");
      return { query, ...summaries(registry.find(query)) };
    },
    empty: (raw) => ({ query: written(raw, "query"), count: 0, tenants: [] }),
  },
  {
    name: "list_tenants",
    description: "List all documentation sets. Prefer find_tenant when the topic is known.",
    inputSchema: object({}, []),
    outputSchema: result({ count: { type: "integer" }, tenants }),
    answer: (_, { registry }) => summaries(registry.list()),
    empty: () => ({ count: 0, tenants: [] }),
  },
  {
    name: "describe_tenant",
    description: "What a documentation set covers, with example queries.",
    inputSchema: object({ codename: text }, ["codename"]),
    outputSchema: result({
      codename: text,
      display_name: text,
      description: text,
      source_type: text,
      test_queries: { type: "array", items: text },
      url_prefixes: { type: "array", items: text },
    }),
    answer: (raw, { registry }) => describe(registry.describe(requiredText(raw, "codename"))),
    empty: (raw) => ({
      codename: written(raw, "codename"),
      display_name: "",
      description: "",
      source_type: "",
      test_queries: [],
      url_prefixes: [],
    }),
  },
  {
    name: "root_search",
    description: 'Ranked search in one documentation set. "Quoted phrases" match exactly.',
    inputSchema: object(
      {
        tenant_codename: text,
        query: text,
        size: { type: "integer", minimum: 1, maximum: 100, default: 10 },
        word_match: { type: "boolean", default: false, description: "exact words only, no stemming" },
      },
      ["tenant_codename", "query"],
    ),
    outputSchema: result(
      {
        query: text,
        results: {
          type: "array",
          items: object(
            {
              url: text,
              title: text,
              score: { type: "number" },
              snippet: text,
              anchor: { ...error, description: "best section: append as #anchor" },
            },
            ["url", "title", "score", "snippet", "anchor"],
          ),
        },
        stats: object({ total_docs: { type: "integer" }, query_time_ms: { type: "number" } }, []),
      },
      ["stats"],
    ),
    answer: search,
    empty: (raw) => ({ query: written(raw, "query"), results: [] }),
  },
  {
    name: "root_fetch",
    description: "Fetch a document as Markdown by a url from search results; #anchor gives its section.",
    inputSchema: object(
      {
        tenant_codename: text,
        uri: text,
        query: { ...text, description: "narrow to the passage about this" },
        offset: { type: "integer", minimum: 0 },
        max_chars: { type: "integer", minimum: 1 },
      },
      ["tenant_codename", "uri"],
    ),
    outputSchema: result({ url: text, title: text, content: text, total_chars: { type: "integer" } }),
    answer: fetchDocument,
    empty: (raw) => ({
      url: written(raw, "uri") || written(raw, "url"),
      title: "",
      content: "",
      total_chars: 0,
    }),
  },
];

/** Calls a tool. Known failures become a result whose `error` describes them. */
export function callTool(tool: Tool, raw: RawArguments, options: ToolOptions): ToolResult {
  try {
    return { ...tool.answer(raw, options), error: null };
  } catch (problem) {
    if (!(problem instanceof ArgumentError) && !(problem instanceof Failure)) throw problem;
    const stats = tool.name === "root_search" && options.includeStats ? { stats: NO_STATS } : {};
    return { ...tool.empty(raw), ...stats, error: messageOf(problem) };
  }
}

const NO_STATS = { total_docs: 0, query_time_ms: 0 };

function messageOf(problem: Failure | ArgumentError): string {
  if (problem instanceof Failure && problem.code === "timeout")
    return "Search timeout; use fewer or rarer words, or a smaller size";
  return problem.message;
}

const MAX_ECHO = 1000;
const written = (raw: RawArguments, name: string): string => {
  const value = raw[name];
  return typeof value === "string" ? value.slice(0, MAX_ECHO) : "";
};

const summaries = (found: readonly TenantDetail[]) => ({
  count: found.length,
  tenants: found.map(({ codename, description }) => ({ codename, description })),
});

const describe = (detail: TenantDetail) => ({
  codename: detail.codename,
  display_name: detail.displayName,
  description: detail.description,
  source_type: detail.source,
  test_queries: detail.testQueries,
  url_prefixes: detail.urlPrefixes,
});

function search(raw: RawArguments, options: ToolOptions): Omit<ToolResult, "error"> {
  const codename = requiredText(raw, "tenant_codename");
  const query = requiredWords(raw, "query");
  const answer = options.registry.search(codename, query, {
    size: integer(raw, "size", { min: 1, max: 100, fallback: 10 }),
    wordMatch: flag(raw, "word_match"),
    snippetStyle: choice(raw, "snippet_style", SNIPPET_STYLES),
    timeoutMs: options.searchTimeoutMs,
  });
  const results = answer.hits.map(({ url, title, score, snippet, anchor }) => ({
    url,
    title,
    score: Math.round(score * 1e4) / 1e4,
    snippet,
    anchor,
  }));
  if (!options.includeStats) return { query, results };
  const stats = { total_docs: answer.documentCount, query_time_ms: Math.round(answer.queryMs * 100) / 100 };
  return { query, results, stats };
}

const CUT = "[…]";

function fetchDocument(raw: RawArguments, options: ToolOptions): Omit<ToolResult, "error"> {
  const codename = requiredText(raw, "tenant_codename");
  const uri = requiredText(raw, "uri");
  const document = options.registry.fetch(codename, uri);
  const { url, title, markdown } = document;
  const range = { start: 0, end: markdown.length };
  const place = options.fetchMode === "surrounding" ? placeOf(raw, uri) : null;
  const around = place && rangeAround(document, place, options.fetchSurroundingChars);
  const content = marked(markdown, page(raw, around ?? range));
  return { url, title, content, total_chars: markdown.length };
}

function placeOf(raw: RawArguments, uri: string): Place | null {
  const words = optionalText(raw, "query") ?? optionalText(raw, "context");
  if (words) return { kind: "words", text: words };
  const hash = uri.indexOf("#");
  return hash >= 0 && hash < uri.length - 1 ? { kind: "anchor", anchor: uri.slice(hash + 1) } : null;
}

/** The part of a range that `offset` and `max_chars` request. */
function page(raw: RawArguments, { start, end }: Range): Range {
  const any = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const from = Math.min(end, start + integer(raw, "offset", { ...any, fallback: 0 }));
  const length = integer(raw, "max_chars", { ...any, min: 1, fallback: end - from || 1 });
  return { start: from, end: Math.min(end, from + length) };
}

/** The part of the text, with a mark on each side where text is left out. */
function marked(markdown: string, range: Range): string {
  const part = sliceWhole(markdown, range);
  if (part === "" && markdown !== "") return "";
  const before = range.start > 0 ? `${CUT}\n\n` : "";
  const after = range.end < markdown.length ? `\n\n${CUT}` : "";
  return `${before}${part}${after}`;
}
