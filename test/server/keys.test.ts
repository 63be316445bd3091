import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createLog } from "../../src/base/log.ts";
import { addKey, openKeyFile, readKeys, removeKey } from "../../src/server/index.ts";
import { runBinary } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { MCP_HEADERS } from "../support/mcp.ts";
import { folderTenant, openIndexed, openRegistry, openSearchServer } from "../support/search-server.ts";
import { writeDeployment } from "../support/served.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const { path: scratch } = forAllTests(temporaryDirectory());
const file = join(scratch, "keys.json");
const NOW = new Date("2026-01-02T03:04:05Z");
const HIDDEN_NAME = "Zanzibar Ledger";
const tenant = (codename: string, docs: Readonly<Record<string, string>>): object =>
  folderTenant(codename, docs, {
    docs_name: codename === "secretive" ? HIDDEN_NAME : `The ${codename} docs`,
    description: `All about ${codename} and ships`,
  });

const registry = forAllTests(
  await openIndexed(
    tenant("harbour", { "quay.md": "# Quay\n\nMoor the boat at the quay.\n" }),
    tenant("secretive", { "plan.md": "# Plan\n\nMoor the secret boat elsewhere.\n" }),
    tenant("shipyard", { "hull.md": "# Hull\n\nPaint the hull of the boat.\n" }),
  ),
);
const all = await addKey(file, { name: "operator", tenants: null, now: NOW });
const some = await addKey(file, { name: "ci.bot-1", tenants: ["harbour", "shipyard", "gone"], now: NOW });
const log = createLog({ level: "debug", format: "json", write: (line) => registry.lines.push(line) });
const server = forAllTests(
  openSearchServer(registry, { apiKey: "the-one-key", keys: openKeyFile(file, log) }),
);

const request = (key: string | null, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    ...init,
    headers: { ...MCP_HEADERS, ...(key !== null && { authorization: `Bearer ${key}` }) },
  });

/** All of an answer, or what a stream sends first. */
async function textOf(key: string, path: string, accept: string): Promise<string> {
  const response = await fetch(`${server.url}${path}`, {
    headers: { accept, authorization: `Bearer ${key}` },
  });
  const headers = JSON.stringify([...response.headers]);
  if (!headers.includes("text/event-stream")) return headers + (await response.text());
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return headers + new TextDecoder().decode(first?.value);
}

async function rpc(key: string, method: string, params: object = {}): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await (await request(key, "/mcp", { method: "POST", body })).json()) as Record<string, unknown>;
}
const call = async (key: string, name: string, given: object): Promise<Record<string, unknown>> => {
  const { result } = await rpc(key, "tools/call", { name, arguments: given });
  return (result as { structuredContent: Record<string, unknown> }).structuredContent;
};

test("where the server keeps its files is shown to callers of all tenants only", async () => {
  const place = join(scratch, "not there");
  await using lost = openRegistry({
    infrastructure: { allow_index_builds: true },
    tenants: [folderTenant("harbour", {}, { docs_root_dir: place })],
  });
  lost.start();
  await using server = openSearchServer(lost, { keys: openKeyFile(file, log) });
  const read = async (key: string, path: string): Promise<string> =>
    await (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).text();
  await untilTrue(async () => (await read(all, "/harbour/sync/status")).includes(place));
  for (const path of ["/harbour/sync/status", "/tenants/status", "/health"]) {
    expect(await read(all, path)).toContain(scratch);
    expect(await read(some, path)).toContain("…/not there");
    expect(await read(some, path)).not.toContain(scratch);
  }
});

describe("who has a key", () => {
  test("comes in with any of them, and nobody else does", async () => {
    for (const key of [all, some, "the-one-key"])
      expect((await request(key, "/tenants/status")).status).toBe(200);
    for (const key of [null, "", "wrong", `${all}x`, all.slice(0, -1), "ae_", "ci.bot-1"]) {
      const response = await request(key, "/tenants/status");
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="article-extractor"');
    }
  });

  test("is named in the log, without the key", async () => {
    registry.lines.length = 0;
    await request(some, "/tenants/status");
    await request("the-one-key", "/tenants/status");
    const requests = registry.lines
      .map((line) => JSON.parse(line))
      .filter(({ path }) => path === "/tenants/status");
    expect(requests.map(({ key }) => key)).toEqual(["ci.bot-1", undefined]);
    for (const secret of [some, all, "the-one-key"]) expect(registry.lines.join("\n")).not.toContain(secret);
  });
});

describe("who has a key for some tenants", () => {
  test("finds only these in lists", async () => {
    const codenames = (answer: Record<string, unknown>): string[] =>
      (answer.tenants as { codename: string }[]).map(({ codename }) => codename);
    expect(codenames(await call(some, "list_tenants", {}))).toEqual(["harbour", "shipyard"]);
    expect(codenames(await call(all, "list_tenants", {}))).toEqual(["harbour", "secretive", "shipyard"]);
    for (const query of ["secretive", "ships", "boat plan"])
      expect(codenames(await call(some, "find_tenant", { query }))).not.toContain("secretive");
  });

  test("works with these as usual", async () => {
    const found = await call(some, "root_search", { tenant_codename: "harbour", query: "moor" });
    expect(found).toMatchObject({ error: null, results: [{ url: "docs://harbour/quay.md" }] });
    const uri = "docs://shipyard/hull.md";
    expect(await call(some, "root_fetch", { tenant_codename: "shipyard", uri })).toMatchObject({
      error: null,
    });
    expect((await request(some, "/shipyard/sync/status")).status).toBe(200);
  });

  test("searches and fetches without a tenant in these only", async () => {
    const found = await call(some, "root_search", { tenant_codename: "*", query: "boat" });
    const urls = (found.results as { url: string }[]).map(({ url }) => url).sort();
    expect(urls).toEqual(["docs://harbour/quay.md", "docs://shipyard/hull.md"]);
    const fetched = await call(some, "root_fetch", { tenant_codename: "*", uri: "docs://secretive/plan.md" });
    expect(fetched.error).toStartWith("No tenant has a document");
    expect(
      (await call(all, "root_fetch", { tenant_codename: "*", uri: "docs://secretive/plan.md" })).error,
    ).toBeNull();
  });

  test("is told of another as of one that there is not, by every tool and route", async () => {
    const answers = async (codename: string): Promise<string> => {
      const uri = `docs://${codename}/plan.md`;
      const texts = [
        await call(some, "describe_tenant", { codename }),
        await call(some, "root_search", { tenant_codename: codename, query: "moor" }),
        await call(some, "root_fetch", { tenant_codename: codename, uri }),
        await call(some, "root_fetch", { tenant_codename: "harbour", uri }),
      ];
      for (const [method, path] of [
        ["GET", `/${codename}/sync/status`],
        ["POST", `/${codename}/sync/trigger`],
      ]) {
        const response = await request(some, path ?? "", { method: method ?? "" });
        const { request_id: _, ...problem } = (await response.json()) as Record<string, unknown>;
        texts.push({ status: response.status, ...problem });
      }
      return JSON.stringify(texts).replaceAll(codename, "TENANT");
    };
    const unknown = await answers("secretary");
    expect(await answers("secretive")).toBe(unknown);
    expect(unknown).not.toContain("did you mean secret");
  });

  test("is told of no other by health, status or the list of tools", async () => {
    for (const path of ["/health", "/tenants/status", "/", "/mcp.json", "/openapi.json"])
      expect(await (await request(some, path)).text()).not.toContain("secretive");
    expect(await (await request(some, "/health")).json()).toMatchObject({ tenant_count: 2 });
    expect(await (await request(all, "/health")).json()).toMatchObject({ tenant_count: 3 });
    const placesOf = async (key: string | null): Promise<string[]> => {
      const { infrastructure } = (await (await request(key, "/health")).json()) as { infrastructure: object };
      return Object.keys(infrastructure);
    };
    expect(await placesOf(all)).toContain("deployment");
    for (const key of [some, null]) expect(await placesOf(key)).not.toContain("deployment");
    const told = (await (await request(null, "/health")).json()) as object;
    expect(told).toMatchObject({ tenants: {} });
    expect(Object.keys(told)).not.toContain("tenant_count");
    expect(JSON.stringify(await rpc(some, "tools/list"))).not.toContain("secretive");
  });

  test("is told of no other by any address that is read", async () => {
    // A search in the hidden tenant and a wrong one leave what might be told of them.
    await call(all, "root_search", { tenant_codename: "secretive", query: "moor" });
    await call(all, "root_search", { tenant_codename: "secretary", query: "moor" });
    const { paths } = (await (await request(all, "/openapi.json")).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const read = Object.entries(paths).flatMap(([path, methods]) => (methods.get ? [path] : []));
    expect(read).toContain("/search");
    const written = read.flatMap((path) =>
      path.includes("{codename}")
        ? ["harbour", "secretiv", "gone"].map((codename) => path.replace("{codename}", codename))
        : [path, `${path}?client=zed`, `${path}?client=x`, `${path}x`],
    );
    const pages = ["/docs/swagger-ui.css", "/.well-known/oauth-protected-resource", "/secret", "/logs"];
    const told: string[] = [];
    for (const path of [...written, ...pages])
      for (const accept of ["application/json", "text/html"]) {
        const answer = await textOf(some, path, accept);
        told.push(path);
        for (const word of ["secretive", HIDDEN_NAME, "plan.md"])
          expect([path, answer.includes(word)]).toEqual([path, false]);
      }
    expect(told.length).toBeGreaterThan(60);
    expect(await textOf(all, "/tenants/status", "application/json")).toContain("secretive");
  });

  test("is refused what tells of all tenants together", async () => {
    for (const path of ["/metrics", "/analytics"]) {
      const refused = await request(some, path);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ code: "tenants_limited" });
      // Queries are not counted here, which is a 404.
      for (const key of [all, "the-one-key"])
        expect((await request(key, path)).status).toBe(path === "/metrics" ? 200 : 404);
    }
  });

  test("learns of no other by any message", async () => {
    const methods = ["tools/call", "resources/read", "resources/list", "prompts/get"];
    const word = fc.oneof(
      fc.constantFrom("secretiv", "secret", "docs://secretiv/plan.md", "harbour"),
      fc.constantFrom("answer_from_docs", "root_search"),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...methods),
        fc.constantFrom("root_search", "root_fetch", "describe_tenant", "find_tenant", "answer_from_docs"),
        fc.record({ tenant_codename: word, codename: word, uri: word, query: word, question: word }),
        async (method, name, given) => {
          const answer = await rpc(some, method, { name, uri: given.uri, arguments: given });
          expect(JSON.stringify(answer)).not.toContain("secretive");
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("the file", () => {
  test("has no key, and is for its owner only", () => {
    const text = readFileSync(file, "utf8");
    for (const key of [all, some]) expect(text).not.toContain(key);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(text)).toMatchObject({
      keys: [
        { name: "operator", tenants: null, created_at: NOW.toISOString() },
        { name: "ci.bot-1", tenants: ["harbour", "shipyard", "gone"] },
      ],
    });
  });

  test("keeps every key that was added at once with others", async () => {
    const path = join(scratch, "many.json");
    const names = Array.from({ length: 12 }, (_, at) => `k${at}`);
    const keys = await Promise.all(names.map((name) => addKey(path, { name, tenants: null, now: NOW })));
    expect(new Set(keys).size).toBe(12);
    expect(
      readKeys(path)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...names].sort());
  });

  test("is read again by a running server when it changes", async () => {
    const later = await addKey(file, { name: "later", tenants: ["harbour"], now: NOW });
    const statusOf = async (key: string): Promise<number> => (await request(key, "/tenants/status")).status;
    await untilTrue(async () => (await statusOf(later)) === 200);
    await removeKey(file, "later");
    await untilTrue(async () => (await statusOf(later)) === 401);
    expect(await statusOf(all)).toBe(200);
  });

  test("that breaks while a server runs leaves the keys as they were; that is gone, none", async () => {
    const path = join(scratch, "breaking.json");
    const key = await addKey(path, { name: "a", tenants: null, now: NOW });
    const lines: string[] = [];
    const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
    const keys = openKeyFile(path, log);
    writeFileSync(path, "{");
    await untilTrue(async () => (await keys.find(key)) !== null && lines.join("").includes("keys not read"));
    expect(keys.find(key)).toMatchObject({ name: "a", tenants: null });
    rmSync(path);
    await untilTrue(async () => (await keys.find(key)) === null);
  });

  test.each([
    ["{", "is not JSON"],
    ["[]", "it has no list of keys"],
    ['{"keys":[7]}', "keys[0] is not an object"],
    ['{"keys":[{"name":"","hash":""}]}', "keys[0].name must have 1 to 64 letters"],
    ['{"keys":[{"name":"a","hash":"x"}]}', "keys[0].hash must be a SHA-256 in 64"],
    [
      `{"keys":[{"name":"a","hash":"${"0".repeat(64)}","tenants":"x"}]}`,
      "keys[0].tenants must be a list of codenames, or null",
    ],
  ])("with %p is refused", (text, message) => {
    const path = join(scratch, "bad.json");
    writeFileSync(path, text);
    expect(() => readKeys(path)).toThrow(message);
  });

  test("that is not there names the command that makes it", () => {
    expect(() => readKeys(join(scratch, "none.json"))).toThrow(
      "there is no such file; article-extractor keys add NAME makes it",
    );
  });

  test.each(["", "a b", "-x", "x".repeat(65), "é", "../x"])("takes no name %p", async (name) => {
    await expect(addKey(file, { name, tenants: null, now: NOW })).rejects.toThrow("a name has 1 to 64");
  });

  test("that nobody may write is left as it was", async () => {
    if (process.getuid?.() === 0) return;
    chmodSync(scratch, 0o500);
    await expect(addKey(file, { name: "x", tenants: null, now: NOW })).rejects.toThrow("permission denied");
    chmodSync(scratch, 0o700);
  });
});

describe("the command", () => {
  const root = writeDeployment({ keys_file: "access/keys.json" });
  const run = async (...words: string[]) => {
    const { exitCode: code, stdout: out, stderr: err } = await runBinary(["keys", ...words], { cwd: root });
    return { code, out, err };
  };

  test("adds, lists and removes keys, and shows each once", async () => {
    expect(await run("list")).toMatchObject({
      code: 2,
      err: expect.stringContaining("keys add NAME makes it"),
    });
    const added = await run("add", "ci", "--tenants", "tool");
    expect(added).toMatchObject({ code: 0, err: expect.stringContaining("shown this once") });
    expect(added.out).toMatch(/^ae_[\w-]{43}\n$/);
    expect(JSON.parse((await run("add", "me", "--json")).out)).toMatchObject({ name: "me", tenants: null });
    expect((await run("list")).out).toMatch(/^ci\ttool\t\S+\nme\tall tenants\t\S+\n$/);
    expect(JSON.parse((await run("list", "--json")).out)).toMatchObject({
      keys: [{ name: "ci", tenants: ["tool"] }, { name: "me" }],
    });
    expect(await run("remove", "ci")).toMatchObject({ code: 0, out: "" });
    expect((await run("list")).out).toStartWith("me\t");
  });

  test.each<[string[], string]>([
    [[], "keys takes: add NAME, list, or revoke NAME"],
    [["add"], "keys takes:"],
    [["list", "x"], "keys takes:"],
    [["remove"], "keys takes:"],
    [["make", "x"], "keys takes:"],
    [["add", "a", "b"], "keys takes:"],
    [["remove", "nobody"], "there is no key 'nobody'"],
    [["add", "me"], "there is a key 'me'"],
    [["add", "x", "--tenants", "tol"], "there is no tenant 'tol'; did you mean tool?"],
    [["remove", "me", "--tenants", "tool"], "--tenants goes with keys add"],
  ])("%j is refused", async (words, message) => {
    expect(await run(...words)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
  });
});
