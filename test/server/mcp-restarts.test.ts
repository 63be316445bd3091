import { afterAll, describe, expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startTlsCaddy } from "../support/caddy.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { freePort } from "../support/local.ts";
import { connectMcp } from "../support/mcp.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

/** Answers `/slow` when the test says so. */
let slow = Promise.withResolvers<void>();
let asked = 0;
const site = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async ({ url }) => {
    if (url.endsWith("/slow")) {
      asked++;
      await slow.promise;
    }
    return new Response("<title>Page</title><h1>Page</h1><p>Some words to read.</p>", {
      headers: { "content-type": "text/html" },
    });
  },
});
afterAll(() => site.stop(true));

const read = (client: Client, path: string) =>
  client.callTool({ name: "fetch_url", arguments: { url: `${site.url.origin}${path}` } });
const PAGE = { structuredContent: { error: null, markdown: expect.stringContaining("Some words") } };

describe("a server that ends while a tool is called", () => {
  test.each<[NodeJS.Signals]>([["SIGKILL"], ["SIGTERM"]])(
    "with %s leaves no client waiting, and its next start answers the same client",
    async (signal) => {
      using state = temporaryDirectory();
      const options = { directory: state.path, port: freePort() };
      slow = Promise.withResolvers();
      asked = 0;
      const first = await startExtractor(options);
      await using client = await connectMcp(`${first.url}/mcp`);
      const outcome = read(client, "/slow").then(
        ({ structuredContent }) => structuredContent,
        (problem: unknown) => problem,
      );
      await untilTrue(() => asked > 0);
      first.signal(signal);
      // What ends in order may still wait for the page.
      if (signal === "SIGTERM") slow.resolve();
      const found = await outcome;
      if (signal === "SIGKILL") expect(found).toBeInstanceOf(Error);
      else expect(found).toMatchObject(PAGE.structuredContent);
      slow.resolve();
      await first.exited;
      await using _ = await startExtractor(options);
      expect(await read(client, "/")).toMatchObject(PAGE);
    },
  );
});

test.skipIf(Bun.which("caddy") === null)("a client reads through Caddy over TLS", async () => {
  // Behind a proxy, callers are strangers, who are kept from this machine.
  await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_EGRESS: "open" } });
  await using caddy = await startTlsCaddy(server.url);
  const tls = { ca: await Bun.file(caddy.authority).text() };
  const client = new Client({ name: "test", version: "1" });
  const overTls = (url: string | URL, init?: RequestInit) => fetch(url, { ...init, tls });
  const transport = new StreamableHTTPClientTransport(new URL(`${caddy.url}/mcp`), { fetch: overTls });
  await client.connect(transport as never);
  expect(await read(client, "/")).toMatchObject(PAGE);
  await client.close();
  const strange = new StreamableHTTPClientTransport(new URL(`${caddy.url}/mcp`));
  await expect(new Client({ name: "test", version: "1" }).connect(strange as never)).rejects.toThrow(
    /certificate/i,
  );
});
