import { expect } from "bun:test";
import { printedSchema, type SchemaField, validated } from "../../support/specified.ts";
import { statementsOf } from "./statement.ts";

// Types, defaults and what is required, as the built program's `schema` and `validate` say it.

const statement = statementsOf("search");

const schema = await printedSchema();
const infrastructure = schema.properties?.infrastructure?.properties ?? {};
const tenantOf = (source: string): SchemaField =>
  schema.properties?.tenants?.items?.oneOf?.find(
    ({ properties }) => properties?.source_type?.const === source,
  ) ?? {};

/** A type of the document as JSON Schema has it; fields that are null by default may be null. */
const typeOf = ({ type, anyOf = [], const: only }: SchemaField): readonly unknown[] =>
  only === undefined
    ? [type, ...anyOf.map((one) => one.type)].filter((one) => one !== undefined)
    : ["string"];

const WRONG = { string: 1, integer: "1", number: "1", boolean: "yes", object: "x", array: "x" };
type Type = keyof typeof WRONG;

/** A field that is required has no default. */
function holdsType(field: SchemaField | undefined, type: Type, preset: unknown): void {
  expect(typeOf(field ?? {})).toEqual(preset === null ? [type, "null"] : [type]);
  expect(field?.default).toEqual(preset);
}

const wrongly = (rows: readonly (readonly [name: string, type: Type, ...unknown[]])[]): object =>
  Object.fromEntries(rows.map(([name, type]) => [name, WRONG[type]]));
const refuses = (lines: readonly string[], path: string): void => {
  expect(
    lines.filter((line) => line.startsWith(`${path}: must `) || line.startsWith(`${path}: Tenant`)),
  ).not.toEqual([]);
};

const INFRASTRUCTURE: readonly (readonly [name: string, type: Type, preset: unknown, words: string])[] = [
  ["mcp_host", "string", "0.0.0.0", "mcp_host | string | 0.0.0.0"],
  ["mcp_port", "integer", 42_042, "mcp_port | integer | 42042"],
  ["default_client_model", "string", null, "default_client_model | string"],
  ["max_concurrent_requests", "integer", 20, "max_concurrent_requests | integer | 20"],
  ["uvicorn_workers", "integer", 1, "uvicorn_workers | integer | 1"],
  ["uvicorn_limit_concurrency", "integer", 200, "uvicorn_limit_concurrency | integer | 200"],
  ["log_level", "string", "info", "log_level | string | info"],
  ["operation_mode", "string", "online", "operation_mode | string | online"],
  ["http_timeout", "integer", 120, "http_timeout | integer seconds | 120"],
  ["search_timeout", "integer", 30, "search_timeout | integer seconds | 30"],
  ["search_include_stats", "boolean", true, "search_include_stats | boolean | true"],
  ["default_fetch_mode", "string", "surrounding", "default_fetch_mode | string | surrounding"],
  ["default_fetch_surrounding_chars", "integer", 1000, "default_fetch_surrounding_chars | integer | 1000"],
  ["crawler_browser_first", "boolean", true, "crawler_browser_first | boolean | true"],
  ["allow_index_builds", "boolean", false, "allow_index_builds | boolean | false"],
];
const wrongInfrastructure = await validated({ infrastructure: wrongly(INFRASTRUCTURE), tenants: [] });
for (const [name, type, preset, words] of INFRASTRUCTURE)
  statement("infrastructure", words, () => {
    holdsType(infrastructure[name], type, preset);
    refuses(wrongInfrastructure, `infrastructure.${name}`);
  });

const FALLBACK = [
  ["enabled", "boolean", false, "enabled | boolean | false"],
  ["endpoint", "string", null, "endpoint | string | null"],
  ["timeout_seconds", "integer", 20, "timeout_seconds | integer | 20"],
  ["batch_size", "integer", 1, "batch_size | integer | 1"],
  ["max_retries", "integer", 2, "max_retries | integer | 2"],
  ["api_key_env", "string", null, "api_key_env | string | null"],
] as const;
const wrongFallback = await validated({
  infrastructure: { article_extractor_fallback: wrongly(FALLBACK) },
  tenants: [],
});
for (const [name, type, preset, words] of FALLBACK)
  statement("infrastructure", words, () => {
    holdsType(infrastructure.article_extractor_fallback?.properties?.[name], type, preset);
    refuses(wrongFallback, `infrastructure.article_extractor_fallback.${name}`);
  });

statement("infrastructure", "article_extractor_fallback | object | disabled", async () => {
  const field = infrastructure.article_extractor_fallback;
  expect([field?.type, field?.default, field?.properties?.enabled?.default]).toEqual(["object", {}, false]);
  const lines = await validated({ infrastructure: { article_extractor_fallback: "x" }, tenants: [] });
  refuses(lines, "infrastructure.article_extractor_fallback");
});

statement(
  "Configuration file deployment.json",
  "object with `infrastructure` (object) and `tenants` (array of tenant objects)",
  async () => {
    expect(schema.properties?.infrastructure?.type).toBe("object");
    expect(schema.properties?.tenants?.type).toBe("array");
    expect(await validated({ infrastructure: [], tenants: {} })).toEqual([
      "infrastructure: must be an object, not a list",
      "tenants: must be a list of tenants, not an object",
    ]);
    expect(await validated({ infrastructure: {}, tenants: [] })).toEqual([]);
  },
);

/** Whether a field of a tenant is required, its type and default; tenants of which kinds have it. */
type TenantRow = readonly [name: string, type: Type, preset: unknown, words: string];
const base = (source: string): Readonly<Record<string, unknown>> => ({
  source_type: source,
  codename: `${source.slice(0, 4)}-docs`,
  docs_name: "Docs",
  docs_root_dir: source,
});
const WHOLE: Readonly<Record<string, object>> = {
  online: { ...base("online"), docs_entry_url: "https://docs.example/" },
  git: { ...base("git"), git_repo_url: "https://git.example/a.git", git_subpaths: ["docs"] },
  filesystem: base("filesystem"),
};

async function declareRows(
  section: string,
  sources: readonly string[],
  rows: readonly TenantRow[],
): Promise<void> {
  const named = rows.filter(([name]) => name !== "source_type" && name !== "codename");
  const wrong = await validated({
    tenants: sources.map((source) => ({ ...WHOLE[source], ...wrongly(named) })),
  });
  for (const [name, type, preset, words] of rows)
    statement(section, words, async () => {
      for (const [place, source] of sources.entries()) {
        const { properties, required } = tenantOf(source);
        holdsType(properties?.[name], type, preset);
        expect(required?.includes(name)).toBe(preset === undefined);
        if (named.some(([one]) => one === name)) refuses(wrong, `tenants[${place}].${name}`);
        if (preset !== undefined) continue;
        const { [name]: _, ...without } = WHOLE[source] as Record<string, unknown>;
        const [problem] = await validated({ tenants: [without] });
        expect(problem).toMatch(
          new RegExp(`^tenants\\[0\\]\\.${name}: (?:is required|.* must specify ${name})`),
        );
      }
    });
}

await declareRows(
  "Tenant, common fields",
  ["online", "git", "filesystem"],
  [
    ["source_type", "string", undefined, "source_type | string | yes | —"],
    ["codename", "string", undefined, "codename | string | yes | —"],
    ["docs_name", "string", undefined, "docs_name | string | yes | —"],
    ["docs_root_dir", "string", undefined, "docs_root_dir | string | yes | —"],
    ["allow_index_builds", "boolean", null, "allow_index_builds | boolean | no"],
    ["test_queries", "object", null, "test_queries | object | no | null"],
    ["search", "object", {}, "search | object | no | defaults"],
  ],
);
await declareRows(
  "Tenant, common fields",
  ["online", "git"],
  [["refresh_schedule", "string", null, "refresh_schedule | string | no | null"]],
);
await declareRows(
  "Online tenant",
  ["online"],
  [
    ["docs_sitemap_url", "string", "", "docs_sitemap_url | string | conditional | empty"],
    ["docs_entry_url", "string", "", "docs_entry_url | string | conditional | empty"],
    ["url_whitelist_prefixes", "string", "", "url_whitelist_prefixes | string | no | empty"],
    ["url_blacklist_prefixes", "string", "", "url_blacklist_prefixes | string | no | empty"],
    ["enable_crawler", "boolean", false, "enable_crawler | boolean | no | false"],
    ["max_crawl_pages", "integer", 10_000, "max_crawl_pages | integer | no | 10000"],
  ],
);
await declareRows(
  "Git tenant",
  ["git"],
  [
    ["git_repo_url", "string", undefined, "git_repo_url | string | yes | —"],
    ["git_branch", "string", "main", "git_branch | string | no | main"],
    ["git_subpaths", "array", undefined, "git_subpaths | array of string | yes | —"],
    ["git_strip_prefix", "string", null, "git_strip_prefix | string | no | null"],
    ["git_auth_token_env", "string", null, "git_auth_token_env | string | no | null"],
    ["git_sync_interval_minutes", "integer", null, "git_sync_interval_minutes | integer | no | null"],
  ],
);

statement(
  "Filesystem tenant",
  "Only `docs_root_dir` (required, path to the Markdown directory)",
  async () => {
    const others = Object.keys(tenantOf("online").properties ?? {});
    const own = tenantOf("filesystem");
    expect(own.required?.toSorted()).toEqual(["codename", "docs_name", "docs_root_dir", "source_type"]);
    // What a folder has besides says which of its files are documents.
    expect(Object.keys(own.properties ?? {}).filter((name) => !others.includes(name))).toEqual([
      "include",
      "exclude",
    ]);
    expect(await validated({ tenants: [WHOLE.filesystem] })).toEqual([]);
  },
);

const search = tenantOf("online").properties?.search?.properties ?? {};
const SEARCH = [
  ["enabled", "boolean", true, "search.enabled | boolean | true"],
  ["engine", "string", "bm25", "search.engine | string | bm25"],
  ["analyzer_profile", "string", "default", "search.analyzer_profile | string | default"],
] as const;
const wrongSearch = await validated({
  tenants: [
    {
      ...WHOLE.filesystem,
      search: {
        ...wrongly(SEARCH),
        ranking: { bm25_k1: "1", bm25_b: "1" },
        boosts: { title: "1" },
        snippet: { style: 1, fragment_char_limit: 1.5, max_fragments: "1", surrounding_context_chars: 99.5 },
      },
    },
  ],
});
for (const [name, type, preset, words] of SEARCH)
  statement("Search tuning", words, () => {
    holdsType(search[name], type, preset);
    refuses(wrongSearch, `tenants[0].search.${name}`);
  });
for (const [name, preset, words] of [
  ["bm25_k1", 1.2, "search.ranking.bm25_k1 | float | 1.2"],
  ["bm25_b", 0.75, "search.ranking.bm25_b | float | 0.75"],
] as const)
  statement("Search tuning", words, () => {
    holdsType(search.ranking?.properties?.[name], "number", preset);
    refuses(wrongSearch, `tenants[0].search.ranking.${name}`);
  });
statement("Search tuning", "search.boosts | object of float", () => {
  const types = Object.values(search.boosts?.properties ?? {}).map(({ type }) => type);
  expect([search.boosts?.type, ...new Set(types)]).toEqual(["object", "number"]);
  refuses(wrongSearch, "tenants[0].search.boosts.title");
});
statement(
  "Search tuning",
  "Keys `style` (string), `fragment_char_limit`, `max_fragments`, `surrounding_context_chars` (integers).",
  () => {
    const types = Object.entries(search.snippet?.properties ?? {}).map(([name, { type }]) => [name, type]);
    expect([search.snippet?.type, Object.fromEntries(types)]).toEqual([
      "object",
      {
        style: "string",
        fragment_char_limit: "integer",
        max_fragments: "integer",
        surrounding_context_chars: "integer",
      },
    ]);
    for (const name of ["style", "fragment_char_limit", "max_fragments", "surrounding_context_chars"])
      refuses(wrongSearch, `tenants[0].search.snippet.${name}`);
  },
);

const queries = tenantOf("online").properties?.test_queries?.anyOf?.[0]?.properties ?? {};
const wrongQueries = await validated({
  tenants: [{ ...WHOLE.filesystem, test_queries: { natural: "x", phrases: [1], words: {} } }],
});
for (const [name, words] of [
  ["natural", "`natural` (array of string: full questions)"],
  ["phrases", "`phrases` (array of string: short phrases)"],
  ["words", "`words` (array of string: single keywords)"],
] as const)
  statement("Test queries", words, () => {
    expect(Object.keys(queries)).toEqual(["natural", "phrases", "words"]);
    expect([queries[name]?.type, queries[name]?.items?.type]).toEqual(["array", "string"]);
    expect(wrongQueries.some((line) => line.startsWith(`tenants[0].test_queries.${name}`))).toBe(true);
  });

/** Limits that the file sets: the lowest and the highest value, null where the document names none. */
const LIMITS: readonly (readonly [
  words: string,
  field: SchemaField | undefined,
  preset: unknown,
  range: readonly number[] | null,
])[] = [
  ["search_timeout | 30 seconds", infrastructure.search_timeout, 30, null],
  ["http_timeout | 120 seconds", infrastructure.http_timeout, 120, null],
  ["max_concurrent_requests | 20", infrastructure.max_concurrent_requests, 20, null],
  ["uvicorn_limit_concurrency | 200 connections", infrastructure.uvicorn_limit_concurrency, 200, null],
  [
    "max_crawl_pages (online tenant) | 10000 per sync",
    tenantOf("online").properties?.max_crawl_pages,
    10_000,
    null,
  ],
  [
    "git_sync_interval_minutes | 5 to 1440",
    tenantOf("git").properties?.git_sync_interval_minutes?.anyOf?.[0],
    undefined,
    [5, 1440],
  ],
];
for (const [words, field, preset, range] of LIMITS)
  statement("Limits", words, () => {
    expect([field?.type, field?.default]).toEqual(["integer", preset]);
    if (range) expect([field?.minimum, field?.maximum]).toEqual([...range]);
  });
statement("Limits", "fallback timeout_seconds / batch_size / max_retries | 20 / 1 / 2", () => {
  const { timeout_seconds, batch_size, max_retries } =
    infrastructure.article_extractor_fallback?.properties ?? {};
  expect([timeout_seconds?.default, batch_size?.default, max_retries?.default]).toEqual([20, 1, 2]);
});
statement("Limits", "bm25_k1 / bm25_b | 0.5-3.0 / 0.1-1.0", () => {
  const { bm25_k1, bm25_b } = search.ranking?.properties ?? {};
  expect([bm25_k1?.minimum, bm25_k1?.maximum, bm25_b?.minimum, bm25_b?.maximum]).toEqual([0.5, 3, 0.1, 1]);
});
