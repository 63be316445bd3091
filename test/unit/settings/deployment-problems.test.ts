import { describe, expect, test } from "bun:test";
import { folder, problemsOf, repository, tenants, web } from "../../support/deployment.ts";

const infrastructure = (fields: object): object => ({ infrastructure: fields, tenants: [folder] });

/** Files with one problem, by the words for it. */
const REFUSED: Readonly<Record<string, unknown>> = {
  "(file): must be an object, not a list": [],
  "(file): must be an object, not 3": "3",
  "tenants[1].docs_root_dir: Tenant 'repo' cannot share the directory of 'web'": tenants(
    web,
    { ...repository, docs_root_dir: "./web/" },
    { ...folder, docs_root_dir: "web" },
  ),
  'tenants[0]: must be an object, not "docs"': { tenants: ["docs"] },
  "tenant: unknown field; did you mean tenants?": { tenants: [], tenant: [] },
  "infrastructure.mcp_prot: unknown field; did you mean mcp_port?": infrastructure({ mcp_prot: 1 }),
  "infrastructure.zzzzzz: unknown field": infrastructure({ zzzzzz: 1 }),
  "infrastructure.mcp_port: must be a whole number from 1 to 65535, not 0": infrastructure({ mcp_port: 0 }),
  "infrastructure.mcp_port: must be a whole number from 1 to 65535, not 1.5": infrastructure({
    mcp_port: 1.5,
  }),
  'infrastructure.mcp_host: must not be empty, not ""': infrastructure({ mcp_host: " " }),
  "infrastructure.max_concurrent_requests: must be a whole number from 1 to 1000, not 1001": infrastructure({
    max_concurrent_requests: 1001,
  }),
  "infrastructure.uvicorn_workers: must be a whole number from 1 to 64, not 0": infrastructure({
    uvicorn_workers: 0,
  }),
  "infrastructure.uvicorn_limit_concurrency: must be a whole number from 10 to 100000, not 9": infrastructure(
    { uvicorn_limit_concurrency: 9 },
  ),
  "infrastructure.article_extractor_fallback.endpoint: must be an absolute http or https URL without credentials":
    infrastructure({ article_extractor_fallback: { endpoint: "https://u:pw@h/" } }),
  "infrastructure.article_extractor_fallback.api_key_env: must be the name of an environment variable (A–Z, 0–9 and _, not beginning with a digit)":
    infrastructure({ article_extractor_fallback: { api_key_env: "sk-token-1234" } }),
  'tenants[0].source_type: must be one of online, git, filesystem, not "web"': tenants({
    ...folder,
    source_type: "web",
  }),
  "tenants[0].refresh_schedule: Tenant 'docs' is a folder, which needs no schedule: it is rescanned when it changes":
    tenants({ ...folder, refresh_schedule: "0 0 * * *" }),
  'tenants[0].docs_entry_url: must be absolute http or https URLs without credentials, with commas between several, not "https://a.example/, docs.example.org"':
    tenants({ ...web, docs_entry_url: "https://a.example/, docs.example.org" }),
  "tenants[0].max_crawl_pages: must be a whole number from 1 to 1000000, not 0": tenants({
    ...web,
    max_crawl_pages: 0,
  }),
  "tenants[0].git_repo_url: must be the URL of a git repository without credentials": tenants({
    ...repository,
    git_repo_url: "https://ghp_secret@git.example.org/a/b",
  }),
  "tenants[0].git_sync_interval_minutes: must be a whole number from 5 to 1440, not 4": tenants({
    ...repository,
    git_sync_interval_minutes: 4,
  }),
  "tenants[0].search: must be an object, not a list": tenants({ ...folder, search: [] }),
};

describe("an invalid deployment file is refused with", () => {
  test.each(Object.entries(REFUSED))("%s", (line, json) => {
    expect(problemsOf(json)).toEqual([line]);
  });

  test.each<[string, unknown, string[]]>([
    [
      "timeouts out of range",
      infrastructure({ http_timeout: 601, search_timeout: 0 }),
      [
        "infrastructure.http_timeout: must be a whole number from 1 to 600, not 601",
        "infrastructure.search_timeout: must be a whole number from 1 to 300, not 0",
      ],
    ],
    [
      "fallback limits out of range",
      infrastructure({
        article_extractor_fallback: { timeout_seconds: 121, batch_size: 9, max_retries: 11 },
      }),
      [
        "infrastructure.article_extractor_fallback.timeout_seconds: must be a whole number from 1 to 120, not 121",
        "infrastructure.article_extractor_fallback.batch_size: must be a whole number from 1 to 8, not 9",
        "infrastructure.article_extractor_fallback.max_retries: must be a whole number from 0 to 10, not 11",
      ],
    ],
    ...["../etc", "/etc", "-x", "a/../../b", "C:\\x", ":(glob)**", "@{u}", "a\u0000b", "a\n"].map(
      (path): [string, unknown, string[]] => [
        `the path ${path}`,
        tenants({ ...repository, git_subpaths: [path] }),
        [
          `tenants[0].git_subpaths[0]: must be a path inside the repository, without .. and control characters, and not beginning with /, -, : or @{, not ${JSON.stringify(path)}`,
        ],
      ],
    ),
    ...[
      ...[
        "--upload-pack=x",
        "-",
        ":main",
        "@{-1}",
        "main@{1}",
        "@",
        "a b",
        "a\tb",
        "a\u0000",
        "\u009bm",
        "a..b",
      ],
      ...[
        "/main",
        "main/",
        "a//b",
        ".hidden",
        "a/.b",
        "main.",
        "main.lock",
        "a~1",
        "a^",
        "a?b",
        "a*",
        "a[b",
        "a\\b",
      ],
    ].map((branch): [string, unknown, string[]] => [
      `the branch ${JSON.stringify(branch)}`,
      tenants({ ...repository, git_branch: branch }),
      [
        `tenants[0].git_branch: must be the name of a branch or tag, or a commit, not ${JSON.stringify(branch)}`,
      ],
    ]),
    ...["https://git.example.org/a b", "https://git.example.org/a\tb", "https://git.example.org/a\nb"].map(
      (url): [string, unknown, string[]] => [
        `the repository URL ${JSON.stringify(url)}`,
        tenants({ ...repository, git_repo_url: url }),
        [
          `tenants[0].git_repo_url: must be the URL of a git repository without credentials, not ${JSON.stringify(url)}`,
        ],
      ],
    ),
    [
      "search settings out of range",
      tenants({
        ...folder,
        search: {
          engine: "tfidf",
          analyzer_profile: "fast",
          ranking: { bm25_k1: 0.4, bm25_b: 1.1 },
          boosts: { title: 5.1, heading: 1 },
          snippet: {
            style: "bold",
            fragment_char_limit: 79,
            max_fragments: 6,
            surrounding_context_chars: 39,
          },
        },
      }),
      [
        "tenants[0].search.boosts.heading: unknown field; did you mean headings?",
        'tenants[0].search.engine: must be one of bm25, not "tfidf"',
        'tenants[0].search.analyzer_profile: must be one of default, aggressive-stem, code-friendly, not "fast"',
        "tenants[0].search.ranking.bm25_k1: must be a number from 0.5 to 3, not 0.4",
        "tenants[0].search.ranking.bm25_b: must be a number from 0.1 to 1, not 1.1",
        "tenants[0].search.boosts.title: must be a number from 0 to 5, not 5.1",
        'tenants[0].search.snippet.style: must be one of plain, html, rich, not "bold"',
        "tenants[0].search.snippet.fragment_char_limit: must be a whole number from 80 to 2000, not 79",
        "tenants[0].search.snippet.max_fragments: must be a whole number from 1 to 5, not 6",
        "tenants[0].search.snippet.surrounding_context_chars: must be a whole number from 40 to 800, not 39",
      ],
    ],
    [
      "synonyms that are empty, too long or alone",
      tenants({
        ...folder,
        search: {
          synonyms: {
            groups: [["a", ""], ["alone"], ["w".repeat(65), "b"], "c"],
            one_way: { js: [], " ": ["x"], "one two three four five": ["y"] },
            abbreviations: 1,
          },
        },
      }),
      [
        "tenants[0].search.synonyms.abbreviations: must be true or false, not 1",
        'tenants[0].search.synonyms.groups[0][1]: must be one to four words of at most 64 characters each, not ""',
        "tenants[0].search.synonyms.groups[1]: must hold two words or more, not a list",
        `tenants[0].search.synonyms.groups[2][0]: must be one to four words of at most 64 characters each, not "${"w".repeat(65)}"`,
        'tenants[0].search.synonyms.groups[3]: must be a list of words, not "c"',
        "tenants[0].search.synonyms.one_way.js: must hold one word or more, not a list",
        'tenants[0].search.synonyms.one_way[" "]: must be one to four words of at most 64 characters each, not " "',
        'tenants[0].search.synonyms.one_way["one two three four five"]: must be one to four words of at most 64 characters each, not "one two three four five"',
      ],
    ],
    [
      "test queries of other kinds",
      tenants({ ...folder, test_queries: { natural: "how?", word: [] } }),
      [
        "tenants[0].test_queries.word: unknown field; did you mean words?",
        'tenants[0].test_queries.natural: must be a list of texts, not "how?"',
      ],
    ],
  ])("%s", (_, json, expected) => {
    expect(problemsOf(json)).toEqual(expected);
  });

  test("all problems of a file at once", () => {
    const json = {
      infrastructure: { mcp_port: 0, a: 1 },
      tenants: [{ source_type: "git" }, { ...web, x: 1 }, 3],
    };
    expect(problemsOf(json)).toHaveLength(9);
  });

  test("a message about a field that is nested without end", () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    expect(problemsOf(`{"tenants": [], "constructor": ${deep}}`)).toEqual(["constructor: unknown field"]);
  });

  test("no password in any message", () => {
    const secret = "https://user:hunter2@git.example.org/x";
    const json = {
      infrastructure: { mcp_host: 3, log_level: secret },
      tenants: [
        { ...repository, git_repo_url: secret, git_branch: `${secret} `, search: { engine: secret } },
      ],
    };
    expect(problemsOf(json).length).toBeGreaterThan(3);
    expect(problemsOf(json).join("\n")).not.toContain("hunter2");
  });
});
