import { expect } from "bun:test";
import { forAllTests } from "./for-all-tests.ts";
import { connectMcp } from "./mcp.ts";
import { Served } from "./served.ts";
import { writeFiles } from "./specified.ts";
import { temporaryDirectory } from "./temporary.ts";
import { until } from "./until.ts";

/** A page of 57 495 characters, whose middle is found by a word of its own. */
export const LONG = (() => {
  const paragraph = `${"The keeper counts the barges at the weir. ".repeat(12).trim()}\n\n`;
  const text = `# The log of the weir\n\n${paragraph.repeat(57)}## Middle\n\nHere is the zanderfish.\n\n${paragraph.repeat(57)}`;
  return `${text.slice(0, 57_494)}\n`;
})();

export type Result = Readonly<Record<string, unknown>> & { readonly error: string | null };
type Hit = { readonly url: string; readonly title: string; readonly score: number; readonly snippet: string };
export type Schema = {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

export const LOG = "docs://harbour/log.md";

export const tenantOf = (codename: string, fields: object = {}): object => ({
  source_type: "filesystem",
  codename,
  docs_name: `The ${codename}`,
  docs_root_dir: codename,
  ...fields,
});

export const urls = ({ results }: { readonly results: readonly Hit[] }): string[] =>
  results.map(({ url }) => url);
export const codenames = ({ tenants }: Result): string[] =>
  (tenants as readonly { readonly codename: string }[]).map(({ codename }) => codename);

/** Starts the built program with three tenants of folders, and a client of it; for all tests of a file. */
export async function openSpecifiedTools() {
  const root = forAllTests(temporaryDirectory());
  writeFiles(root.path, {
    "deployment.json": JSON.stringify({
      infrastructure: { mcp_host: "127.0.0.1", mcp_port: 1024, allow_index_builds: true },
      tenants: [
        tenantOf("harbour", {
          description: "Mooring boats and paying dues",
          test_queries: { natural: ["how do I moor?"], phrases: ["harbour dues"], words: ["bowline"] },
        }),
        tenantOf("weaving", { description: "Looms, shuttles and yarn" }),
        tenantOf("observatory", { description: "Telescopes and their mounts" }),
      ],
    }),
    "harbour/moor.md":
      "# Mooring\n\nTie the boat with a bowline. A boat that is tied stays; boats drift otherwise.\n",
    "harbour/dues.md":
      "# Dues\n\nA boat pays harbour dues once a year, and the boat of a guest by the day. Boat by boat.\n",
    "harbour/log.md": LONG,
    "weaving/loom.md": "# Loom\n\nThe shuttle carries the weft through the shed.\n",
    "observatory/mount.md": "# Mounts\n\nPoint the telescope at the pole star.\n",
  });
  const served = forAllTests(await Served.start(root.path));
  const client = forAllTests(await connectMcp(`${served.url}/mcp`));
  const { tools } = await client.listTools();

  /** Calls a tool as an official client does, which checks the result against the tool's own schema. */
  async function call(name: string, args: object = {}): Promise<Result> {
    const answer = await client.callTool({ name, arguments: { ...args } });
    expect(answer.isError ?? false).toBe(false);
    expect(JSON.parse((answer.content as [{ text: string }])[0].text)).toEqual(
      answer.structuredContent as object,
    );
    return answer.structuredContent as Result;
  }
  for (const tenant_codename of ["harbour", "weaving", "observatory"])
    await until(
      () => call("root_search", { tenant_codename, query: "the" }),
      ({ error }) => error === null,
    );

  const search = async (
    query: string,
    more: object = {},
  ): Promise<Result & { readonly results: readonly Hit[] }> =>
    (await call("root_search", { tenant_codename: "harbour", query, ...more })) as never;
  const fetchPage = (uri: string, more: object = {}): Promise<Result> =>
    call("root_fetch", { tenant_codename: "harbour", uri, ...more });

  const schemaOf = (name: string): Schema =>
    (tools.find((tool) => tool.name === name)?.inputSchema ?? {}) as Schema;
  return { root, served, client, tools, call, search, fetchPage, schemaOf };
}
