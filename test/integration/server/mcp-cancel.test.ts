import { expect, test } from "bun:test";
import { ClientConnection } from "../../../src/server/api/mcp/connection.ts";
import { connectClient } from "../../../src/server/api/mcp/modern.ts";
import type { McpOptions } from "../../../src/server/index.ts";
import { CALL, META } from "../../support/mcp.ts";
import { untilTrue } from "../../support/until.ts";

/** A client of a server with one tool, which works until it is called off. */
function open() {
  const log: string[] = [];
  const written: { readonly id?: unknown }[] = [];
  const options: McpOptions = {
    name: "test",
    version: "1",
    instructions: "",
    onCall: () => {},
    tools: [
      {
        name: "wait",
        description: "",
        inputSchema: { type: "object" },
        outputSchema: { type: "object" },
        annotations: {},
        call: (_, { signal }) =>
          new Promise((resolve) => {
            log.push("begun");
            signal().addEventListener("abort", () => {
              log.push("called off");
              resolve({ error: "called off" });
            });
          }),
      },
    ],
  };
  const connection = new ClientConnection(async (text) => {
    written.push(...[JSON.parse(text)].flat());
  });
  const server = connectClient(options, connection, (signal) => ({ ...CALL, signal: () => signal }));
  const send = (message: unknown): void => connection.receive(JSON.stringify(message));
  return { log, written, connection, server, send };
}

const wait = (id: unknown, params: object = {}): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "wait", ...params },
});
const cancel = (requestId: unknown): object => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

test.each<[string, object]>([
  ["with initialize", {}],
  ["without", { _meta: META }],
])("a cancelled call ends, is not answered, and leaves room for its id: revisions %s", async (_, meta) => {
  const { log, written, connection, send } = open();
  for (const id of [1, "a"]) {
    send(wait(id, meta));
    await untilTrue(() => log.at(-1) === "begun");
    send(wait(id, meta));
    await untilTrue(() => written.length > 0);
    expect(written.splice(0)).toMatchObject([{ id, error: { code: -32600 } }]);
    send(cancel(id));
    await untilTrue(() => log.at(-1) === "called off");
    await connection.idle();
    expect(written).toEqual([]);
  }
});

test("a batch is answered without its cancelled call", async () => {
  const { log, written, connection, send } = open();
  send([wait(1), { jsonrpc: "2.0", id: 2, method: "ping" }]);
  await untilTrue(() => log.length === 1);
  expect(written).toEqual([]);
  send(cancel(1));
  await connection.idle();
  expect(written).toMatchObject([{ id: 2, result: {} }]);
});

test("calls under way end with the connection", async () => {
  const { log, server, send } = open();
  send(wait(1));
  send(wait(2));
  await untilTrue(() => log.length === 2);
  await server.close();
  await untilTrue(() => log.filter((line) => line === "called off").length === 2);
});
