import { expect, test } from "bun:test";
import { connect } from "node:net";
import { reservePort } from "../../src/server/testing.ts";
import { postMcp } from "../support/mcp.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until } from "../support/until.ts";

const LONG_TEST = 120_000;

const isIndexed = (served: Served) =>
  until(
    () => served.search("no_proxy"),
    ({ error }) => error === null,
  );

const get = (served: Served, path: string): Promise<Response> =>
  fetch(`${served.url}${path}`, { headers: { connection: "close" } });

test("mcp_port is the port", async () => {
  const port = await reservePort("127.0.0.1", 0);
  await using served = await Served.start(writeDeployment({ mcp_port: port }), { port: null });
  expect(served.url).toBe(`http://127.0.0.1:${port}`);
});

test("a server without a key that others may reach says so once at its start", async () => {
  for (const [host, key, times] of [
    ["0.0.0.0", "", 1],
    ["0.0.0.0", "k3y", 0],
    ["127.0.0.1", "", 0],
  ] as const) {
    const env = { DOCS_SEARCH_API_KEY: key };
    await using served = await Served.start(writeDeployment({ mcp_host: host }), { env });
    const warnings = served.said.match(
      /"warning","message":"there is no API key: .*DOCS_SEARCH_API_KEY sets one"/g,
    );
    expect([host, key, warnings?.length ?? 0]).toEqual([host, key, times]);
  }
});

// All of 127.0.0.0/8 is this machine where tests run.
test("mcp_host is where it listens, and nowhere else; --host goes before it", async () => {
  const root = writeDeployment({ mcp_host: "127.0.0.2" });
  await using served = await Served.start(root);
  expect(new URL(served.url).hostname).toBe("127.0.0.2");
  expect((await get(served, "/ready")).status).toBe(200);
  const elsewhere = `http://127.0.0.1:${new URL(served.url).port}/ready`;
  await expect(fetch(elsewhere)).rejects.toThrow("ECONNREFUSED");
  await using other = await Served.start(root, { words: ["--host", "127.0.0.3"] });
  expect(new URL(other.url).hostname).toBe("127.0.0.3");
});

test("default_client_model is what clients are told", async () => {
  await using served = await Served.start(writeDeployment({ default_client_model: "some-model" }));
  expect(await (await get(served, "/mcp.json")).json()).toMatchObject({ defaultModel: "some-model" });
});

const MEGABYTES = `# Tides\n\n${"the miller of the weir counts the barges of the tide and of the quay. ".repeat(60_000)}\n`;

/** A server with a document of megabytes, so that a search takes it long. */
async function serveSlowly(infrastructure: object): Promise<Served> {
  const root = writeDeployment({ search_timeout: 60, ...infrastructure }, {}, { "long.md": MEGABYTES });
  const served = await Served.start(root, { env: { DOCS_SEARCH_MAX_PER_CLIENT: "1000" } });
  await isIndexed(served);
  return served;
}

/** Asks for so many searches at once; the problems of those that were refused. */
async function refusals(served: Served, count: number): Promise<Record<string, unknown>[]> {
  const query = '"the miller of the weir" "the barges of the tide" "of the quay"';
  const ask = async (): Promise<Record<string, unknown> | null> => {
    const response = await postMcp(served.url, {
      method: "tools/call",
      params: { name: "root_search", arguments: { tenant_codename: "tool", query } },
    });
    const answer = (await response.json()) as Record<string, unknown>;
    return response.ok ? null : { ...answer, retryAfter: response.headers.get("retry-after") };
  };
  return (await Promise.all(Array.from({ length: count }, ask))).filter((problem) => problem !== null);
}

test(
  "max_concurrent_requests has others wait for http_timeout at most",
  async () => {
    await using served = await serveSlowly({ max_concurrent_requests: 1, http_timeout: 1 });
    const refused = await until(
      () => refusals(served, 100),
      (problems) => problems.length > 0,
    );
    const problem = { code: "overloaded", detail: "1 requests were under way for 1 s", retryAfter: "1" };
    for (const one of refused) expect(one).toMatchObject(problem);
    expect(refused.length).toBeGreaterThan(0);
    await using patient = await serveSlowly({ max_concurrent_requests: 1, http_timeout: 600 });
    expect(await refusals(patient, 100)).toEqual([]);
  },
  LONG_TEST,
);

test("http_timeout ends a request that takes too long to arrive", async () => {
  await using served = await Served.start(writeDeployment({ http_timeout: 1 }));
  const answer = Promise.withResolvers<string>();
  const { hostname, port } = new URL(served.url);
  const socket = connect(Number(port), hostname, () =>
    socket.write(
      "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{",
    ),
  );
  socket.on("data", (piece) => answer.resolve(piece.toString()));
  const text = await answer.promise;
  socket.destroy();
  expect(text).toStartWith("HTTP/1.1 408 ");
  expect(text).toContain("the body took longer than 1 s to arrive");
});

test(
  "uvicorn_limit_concurrency refuses at once what is over it",
  async () => {
    await using served = await serveSlowly({ uvicorn_limit_concurrency: 10 });
    const refused = await until(
      () => refusals(served, 100),
      (problems) => problems.length > 0,
    );
    for (const one of refused) expect(one).toMatchObject({ detail: "more than 10 requests at once" });
    expect(refused.length).toBeGreaterThan(0);
    expect((await get(served, "/health")).status).toBe(200);
  },
  LONG_TEST,
);

test.each([true, false])("search_include_stats %p decides about stats", async (included) => {
  await using served = await Served.start(writeDeployment({ search_include_stats: included }));
  expect("stats" in (await isIndexed(served))).toBe(included);
});

const FILLER = "Words of no account. ".repeat(40);
const LONG = `# Long\n\n${FILLER}\n\n## Middle\n\nHere it is.\n\n## End\n\n${FILLER}\n`;
const fetchMiddle = async (infrastructure: object, more: object = {}): Promise<string> => {
  await using served = await Served.start(writeDeployment(infrastructure, {}, { "long.md": LONG }));
  await isIndexed(served);
  const uri = "docs://tool/long.md#middle";
  return (await served.call("root_fetch", { tenant_codename: "tool", uri, ...more })).content;
};

test(
  "default_fetch_mode full gives the whole document, surrounding a part of it",
  async () => {
    expect(await fetchMiddle({ default_fetch_mode: "full" })).toBe(LONG);
    expect(await fetchMiddle({ default_fetch_mode: "surrounding" })).not.toContain("account");
  },
  LONG_TEST,
);

test(
  "default_fetch_surrounding_chars says how much comes with it",
  async () => {
    const passage = { query: "Here it is" };
    expect(await fetchMiddle({ default_fetch_surrounding_chars: 100 }, passage)).toContain("account");
    expect(await fetchMiddle({ default_fetch_surrounding_chars: 1 }, passage)).not.toContain("account");
  },
  LONG_TEST,
);

// Probes are logged at debug level, requests at info.
test.each([
  ["debug", ["/health", "/mcp.json"]],
  ["info", ["/mcp.json"]],
  ["warning", []],
  ["error", []],
])("log_level %s logs requests of %j", async (level, logged) => {
  const isSilent = logged.length === 0;
  await using served = await Served.start(writeDeployment({ log_level: level }), { isSilent });
  for (const path of ["/health", "/mcp.json"]) await get(served, path);
  served.child.kill();
  await served.child.exited;
  const wasLogged = (path: string): boolean => served.said.includes(`"path":"${path}"`);
  expect(["/health", "/mcp.json"].filter(wasLogged)).toEqual(logged);
});

test("ARTICLE_EXTRACTOR_LOG_LEVEL goes before log_level", async () => {
  const env = { ARTICLE_EXTRACTOR_LOG_LEVEL: "info" };
  await using served = await Served.start(writeDeployment({ log_level: "error" }), { env });
  await get(served, "/mcp.json");
  const said = await until(
    () => served.said,
    (text) => text.includes("/mcp.json"),
  );
  expect(said).toContain('"path":"/mcp.json"');
});

test("operation_mode offline syncs nothing, and searches on", async () => {
  await using served = await Served.start(writeDeployment({ operation_mode: "offline" }));
  expect((await isIndexed(served)).error).toBeNull();
  const response = await fetch(`${served.url}/tool/sync/trigger`, { method: "POST" });
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "offline" });
  expect(await (await get(served, "/health")).json()).toMatchObject({
    infrastructure: { operation_mode: "offline" },
  });
});

test(
  "allow_index_builds of a tenant goes before that of the infrastructure",
  async () => {
    await using builds = await Served.start(
      writeDeployment({ allow_index_builds: false }, { allow_index_builds: true }),
    );
    expect((await isIndexed(builds)).error).toBeNull();
    await using refuses = await Served.start(
      writeDeployment({ allow_index_builds: true }, { allow_index_builds: false }),
    );
    expect((await refuses.search("no_proxy")).error).toStartWith(
      "Tenant 'tool' has no search index; build it with: article-extractor index tool",
    );
  },
  LONG_TEST,
);

test("test_queries are run after a build, and shown", async () => {
  const queries = { natural: ["which hosts go without?"], phrases: ["lists hosts"], words: ["zeppelin"] };
  await using served = await Served.start(writeDeployment({}, { test_queries: queries }));
  await isIndexed(served);
  const status = (): Promise<{ readonly test_queries: readonly unknown[] }> =>
    get(served, "/tool/sync/status").then((response) => response.json() as never);
  const { test_queries: results } = await until(status, (now) => now.test_queries.length > 0);
  expect(results).toEqual([
    { query: "which hosts go without?", hits: 1 },
    { query: "lists hosts", hits: 1 },
    { query: "zeppelin", hits: 0 },
  ]);
  expect(await served.call("describe_tenant", { codename: "tool" })).toMatchObject({
    test_queries: ["which hosts go without?", "lists hosts", "zeppelin"],
  });
});
