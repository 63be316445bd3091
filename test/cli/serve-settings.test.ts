import { expect, test } from "bun:test";
import { postMcp } from "../support/mcp.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until } from "../support/until.ts";

const isIndexed = (served: Served) =>
  until(
    () => served.search("no_proxy"),
    ({ error }) => error === null,
  );

const get = (served: Served, path: string): Promise<Response> =>
  fetch(`${served.url}${path}`, { headers: { connection: "close" } });

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
test("--host goes before mcp_host", async () => {
  const root = writeDeployment({ mcp_host: "127.0.0.2" });
  await using other = await Served.start(root, { words: ["--host", "127.0.0.3"] });
  expect(new URL(other.url).hostname).toBe("127.0.0.3");
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

test("max_concurrent_requests has others wait for http_timeout at most", async () => {
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
