import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { CRAWL } from "../../options/index.ts";
import { parsePageUrl, parseUrlPrefix } from "../../urls/index.ts";
import { DEFAULT_SEARCH } from "../defaults.ts";
import { fieldsOf, type JsonField, listsForObjects, scheduleProblem, unknownFields } from "./fields.ts";

// Every message completes "must …"; reading makes it a line with the path in front.

const flag = (fallback: boolean) => v.optional(v.boolean("be true or false"), fallback);
/** An object that may be left out, with fields that may all be left out. */
const section = <const Fields extends v.ObjectEntries>(fields: Fields) =>
  v.optional(v.strictObject(fields), {} as v.InferInput<v.StrictObjectSchema<Fields, undefined>>);
const orNull = <Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.nullable(schema), null);
const words = v.pipe(v.string("be text"), v.trim(), v.nonEmpty("not be empty"));

const range = (kind: string, min: number, max: number): string => `be a ${kind} from ${min} to ${max}`;

function whole(min: number, max: number) {
  const message = range("whole number", min, max);
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

function decimal(min: number, max: number) {
  const message = range("number", min, max);
  return v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message));
}

const oneOf = <const T extends readonly string[]>(options: T) =>
  v.picklist(options, `be one of ${options.join(", ")}`);

const VARIABLE_NAME = "be the name of an environment variable (A–Z, 0–9 and _, not beginning with a digit)";
const variableName = v.pipe(v.string(VARIABLE_NAME), v.regex(/^[A-Z_][A-Z0-9_]*$/, VARIABLE_NAME));

const HTTP_URL = "be an absolute http or https URL without credentials";
const hasNoCredentials = (url: string): boolean => !/^[^/]*\/\/[^/?#]*@/.test(url);
// A browser's parser allows blanks in an address; in a file they are a slip, or two addresses in one.
const isUnbroken = (text: string): boolean => !/[\s\p{Cc}]/u.test(text);
const isHttpUrl = (text: string): boolean =>
  parsePageUrl(text) !== null && hasNoCredentials(text.trim()) && isUnbroken(text.trim());

/** Splits a comma-separated field. */
export const partsOf = (list: string): string[] =>
  list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function list(expected: string, isPart: (part: string) => boolean) {
  const message = `be ${expected}, with commas between several`;
  return v.optional(
    v.pipe(
      v.string(message),
      v.check((text) => partsOf(text).every(isPart), message),
    ),
    "",
  );
}

const urls = list("absolute http or https URLs without credentials", isHttpUrl);
const prefixes = list(
  "beginnings of http or https URLs",
  (part) => parseUrlPrefix(part) !== null && hasNoCredentials(part) && isUnbroken(part),
);

const httpUrl = v.pipe(v.string(HTTP_URL), v.check(isHttpUrl, HTTP_URL));

const fallback = v.strictObject({
  enabled: flag(false),
  endpoint: orNull(httpUrl),
  timeout_seconds: v.optional(whole(1, 120), 20),
  batch_size: v.optional(whole(1, 8), 1),
  max_retries: v.optional(whole(0, 10), 2),
  api_key_env: orNull(variableName),
});

const oauth = v.strictObject({
  issuer: httpUrl,
  audience: words,
  jwks_url: orNull(httpUrl),
  tenants_claim: orNull(words),
});

const infrastructure = v.strictObject({
  mcp_host: v.optional(words, "0.0.0.0"),
  mcp_port: v.optional(whole(1, 65_535), 42_042),
  default_client_model: orNull(words),
  max_concurrent_requests: v.optional(whole(1, 1000), 20),
  uvicorn_workers: v.optional(whole(1, 64), 1),
  uvicorn_limit_concurrency: v.optional(whole(10, 100_000), 200),
  log_level: v.optional(oneOf(["debug", "info", "warning", "error"]), "info"),
  operation_mode: v.optional(oneOf(["online", "offline"]), "online"),
  http_timeout: v.optional(whole(1, 600), 120),
  search_timeout: v.optional(whole(1, 300), 30),
  search_include_stats: flag(true),
  default_fetch_mode: v.optional(oneOf(["full", "surrounding"]), "surrounding"),
  default_fetch_surrounding_chars: v.optional(whole(1, 1_000_000), 1000),
  max_fetch_chars: v.optional(whole(1000, 100_000_000), 400_000),
  crawler_browser_first: flag(true),
  allow_index_builds: flag(false),
  allow_page_fetches: flag(false),
  max_failed_percent: v.optional(decimal(0, 100), 1),
  query_log_days: v.optional(whole(0, 3650), 0),
  keys_file: orNull(words),
  oauth: orNull(oauth),
  article_extractor_fallback: v.optional(fallback, {}),
});

const { boosts: BOOSTS } = DEFAULT_SEARCH.ranking;
const { snippet: SNIPPET } = DEFAULT_SEARCH;

const boost = (preset: number) => v.optional(decimal(0, 5), preset);

const SYNONYM = "be one to four words of at most 64 characters each";
const synonym = v.pipe(v.string(SYNONYM), v.regex(/^\s*\S{1,64}(?:\s+\S{1,64}){0,3}\s*$/, SYNONYM));
const synonymList = (least: number, expected: string) =>
  v.pipe(v.array(synonym, "be a list of words"), v.minLength(least, expected));

const search = v.strictObject({
  enabled: flag(true),
  engine: v.optional(oneOf(["bm25"]), "bm25"),
  analyzer_profile: v.optional(
    oneOf(["default", "aggressive-stem", "code-friendly"]),
    DEFAULT_SEARCH.profile,
  ),
  ranking: section({
    bm25_k1: v.optional(decimal(0.5, 3), DEFAULT_SEARCH.ranking.k1),
    bm25_b: v.optional(decimal(0.1, 1), DEFAULT_SEARCH.ranking.b),
  }),
  boosts: section({
    title: boost(BOOSTS.title),
    headings_h1: boost(BOOSTS.headings_h1),
    headings_h2: boost(BOOSTS.headings_h2),
    headings: boost(BOOSTS.headings),
    body: boost(BOOSTS.body),
    code: boost(BOOSTS.code),
    path: boost(BOOSTS.path),
    url: boost(BOOSTS.url),
  }),
  snippet: section({
    style: v.optional(oneOf(["plain", "html", "rich"]), SNIPPET.style),
    fragment_char_limit: v.optional(whole(80, 2000), SNIPPET.fragmentChars),
    max_fragments: v.optional(whole(1, 5), SNIPPET.maxFragments),
    surrounding_context_chars: v.optional(whole(40, 800), SNIPPET.contextChars),
  }),
  synonyms: section({
    abbreviations: flag(DEFAULT_SEARCH.synonyms.abbreviations),
    groups: v.optional(v.array(synonymList(2, "hold two words or more"), "be a list of lists of words"), []),
    one_way: v.optional(
      v.record(synonym, synonymList(1, "hold one word or more"), "be an object of lists of words"),
      {},
    ),
  }),
});

const queries = v.optional(v.array(words, "be a list of texts"), []);

const CODENAME = "be 2 to 64 lower-case letters, digits, _ and -, beginning with a letter";
const codename = v.pipe(v.string(CODENAME), v.regex(/^[a-z][a-z0-9_-]{1,63}$/, CODENAME));

const VERSION =
  "be a version that begins with a number, like 18.2.0, v2 or 2024.1, of at most 100 characters";
const MAX_GLOB = 200;
const GLOB = `be a path with * and ** of at most ${MAX_GLOB} characters`;
const globs = v.optional(
  v.array(
    v.pipe(v.string(GLOB), v.trim(), v.nonEmpty(GLOB), v.maxLength(MAX_GLOB, GLOB)),
    "be a list of texts",
  ),
  [],
);

const common = {
  codename,
  docs_name: words,
  group: orNull(codename),
  boost: globs,
  deboost: globs,
  description: orNull(words),
  library: orNull(v.pipe(words, v.maxLength(200, "have at most 200 characters"))),
  version: orNull(v.pipe(v.string(VERSION), v.trim(), v.maxLength(100, VERSION), v.regex(/^v?\d/i, VERSION))),
  language: orNull(oneOf(["da", "de", "en", "es", "fi", "fr", "it", "nl", "no", "pt", "ru", "sv"])),
  docs_root_dir: words,
  refresh_schedule: orNull(
    v.pipe(
      v.string("be text"),
      v.check(
        (text) => scheduleProblem(text) === null,
        (issue) => scheduleProblem(issue.input) ?? "",
      ),
    ),
  ),
  allow_index_builds: orNull(v.boolean("be true or false")),
  test_queries: orNull(v.strictObject({ natural: queries, phrases: queries, words: queries })),
  search: v.optional(search, {}),
};

const online = v.strictObject({
  source_type: v.literal("online"),
  ...common,
  docs_sitemap_url: urls,
  docs_entry_url: urls,
  url_whitelist_prefixes: prefixes,
  url_blacklist_prefixes: prefixes,
  enable_crawler: flag(false),
  max_crawl_pages: v.optional(whole(CRAWL.maxPages.kind.min, CRAWL.maxPages.kind.max), 10_000),
});

const REPOSITORY = "be the URL of a git repository without credentials";
// `host:path` is git's short form of ssh.
const isRepository = (text: string): boolean =>
  (URL.canParse(text) || /^[\w.-]+@[\w.-]+:[\w./~-]+$/.test(text)) &&
  !/^[^/]*\/\/[^/?#@]*:[^/?#]*@/.test(text) &&
  !/^https?:\/\/[^/?#]*@/i.test(text) &&
  !text.startsWith("-") &&
  isUnbroken(text);

const SUBPATH =
  "be a path inside the repository, without .. and control characters, and not beginning with /, -, : or @{";
// A colon in front would start git's pathspec magic.
const isSubpath = (text: string): boolean =>
  !/^[/\\:-]|^@\{|^[a-z]:/i.test(text) && !text.split(/[/\\]/).includes("..");
const subpath = v.pipe(
  v.string(SUBPATH),
  v.check((text) => !/\p{Cc}/u.test(text), SUBPATH),
  v.trim(),
  v.nonEmpty(SUBPATH),
  v.check(isSubpath, SUBPATH),
);

const REVISION = "be the name of a branch or tag, or a commit";
// The rules of git check-ref-format. `@` and `@{…}` are refused because they refer to a local history.
const isRevision = (text: string): boolean =>
  /^(?!-)[^\s\p{Cc}~^:?*[\\]+$/u.test(text) &&
  !text.includes("..") &&
  !text.includes("@{") &&
  text !== "@" &&
  !/^\/|\/$|\/\/|\.$|(?:^|\/)\.|\.lock(?:\/|$)/.test(text);

const MAX_PATTERNS = 200;
const MAX_PATTERN_CHARS = 500;

/** The rule that a pattern of `include` or `exclude` breaks, as words after "must"; null when it breaks none. */
function patternProblem(pattern: string): string | null {
  const bare = pattern.replace(/^!/, "");
  if (bare.replaceAll("/", "").trim() === "") return "be a pattern such as drafts/ or *.draft.md";
  if (pattern.length > MAX_PATTERN_CHARS) return `have at most ${MAX_PATTERN_CHARS} characters`;
  if (/\p{Cc}/u.test(bare)) return "have no control characters";
  if (bare.startsWith("!")) return "begin with one ! at most";
  if (bare.includes("//")) return "have no empty names between slashes";
  if (/^[a-z]:[/\\]/i.test(bare) || bare.split("/").some((name) => name === ".." || name === "."))
    return "be relative to the folder or repository, without . and ..";
  return null;
}

/** @param refuse completes "must …"; null for a good pattern */
const patterns = (refuse: (pattern: string) => string | null) =>
  v.optional(
    v.pipe(
      v.array(
        v.pipe(
          v.string("be text"),
          v.check(
            (pattern) => refuse(pattern) === null,
            ({ input }) => refuse(input) ?? "",
          ),
        ),
        "be a list of patterns",
      ),
      v.maxLength(MAX_PATTERNS, `have at most ${MAX_PATTERNS} patterns`),
    ),
    [],
  );

/** Which files of a folder or repository are documents. */
const chosenFiles = {
  include: patterns((text) => (text.startsWith("!") ? "not begin with !" : patternProblem(text))),
  exclude: patterns(patternProblem),
};

const git = v.strictObject({
  source_type: v.literal("git"),
  ...common,
  git_repo_url: v.pipe(v.string(REPOSITORY), v.trim(), v.check(isRepository, REPOSITORY)),
  git_branch: v.optional(v.pipe(v.string(REVISION), v.check(isRevision, REVISION)), "main"),
  ...chosenFiles,
  git_subpaths: v.pipe(v.array(subpath, "be a list of paths"), v.minLength(1, "hold at least one path")),
  git_strip_prefix: orNull(subpath),
  git_auth_token_env: orNull(variableName),
  git_ssh_key_file: orNull(words),
  git_sync_interval_minutes: orNull(whole(5, 1440)),
});

const filesystem = v.strictObject({ source_type: v.literal("filesystem"), ...common, ...chosenFiles });

const SOURCES = "be one of online, git, filesystem";

const deployment = v.strictObject({
  $schema: v.optional(v.string("be text")),
  name: orNull(codename),
  infrastructure: v.optional(infrastructure, {}),
  tenants: v.array(v.variant("source_type", [online, git, filesystem], SOURCES), "be a list of tenants"),
});

/** The contents of `deployment.json` with defaults filled in. */
export type DeploymentFile = v.InferOutput<typeof deployment>;
export type TenantFile = DeploymentFile["tenants"][number];

/** One problem: where it is, and what the value must be ("be text"), or which field is unknown or missing. */
export type SchemaProblem = {
  readonly path: readonly (string | number)[];
  readonly kind: "unknown" | "missing" | "invalid";
  readonly expected: string;
  readonly written: unknown;
};

/** Checks a parsed file against the schema and fills in the defaults. It reports all problems at once. */
export function checkDeployment(
  json: unknown,
): { readonly file: DeploymentFile } | { readonly problems: readonly SchemaProblem[] } {
  const noObject = { kind: "invalid", expected: "be an object", written: [] } as const;
  const lists = listsForObjects(jsonSchema(), json).map((path) => ({ path, ...noObject }));
  // The library's check stops at the first unknown field of an object.
  const unknownField = { kind: "unknown", expected: "", written: null } as const;
  const unknown = unknownFields(jsonSchema(), json).map((path) => ({ path, ...unknownField }));
  const result = v.safeParse(deployment, json);
  if (result.success && lists.length === 0) return { file: result.output };
  const isBelowList = (problem: SchemaProblem): boolean =>
    lists.some(({ path }) => path.every((step, index) => step === problem.path[index]));
  const others = (result.issues ?? []).filter((issue) => !isUnknownField(issue)).map(toProblem);
  return { problems: [...lists, ...[...unknown, ...others].filter((problem) => !isBelowList(problem))] };
}

const isUnknownField = ({ type, expected }: v.BaseIssue<unknown>): boolean =>
  type === "strict_object" && expected === "never";

function toProblem(issue: v.BaseIssue<unknown>): SchemaProblem {
  const path = (issue.path ?? []).map((step) => (typeof step.key === "number" ? step.key : String(step.key)));
  const kind = issue.received === "undefined" ? "missing" : "invalid";
  const isNoObject =
    issue.type === "strict_object" || (issue.type === "variant" && path.at(-1) !== "source_type");
  const expected = isNoObject ? "be an object" : issue.message;
  return { path, kind, expected, written: issue.input };
}

/** The JSON Schema (draft 7) of `deployment.json`, for editors. */
export const deploymentJsonSchema = (): object =>
  toJsonSchema(deployment, { errorMode: "ignore", typeMode: "input" });

// The converter's return type is wider than its result for this schema.
const jsonSchema = (): JsonField => deploymentJsonSchema() as JsonField;

/** The names of the fields that are allowed at a path, for suggestions. */
export const knownFields = (path: readonly (string | number)[], source: unknown): readonly string[] =>
  fieldsOf(jsonSchema(), path, source);
