import { afterEach, describe, expect, test } from "bun:test";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../../src/base/database/index.ts";
import { runBinary } from "../support/binary.ts";
import { DocsSite, htmlPage, proseOf } from "../support/docs-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveGit } from "../support/git-server.ts";
import { childrenOf, processOfOwner } from "../support/lease-owners.ts";
import { serveLocal } from "../support/local.ts";
import { runningProcesses } from "../support/processes.ts";
import { Served } from "../support/served.ts";
import {
  gitTenant,
  SYNC_ENVIRONMENT,
  startSync,
  webTenant,
  writeSyncDeployment,
} from "../support/sync-run.ts";
import { until, untilTrue } from "../support/until.ts";

const roots: string[] = [];
const deploy = async (deployment: Parameters<typeof writeSyncDeployment>[0]): Promise<string> => {
  const root = await writeSyncDeployment(deployment);
  roots.push(root);
  return root;
};
const server = forAllTests(await serveGit());
afterEach(async () => {
  server.protect(null);
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
});

type Status = {
  readonly state: string;
  readonly last_completed_at: string | null;
  readonly next_run_at: string | null;
  readonly last_error: { readonly code: string; readonly message: string } | null;
  readonly counts: { readonly fetched: number };
  readonly index: { readonly doc_count: number | null };
  readonly history: readonly object[];
};
const statusOf = async ({ url }: Served, codename: string): Promise<Status> =>
  (await fetch(`${url}/${codename}/sync/status`)).json() as Promise<Status>;
const trigger = ({ url }: Served, codename: string): Promise<Response> =>
  fetch(`${url}/${codename}/sync/trigger`, { method: "POST" });

describe("article-extractor sync", () => {
  test("brings tenants up to date beside a server that may not build, which then answers", async () => {
    await using site = new DocsSite();
    site.fill(3);
    const repository = await server.create("beside");
    await repository.commit({ "docs/a.md": "# Sluices\n\nHow a sluicegate opens." });
    const root = await deploy({
      infrastructure: { allow_index_builds: false },
      tenants: [gitTenant(`${server.origin}/beside.git`), webTenant(site.sitemap)],
    });
    const { exitCode, stdout, stderr } = await startSync(root, ["--all"]).done;
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(stdout.trim().split("\n").sort()).toEqual([
      "handbook: 1 document; 1 fetched, 0 unchanged, 0 removed, 0 failed",
      "manual: 3 documents; 3 fetched, 0 unchanged, 0 removed, 0 failed",
    ]);
    await using served = await Served.start(root, { env: SYNC_ENVIRONMENT });
    const search = () => served.call("root_search", { tenant_codename: "handbook", query: "sluicegate" });
    expect((await search()).results).toHaveLength(1);
    await repository.commit({
      "docs/a.md": "# Sluices\n\nHow a sluicegate opens.",
      "docs/b.md": "# Another sluicegate",
    });
    expect((await startSync(root, ["handbook"]).done).exitCode).toBe(0);
    const found = await until(search, ({ results }) => results.length === 2);
    expect(found.results).toHaveLength(2);
  });

  test("opens a browser only for pages that have changed", async () => {
    await using site = new DocsSite();
    site.fill(3);
    for (const path of site.pages.keys()) site.write(path, "Without script");
    const page = {
      body: `<html><body><script>document.body.innerHTML = "<main><h1>By script</h1><p>${proseOf("x")}</p></main>"</script></body></html>`,
    };
    site.pages.set("/docs/p1", page);
    const root = await deploy({
      tenants: [webTenant(site.sitemap)],
      infrastructure: { crawler_browser_first: true },
    });
    const first = await startSync(root, ["manual"]).done;
    expect(first.stderr).toBe("");
    expect(first.stdout).toStartWith("manual: 3 documents; 3 fetched");
    site.requests.length = 0;
    const second = await startSync(root, ["manual"]).done;
    expect(second.stdout).toStartWith("manual: 3 documents; 0 fetched, 3 unchanged");
    const pages = site.requests.filter(({ path }) => /^\/docs\/p\d$/.test(path));
    expect(pages.map(({ status }) => status)).toEqual([304, 304, 304]);
  });

  test("goes on with the others when one fails, and says which", async () => {
    await using site = new DocsSite();
    site.fill(2);
    const root = await deploy({
      tenants: [gitTenant(`${server.origin}/nowhere.git`), webTenant(site.sitemap)],
    });
    const { exitCode, stdout, stderr } = await startSync(root, ["--all"]).done;
    expect(exitCode).toBe(1);
    expect(stdout).toStartWith("manual: 2 documents");
    expect(stderr).toContain("handbook: git ls-remote");
  });

  test("says that all pages of a website look like error pages", async () => {
    await using site = new DocsSite();
    site.fill(12);
    const login = htmlPage("Sign in", proseOf("please sign in to read this"));
    site.intercept = ({ url }) =>
      /sitemap|robots/.test(url) ? null : new Response(login, { headers: { "content-type": "text/html" } });
    const root = await deploy({ tenants: [webTenant(site.sitemap)] });
    const stderr =
      "error: manual: Tenant 'manual' has no documents: 12 pages look like error pages and are not used\n";
    expect(await startSync(root, ["manual"]).done).toEqual({ exitCode: 1, stdout: "", stderr });
    const index = ["index", "manual"];
    const env = { DOCS_SEARCH_STATE_DIR: "state" };
    expect((await runBinary(index, { cwd: root, env })).stderr).toBe(stderr.replace("manual: ", ""));
  });

  test("takes codenames that there are, or --all", async () => {
    const root = await deploy({ tenants: [gitTenant(`${server.origin}/nowhere.git`)] });
    expect(await startSync(root, []).done).toMatchObject({ exitCode: 2 });
    const { exitCode, stderr } = await startSync(root, ["handbok"]).done;
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Tenant 'handbok' not found; did you mean handbook?");
    for (const words of [
      ["sync", "nope"],
      ["index", "nope"],
      ["search", "nope", "x"],
      ["fetch", "nope", "x"],
    ])
      expect((await runBinary(words, { cwd: root })).stderr).toContain(
        "Tenant 'nope' not found; article-extractor tenants list names those that exist",
      );
    expect((await runBinary(["tenants", "set", "nope", "--name", "N"], { cwd: root })).stderr).toContain(
      "has no tenant 'nope'; article-extractor tenants list names",
    );
  });
});

describe("a server with sources elsewhere", () => {
  test("syncs at its start what was never synced, and says when it does so next", async () => {
    await using site = new DocsSite();
    site.fill(3);
    const repository = await server.create("at-start");
    await repository.commit({ "docs/a.md": "# A" });
    const root = await deploy({
      tenants: [
        gitTenant(`${server.origin}/at-start.git`, { git_sync_interval_minutes: 5 }),
        webTenant(site.sitemap, { refresh_schedule: "0 3 * * *" }),
      ],
    });
    await using served = await Served.start(root, { env: SYNC_ENVIRONMENT });
    const isDone = ({ state, next_run_at }: Status): boolean =>
      state === "idle" && next_run_at !== null && Date.parse(next_run_at) > Date.now();
    const handbook = await until(() => statusOf(served, "handbook"), isDone);
    const manual = await until(() => statusOf(served, "manual"), isDone);
    expect(handbook).toMatchObject({ last_error: null, counts: { fetched: 1 }, index: { doc_count: 1 } });
    expect(manual).toMatchObject({ last_error: null, counts: { fetched: 3 }, index: { doc_count: 3 } });
    expect(manual.next_run_at).toEndWith("T03:00:00.000Z");
    expect(manual.history).toHaveLength(1);
  });

  test("syncs when it is told to, once at a time", async () => {
    await using site = new DocsSite();
    site.fill(3);
    const root = await deploy({ tenants: [webTenant(site.sitemap)] });
    await using served = await Served.start(root, { env: SYNC_ENVIRONMENT });
    await untilTrue(async () => (await statusOf(served, "manual")).history.length === 1);
    await untilTrue(async () => (await statusOf(served, "manual")).state === "idle");
    site.write("/docs/new", "New");
    const first = await trigger(served, "manual");
    expect(first.status).toBe(202);
    expect(await first.json()).toMatchObject({ success: true, state: "queued" });
    expect((await trigger(served, "manual")).status).toBe(409);
    expect((await trigger(served, "nobody")).status).toBe(404);
    const status = await until(
      () => statusOf(served, "manual"),
      ({ index }) => index.doc_count === 4,
    );
    expect(status.index.doc_count).toBe(4);
  });

  test("has another process sync by the schedule when the one that did is killed", async () => {
    await using site = new DocsSite();
    site.fill(2);
    const root = await deploy({
      tenants: [webTenant(site.sitemap, { refresh_schedule: "0 3 * * *" })],
      infrastructure: { uvicorn_workers: 2, log_level: "info" },
    });
    await using served = await Served.start(root, { env: SYNC_ENVIRONMENT });
    await until(
      () => statusOf(served, "manual"),
      ({ history, state }) => history.length === 1 && state === "idle",
    );
    const state = openDatabase({
      path: join(root, "state/state.sqlite"),
      name: "the server's state",
      access: { kind: "shared" },
    });
    const leaderOf = (): number => {
      const found = state.prepare<{ owner: string }>(
        "SELECT owner FROM leases WHERE name LIKE 'scheduler:%'",
      );
      return processOfOwner(childrenOf(served.child.pid), found.get()?.owner ?? "") ?? 0;
    };
    const leader = await until(leaderOf, (pid) => pid > 0);
    process.kill(leader, "SIGKILL");
    // Two days pass while nobody leads.
    state.run(
      "UPDATE syncs SET record = json_set(record, '$.syncedAt', record ->> '$.syncedAt' - 172800000)",
    );
    const { history } = await until(
      () => statusOf(served, "manual").catch(() => ({ history: [] as readonly object[] })),
      ({ history }) => history.length === 2,
    );
    expect(history).toHaveLength(2);
    expect(leaderOf()).not.toBe(leader);
    state.close();
  });

  test("keeps its secrets: none in logs, state, arguments, answers or errors", async () => {
    const secrets = {
      DOCS_TOKEN: "git-secret-0a1b2c",
      FALLBACK_KEY: "fallback-secret-3d4e5f",
      DOCS_SEARCH_API_KEY: "api-secret-6a7b8c",
    };
    const { hostname, port } = new URL(server.origin);
    await using remote = serveLocal(() => new Response("wrong key", { status: 403 }));
    await using site = new DocsSite();
    site.fill(2);
    site.pages.set("/docs/empty", { body: "<html><body></body></html>" });
    const repository = await server.create("secret");
    await repository.commit({ "docs/a.md": `# A\n\n${proseOf("a")}` });
    const fallback = {
      enabled: true,
      endpoint: `${remote.url.origin}/x`,
      api_key_env: "FALLBACK_KEY",
      max_retries: 0,
    };
    const root = await deploy({
      infrastructure: { log_level: "debug", article_extractor_fallback: fallback },
      tenants: [
        gitTenant(`http://${hostname}:${port}/secret.git`, { git_auth_token_env: "DOCS_TOKEN" }),
        webTenant(site.sitemap),
      ],
    });
    const env = { ...SYNC_ENVIRONMENT, ...secrets };
    server.protect(`x-access-token:${secrets.DOCS_TOKEN}`);
    const arguments_: string[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        arguments_.push(...runningProcesses().map(({ args }) => args));
        await Bun.sleep(5);
      }
    })();
    await using served = await Served.start(root, { env });
    const headers = { authorization: `Bearer ${secrets.DOCS_SEARCH_API_KEY}` };
    const answers: string[] = [];
    const ask = async (path: string): Promise<string> => {
      const text = await (await fetch(`${served.url}${path}`, { headers })).text();
      answers.push(text);
      return text;
    };
    await until(
      () => ask("/tenants/status"),
      (text) => (text.match(/"completed_at"/g) ?? []).length === 2 && !/running|queued/.test(text),
    );
    server.protect("x-access-token:another");
    await fetch(`${served.url}/handbook/sync/trigger`, { method: "POST", headers });
    await untilTrue(async () => (await ask("/handbook/sync/status")).includes("Authentication failed"));
    for (const path of ["/health", "/metrics", "/mcp.json", "/"]) await ask(path);
    isOver = true;
    await watching;
    const files: string[] = [];
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) files.push(await readFile(join(entry.parentPath, entry.name), "latin1"));
    expect(answers.join().includes("Authentication failed")).toBe(true);
    expect(served.said.includes("fallback extractor failed")).toBe(true);
    expect(arguments_.join().includes("git")).toBe(true);
    for (const secret of Object.values(secrets))
      for (const text of [served.said, ...answers, ...arguments_, ...files])
        expect(text.includes(secret)).toBe(false);
  });
});
