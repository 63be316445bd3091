import { expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DocsSite, proseOf } from "../../support/docs-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveGit } from "../../support/git-server.ts";
import { Served } from "../../support/served.ts";
import { writeFiles } from "../../support/specified.ts";
import { SYNC_ENVIRONMENT, writeSyncDeployment } from "../../support/sync-run.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

// Where tenants have their documents from, when they are synced, and what a server tells of it: a website and
// repositories of loopback, and one server of the built program with a tenant for each field.

const statement = statementsOf("search");

const site = forAllTests(new DocsSite());
const { origin } = site;
site.listed = ["/docs/a", "/docs/b"];
for (const name of ["a", "b", "en/one", "en/two", "en/old/three", "de/eins", "first", "second"])
  site.write(`/docs/${name}`, `Page ${name}`);
site.write("/walk/", "Walk", ["/walk/1", "/walk/2", "/walk/3", "/walk/4", "/elsewhere"]);
for (const name of ["1", "2", "3", "4"]) site.write(`/walk/${name}`, `Step ${name}`);
site.write("/elsewhere", "Elsewhere");
const sitemapOf = (...paths: readonly string[]): string =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join("")}</urlset>`;
site.pages.set("/other.xml", {
  body: sitemapOf("/docs/en/one", "/docs/en/two", "/docs/en/old/three", "/docs/de/eins", "/docs/first"),
  type: "application/xml",
});

const git = forAllTests(await serveGit());
const repository = await git.create("guides");
const text = (name: string): string => `# ${name}\n\nThe ${name.toLowerCase()} opens and closes.\n`;
const commit = await repository.commit({
  "docs/en/gate.md": text("Gate"),
  "docs/en/deep/lock.md": text("Lock"),
  "notes/plan.md": text("Plan"),
  "README.md": text("Readme"),
});
await repository.commit({ "docs/en/gate.md": text("Sluice") }, { branch: "next" });
await repository.git(["update-ref", "refs/tags/v1", commit]);
await repository.commit({ "docs/en/gate.md": text("Gate"), "docs/en/new.md": text("New") });

const online = (codename: string, fields: object): object => ({
  source_type: "online",
  codename,
  docs_name: `Site ${codename}`,
  docs_root_dir: codename,
  ...fields,
});
const gitTenant = (codename: string, fields: object = {}): object => ({
  source_type: "git",
  codename,
  docs_name: `Repository ${codename}`,
  docs_root_dir: codename,
  git_repo_url: `${git.origin}/guides.git`,
  git_subpaths: ["docs"],
  ...fields,
});
const root = await writeSyncDeployment({
  tenants: [
    online("lists", {
      docs_sitemap_url: `${site.sitemap}, ${origin}/other.xml`,
      refresh_schedule: "*/14 * * * *",
    }),
    online("entries", {
      docs_entry_url: `${origin}/docs/first,${origin}/walk/`,
      refresh_schedule: "30 4 1,15 * *",
    }),
    online("within", {
      docs_sitemap_url: `${origin}/other.xml`,
      url_whitelist_prefixes: `${origin}/docs/en/, ${origin}/docs/de/`,
      refresh_schedule: "0 3 * * 0",
    }),
    online("without", {
      docs_sitemap_url: `${origin}/other.xml`,
      url_blacklist_prefixes: `${origin}/docs/en/old/, ${origin}/docs/de/`,
    }),
    online("walks", {
      docs_entry_url: `${origin}/walk/`,
      enable_crawler: true,
      url_whitelist_prefixes: `${origin}/walk/`,
    }),
    online("capped", { docs_entry_url: `${origin}/walk/`, enable_crawler: true, max_crawl_pages: 3 }),
    gitTenant("branch", { git_sync_interval_minutes: 5, refresh_schedule: "0 0 1 1 *" }),
    gitTenant("next", { git_branch: "next", refresh_schedule: "0 3 * * *" }),
    gitTenant("tagged", { git_branch: "v1" }),
    gitTenant("pinned", { git_branch: commit, git_subpaths: ["docs/en/deep", "README.md"] }),
    gitTenant("stripped", { git_branch: commit, git_strip_prefix: "docs/en" }),
    { source_type: "filesystem", codename: "folder", docs_name: "Folder", docs_root_dir: "markdown" },
  ],
});
writeFiles(root, {
  "markdown/guide.md": "# Guide\n\nHow the herons nest.\n",
  "markdown/sub/more.md": "# More\n\nMore herons.\n",
});
const served = forAllTests(await Served.start(root, { env: SYNC_ENVIRONMENT }));

type Status = {
  readonly tenant: string;
  readonly source_type: string;
  readonly state: string;
  readonly last_error: object | null;
  readonly next_run_at: string | null;
  readonly history: readonly object[];
  readonly index: { readonly doc_count: number | null; readonly building: boolean };
};
const statusOf = async (codename: string): Promise<Status> =>
  (await (await fetch(`${served.url}/${codename}/sync/status`)).json()) as Status;
/** The status of a tenant once it is synced and its index built. */
const synced = (codename: string): Promise<Status> =>
  until(
    () => statusOf(codename),
    ({ state, index, next_run_at }) =>
      state === "idle" &&
      index.doc_count !== null &&
      !index.building &&
      // Until it is scheduled again, the time of the run that was due stands there.
      (next_run_at === null || Date.parse(next_run_at) > Date.now()),
  );
/** The addresses of a tenant's documents, as searches give them. */
async function documentsOf(codename: string, query: string): Promise<readonly string[]> {
  await synced(codename);
  const asked = { tenant_codename: codename, query, size: 100 };
  const { error, results } = await served.call("root_search", asked);
  expect(error).toBeNull();
  return results.map(({ url }) => url.replace(origin, "").replace(`docs://${codename}/`, "")).sort();
}
const pagesOf = (codename: string): Promise<readonly string[]> =>
  documentsOf(codename, "page walk step elsewhere");
const filesOf = (codename: string): Promise<readonly string[]> => documentsOf(codename, "opens and closes");
const trigger = (codename: string): Promise<Response> =>
  fetch(`${served.url}/${codename}/sync/trigger`, { method: "POST" });
const minutesUntil = ({ next_run_at }: Status): number =>
  (Date.parse(next_run_at ?? "") - Date.now()) / 60_000;

statement("What the service does", "A tenant's content comes from one of three source types", async () => {
  for (const [codename, type, query] of [
    ["lists", "online", "page"],
    ["branch", "git", "gate"],
    ["folder", "filesystem", "herons"],
  ] as const) {
    expect((await synced(codename)).source_type).toBe(type);
    expect(await documentsOf(codename, query)).not.toEqual([]);
  }
});
statement("What the service does", "Online and git tenants refresh on a cron schedule.", async () => {
  const [web, repository] = [await synced("within"), await synced("next")].map(
    ({ next_run_at }) => new Date(next_run_at ?? ""),
  );
  // Sunday at 03:00, and every day at 03:00, in UTC.
  expect([web?.getUTCDay(), web?.getUTCHours(), web?.getUTCMinutes()]).toEqual([0, 3, 0]);
  expect([repository?.getUTCHours(), repository?.getUTCMinutes()]).toEqual([3, 0]);
});

statement("Tenant, common fields", "`online`, `git`, `filesystem`.", async () => {
  const { tenants } = (await (await fetch(`${served.url}/health`)).json()) as {
    tenants: Record<string, { source_type: string }>;
  };
  expect([tenants.lists, tenants.branch, tenants.folder].map((one) => one?.source_type)).toEqual([
    "online",
    "git",
    "filesystem",
  ]);
});
statement("Tenant, common fields", "Human-readable name.", async () => {
  expect(await served.call("describe_tenant", { codename: "lists" })).toMatchObject({
    display_name: "Site lists",
  });
});
statement("Tenant, common fields", "Local storage path.", async () => {
  await synced("branch");
  await synced("lists");
  expect(existsSync(join(root, "branch/docs/en/gate.md"))).toBe(true);
  expect(readdirSync(join(root, "lists")).some((name) => name.endsWith(".md"))).toBe(true);
});
statement("Tenant, common fields", "5-field cron expression.", async () => {
  const status = await synced("entries");
  const at = new Date(status.next_run_at ?? "");
  expect([[1, 15].includes(at.getUTCDate()), at.getUTCHours(), at.getUTCMinutes()]).toEqual([true, 4, 30]);
  // Without a schedule nothing is due.
  expect((await synced("without")).next_run_at).toBeNull();
});

statement("Online tenant", "Comma-separated sitemap URLs.", async () => {
  expect(await pagesOf("lists")).toEqual([
    "/docs/a",
    "/docs/b",
    "/docs/de/eins",
    "/docs/en/old/three",
    "/docs/en/one",
    "/docs/en/two",
    "/docs/first",
  ]);
});
statement("Online tenant", "Comma-separated crawler entry URLs.", async () => {
  expect(await pagesOf("entries")).toEqual(["/docs/first", "/walk/"]);
});
statement("Online tenant", "Comma-separated prefixes to include.", async () => {
  expect(await pagesOf("within")).toEqual([
    "/docs/de/eins",
    "/docs/en/old/three",
    "/docs/en/one",
    "/docs/en/two",
  ]);
});
statement("Online tenant", "Comma-separated prefixes to exclude.", async () => {
  expect(await pagesOf("without")).toEqual(["/docs/en/one", "/docs/en/two", "/docs/first"]);
});
statement("Online tenant", "Link crawling for discovery.", async () => {
  expect(await pagesOf("walks")).toEqual(["/walk/", "/walk/1", "/walk/2", "/walk/3", "/walk/4"]);
});
statement("Online tenant", "Page cap per sync.", async () => {
  expect(await pagesOf("capped")).toHaveLength(3);
});

statement("Git tenant", "Repository URL (HTTPS preferred).", async () => {
  expect(await filesOf("branch")).toEqual(["docs/en/gate.md", "docs/en/new.md"]);
});
statement("Git tenant", "Branch, tag or commit.", async () => {
  expect(await documentsOf("next", "sluice")).toEqual(["docs/en/gate.md"]);
  expect(await filesOf("tagged")).toEqual(["docs/en/deep/lock.md", "docs/en/gate.md"]);
  expect(await filesOf("pinned")).toEqual(["README.md", "docs/en/deep/lock.md"]);
});
statement("Git tenant", "Paths included by sparse checkout.", async () => {
  expect(await filesOf("pinned")).toEqual(["README.md", "docs/en/deep/lock.md"]);
  expect(existsSync(join(root, "pinned/notes"))).toBe(false);
});
statement("Git tenant", "Leading path stripped when copying.", async () => {
  expect(await filesOf("stripped")).toEqual(["deep/lock.md", "gate.md"]);
  expect(existsSync(join(root, "stripped/gate.md"))).toBe(true);
});
const TOKEN = "git-secret-0a1b";
/** Syncs a private repository with the environment; gives what comes of it. */
async function syncPrivate(env: Readonly<Record<string, string>>): Promise<Status> {
  const own = forAllTests(await serveGit());
  const secret = await own.create("private");
  await secret.commit({ "docs/gate.md": text("Gate") });
  own.protect(`x-access-token:${TOKEN}`);
  const tenant = gitTenant("private", {
    git_repo_url: `${own.origin}/private.git`,
    git_auth_token_env: "DOCS_TOKEN",
  });
  const place = await writeSyncDeployment({ tenants: [tenant] });
  await using server = await Served.start(place, { env: { ...SYNC_ENVIRONMENT, ...env } });
  return await until(
    async () => (await (await fetch(`${server.url}/private/sync/status`)).json()) as Status,
    ({ state, history, index }) => state === "idle" && history.length > 0 && !index.building,
  );
}
statement("Git tenant", "Name of the environment variable holding the private-repo credential.", async () => {
  expect(await syncPrivate({ DOCS_TOKEN: TOKEN })).toMatchObject({
    last_error: null,
    index: { doc_count: 1 },
  });
});
statement(
  "Authentication",
  "Credentials that the service uses for outbound calls are read from environment variables whose names are set in the configuration",
  async () => {
    const { last_error } = await syncPrivate({ DOCS_TOKEN: "another" });
    expect(JSON.stringify(last_error)).toContain("Authentication failed");
    expect(JSON.stringify(last_error)).not.toContain("another");
    await expect(syncPrivate({})).rejects.toThrow("the variable DOCS_TOKEN is not set");
  },
);
statement("Git tenant", "Sync cadence override, 5 to 1440.", async () => {
  // Its schedule would have it wait for the new year.
  const minutes = minutesUntil(await synced("branch"));
  expect([minutes > 0, minutes <= 5]).toEqual([true, true]);
});

statement("Filesystem tenant", "beyond the common fields; no sync.", async () => {
  const { next_run_at } = await synced("folder");
  expect(next_run_at).toBeNull();
  expect(await documentsOf("folder", "herons")).toEqual(["guide.md", "sub/more.md"]);
});

statement("Cron syntax for refresh_schedule", "(Sunday is 0)", async () => {
  const { next_run_at } = await synced("within");
  expect(new Date(next_run_at ?? "").getUTCDay()).toBe(0);
});

statement("Operational endpoints", "GET | /health | Health check.", async () => {
  for (const codename of ["lists", "next", "folder"]) await synced(codename);
  const response = await fetch(`${served.url}/health`);
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { status: expect.any(String), tenant_count: 12, tenants: { folder: { status: "healthy" } } },
  ]);
});
statement("Operational endpoints", "GET | /{codename}/sync/status | Sync status of one tenant.", async () => {
  await synced("lists");
  const response = await fetch(`${served.url}/lists/sync/status`);
  expect([response.status, await response.json()]).toMatchObject([200, { tenant: "lists", state: "idle" }]);
  expect((await fetch(`${served.url}/nobody/sync/status`)).status).toBe(404);
});
statement(
  "Operational endpoints",
  "POST | /{codename}/sync/trigger | Start a sync of one tenant.",
  async () => {
    const { history } = await synced("walks");
    site.write("/walk/4", "Step 4 again");
    const response = await trigger("walks");
    expect([response.status, await response.json()]).toMatchObject([202, { success: true }]);
    const after = await until(
      () => statusOf("walks"),
      (status) => status.history.length > history.length,
    );
    expect(after.history).toHaveLength(history.length + 1);
    expect((await trigger("nobody")).status).toBe(404);
    expect((await fetch(`${served.url}/walks/sync/trigger`)).status).toBe(405);
    // Ended syncs are counted.
    const metrics = await until(
      async () => await (await fetch(`${served.url}/metrics`)).text(),
      (text) => text.includes('article_extractor_tenant_syncs_total{tenant="walks",outcome="success"} 2'),
    );
    expect(metrics).toContain('article_extractor_tenant_syncs_total{tenant="lists",outcome="success"}');
  },
);
statement("Operational endpoints", "not through these paths", async () => {
  for (const path of ["/lists/search?query=page", "/lists/fetch?uri=x", "/lists", "/lists/sync"])
    expect((await fetch(`${served.url}${path}`)).status).toBe(404);
  for (const path of ["/health", "/lists/sync/status"]) {
    const answer = await (await fetch(`${served.url}${path}?query=page&uri=${origin}/docs/a`)).text();
    expect(answer).not.toContain(proseOf("/docs/a Page a").slice(0, 40));
  }
});
