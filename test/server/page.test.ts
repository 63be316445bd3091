import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { forAllTests } from "../support/for-all-tests.ts";
import { callMcp } from "../support/mcp.ts";
import { folderTenant, openRegistry, openSearchServer, writeTree } from "../support/search-server.ts";
import { until } from "../support/until.ts";

const DOCS = writeTree({
  "a.md": "# Alpha\n\nThe gates <b>close</b> at night.\n",
  "b.md": "# Beta\n\nOther words.\n",
});

const registry = forAllTests(
  openRegistry({ infrastructure: { allow_index_builds: true }, tenants: [folderTenant("gates", DOCS)] }),
);
registry.start();
const server = forAllTests(openSearchServer(registry));

type Run = { readonly counts: Readonly<Record<string, number>> | null; readonly error: unknown };
const json = async (path: string) =>
  (await fetch(`${server.url}${path}`)).json() as Promise<Record<string, unknown>>;
const runs = async () => (await json("/gates/sync/status")).history as readonly Run[];

const search = async (more: object) => {
  const args = { tenant_codename: "gates", query: "close gate", ...more };
  return await callMcp<{ error: string | null; results: { snippet: string }[] }>(
    server.url,
    "root_search",
    args,
  );
};

describe("what the page of serve search asks for", () => {
  test("a folder's history tells of each time it was read", async () => {
    expect(await until(runs, ({ length }) => length === 1)).toMatchObject([
      { counts: { fetched: 2, unchanged: 0, removed: 0, failed: 0 }, error: null },
    ]);
    writeFileSync(join(DOCS, "c.md"), "# Gamma\n\nMore.\n");
    await fetch(`${server.url}/gates/sync/trigger`, { method: "POST" });
    expect(await until(runs, ({ length }) => length === 2)).toMatchObject([
      {},
      { counts: { fetched: 1, unchanged: 2, removed: 0, failed: 0 }, error: null },
    ]);
  });

  test("snippets are marked and escaped when they are asked for as HTML, whatever the tenant's style", async () => {
    await until(runs, ({ length }) => length > 0);
    const [plain] = (await search({})).results;
    expect(plain?.snippet).toContain("The gates close at night");
    const [marked] = (await search({ snippet_style: "html" })).results;
    expect(marked?.snippet).toContain("The <mark>gates</mark>");
    expect((await search({ snippet_style: "bold" })).error).toBe(
      "snippet_style must be one of plain, html, rich",
    );
  });
});
