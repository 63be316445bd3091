import { afterAll, beforeAll, expect, test } from "bun:test";
import { Tiktoken } from "js-tiktoken/lite";
import cl100k from "js-tiktoken/ranks/cl100k_base";
import { openRegistry, openSearchServer, type TestRegistry, writeTree } from "../support/search-server.ts";

const FILLER = "Other things that nobody asks about stand here as well. ".repeat(60);
const functions = (version: string) =>
  Array.from(
    { length: 60 },
    (_, at) =>
      `## weir.gate_${at}(level, *, slow=${version === "1" ? "False" : "True"})\n\nMoves gate ${at}. ${FILLER}\n`,
  ).join("\n");
const docs = (version: string) =>
  writeTree({
    "api.md": `# API reference\n\n${functions(version)}`,
    "guide.md": `# Guide\n\n${FILLER}\n\n## How to open a gate in winter\n\nWarm it first, then call \`weir.gate_7\`.\n\n## Other\n\n${FILLER}\n`,
    "faq.md": `# Questions\n\n${FILLER}\n`,
  });

let registry: TestRegistry;
let server: ReturnType<typeof openSearchServer>;
beforeAll(async () => {
  const tenants = ["1", "2"].map((version) => ({
    source_type: "filesystem",
    codename: `weir${version}`,
    docs_name: `Weir ${version}`,
    docs_root_dir: docs(version),
  }));
  registry = openRegistry({ infrastructure: { allow_index_builds: true }, tenants });
  for (const { codename } of tenants) await registry.build(codename);
  server = openSearchServer(registry);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
});

const encoder = new Tiktoken(cl100k);

/** A client that counts its calls, and the tokens that a model reads of their results. */
class Client {
  calls = 0;
  tokens = 0;

  async call(name: string, args: object) {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args },
    });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await fetch(`${server.url}/mcp`, { method: "POST", headers, body });
    const { result } = (await response.json()) as { result: { content: [{ text: string }] } };
    this.calls++;
    this.tokens += encoder.encode(result.content[0].text).length;
    return JSON.parse(result.content[0].text);
  }
}

const bestSection = async (client: Client, query: string, more: object = {}) => {
  const { results } = await client.call("root_search", { query, size: 3, ...more });
  const [{ tenant, url, anchor }] = results;
  return await client.call("root_fetch", { uri: `${url}#${anchor}`, tenant_codename: tenant });
};

test.each<[string, number, number, (client: Client) => Promise<string>]>([
  ["a function's signature", 2, 1700, async (client) => (await bestSection(client, "weir.gate_42")).content],
  [
    "a how-to",
    2,
    900,
    async (client) => (await bestSection(client, "how do I open a gate in winter?")).content,
  ],
  [
    "a section of a page",
    2,
    5800,
    async (client) => {
      const { url } = { url: "docs://weir2/api.md" };
      const { outline } = await client.call("root_fetch", { uri: url, max_chars: 100 });
      const { anchor } = outline.find(({ heading }: { heading: string }) => heading.includes("gate_42"));
      return (await client.call("root_fetch", { uri: `${url}#${anchor}` })).content;
    },
  ],
  [
    "what differs between versions",
    4,
    3200,
    async (client) => {
      const parts = [];
      for (const tenant of ["weir1", "weir2"])
        parts.push((await bestSection(client, "weir.gate_42", { tenant_codename: tenant })).content);
      return parts.join("\n");
    },
  ],
])("%s takes %i calls and at most %i tokens", async (name, calls, tokens, play) => {
  const client = new Client();
  const answer = await play(client);
  expect(answer).toContain(name === "a how-to" ? "Warm it first" : "weir.gate_42(level, *, slow=");
  if (name.includes("versions")) expect(answer).toContain("slow=False");
  console.log(`${name}: ${client.calls} calls, ${client.tokens} tokens`);
  expect(client.calls).toBe(calls);
  expect(client.tokens).toBeLessThanOrEqual(tokens);
  // A client that reads whole pages reads at least one.
  const whole = await registry.fetch(
    "weir1",
    name === "a how-to" ? "docs://weir1/guide.md" : "docs://weir1/api.md",
  );
  expect(client.tokens).toBeLessThan(encoder.encode(whole.markdown).length);
});
