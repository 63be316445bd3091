/**
 * Plays the tasks of `test/server/tasks.test.ts` with another server for documentation, on the same documents, and
 * counts calls and tokens (cl100k):
 *
 *   bun scripts/bench/mcp-tasks.ts PROGRAM
 *
 * PROGRAM is gnosis-mcp of PyPI (`pip install gnosis-mcp` in an environment of its own), which searches by keywords
 * when it has no embeddings. It has no tool for a page of another site.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Tiktoken } from "js-tiktoken/lite";
import cl100k from "js-tiktoken/ranks/cl100k_base";
import { taskDocuments } from "./mcp/task-documents.ts";

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("usage: bun scripts/bench/mcp-tasks.ts PROGRAM");

const encoder = new Tiktoken(cl100k);
const scratch = await mkdtemp(join(tmpdir(), "bench-tasks-"));
const env = { HOME: scratch, PATH: process.env.PATH ?? "" };

async function ingest(): Promise<void> {
  const folder = join(scratch, "docs");
  for (const version of ["1", "2"])
    for (const [name, text] of Object.entries(taskDocuments(version)))
      await Bun.write(join(folder, `weir${version}`, name), text);
  const child = Bun.spawn([program!, "ingest", folder], { env, stdio: ["ignore", "ignore", "ignore"] });
  if ((await child.exited) !== 0) throw new Error(`${program} could not read ${folder}`);
}

type Call = { readonly tool: string; readonly args: Readonly<Record<string, unknown>> };

const search = (query: string, more: object = {}): Call => ({
  tool: "search_docs",
  args: { query, limit: 3, ...more },
});
const read = (path: string): Call => ({ tool: "get_doc", args: { path } });

/** In each task all calls are made; the answer counts as found when the last result or an earlier one has it. */
const TASKS: readonly { readonly name: string; readonly answer: string; readonly calls: readonly Call[] }[] =
  [
    { name: "a function's signature, search alone", answer: "slow=", calls: [search("weir.gate_42")] },
    {
      name: "a function's signature with its text",
      answer: "Moves gate 42.",
      calls: [search("weir.gate_42"), read("weir2/api.md")],
    },
    { name: "a how-to", answer: "Warm it first", calls: [search("how do I open a gate in winter?")] },
    { name: "a section of a page", answer: "weir.gate_42(level", calls: [read("weir2/api.md")] },
    {
      name: "what differs between versions, search alone",
      answer: "slow=False",
      calls: ["weir1", "weir2"].map((category) => search("weir.gate_42", { category })),
    },
  ];

try {
  await ingest();
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: program, args: ["serve"], env, stderr: "ignore" }),
  );
  const { tools } = await client.listTools();
  console.log(`${tools.length} tools: ${encoder.encode(JSON.stringify(tools)).length} tokens`);
  for (const { name, answer, calls } of TASKS) {
    const texts: string[] = [];
    for (const { tool, args } of calls) {
      const { content } = await client.callTool({ name: tool, arguments: { ...args } });
      texts.push((content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("\n"));
    }
    const tokens = texts.reduce((sum, text) => sum + encoder.encode(text).length, 0);
    const found = texts.some((text) => text.includes(answer)) ? "found" : "not found";
    console.log(`${name}: ${calls.length} calls, ${tokens} tokens, ${found}`);
  }
  await client.close();
} finally {
  await rm(scratch, { recursive: true, force: true });
}
