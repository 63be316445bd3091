import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { BINARY, cleanEnvironment, requireBinary } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { MCP_HEADERS } from "../support/mcp.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";
import { writeDeployment } from "../support/served.ts";

const registry = forAllTests(
  await openIndexed(
    folderTenant("tool", { "proxies.md": "# Proxies\n\nNO_PROXY lists hosts that go without.\n" }),
  ),
);
const server = forAllTests(openSearchServer(registry));

type Answer = {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string };
};

const send = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}/mcp`, { method: "POST", body, headers: { ...MCP_HEADERS, ...headers } });

/** Sends a text over HTTP; gives the answers in it. */
async function overHttp(body: string): Promise<readonly Answer[]> {
  const response = await send(body);
  const text = await response.text();
  return text === "" ? [] : [JSON.parse(text)].flat();
}

/** The program over stdin and stdout, a line for a line. */
function openStdio(): {
  readonly ask: (line: string) => Promise<readonly Answer[]>;
  readonly write: (text: string | Uint8Array) => void;
  readonly next: () => Promise<readonly Answer[]>;
  readonly end: () => Promise<number>;
} {
  requireBinary();
  const root = writeDeployment();
  const child = Bun.spawn([BINARY, "serve", "search", "--stdio"], {
    cwd: root,
    env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state") }),
    stdio: ["pipe", "pipe", "ignore"],
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const next = async (): Promise<readonly Answer[]> => {
    while (!rest.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) return [];
      rest += value;
    }
    const line = rest.slice(0, rest.indexOf("\n"));
    rest = rest.slice(line.length + 1);
    return [JSON.parse(line)].flat();
  };
  const write = (text: string | Uint8Array): void => {
    child.stdin.write(text);
    child.stdin.flush();
  };
  return {
    write,
    next,
    ask: (line) => {
      write(`${line}\n`);
      return next();
    },
    end: async () => {
      child.stdin.end();
      return await child.exited;
    },
  };
}

let stdio: ReturnType<typeof openStdio>;
beforeAll(() => {
  stdio = openStdio();
});
afterAll(async () => {
  expect(await stdio.end()).toBe(0);
});

const ways = { HTTP: overHttp, stdio: (line: string) => stdio.ask(line) };

const ping = (id: unknown): object => ({ jsonrpc: "2.0", id, method: "ping" });
const call = (params: unknown): object => ({ jsonrpc: "2.0", id: 5, method: "tools/call", params });

describe.each(Object.keys(ways) as (keyof typeof ways)[])("over %s", (way) => {
  const ask = async (message: unknown): Promise<readonly Answer[]> =>
    await ways[way](JSON.stringify(message));

  test.each(["x", "", " ", "0", "é\u{1f980}", "x".repeat(1000), 0, 1, -1, -7, 2 ** 53 - 1])(
    "the id %p comes back",
    async (id) => {
      expect(await ask(ping(id))).toEqual([{ result: {}, jsonrpc: "2.0", id } as Answer]);
    },
  );

  test.each([[null], [1.5], [2 ** 53], [true], [{}], [{ a: 1 }], [[]], [["x"]]])(
    "the id %p is refused",
    async (id) => {
      expect(await ask(ping(id))).toMatchObject([{ id: null, error: { code: -32600 } }]);
    },
  );

  test.each([["{"], ['{"jsonrpc":'], ["nope"], ['"a'], ["{} {}"], ["\u0000"]])(
    "the text %p is no JSON",
    async (text) => {
      expect(await ways[way](text)).toMatchObject([{ id: null, error: { code: -32700 } }]);
    },
  );

  test.each<[string, unknown, unknown]>([
    ["null", null, null],
    ["a number", 7, null],
    ["a text", "ping", null],
    ["an empty object", {}, null],
    ["another version", { jsonrpc: "1.0", id: 3, method: "ping" }, 3],
    ["no version", { id: 3, method: "ping" }, 3],
    ["no method", { jsonrpc: "2.0", id: 3 }, 3],
    ["a method that is a number", { jsonrpc: "2.0", id: 3, method: 4 }, 3],
    ["params that are a list", { jsonrpc: "2.0", id: 3, method: "ping", params: [1] }, 3],
  ])("%s is no request", async (_, message, id) => {
    expect(await ask(message)).toMatchObject([{ id, error: { code: -32600 } }] as never);
  });

  test("params that are null are none", async () => {
    expect(await ask({ jsonrpc: "2.0", id: 3, method: "ping", params: null })).toMatchObject([
      { id: 3, result: {} },
    ]);
  });

  test.each<[string, unknown, number]>([
    ["no name", {}, -32602],
    ["a name that is a number", { name: 7 }, -32602],
    ["an unknown tool", { name: "nope" }, -32602],
    ["a name of a prototype", { name: "constructor" }, -32602],
    ["arguments that are a list", { name: "list_tenants", arguments: [] }, -32602],
    ["arguments that are a text", { name: "list_tenants", arguments: "x" }, -32602],
  ])("a call with %s is refused", async (_, params, code) => {
    expect(await ask(call(params))).toMatchObject([{ id: 5, error: { code } }]);
  });

  test.each(["nope", "tools/nope", "toString", "", "resources/subscribe", "completion/complete"])(
    "there is no method %p",
    async (method) => {
      expect(await ask({ jsonrpc: "2.0", id: 1, method })).toMatchObject([
        { id: 1, error: { code: -32601 } },
      ]);
    },
  );

  test("whatever the arguments are, the answer is a result of the tool or an error of the protocol", async () => {
    const names = ["find_tenant", "describe_tenant", "root_search", "root_fetch", "list_tenants"];
    const argument = fc.oneof(fc.constantFrom("tool", "docs://tool/proxies.md", "proxy"), fc.jsonValue());
    const keys = ["codename", "tenant_codename", "query", "uri", "size", "word_match", "offset", "max_chars"];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.dictionary(fc.constantFrom(...keys), argument),
        async (name, given) => {
          const answers = await ask(call({ name, arguments: given }));
          expect(answers).toHaveLength(1);
          const [{ id, result, error } = { id: null } as Answer] = answers;
          expect(id).toBe(5);
          expect((result === undefined) !== (error === undefined)).toBe(true);
          if (error) expect(error.code).toBe(-32602);
          // Official clients throw away the documented fields of a result that is marked as an error.
          expect((result as { isError?: boolean } | undefined)?.isError ?? false).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("whatever a message is, requests get one answer with their id, and the next is answered", async () => {
    const part = fc.oneof(fc.constantFrom("2.0", "ping", "tools/list", "resources/list"), fc.jsonValue());
    const message = fc.oneof(
      fc.record({ jsonrpc: part, id: part, method: part, params: part }, { requiredKeys: ["id", "method"] }),
      fc.jsonValue().filter((value) => !Array.isArray(value)),
    );
    await fc.assert(
      fc.asyncProperty(message, async (one) => {
        const [answer] = await ask(one);
        const { id } = Object(one);
        const isGiven = typeof id === "string" || Number.isSafeInteger(id);
        expect(answer?.id).toBe(isGiven ? id : null);
        expect(await ask(ping("after"))).toMatchObject([{ id: "after", result: {} }]);
      }),
      { numRuns: 60 },
    );
  });

  test("a batch gets one answer to each request, in one text", async () => {
    const answers = await ask([
      ping(1),
      7,
      { jsonrpc: "2.0", method: "x" },
      ping("b"),
      call({ name: "nope" }),
    ]);
    expect(answers).toHaveLength(4);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect(byId.get(1)).toMatchObject({ result: {} });
    expect(byId.get("b")).toMatchObject({ result: {} });
    expect(byId.get(5)).toMatchObject({ error: { code: -32602 } });
    expect(byId.get(null)).toMatchObject({ error: { code: -32600 } });
  });

  test.each<[string, unknown[]]>([
    ["an empty batch", []],
    ["a batch of more than 100", Array.from({ length: 101 }, (_, id) => ping(id))],
  ])("%s is refused", async (_, batch) => {
    expect(await ask(batch)).toMatchObject([{ id: null, error: { code: -32600 } }]);
  });
});

test("revisions without batches refuse them", async () => {
  const body = JSON.stringify([ping(1)]);
  for (const revision of ["2025-06-18", "2025-11-25", "2026-07-28"]) {
    const response = await send(body, { "mcp-protocol-version": revision });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32600, message: `Invalid Request: revision ${revision} has no batches` },
    });
  }
  const one = openStdio();
  const clientInfo = { name: "t", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  await one.ask(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
  expect(await one.ask(body)).toMatchObject([{ error: { code: -32600 } }]);
  expect(await one.end()).toBe(0);
});

const LIMIT = 2 * 1024 * 1024;
const sized = (length: number): string => {
  const empty = JSON.stringify(call({ name: "find_tenant", arguments: { query: "" } }));
  return JSON.stringify(
    call({ name: "find_tenant", arguments: { query: "x".repeat(length - empty.length) } }),
  );
};

test("a message of 2 MiB is read, and a longer one refused, with the next one answered", async () => {
  expect((await send(sized(LIMIT))).status).toBe(200);
  expect((await send(sized(LIMIT + 1))).status).toBe(413);
  expect(await stdio.ask(sized(LIMIT))).toMatchObject([
    { id: 5, result: { structuredContent: { error: expect.any(String) } } },
  ]);
  expect(await stdio.ask(sized(LIMIT + 1))).toMatchObject([{ id: null, error: { code: -32600 } }]);
  expect(await stdio.ask(sized(LIMIT * 3))).toMatchObject([{ id: null, error: { code: -32600 } }]);
  expect(await stdio.ask(JSON.stringify(ping(1)))).toMatchObject([{ id: 1 }]);
});

test("lines come in any pieces, with blank ones and carriage returns between", async () => {
  const line = new TextEncoder().encode(`${JSON.stringify(ping("é"))}\r\n\n  \n`);
  for (const byte of line) {
    stdio.write(Uint8Array.of(byte));
    await Bun.sleep(0);
  }
  expect(await stdio.next()).toMatchObject([{ id: "é", result: {} }]);
  stdio.write(`${JSON.stringify(ping(1))}\n${JSON.stringify(ping(2))}\n`);
  expect([...(await stdio.next()), ...(await stdio.next())].map(({ id }) => id)).toEqual([1, 2]);
});

test("what nobody has to answer is taken in silence", async () => {
  for (const message of [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: {} } },
    { jsonrpc: "2.0", method: "notifications/nope" },
    { jsonrpc: "2.0", id: 4, result: {} },
    { jsonrpc: "2.0", id: 4, error: { code: 1, message: "x" } },
  ]) {
    expect((await send(JSON.stringify(message))).status).toBe(202);
    expect(await stdio.ask(`${JSON.stringify(message)}\n${JSON.stringify(ping(1))}`)).toMatchObject([
      { id: 1 },
    ]);
  }
});

test("a program whose client has left ends, also with half a message", async () => {
  const one = openStdio();
  await one.ask(JSON.stringify(ping(1)));
  one.write('{"jsonrpc":"2.0","id":2,');
  expect(await one.end()).toBe(0);
});
