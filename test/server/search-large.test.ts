import { describe, expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { postMcp } from "../support/mcp.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";

/** A manual of 15 MB in one document, with a section at its end that says something else. */
const SECTION = `## Part\n\n${"The mill turns the wheel of the mill by the river. ".repeat(40)}\n\n`;
const LAST = "## Mooring\n\nThe bowline holds the boat at the quay.\n";
const manual = (bytes: number): string =>
  `# Manual\n\n${SECTION.repeat(Math.floor((bytes - LAST.length) / SECTION.length))}${LAST}`;

const snippet = { fragment_char_limit: 80, max_fragments: 2, surrounding_context_chars: 40 };
const pages = { "a/mill.md": "# Mill\n\nThe mill.\n", "b/mill.md": "# Mill\n\nThe mill.\n" };
const registry = forAllTests(
  await openIndexed(
    folderTenant(
      "huge",
      { "api/manual.md": manual(15_000_000), "x.md": "# X\n\nThe mill.\n" },
      { search: { snippet } },
    ),
    folderTenant("plain", pages),
    folderTenant("boosting", pages, { boost: ["b/**"] }),
    folderTenant("deboosting", pages, { deboost: ["a/"], group: "mills" }),
  ),
);

type Hit = {
  readonly url: string;
  readonly snippet: string;
  readonly anchor: string;
  readonly sections?: readonly Hit[];
};
type Answer = { readonly hits: readonly Hit[]; readonly total: number; readonly code: string };

/** What a server of this time limit answers to a search. */
async function ask(parameters: Readonly<Record<string, string>>, searchTimeoutMs = 30_000) {
  await using server = openSearchServer(registry, { searchTimeoutMs });
  const response = await fetch(`${server.url}/search?${new URLSearchParams(parameters)}`);
  return { status: response.status, answer: (await response.json()) as Answer };
}

describe("a document of 15 MB", () => {
  const huge = { tenant: "huge" };

  test("is found with the section and a snippet of the length that the settings say", async () => {
    const { answer } = await ask({ ...huge, q: "bowline holds boat" });
    expect(answer.hits.map(({ url, anchor }) => `${url}#${anchor}`)).toEqual([
      "docs://huge/api/manual.md#mooring",
    ]);
    expect(answer.hits[0]!.snippet).toContain("bowline");
    const common = await ask({ ...huge, q: "mill wheel river", group_by: "document" });
    for (const { snippet } of common.answer.hits.flatMap((hit) => [hit, ...(hit.sections ?? [])])) {
      expect(snippet.length).toBeGreaterThan(0);
      expect(snippet.split(" … ").length).toBeLessThanOrEqual(2);
      expect(snippet.length).toBeLessThanOrEqual(2 * 80 + 20);
    }
  });

  test("is left out or kept by filters, and has no page beyond the end", async () => {
    const total = async (filter: string) => (await ask({ ...huge, q: "mill", filter })).answer.total;
    expect(await total("kind:reference")).toBe(1);
    expect(await total("path:**")).toBe(2);
    expect(await total("path:nothing/**")).toBe(0);
    const beyond = await ask({ ...huge, q: "mill", offset: "2" });
    expect([beyond.status, beyond.answer.hits, beyond.answer.total]).toEqual([200, [], 2]);
  });

  test("does not keep a search past its time", async () => {
    for (const q of ["mill wheel river", '"the mill turns"', "bowline"]) {
      const { status, answer } = await ask({ ...huge, q, filter: "path:**", facets: "*" }, 0);
      expect([q, status, answer.code]).toEqual([q, 504, "timeout"]);
    }
  });
});

describe("the settings of a tenant", () => {
  const urls = async (tenant: string, more: Readonly<Record<string, string>> = {}) =>
    (await ask({ tenant, q: "mill", ...more })).answer.hits.map(({ url }) =>
      url.slice(`docs://${tenant}/`.length),
    );

  test("boost and deboost change the order of its pages", async () => {
    expect(await urls("plain")).toEqual(["a/mill.md", "b/mill.md"]);
    expect(await urls("boosting")).toEqual(["b/mill.md", "a/mill.md"]);
    expect(await urls("deboosting")).toEqual(["b/mill.md", "a/mill.md"]);
  });

  test("group names those that a filter searches", async () => {
    const { answer } = await ask({ q: "mill", filter: "group:mills" });
    expect(answer.hits.map(({ url }) => url)).toEqual([
      "docs://deboosting/b/mill.md",
      "docs://deboosting/a/mill.md",
    ]);
    // A tenant of no group, or of another, has nothing of it.
    expect(await urls("plain", { filter: "group:mills" })).toEqual([]);
  });
});

test("root_search takes filter, offset and facets, and says what is wrong with them", async () => {
  await using server = openSearchServer(registry);
  const call = async (parameters: object) => {
    const response = await postMcp(server.url, {
      method: "tools/call",
      params: { name: "root_search", arguments: { tenant_codename: "*", query: "mill", ...parameters } },
    });
    type Content = {
      readonly results: readonly Hit[];
      readonly total?: number;
      readonly error: string | null;
    };
    const { result } = (await response.json()) as { result: { structuredContent: Content } };
    return result.structuredContent;
  };
  const all = await call({ size: 100 });
  expect(all.results).toHaveLength(8);
  expect(all.total).toBeUndefined();
  const pages = [await call({ size: 5 }), await call({ size: 5, offset: 5 }), await call({ offset: 8 })];
  expect(pages.flatMap(({ results }) => results)).toEqual([...all.results]);
  const reference = await call({ filter: "kind:reference", facets: true });
  expect(reference.results.map(({ url }) => url)).toEqual(["docs://huge/api/manual.md"]);
  expect(reference).toMatchObject({
    total: 1,
    is_total_exact: true,
    facets: { kind: { guide: 7, reference: 1 } },
  });
  expect((await call({ filter: "kind:blogs" })).error).toContain("did you mean blog?");
  expect((await call({ filter: "language:ja" })).error).toContain("nothing searched has a language");
  expect((await call({ offset: 901 })).error).toBe("offset must be between 0 and 900");
});
