import { describe, expect, test } from "bun:test";
import { Tiktoken } from "js-tiktoken/lite";
import cl100k from "js-tiktoken/ranks/cl100k_base";
import { taskDocuments } from "../../scripts/bench/mcp/task-documents.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { postMcp } from "../support/mcp.ts";
import { openTestTenantApp, testProgram } from "../support/program.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";

const FILLER = "Other things that nobody asks about stand here as well. ".repeat(60);
/** A page that is in no tenant's documents, with what surrounds the content of most pages. */
const MENU = Array.from(
  { length: 200 },
  (_, at) => `<li><a href="/more/${at}">Other page number ${at}</a></li>`,
);
const PAGE = `<!doctype html><html lang=en><head><title>Weir news</title><script>${FILLER}</script></head><body>
<nav><ul>${MENU.join("")}</ul></nav><main><h1>Weir news</h1>
<p>Gate 42 was closed on the first of March, and nobody knows when it will be opened again.</p>
<p>${FILLER.slice(0, 600)}</p></main><footer><ul>${MENU.join("")}</ul></footer></body></html>`;

const site = forAllTests(
  serveLocal(() => new Response(PAGE, { headers: { "content-type": "text/html; charset=utf-8" } })),
);
const app = forAllTests(openTestTenantApp(testProgram()));

const tenants = ["1", "2"].map((version) => {
  const more = { docs_name: `Weir ${version}`, library: "weir", version };
  return folderTenant(`weir${version}`, taskDocuments(version), more);
});
const registry = forAllTests(await openIndexed(...tenants));
const server = forAllTests(openSearchServer(registry, { pages: { app, extraction: DEFAULT_EXTRACTION } }));

const encoder = new Tiktoken(cl100k);

async function ask<Result>(method: string, params: object = {}): Promise<Result> {
  const response = await postMcp(server.url, { method, params });
  return ((await response.json()) as { result: Result }).result;
}

/** A client that counts its calls, and the tokens that a model reads of their results. */
class Client {
  calls = 0;
  tokens = 0;

  async call(name: string, args: object) {
    const result = await ask<{ content: [{ text: string }] }>("tools/call", { name, arguments: args });
    this.calls++;
    this.tokens += encoder.encode(result.content[0].text).length;
    return JSON.parse(result.content[0].text);
  }
}

/** What the best results say of themselves, which has a signature that stands in a heading or defines something. */
const bestResults = async (client: Client, query: string, more: object = {}): Promise<string> => {
  const { results, resolved = "" } = await client.call("root_search", {
    tenant_codename: "*",
    query,
    size: 3,
    ...more,
  });
  return [
    resolved,
    ...results.map(({ heading, snippet }: Record<string, string>) => `${heading}\n${snippet}`),
  ].join("\n");
};

const bestSection = async (client: Client, query: string, more: object = {}) => {
  const { results } = await client.call("root_search", { tenant_codename: "*", query, size: 3, ...more });
  const [{ tenant, url, anchor }] = results;
  return await client.call("root_fetch", { tenant_codename: tenant, uri: `${url}#${anchor}` });
};

test.each<[string, number, number, (client: Client) => Promise<string>]>([
  ["a function's signature", 1, 330, (client) => bestResults(client, "weir.gate_42")],
  [
    "a function's whole section",
    2,
    1700,
    async (client) => (await bestSection(client, "weir.gate_42")).content,
  ],
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
      const { outline } = await client.call("root_fetch", { tenant_codename: "*", uri: url, max_chars: 100 });
      const { anchor } = outline.find(({ heading }: { heading: string }) => heading.includes("gate_42"));
      return (await client.call("root_fetch", { tenant_codename: "*", uri: `${url}#${anchor}` })).content;
    },
  ],
  [
    "what differs between versions",
    2,
    480,
    async (client) => {
      const parts = [];
      for (const version of ["1", "2"])
        parts.push(await bestResults(client, "weir.gate_42", { library: "weir", version }));
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

describe("an unknown address", () => {
  const url = `${site.url.origin}/news/gate-42`;

  test("takes 1 call and at most 400 tokens, and its page alone takes more", async () => {
    const client = new Client();
    const { markdown, error } = await client.call("fetch_url", { url });
    expect({ error, markdown }).toEqual({ error: null, markdown: expect.stringContaining("first of March") });
    console.log(`an unknown address: ${client.calls} calls, ${client.tokens} tokens`);
    expect(client.calls).toBe(1);
    expect(client.tokens).toBeLessThanOrEqual(400);
    expect(client.tokens * 20).toBeLessThan(encoder.encode(PAGE).length);
  });

  test("is told apart from documentation: one tool takes any page, and the others say that they lack it", async () => {
    const { tools } = await ask<{ tools: { name: string; description: string }[] }>("tools/list");
    const reading = tools.filter(({ description }) => description.includes("any web page"));
    expect(reading.map(({ name }) => name)).toEqual(["fetch_url"]);
    const client = new Client();
    const { error } = await client.call("root_fetch", { tenant_codename: "*", uri: url });
    expect(error).toStartWith("No tenant has a document");
    const { results } = await client.call("root_search", { tenant_codename: "*", query: url, size: 3 });
    expect(JSON.stringify(results)).not.toContain("first of March");
  });
});
