import { expect } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { reservePort } from "../../../src/server/listen.ts";
import { runBinary } from "../../support/binary.ts";
import { DocsSite, htmlPage, proseOf } from "../../support/docs-site.ts";
import { serveLocal } from "../../support/local.ts";
import { postMcp } from "../../support/mcp.ts";
import { Served, type ToolAnswer, writeDeployment } from "../../support/served.ts";
import { startSync, webTenant, writeSyncDeployment } from "../../support/sync-run.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

// What each field of `infrastructure` does, on servers of the built program.

const statement = statementsOf("search");

const get = (served: Served, path: string): Promise<Response> =>
  fetch(`${served.url}${path}`, { headers: { connection: "close" } });
const isIndexed = (served: Served): Promise<ToolAnswer> =>
  until(
    () => served.search("no_proxy"),
    ({ error }) => error === null,
  );

// All of 127.0.0.0/8 is this machine where tests run.
statement("infrastructure", "0.0.0.0 | Bind address.", async () => {
  await using served = await Served.start(writeDeployment({ mcp_host: "127.0.0.2" }));
  expect(new URL(served.url).hostname).toBe("127.0.0.2");
  expect((await get(served, "/ready")).status).toBe(200);
  const elsewhere = `http://127.0.0.1:${new URL(served.url).port}/ready`;
  await expect(fetch(elsewhere)).rejects.toThrow("ECONNREFUSED");
  await using everywhere = await Served.start(writeDeployment({ mcp_host: undefined }));
  const { port } = new URL(everywhere.url);
  for (const host of ["127.0.0.1", "127.0.0.3"])
    expect((await fetch(`http://${host}:${port}/ready`)).status).toBe(200);
});

statement("infrastructure", "42042 | Port.", async () => {
  const port = await reservePort("127.0.0.1", 0);
  await using served = await Served.start(writeDeployment({ mcp_port: port }), { port: null });
  expect(served.url).toBe(`http://127.0.0.1:${port}`);
});

statement("infrastructure", "Default model for MCP clients.", async () => {
  await using served = await Served.start(writeDeployment({ default_client_model: "some-model" }));
  expect(await (await get(served, "/mcp.json")).json()).toMatchObject({ defaultModel: "some-model" });
  await using without = await Served.start(writeDeployment());
  expect(await (await get(without, "/mcp.json")).json()).toMatchObject({ defaultModel: null });
});

/** A site whose answers wait until they are let go. */
function openHangingSite() {
  let most = 0;
  let now = 0;
  const gate = Promise.withResolvers<void>();
  const server = serveLocal(async () => {
    now++;
    most = Math.max(most, now);
    await gate.promise;
    now--;
    return new Response(htmlPage("Late", proseOf("late")), { headers: { "content-type": "text/html" } });
  });
  return {
    url: server.url.href,
    /** The most requests at once. */
    most: () => most,
    release: gate.resolve,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
const readPage = (served: Served, url: string): Promise<Response> =>
  postMcp(served.url, { method: "tools/call", params: { name: "fetch_url", arguments: { url } } });

statement("infrastructure", "Max concurrent HTTP requests.", async () => {
  await using site = openHangingSite();
  await using served = await Served.start(
    writeDeployment({ max_concurrent_requests: 2, allow_page_fetches: true }),
  );
  const answers = Array.from({ length: 6 }, (_, at) => readPage(served, `${site.url}${at}`));
  await until(site.most, (count) => count === 2);
  // The others wait, and none is refused.
  const waiting = get(served, "/mcp.json");
  site.release();
  for (const answer of [...answers, waiting]) expect((await answer).status).toBe(200);
  expect(site.most()).toBe(2);
});

statement("infrastructure", "Max concurrent connections.", async () => {
  await using site = openHangingSite();
  await using served = await Served.start(
    writeDeployment({ uvicorn_limit_concurrency: 10, allow_page_fetches: true }),
  );
  const answers = Array.from({ length: 10 }, (_, at) => readPage(served, `${site.url}${at}`));
  await until(site.most, (count) => count === 10);
  const refused = await get(served, "/mcp.json");
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: "overloaded" }]);
  site.release();
  for (const answer of answers) expect((await answer).status).toBe(200);
  expect((await get(served, "/mcp.json")).status).toBe(200);
});

statement("infrastructure", "1 | Worker processes.", async () => {
  await using served = await Served.start(writeDeployment({ uvicorn_workers: 2 }));
  const health = await until(
    async () => (await (await get(served, "/health")).json()) as { infrastructure: { processes: object } },
    ({ infrastructure }) => JSON.stringify(infrastructure.processes).includes('"alive":2'),
  );
  expect(health.infrastructure.processes).toEqual({ configured: 2, alive: 2 });
  await using one = await Served.start(writeDeployment());
  expect(await (await get(one, "/health")).json()).toMatchObject({
    infrastructure: { processes: { configured: 1, alive: 1 } },
  });
});

// Probes are logged at debug level, requests at info.
statement("infrastructure", "info | debug, info, warning, error.", async () => {
  const loggedAt = async (log_level: string | undefined): Promise<readonly string[]> => {
    const isSilent = log_level === "warning" || log_level === "error";
    await using served = await Served.start(writeDeployment({ log_level }), { isSilent });
    for (const path of ["/health", "/mcp.json"]) await get(served, path);
    served.child.kill();
    await served.child.exited;
    return ["/health", "/mcp.json"].filter((path) => served.said.includes(`"path":"${path}"`));
  };
  expect(await Promise.all(["debug", "info", "warning", "error", undefined].map(loggedAt))).toEqual([
    ["/health", "/mcp.json"],
    ["/mcp.json"],
    [],
    [],
    ["/mcp.json"],
  ]);
});

statement("infrastructure", "`online` or `offline`.", async () => {
  await using site = new DocsSite();
  site.fill(1);
  const tenants = [webTenant(site.sitemap, { refresh_schedule: "* * * * *" })];
  const root = await writeSyncDeployment({ tenants, infrastructure: { operation_mode: "offline" } });
  await using served = await Served.start(root);
  const response = await fetch(`${served.url}/manual/sync/trigger`, { method: "POST" });
  expect([response.status, await response.json()]).toMatchObject([503, { code: "offline" }]);
  expect(await (await get(served, "/health")).json()).toMatchObject({
    infrastructure: { operation_mode: "offline" },
  });
  expect((await startSync(root, ["manual"]).done).stderr).toContain("operation_mode is offline");
  expect(site.requests).toEqual([]);
  await using online = await Served.start(writeDeployment({ operation_mode: "offline" }));
  expect((await isIndexed(online)).results).toHaveLength(1);
});

statement("infrastructure", "HTTP request timeout.", async () => {
  await using served = await Served.start(writeDeployment({ http_timeout: 1 }));
  const answer = Promise.withResolvers<string>();
  const { hostname, port } = new URL(served.url);
  const socket = connect(Number(port), hostname, () =>
    socket.write(
      "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    ),
  );
  socket.on("data", (piece) => answer.resolve(piece.toString()));
  expect(await answer.promise).toStartWith("HTTP/1.1 408 ");
  socket.destroy();
  // And each request of a sync.
  await using site = openHangingSite();
  const root = await writeSyncDeployment({
    infrastructure: { http_timeout: 1 },
    tenants: [webTenant(`${site.url}sitemap.xml`)],
  });
  const { exitCode, stderr } = await startSync(root, ["manual"]).done;
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("took longer than")]);
});

statement("infrastructure", "30 | Search timeout.", async () => {
  const line = "the miller of the weir counts the barges of the tide and of the quay. ";
  const document = { "long.md": `# Tides\n\n${line.repeat(60_000)}\n` };
  await using served = await Served.start(writeDeployment({ search_timeout: 1 }, {}, document));
  await isIndexed(served);
  const query = '"the miller of the weir the" "the barges of the tide of" "of the quay the"';
  // While the program is stopped, time goes on for the search that it was busy with.
  let tries = 0;
  const stopped = async (): Promise<ToolAnswer> => {
    const answer = served.search(query);
    // How long it is busy depends on the machine.
    await Bun.sleep([100, 50, 25, 12, 6, 3][tries++ % 6] ?? 0);
    served.child.kill("SIGSTOP");
    await Bun.sleep(1200);
    served.child.kill("SIGCONT");
    return await answer;
  };
  const { error } = await until(stopped, (answer) => answer.error !== null);
  expect(error).toMatch(/^Search timeout\b/);
});

const FILLER = "Words of no account. ".repeat(40);
const LONG = `# Long\n\n${FILLER}\n\n## Middle\n\nHere it is.\n\n## End\n\n${FILLER}\n`;
async function fetchMiddle(infrastructure: object, asked: object): Promise<string> {
  await using served = await Served.start(writeDeployment(infrastructure, {}, { "long.md": LONG }));
  await isIndexed(served);
  return (await served.call("root_fetch", { tenant_codename: "tool", uri: "docs://tool/long.md", ...asked }))
    .content;
}

statement("infrastructure", "true | Include stats in search responses.", async () => {
  for (const included of [true, false, undefined]) {
    await using served = await Served.start(writeDeployment({ search_include_stats: included }));
    expect("stats" in (await isIndexed(served))).toBe(included ?? true);
  }
});

statement("infrastructure", "`full` or `surrounding`.", async () => {
  const section = { uri: "docs://tool/long.md#middle" };
  expect(await fetchMiddle({ default_fetch_mode: "full" }, section)).toBe(LONG);
  for (const mode of ["surrounding", undefined]) {
    const content = await fetchMiddle({ default_fetch_mode: mode }, section);
    expect([content.includes("Here it is."), content.includes("account")]).toEqual([true, false]);
  }
});

statement("infrastructure", "1000 | Characters around a match in surrounding mode.", async () => {
  const passage = { query: "Here it is" };
  const fetched = (characters: number): Promise<string> =>
    fetchMiddle({ default_fetch_surrounding_chars: characters }, passage);
  expect(await fetched(1)).not.toContain("account");
  expect(await fetched(100)).toContain("account");
});

statement("infrastructure", "Use the browser fetcher for JavaScript-rendered pages.", async () => {
  await using site = new DocsSite();
  const script = `document.querySelector("p").textContent = "By script. ${proseOf("script")}"`;
  site.pages.set("/docs/p0", {
    body: htmlPage("Start", `By hand. ${proseOf("hand")}`).replace(
      "</body>",
      `<script>${script}</script></body>`,
    ),
  });
  const textWith = async (crawler_browser_first: boolean | undefined): Promise<string> => {
    const root = await writeSyncDeployment({
      infrastructure: { crawler_browser_first },
      tenants: [webTenant(site.sitemap)],
    });
    expect((await startSync(root, ["manual"]).done).exitCode).toBe(0);
    const words = ["fetch", "manual", `${site.origin}/docs/p0`];
    const env = { DOCS_SEARCH_STATE_DIR: join(root, "state") };
    return (await runBinary(words, { cwd: root, env })).stdout;
  };
  expect(await textWith(false)).toContain("By hand");
  for (const first of [true, undefined]) expect(await textWith(first)).toContain("By script");
});

statement(
  "infrastructure",
  "Let the server build search indexes (turn off when external workers index).",
  async () => {
    const root = writeDeployment({ allow_index_builds: undefined });
    await using served = await Served.start(root);
    expect((await served.search("no_proxy")).error).toStartWith(
      "Tenant 'tool' has no search index; build it with: article-extractor index tool",
    );
    // A worker outside builds it, and the server takes it up.
    const env = { DOCS_SEARCH_STATE_DIR: join(root, "state") };
    expect((await runBinary(["index", "tool"], { cwd: root, env })).exitCode).toBe(0);
    expect((await isIndexed(served)).results).toHaveLength(1);
    await using builds = await Served.start(writeDeployment({ allow_index_builds: true }));
    expect((await isIndexed(builds)).results).toHaveLength(1);
  },
);

statement("Tenant, common fields", "inherits infrastructure | Per-tenant override.", async () => {
  const startWith = (server: boolean, tenant: boolean | undefined): Promise<Served> =>
    Served.start(writeDeployment({ allow_index_builds: server }, { allow_index_builds: tenant }));
  await using builds = await startWith(false, true);
  expect((await isIndexed(builds)).error).toBeNull();
  await using inherits = await startWith(true, undefined);
  expect((await isIndexed(inherits)).error).toBeNull();
  await using refuses = await startWith(true, false);
  expect((await refuses.search("no_proxy")).error).toStartWith(
    "Tenant 'tool' has no search index; build it with: article-extractor index tool",
  );
});

/** A service that another extractor may ask, and what it was asked. */
function openService(answer: (call: number) => Response | Promise<Response>) {
  const asked: {
    readonly type: string | null;
    readonly authorization: string | null;
    readonly body: unknown;
  }[] = [];
  const server = serveLocal(async (request) => {
    const { headers } = request;
    const body = await request.json();
    asked.push({ type: headers.get("content-type"), authorization: headers.get("authorization"), body });
    return await answer(asked.length);
  });
  return { asked, url: `${server.url.origin}/extract`, [Symbol.asyncDispose]: () => server.stop(true) };
}
const rescued = (): Response =>
  Response.json({ title: "Rescued", markdown: `# Rescued\n\n${proseOf("rescued")}` });

/** Syncs a site of which one page or more cannot be extracted here. */
async function syncWith(
  fallback: object,
  { env = {}, empty = 1 }: { env?: Record<string, string>; empty?: number } = {},
) {
  await using site = new DocsSite();
  site.fill(2);
  for (let at = 0; at < empty; at++)
    site.pages.set(`/docs/empty${at}`, { body: "<html><body></body></html>" });
  const root = await writeSyncDeployment({
    infrastructure: { article_extractor_fallback: fallback },
    tenants: [webTenant(site.sitemap)],
  });
  const { stdout } = await startSync(root, ["manual"], env).done;
  return { stdout, page: `${site.origin}/docs/empty0` };
}

statement(
  "infrastructure",
  "`article_extractor_fallback` is used when local browser extraction fails",
  async () => {
    await using service = openService(rescued);
    const { stdout, page } = await syncWith({ enabled: true, endpoint: service.url });
    expect(stdout).toContain("manual: 3 documents; 3 fetched, 0 unchanged, 0 removed, 0 failed");
    expect(service.asked).toEqual([{ type: "application/json", authorization: null, body: { url: page } }]);
  },
);
statement("infrastructure", "false | Enable fallback calls.", async () => {
  await using service = openService(rescued);
  for (const off of [{ enabled: false }, {}]) {
    const { stdout } = await syncWith({ ...off, endpoint: service.url });
    expect(stdout).toContain("2 fetched, 0 unchanged, 0 removed, 1 failed");
  }
  expect(service.asked).toEqual([]);
});
statement("infrastructure", "20 | Request timeout.", async () => {
  await using service = openService(() => new Promise<Response>(() => {}));
  const fallback = { enabled: true, endpoint: service.url, timeout_seconds: 1, max_retries: 0 };
  expect((await syncWith(fallback)).stdout).toContain("2 fetched, 0 unchanged, 0 removed, 1 failed");
});
statement("infrastructure", "URLs per request the service can take (the pipeline sends one).", async () => {
  await using service = openService(rescued);
  await syncWith({ enabled: true, endpoint: service.url, batch_size: 8 }, { empty: 3 });
  expect(service.asked.map(({ body }) => body)).toEqual(
    Array.from({ length: 3 }, () => ({ url: expect.any(String) })),
  );
});
statement("infrastructure", "2 | Retries before failure is reported.", async () => {
  for (const [max_retries, calls] of [
    [0, 1],
    [1, 2],
    [undefined, 3],
  ]) {
    await using service = openService(
      () => new Response("busy", { status: 503, headers: { "retry-after": "0" } }),
    );
    await syncWith({ enabled: true, endpoint: service.url, max_retries });
    expect(service.asked).toHaveLength(calls ?? 0);
  }
});
statement("infrastructure", "Name of the environment variable that holds the bearer token.", async () => {
  await using service = openService(rescued);
  const fallback = { enabled: true, endpoint: service.url, api_key_env: "FALLBACK_KEY" };
  await syncWith(fallback, { env: { FALLBACK_KEY: "fallback-1a2b" } });
  expect(service.asked.map(({ authorization }) => authorization)).toEqual(["Bearer fallback-1a2b"]);
  const root = writeDeployment({ article_extractor_fallback: fallback });
  await expect(Served.start(root)).rejects.toThrow("the variable FALLBACK_KEY is not set");
});
