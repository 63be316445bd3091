import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { connectMcp, MCP_HEADERS, META, MODERN } from "../support/mcp.ts";
import { LONG_PARAGRAPHS, startMcpSite } from "../support/mcp-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until } from "../support/until.ts";

type PageAnswer = {
  readonly url: string;
  readonly final_url: string;
  readonly title: string;
  readonly markdown?: string;
  readonly text?: string;
  readonly article?: Readonly<Record<string, unknown>>;
  readonly links?: readonly { readonly url: string; readonly text: string }[];
  readonly total_chars: number;
  readonly next_offset: number | null;
  readonly warnings: readonly string[];
  readonly error: string | null;
};

type Opened = AsyncDisposable & {
  readonly client: Client;
  /** Starts a call; gives what the client does to cancel it. */
  readonly startCall: (args: Record<string, unknown>) => Promise<() => Promise<void>>;
};

/** The endpoint of a server over HTTP. */
async function openEndpoint(server: AsyncDisposable & { readonly url: string }): Promise<Opened> {
  const { url } = server;
  const client = await connectMcp(`${url}/mcp`);
  return {
    client,
    async startCall(args) {
      // A server without sessions does not know whose calls a notification means, but it sees clients leave.
      const leaving = await connectMcp(`${url}/mcp`);
      const answer = leaving.callTool({ name: "fetch_url", arguments: args });
      return async () => {
        await leaving.close();
        await expect(answer).rejects.toThrow();
      };
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const startSearch = () => Served.start(writeDeployment({ allow_page_fetches: true }));

async function openStdio(): Promise<Opened> {
  const client = new Client({ name: "test", version: "1" });
  // The directory has no deployment file.
  const options = { command: BINARY, args: ["mcp"], cwd: tmpdir(), env: cleanEnvironment() };
  await client.connect(new StdioClientTransport({ ...options, stderr: "ignore" }));
  return {
    client,
    async startCall(args) {
      const controller = new AbortController();
      const { signal } = controller;
      const answer = client.callTool({ name: "fetch_url", arguments: args }, undefined, { signal });
      return async () => {
        controller.abort();
        await expect(answer).rejects.toThrow();
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const site = forAllTests(startMcpSite());

describe.each([
  ["serve extractor", async () => openEndpoint(await startExtractor())],
  ["serve search, where the deployment allows it,", async () => openEndpoint(await startSearch())],
  ["mcp", openStdio],
] as const)("fetch_url of %s", (_, open) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open();
    // The SDK's client checks results against the schemas that it has listed.
    await opened.client.listTools();
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const call = async (args: Record<string, unknown>): Promise<PageAnswer> => {
    const answer = await opened.client.callTool({ name: "fetch_url", arguments: args });
    const result = answer.structuredContent as PageAnswer;
    expect(answer.content).toEqual([{ type: "text", text: JSON.stringify(result) }]);
    expect(answer.isError ?? false).toBe(false);
    return result;
  };
  const read = (path: string, args: Record<string, unknown> = {}): Promise<PageAnswer> =>
    call({ url: site.origin + path, ...args });

  test("reads the shortest page", async () => {
    expect(await read("/short")).toEqual({
      url: `${site.origin}/short`,
      final_url: `${site.origin}/short`,
      title: "Hello",
      markdown: "# Hello\n\nWord.",
      total_chars: 14,
      next_offset: null,
      warnings: ["Content below minimum word count (1 < 150)"],
      error: null,
    });
  });

  test("reads a long page in parts that end with paragraphs, and fetches it once", async () => {
    let whole = "";
    let parts = 0;
    const before = site.count("/long");
    for (let offset: number | null = 0; offset !== null; parts++) {
      const part: PageAnswer = await read("/long", { offset });
      const { markdown = "", total_chars, next_offset } = part;
      expect(markdown.length).toBeLessThanOrEqual(20_000);
      if (next_offset !== null) {
        expect(markdown).toEndWith("of that year.");
        expect(next_offset).toBe(offset + markdown.length + 2);
      } else expect(offset + markdown.length).toBe(total_chars);
      whole += `${markdown}\n\n`;
      offset = next_offset;
    }
    expect(parts).toBeGreaterThan(3);
    expect(whole.match(/Paragraph \d+/g)).toHaveLength(LONG_PARAGRAPHS);
    expect(site.count("/long") - before).toBe(1);
  });

  test("gives the parts that answer a query, and the rest by their offsets without another fetch", async () => {
    const before = site.count("/long");
    const asked = await read("/long", { query: "437", max_tokens: 200 });
    const { markdown = "", total_chars, next_offset } = asked;
    expect(markdown).toStartWith("# Long\n\n[… ");
    expect(markdown).toContain("\n\nParagraph 437 tells of the tide");
    expect(markdown.length).toBeLessThan(800);
    expect([next_offset, total_chars > 60_000]).toEqual([null, true]);
    const [, offset] = /left out from offset (\d+) …\]$/.exec(markdown) ?? [];
    const rest = await read("/long", { offset: Number(offset), max_chars: 200 });
    expect([rest.total_chars, rest.markdown?.slice(0, 10)]).toEqual([total_chars, "Paragraph "]);
    expect(site.count("/long") - before).toBeLessThanOrEqual(1);
    expect((await read("/long", { query: "tide", offset: 5 })).error).toContain("leave query out");
  });

  test("starts at an offset, at the end, and past it", async () => {
    expect(await read("/short", { offset: 9 })).toMatchObject({ markdown: "Word.", next_offset: null });
    expect(await read("/short", { offset: 14 })).toMatchObject({ markdown: "", next_offset: null });
    const past = await read("/short", { offset: 99 });
    expect(past).toMatchObject({ markdown: "", next_offset: null, total_chars: 14, error: null });
    expect(past.warnings).toContain("offset is past the end: there are 14 characters");
    expect(await read("/short", { max_chars: 8 })).toMatchObject({ markdown: "# Hello", next_offset: 9 });
  });

  test("takes what a selector names", async () => {
    const { markdown } = await read("/parts", { select: "#second" });
    expect(markdown).toContain("Paragraph 2");
    expect(markdown).not.toContain("Paragraph 1");
  });

  test("gives text, and metadata with links, where they are asked for", async () => {
    const text = await read("/parts", { format: "text" });
    expect(text.text).toStartWith("Parts\n\nParagraph 1");
    expect(text.markdown).toBeUndefined();
    const json = await read("/parts", { format: "json", links: true });
    expect(json.article).toMatchObject({ byline: "Ada Reed", lang: "en", status_code: 200 });
    expect(json.article).not.toContainAnyKeys(["content", "markdown", "text", "url", "title"]);
    expect(json.links).toEqual([{ url: `${site.origin}/short`, text: "Short page" }]);
    expect(json.markdown).toContain("[Short page]");
  });

  test("tells where it was redirected to", async () => {
    expect(await read("/moved")).toMatchObject({
      url: `${site.origin}/moved`,
      final_url: `${site.origin}/short`,
      title: "Hello",
    });
  });

  test.each([
    ["a page that there is not", "/gone", {}, "answered HTTP 404"],
    ["a damaged PDF", "/paper.pdf", {}, "PDF is damaged"],
    ["a page without words", "/empty", {}, "no words"],
    ["a selector that matches nothing", "/parts", { select: "#third" }, 'matches the selector "#third"'],
    ["a selector that is none", "/parts", { select: "p[" }, "selector"],
    ["a page that takes too long", "/slow", { timeout: 1 }, "took longer than 1 s"],
    ["too few characters", "/short", { max_chars: 0 }, "max_chars must be between 1 and 1000000"],
    ["a negative offset", "/short", { offset: -1 }, "offset must be at least 0"],
    ["another format", "/short", { format: "html" }, "format must be one of markdown, text, json"],
    ["no time", "/short", { timeout: 0 }, "timeout must be between 1 and 120"],
  ] as const)("answers %s with an error", async (_, path, args, message) => {
    const result = await read(path, args);
    expect(result.error).toContain(message);
    expect(result).toMatchObject({ url: site.origin + path, markdown: "", next_offset: null, warnings: [] });
  });

  test.each([
    ["no address", {}, "url is required"],
    ["an empty address", { url: "" }, 'url: "" is not an http or https URL'],
    ["a file", { url: "file:///etc/passwd" }, 'url: "file:///etc/passwd" is not an http or https URL'],
    ["no text", { url: 7 }, "url must be a string"],
    ["a machine's metadata", { url: "http://169.254.169.254/latest" }, "refuse"],
    ["a host that there is not", { url: "http://nothing.invalid/" }, "nothing.invalid"],
  ] as const)("answers %s with an error", async (_, args, message) => {
    expect((await call(args)).error).toContain(message);
  });

  test("a cancelled call stops fetching", async () => {
    const cancel = await opened.startCall({ url: `${site.origin}/slow/cancelled` });
    await until(site.waiting, (count) => count === 1);
    await cancel();
    expect(await until(site.waiting, (count) => count === 0)).toBe(0);
  });

  test("twenty calls at once are answered, each with its own page", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => read(at % 2 === 0 ? "/parts" : "/short", { offset: at })),
    );
    for (const [at, { title, error }] of answers.entries())
      expect({ title, error }).toEqual({ title: at % 2 === 0 ? "Parts" : "Hello", error: null });
  });
});

test.each([
  ["serve extractor", () => startExtractor()],
  ["serve search", startSearch],
] as const)(
  "%s fetches local pages for nobody from elsewhere, not from its cache either",
  async (_, open) => {
    await using server = await open();
    const readWith = async (headers: Record<string, string>): Promise<PageAnswer> => {
      await using client = await connectMcp(`${server.url}/mcp`, headers);
      const answer = await client.callTool({ name: "fetch_url", arguments: { url: `${site.origin}/short` } });
      return answer.structuredContent as PageAnswer;
    };
    expect(await readWith({})).toMatchObject({ title: "Hello", error: null });
    for (const header of ["x-forwarded-for", "via", "cf-connecting-ip"])
      expect(await readWith({ [header]: "192.0.2.1" })).toMatchObject({
        title: "",
        error: expect.stringContaining("refuse"),
      });
  },
);

test.each([
  ["with initialize", {}, {}],
  ["without", META, { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "fetch_url" }],
])("a page is fetched no longer when the client has left: revisions %s", async (_, meta, headers) => {
  await using server = await startSearch();
  const left = new AbortController();
  const path = `/slow/left-${Object.keys(headers).length}`;
  const params = { name: "fetch_url", arguments: { url: `${site.origin}${path}` }, _meta: meta };
  const answer = fetch(`${server.url}/mcp`, {
    method: "POST",
    signal: left.signal,
    headers: { ...MCP_HEADERS, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  }).catch(() => "left");
  await until(site.waiting, (count) => count === 1);
  left.abort();
  expect(await answer).toBe("left");
  expect(await until(site.waiting, (count) => count === 0)).toBe(0);
  expect(site.count(path)).toBe(1);
});

test("serve search gives a page no longer than a request may take", async () => {
  await using server = await Served.start(writeDeployment({ allow_page_fetches: true, http_timeout: 3 }));
  const { error } = await server.call("fetch_url", { url: `${site.origin}/slow/request` });
  expect(error).toContain("took longer than 2.7 s");
  expect(await until(site.waiting, (count) => count === 0)).toBe(0);
});

test("serve search reads no pages offline", async () => {
  const infrastructure = { operation_mode: "offline", allow_page_fetches: true };
  await using server = await Served.start(writeDeployment(infrastructure));
  const client = await server.connect();
  const { tools } = await client.listTools();
  await client.close();
  expect(tools.map(({ name }) => name)).not.toContain("fetch_url");
  expect(tools).toHaveLength(5);
});
