import { expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { requireBinary, runBinary } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { folderTenant, openRegistry, openSearchServer } from "../support/search-server.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until } from "../support/until.ts";

const registry = forAllTests(
  openRegistry({
    infrastructure: { allow_index_builds: true },
    tenants: ["harbour", "secretive"].map((codename) =>
      folderTenant(codename, { "quay.md": "# Quay\n\nMoor the boat.\n" }),
    ),
  }),
);
await registry.build("harbour");

async function connect(url: string, key?: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const transport = new SSEClientTransport(new URL(url), {
    requestInit: { headers },
    eventSourceInit: {
      fetch: (input: string | URL | Request, init?: RequestInit) =>
        fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), ...headers } }),
    } as never,
  });
  await client.connect(transport as never);
  return client;
}

test.each(["", "/tools"])("a client of the first transport works below %p", async (basePath) => {
  await using server = openSearchServer(registry, { allowSse: true, basePath });
  const client = await connect(`${server.url}${basePath}/sse`);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("root_search");
  const given = { tenant_codename: "harbour", query: "moor" };
  const found = await client.callTool({ name: "root_search", arguments: given });
  expect(found.structuredContent).toMatchObject({ error: null, results: [{ title: "Quay" }] });
  expect((await client.listResources()).resources).toHaveLength(1);
  await client.close();
});

/** Opens a stream by hand; gives where messages go. */
async function open(url: string, key = ""): Promise<{ readonly place: string; readonly leave: () => void }> {
  const left = new AbortController();
  const response = await fetch(`${url}/sse`, {
    signal: left.signal,
    headers: { authorization: `Bearer ${key}` },
  });
  const { value } = (await response.body?.getReader().read()) ?? {};
  const place = /^event: endpoint\ndata: (\S+)\n\n/.exec(new TextDecoder().decode(value))?.[1] ?? "";
  return { place: `${url}${place}`, leave: () => left.abort() };
}
const post = (url: string, key = ""): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });

test("a session ends with its stream, and there is no other", async () => {
  await using server = openSearchServer(registry, { allowSse: true });
  const { place, leave } = await open(server.url);
  expect((await post(place)).status).toBe(202);
  leave();
  await until(
    async () => (await post(place)).status,
    (status) => status === 404,
  );
  for (const query of ["", "?sessionId=", "?sessionId=x"])
    expect([404, 422]).toContain((await post(`${server.url}/messages${query}`)).status);
});

test("a session is its owner's, and shows the owner's tenants", async () => {
  const keys = {
    find: (token: string) => ({ name: token, tenants: token === "some" ? ["harbour"] : null }),
  };
  await using server = openSearchServer(registry, { allowSse: true, keys });
  const { place, leave } = await open(server.url, "some");
  expect((await post(place, "other")).status).toBe(404);
  expect((await post(place, "some")).status).toBe(202);
  leave();
  const client = await connect(`${server.url}/sse`, "some");
  const { structuredContent } = await client.callTool({ name: "list_tenants", arguments: {} });
  expect(structuredContent).toMatchObject({ count: 1, tenants: [{ codename: "harbour" }] });
  await client.close();
});

test.each<[string, { readonly name: string; readonly tenants: string[] | null } | null]>([
  ["is removed", null],
  ["is for other tenants", { name: "some", tenants: ["secretive"] }],
])(
  "a session ends when its key %s, and another's does not",
  async (_, later) => {
    let granted: typeof later = { name: "some", tenants: ["harbour"] };
    const other = { name: "other", tenants: null };
    const keys = { find: (token: string) => (token === "some" ? granted : other) };
    await using server = openSearchServer(registry, { allowSse: true, keys });
    const ends = async (token: string): Promise<boolean> => {
      const headers = { authorization: `Bearer ${token}` };
      const reader = (await fetch(`${server.url}/sse`, { headers })).body?.getReader();
      await reader?.read();
      opened.resolve();
      return (await reader?.read())?.done === true;
    };
    const opened = Promise.withResolvers<void>();
    const own = ends("some");
    const { place, leave } = await open(server.url, "other");
    await opened.promise;
    granted = later;
    expect(await own).toBe(true);
    expect((await post(place, "other")).status).toBe(202);
    leave();
  },
  120_000,
);

test("one client has at most 20 streams", async () => {
  await using server = openSearchServer(registry, { allowSse: true });
  const opened = await Promise.all(Array.from({ length: 20 }, () => open(server.url)));
  expect((await fetch(`${server.url}/sse`)).status).toBe(429);
  for (const { leave } of opened) leave();
  await until(
    async () => {
      const response = await fetch(`${server.url}/sse`);
      await response.body?.cancel();
      return response.status;
    },
    (status) => status === 200,
  );
});

test("without the setting there is no such transport", async () => {
  await using server = openSearchServer(registry);
  expect((await fetch(`${server.url}/sse`)).status).toBe(404);
  expect((await post(`${server.url}/messages?sessionId=x`)).status).toBe(404);
});

test("the setting turns it on, for a server of one process", async () => {
  await using served = await Served.start(writeDeployment({ allow_sse_transport: true }));
  const { place, leave } = await open(served.url);
  expect((await post(place)).status).toBe(202);
  leave();
  requireBinary();
  const cwd = writeDeployment({ allow_sse_transport: true, uvicorn_workers: 2 });
  const { exitCode, stderr } = await runBinary(["serve", "search"], { cwd });
  expect(stderr).toContain("set uvicorn_workers to 1");
  expect(exitCode).toBe(2);
}, 120_000);
