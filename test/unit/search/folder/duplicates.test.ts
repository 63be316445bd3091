import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readDocumentFolder } from "../../../../src/search/index.ts";
import { proseOf } from "../../../support/docs-site.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";

/** Reads a folder with these files; pages of HTML are read as the text between their tags. */
async function read(files: Readonly<Record<string, string>>) {
  using directory = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory.path, path)), { recursive: true });
    writeFileSync(join(directory.path, path), text);
  }
  const documents: string[] = [];
  const leftOut: string[] = [];
  const extractHtml = async (body: string | Uint8Array) => ({
    title: "",
    markdown: `${body}`.replace(/<[^>]*>/g, " ").trim(),
  });
  for await (const { path } of readDocumentFolder(directory.path, {
    rules: { include: [], exclude: ["!_sources/"] },
    extractHtml,
    onLeftOut: ({ path: file, reason, detail }) => leftOut.push(`${file}: ${detail ?? reason}`),
  }))
    documents.push(path ?? "");
  return { documents: documents.sort(), leftOut: leftOut.sort() };
}

const prose = (name: string): string =>
  `${proseOf(name)} It is about ${name} of the harbour, and nothing else.`;
const markdown = (name: string): string => `# ${name}\n\nSee [the *other*](other.md).\n\n${prose(name)}\n`;
const page = (name: string): string =>
  `<h1>${name}</h1><p>See <a href="other.html">the <em>other</em></a>.</p><p>${prose(name)}</p>`;

describe("a document that stands twice is indexed once", () => {
  test.each([
    ["guide.md", "guide.html"],
    ["guide.md", "guide/index.html"],
    ["guide.rst", "_build/html/guide.html"],
    ["docs/source/a/guide.rst", "docs/build/dirhtml/a/guide/index.html"],
    ["README.md", "index.html"],
    ["docs/README.md", "docs/index.html"],
    ["src/guide.md", "book/guide.html"],
    ["content/guide.mdx", "public/guide/index.html"],
    ["Guide.MD", "guide.htm"],
    ["gu\u00eede.md", "gui\u0302de.html"],
    ["_sources/a/guide.rst.txt", "a/guide.html"],
    ["guide.adoc", "guide.txt"],
    ["guide.txt", "guide.html"],
    ["tool.1.html.md", "tool.1.html"],
  ])("as %s, not as %s", async (source, copy) => {
    const form = (path: string): string => (/\.html?$/.test(path) ? page("Sluices") : markdown("Sluices"));
    const { documents, leftOut } = await read({ [source]: form(source), [copy]: form(copy) });
    expect({ documents, leftOut }).toEqual({
      documents: [source],
      leftOut: [`${copy}: it is a duplicate of ${source}`],
    });
  });

  test("as HTML when that holds clearly more", async () => {
    const long = Array.from({ length: 40 }, (_, n) => `<p>${prose(`Generated ${n}`)}</p>`).join("");
    const { documents, leftOut } = await read({ "api.rst": markdown("Api"), "api.html": page("Api") + long });
    expect({ documents, leftOut }).toEqual({
      documents: ["api.html"],
      leftOut: ["api.rst: it is a duplicate of api.html"],
    });
  });

  test("in the best of three forms", async () => {
    const { documents, leftOut } = await read({
      "guide.html": page("Sluices"),
      "guide.md": markdown("Sluices"),
      "guide.txt": markdown("Sluices"),
      "site/guide/index.html": page("Sluices"),
    });
    expect(documents).toEqual(["guide.md"]);
    expect(leftOut).toHaveLength(3);
  });
});

describe("two documents stay two", () => {
  test.each([
    [
      "another text under one name",
      { "guide.md": markdown("Sluices"), "guide.html": page("Barges and tides") },
    ],
    ["one text under two names", { "guide.md": markdown("Sluices"), "manual.html": page("Sluices") }],
    ["one text in two folders", { "v1/guide.md": markdown("Sluices"), "v2/guide.html": page("Sluices") }],
    ["one kind in two places", { "README.md": markdown("Sluices"), "docs/README.md": markdown("Sluices") }],
    ["a few words", { "a.md": "# Tides", "a.html": "<h1>Tides and gates</h1>" }],
    ["no words beside some", { "a.md": "!!!", "a.html": page("Sluices") }],
  ])("%s", async (_, files) => {
    const { documents, leftOut } = await read(files);
    expect({ documents, leftOut }).toEqual({ documents: Object.keys(files).sort(), leftOut: [] });
  });

  test("of one kind, also beside a third of another", async () => {
    const sources = { "README.md": markdown("Sluices"), "docs/README.md": markdown("Sluices") };
    const { documents, leftOut } = await read({ ...sources, "docs/index.html": page("Sluices") });
    expect(documents).toEqual(Object.keys(sources));
    expect(leftOut).toEqual(["docs/index.html: it is a duplicate of README.md"]);
  });

  test("where so many share a name that comparing them would take long", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `${"docs/".repeat(n)}guide.${n % 2 ? "md" : "html"}`,
        page("Sluices"),
      ]),
    );
    expect((await read(files)).documents).toHaveLength(20);
  });
});
