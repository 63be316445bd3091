import { describe, expect, test } from "bun:test";
import { deploymentJsonSchema } from "../../../src/settings/index.ts";
import { folder, readJson, repository, tenants, web } from "../../support/deployment.ts";

describe("a valid deployment file", () => {
  test.each(["*/14 * * * *", "0 3 1,15 * *", "5/15 1-3/2 31 1 0-6", "0 0 29 2 *", "0 0 31 2 1"])(
    "may have the schedule %p",
    (refresh_schedule) => {
      expect(readJson(tenants({ ...web, refresh_schedule })).tenants[0]).toMatchObject({
        schedule: refresh_schedule,
      });
    },
  );

  test("is filled up with the documented defaults", () => {
    const deployment = readJson(tenants(folder));
    expect(deployment.infrastructure).toEqual({
      host: "0.0.0.0",
      port: 42042,
      defaultClientModel: null,
      maxConcurrentRequests: 20,
      workers: 1,
      maxConnections: 200,
      logLevel: "info",
      isOffline: false,
      httpTimeoutMs: 120_000,
      searchTimeoutMs: 30_000,
      includeStats: true,
      fetchMode: "surrounding",
      fetchSurroundingChars: 1000,
      maxFetchChars: 400_000,
      preferBrowser: null,
      allowPageFetches: false,
      queryLogDays: 0,
      keysFile: null,
      oauth: null,
      fallback: null,
    });
    expect(deployment.tenants[0]).toMatchObject({ source: "filesystem", allowIndexBuilds: false });
    expect(deployment.warnings).toEqual([]);
  });

  test("names directories relative to its own", () => {
    const roots = readJson(tenants(folder, { ...web, docs_root_dir: "/var/web" })).tenants.map(
      (t) => t.rootDir,
    );
    expect(roots).toEqual(["/srv/docs/docs", "/var/web"]);
  });

  test("has lists separated by commas", () => {
    const [tenant] = readJson(
      tenants({
        ...web,
        docs_sitemap_url: "https://a.example/sitemap.xml, https://b.example/s.xml",
        url_whitelist_prefixes: "https://a.example/docs,https://b.example",
      }),
    ).tenants;
    expect(tenant).toMatchObject({
      sitemapUrls: ["https://a.example/sitemap.xml", "https://b.example/s.xml"],
      allowPrefixes: ["https://a.example/docs", "https://b.example/"],
    });
  });

  test("may begin with a byte order mark and name its schema", () => {
    expect(
      readJson(`\uFEFF${JSON.stringify({ $schema: "./schema.json", tenants: [folder] })}`).tenants,
    ).toHaveLength(1);
  });

  test("gives warnings for what is probably not meant", () => {
    const json = tenants(web, {
      ...repository,
      refresh_schedule: "0 0 * * *",
      git_sync_interval_minutes: 60,
    });
    expect(readJson(json).warnings).toEqual([
      "tenants[0]: Tenant 'web' has neither a sitemap nor enable_crawler: only its entry pages are fetched",
      "tenants[1].refresh_schedule: Tenant 'repo' has git_sync_interval_minutes, which replaces it",
    ]);
    expect(readJson({ tenants: [] }).warnings).toHaveLength(1);
    const infrastructure = { operation_mode: "offline", allow_page_fetches: true };
    expect(readJson({ infrastructure, ...tenants(folder) }).warnings).toEqual([
      "infrastructure.allow_page_fetches: no page is fetched in offline mode",
    ]);
  });

  test("warns of prefixes that allow no page of any sitemap's site", () => {
    const warningsOf = (docs_sitemap_url: string, url_whitelist_prefixes: string): number =>
      readJson(tenants({ ...web, docs_entry_url: "", docs_sitemap_url, url_whitelist_prefixes })).warnings
        .length;
    const sitemap = "https://docs.example.org/sitemap.xml";
    expect(warningsOf(sitemap, "https://docs.exmaple.org/en/")).toBe(1);
    expect(warningsOf(sitemap, "https://example.org/, http://other.example/")).toBe(1);
    expect(warningsOf(sitemap, "https://docs.example.org/en/")).toBe(0);
    expect(warningsOf(sitemap, "https://other.example/, http://docs.example.org/")).toBe(0);
    expect(warningsOf("https://www.example.org/sitemap.xml", "https://example.org/")).toBe(0);
    expect(warningsOf(`${sitemap}, https://other.example/s.xml`, "https://other.example/")).toBe(0);
    expect(warningsOf(sitemap, "")).toBe(0);
  });

  test.each([
    [
      { git_subpaths: ["docs/**/*.md"] },
      "git_subpaths[0]: Tenant 'repo': \"docs/**/*.md\" is a path, not a pattern",
    ],
    [
      { git_subpaths: ["docs", "a{b,c}"] },
      "git_subpaths[1]: Tenant 'repo': \"a{b,c}\" is a path, not a pattern",
    ],
    [{ git_subpaths: ["https://git.example.org/a/b/docs"] }, "is an address; a path inside the repository"],
    [{ git_subpaths: ["tree/main/docs"] }, "has the branch in it"],
    [
      { git_subpaths: ["-/blob/dev/docs"].map((path) => path.slice(2)), git_branch: "dev" },
      "has the branch in it",
    ],
    [{ git_subpaths: ["./.github"] }, "has a name that begins with a dot"],
    [
      { git_subpaths: ["docs"], git_strip_prefix: "doc" },
      'no subpath is below "doc", so nothing is stripped',
    ],
    [{ git_ssh_key_file: "key" }, "the repository is not reached over ssh"],
  ])("warns of a repository with %p", (fields, warning) => {
    const { warnings } = readJson(tenants({ ...repository, ...fields }));
    expect(warnings).toEqual([expect.stringContaining(warning)]);
  });

  test.each([
    ["", "be a pattern such as drafts/ or *.draft.md"],
    ["/", "be a pattern such as drafts/ or *.draft.md"],
    ["!", "be a pattern such as drafts/ or *.draft.md"],
    ["  ", "be a pattern such as drafts/ or *.draft.md"],
    ["../other", "be relative to the folder or repository, without . and .."],
    ["a/./b", "be relative to the folder or repository, without . and .."],
    ["C:\\docs", "be relative to the folder or repository, without . and .."],
    ["a//b", "have no empty names between slashes"],
    ["!!a", "begin with one ! at most"],
    ["a\nb", "have no control characters"],
    ["x".repeat(501), "have at most 500 characters"],
  ])("refuses the pattern %j: it must %s", (pattern, problem) => {
    for (const tenant of [folder, repository])
      expect(() => readJson(tenants({ ...tenant, exclude: ["a", pattern] }))).toThrow(
        `d.json: tenants[0].exclude[1]: must ${problem}`,
      );
  });

  test("takes patterns for folders and repositories, and no more than 200", () => {
    const exclude = ["drafts/", "!vendor/", "/docs/**/*.{md,rst}", "x".repeat(500)];
    const { tenants: read } = readJson(tenants({ ...folder, exclude }, { ...repository, include: ["docs"] }));
    expect(read.map((tenant) => "rules" in tenant && tenant.rules)).toEqual([
      { include: [], exclude },
      { include: ["docs"], exclude: [] },
    ]);
    expect(() => readJson(tenants({ ...web, exclude }))).toThrow("exclude: unknown field");
    expect(() => readJson(tenants({ ...folder, exclude: "drafts/" }))).toThrow(
      "exclude: must be a list of patterns",
    );
    expect(() => readJson(tenants({ ...folder, include: Array(201).fill("a") }))).toThrow(
      "have at most 200 patterns",
    );
  });

  test.each([
    { git_subpaths: ["docs"] },
    { git_subpaths: ["./docs/", "README.md", "."] },
    { git_subpaths: ["docs/**", "docs/*"] },
    { git_subpaths: ["tree/docs", "blob/a"] },
    { git_subpaths: ["docs/en"], git_strip_prefix: "docs" },
    { git_subpaths: ["docs"], git_strip_prefix: "./docs/en/" },
    { git_subpaths: ["."], git_strip_prefix: "docs" },
  ])("warns of nothing in a repository with %p", (fields) => {
    expect(readJson(tenants({ ...repository, ...fields })).warnings).toEqual([]);
  });

  test("gives a warning for each entry page that the tenant's own prefixes exclude", () => {
    const warningsOf = (prefixes: object): readonly string[] =>
      readJson(
        tenants({
          ...web,
          enable_crawler: true,
          docs_entry_url: "https://a.example/en/, https://a.example/de/",
          ...prefixes,
        }),
      ).warnings;
    const excluded = (url: string): string =>
      `tenants[0].docs_entry_url: Tenant 'web' excludes ${url} by its own prefixes: it is not fetched`;
    const [en, de] = ["https://a.example/en/", "https://a.example/de/"];
    expect(warningsOf({})).toEqual([]);
    expect(warningsOf({ url_whitelist_prefixes: en })).toEqual([excluded(de)]);
    expect(warningsOf({ url_blacklist_prefixes: en })).toEqual([excluded(en)]);
    expect(warningsOf({ url_whitelist_prefixes: "https://b.example/" })).toEqual([
      excluded(en),
      excluded(de),
    ]);
    expect(warningsOf({ url_whitelist_prefixes: `${en}, ${de}` })).toEqual([]);
  });

  test("gives warnings for tokens that open more than may be meant, or nothing", () => {
    const oauth = { issuer: "https://id.example", audience: "https://docs.example/mcp" };
    const warningsOf = (more: object, mode = "online"): readonly string[] =>
      readJson({ infrastructure: { operation_mode: mode, oauth: { ...oauth, ...more } }, ...tenants(folder) })
        .warnings;
    const everything =
      "infrastructure.oauth: without tenants_claim every token of the issuer for this audience opens all tenants";
    const nothing =
      "infrastructure.oauth: the issuer's keys cannot be read in offline mode, so no token is taken (503); use keys_file";
    expect(warningsOf({ tenants_claim: "docs" })).toEqual([]);
    expect(warningsOf({})).toEqual([everything]);
    expect(warningsOf({ tenants_claim: "docs" }, "offline")).toEqual([nothing]);
    expect(warningsOf({ jwks_url: "https://id.example/keys" }, "offline")).toEqual([nothing, everything]);
  });

  test("is in the repository", async () => {
    expect(readJson(await Bun.file("deployment.json").text()).warnings).toEqual([]);
  });
});

test("the JSON Schema forbids unknown fields at every level", () => {
  const open: string[] = [];
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== "object" || node === null) return;
    if ("properties" in node && (!("additionalProperties" in node) || node.additionalProperties !== false))
      open.push(path);
    for (const [key, value] of Object.entries(node)) walk(value, `${path}/${key}`);
  };
  walk(deploymentJsonSchema(), "");
  expect(open).toEqual([]);
});
