import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { QueriesRecord } from "../../src/server/index.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { postMcp } from "../support/mcp.ts";
import { folderTenant, openRegistry, openSearchServer } from "../support/search-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

const path = join(forAllTests(temporaryDirectory()).path, "queries.sqlite");
const LIMITED = { name: "some", tenants: ["gates"] };

const registry = forAllTests(
  openRegistry({
    infrastructure: { allow_index_builds: true },
    tenants: [
      folderTenant("gates", {
        "a.md": "# Alpha\n\nThe gates close at night.\n",
        "b.md": "# Beta\n\nGates.\n",
      }),
      folderTenant("new", "/nowhere"),
    ],
  }),
);
await registry.build("gates");
const server = forAllTests(
  openSearchServer(registry, {
    queries: { path, days: 30 },
    apiKey: "all",
    keys: { find: (token) => (token === "some" ? LIMITED : null) },
  }),
);
const silent = forAllTests(openSearchServer(registry));

const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });

async function call(name: string, args: object, { url } = server): Promise<void> {
  const message = { method: "tools/call", params: { name, arguments: args } };
  expect((await postMcp(url, message, headersOf("all"))).status).toBe(200);
}

const read = async (query = "", key = "all", { url } = server) => {
  const response = await fetch(`${url}/analytics${query}`, { headers: headersOf(key) });
  return {
    status: response.status,
    body: (await response.json()) as QueriesRecord & { code?: string; detail?: string },
  };
};

describe("the metrics of tenants", () => {
  const metrics = async () => (await fetch(`${silent.url}/metrics`)).text();

  test("count searches in each, and tell when indexes were written and syncs ended", async () => {
    const searchesOf = (text: string) =>
      Number(/_tenant_searches_total\{tenant="gates"\} (\d+)/.exec(text)?.[1] ?? 0);
    const before = searchesOf(await metrics());
    await call("root_search", { tenant_codename: "*", query: "gates" }, silent);
    await call("root_search", { tenant_codename: "gates", query: "gates" }, silent);
    await fetch(`${silent.url}/search?q=gates&tenant=missing`);
    const text = await metrics();
    expect(searchesOf(text) - before).toBe(2);
    const gaugeOf = (name: string, tenant: string) =>
      new RegExp(`^article_extractor_${name}\\{tenant="${tenant}"\\} (\\S+)$`, "m").exec(text)?.[1];
    expect(Number(gaugeOf("tenant_documents", "gates"))).toBe(2);
    const { builtAt, lastCompletedAt } = await registry.status("gates");
    expect(Number(gaugeOf("tenant_index_timestamp_seconds", "gates"))).toBe((builtAt?.getTime() ?? 0) / 1000);
    expect(Number(gaugeOf("tenant_sync_timestamp_seconds", "gates"))).toBe(
      (lastCompletedAt?.getTime() ?? 0) / 1000,
    );
    expect(gaugeOf("tenant_degraded", "gates")).toBe("0");
    // Nothing is built or synced yet.
    expect(gaugeOf("tenant_degraded", "new")).toBe("1");
    for (const name of ["tenant_index_timestamp_seconds", "tenant_sync_timestamp_seconds"])
      expect(gaugeOf(name, "new")).toBeUndefined();
    expect(text.match(/^# TYPE article_extractor_tenant_degraded gauge$/gm)).toHaveLength(1);
  });
});

describe("what people search for", () => {
  test("is counted with what they find and open, once for a query", async () => {
    for (const query of ["g", "ga", "Gates"]) await call("root_search", { tenant_codename: "*", query });
    await call("root_search", { tenant_codename: "*", query: "gates", offset: 1 });
    await call("root_fetch", { tenant_codename: "*", uri: "docs://gates/b.md" });
    await call("root_search", { tenant_codename: "*", query: "zeppelin" });
    expect((await fetch(`${server.url}/search?q=alpha`, { headers: headersOf("all") })).status).toBe(200);
    const { body } = await until(
      () => read(),
      ({ body: { searches } }) => searches === 3,
    );
    const counts = { searches: 1, without_hits: 0, followed: 0 };
    const alpha = { query: "alpha", ...counts };
    const gates = { query: "gates", ...counts, followed: 1 };
    const zeppelin = { query: "zeppelin", ...counts, without_hits: 1 };
    expect(body).toEqual({
      since: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      searches: 3,
      queries: 3,
      frequent: [alpha, gates, zeppelin],
      without_hits: [zeppelin],
      without_click: [alpha],
    });
    expect((await read("?size=1&days=1")).body.frequent).toEqual([alpha]);
    expect(readFileSync(path).includes("127.0.0.1")).toBeFalse();
  });

  test("is not what a page looks at by itself", async () => {
    const headers = headersOf("all");
    const before = (await read()).body;
    for (const path of ["search?q=balloon&preview=true", "document?uri=docs://gates/a.md&preview=true"])
      expect((await fetch(`${server.url}/${path}`, { headers })).status).toBe(200);
    expect((await fetch(`${server.url}/search?q=night`, { headers })).status).toBe(200);
    const { body } = await until(
      () => read(),
      ({ body: { searches } }) => searches > before.searches,
    );
    expect(body.frequent).toContainEqual({ query: "night", searches: 1, without_hits: 0, followed: 0 });
    expect(body.searches).toBe(before.searches + 1);
    expect((await fetch(`${server.url}/document?uri=docs://gates/a.md`, { headers })).status).toBe(200);
    await until(
      () => read(),
      ({ body: { frequent } }) => frequent.some(({ query, followed }) => query === "night" && followed === 1),
    );
  });

  test.each([
    ["?size=0", "size"],
    ["?size=1001", "size"],
    ["?size=x", "size"],
    ["?days=0", "days"],
    ["?days=1.5", "days"],
  ])("is not told for %p", async (query, field) => {
    const { status, body } = await read(query);
    expect({ status, text: JSON.stringify(body) }).toEqual({
      status: 422,
      text: expect.stringContaining(field),
    });
  });

  test("is told to nobody who may use only some tenants, or none", async () => {
    expect(await read("", "some")).toMatchObject({ status: 403, body: { code: "tenants_limited" } });
    expect(await read("", "wrong")).toMatchObject({ status: 401 });
  });

  test("is not counted where the deployment does not say so", async () => {
    await call("root_search", { tenant_codename: "*", query: "gates" }, silent);
    const { status, body } = await read("", "", silent);
    expect({ status, body }).toMatchObject({ status: 404, body: { code: "queries_not_counted" } });
    expect(body.detail).toContain("infrastructure.query_log_days");
  });

  test("is in the description of the API, and on a page for browsers", async () => {
    const openapi = await (await fetch(`${server.url}/openapi.json`, { headers: headersOf("all") })).json();
    expect(Object.keys(openapi.paths["/analytics"].get.responses)).toEqual(
      expect.arrayContaining(["200", "401", "403", "404", "422"]),
    );
    const headers = { accept: "text/html" };
    const moved = await fetch(`${server.url}/analytics`, { headers, redirect: "manual" });
    expect([moved.status, moved.headers.get("location"), moved.headers.get("vary")]).toEqual([
      308,
      "status#queries",
      "Accept",
    ]);
    const page = await fetch(`${server.url}/status`, { headers });
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain("<title>Status – Documentation search</title>");
  });
});
