import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import { SLUG_STYLES, Slugs } from "../../../src/search/document/sections.ts";
import {
  outlineOf,
  rangeOfFragment,
  type SlugStyle,
  type SourceDocument,
  type StoredDocument,
} from "../../../src/search/index.ts";
import { cleanDocument } from "../../../src/search/reading/read-document.ts";
import { Segment } from "../../../src/search/segment/segment.ts";
import { parseDocumentUrl } from "../../../src/urls/index.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { buildAt } from "../../support/search/segment-fixture.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const { path: SCRATCH } = forAllTests(temporaryDirectory());

const sourceOf = (markdown: string, name = "page", more: Partial<SourceDocument> = {}): SourceDocument => ({
  url: parseDocumentUrl(`docs://set/${name}.md`)!,
  title: "",
  markdown,
  ...more,
});
const analyse = (source: SourceDocument): StoredDocument =>
  new DocumentAnalyser(new Analyser("default")).analyse(source);
const read = (markdown: string, anchors?: SourceDocument["anchors"]): StoredDocument =>
  analyse(sourceOf(markdown, "page", anchors && { anchors }));
const anchorsOf = ({ sections }: StoredDocument): string[] => sections.slice(1).map(({ anchor }) => anchor);
const textAt = (document: StoredDocument, fragment: string): string | null => {
  const range = rangeOfFragment(document, fragment);
  return range && document.markdown.slice(range.start, range.end);
};

describe("the anchor of a heading", () => {
  test.each([
    ["## Set up {#set}", "set", "Set up"],
    ["## Set up { #set }", "set", "Set up"],
    ["## Set up { #set .wide data-x=1 }", "set", "Set up"],
    ["## Set up {: #set }", "set", "Set up"],
    ["## Set up {/*set*/}", "set", "Set up"],
    ["## Set up {/* set */}", "set", "Set up"],
    ["## Set up {#set} ##", "set", "Set up"],
    ["Set up {#set}\n---", "set", "Set up"],
    ["## {#set}", "set", ""],
    ['## <a name="set"></a>Set up', "set", "Set up"],
    ["## Set up <a id='set'></a>", "set", "Set up"],
    ['## <span class="x" id=set>Set up</span>', "set", "Set up"],
    ["## {braces}", "braces", "{braces}"],
    ["## Use `{#each}` {#each-block}", "each-block", "Use {#each}"],
    ["## Use `{#each}`", "use-each", "Use {#each}"],
    [
      "## `__init__` and _why_ **it** [is](x.md#y) there",
      "__init__-and-why-it-is-there",
      "__init__ and why it is there",
    ],
    ['## New <Badge type="tip" text="x" /> things', "new--things", "New  things"],
    ["## R&amp;D", "rd", "R&D"],
    ["## 日本語 見出し", "日本語-見出し", "日本語 見出し"],
    ["## 🚀 Start", "-start", "🚀 Start"],
  ])("of %p is %p", (markdown, anchor, heading) => {
    const { sections } = read(`${markdown}\n\nText.\n`);
    expect(sections[1]).toMatchObject({ anchor, heading });
  });

  test("of a heading that is there twice has a number, and keeps clear of written ones", () => {
    expect(anchorsOf(read("# A\n\n# A\n\n# A\n\n# B {#a-1}\n"))).toEqual(["a", "a-2", "a-3", "a-1"]);
  });

  test("is the page's id where the document was made of a page, and none where the heading has none", () => {
    const markdown = "# Title\n\n## One\n\nText.\n\n## Two\n\nMore.\n";
    const anchors = [
      { id: "first", start: 0 },
      { id: "title", start: 0 },
      { id: "inner", start: 17 },
      { id: "two", start: 24 },
    ];
    const document = read(markdown, anchors);
    expect(anchorsOf(document)).toEqual(["first", "", "two"]);
    expect(document.anchors).toEqual([
      { id: "title", start: 0 },
      { id: "inner", start: 17 },
    ]);
  });

  const published = (url: string, markdown: string, more: Partial<SourceDocument> = {}) =>
    anchorsOf(analyse({ ...sourceOf(markdown, "page", more), url: parseDocumentUrl(url)! }));

  test("is there for a page of the web only where the page has one", () => {
    const markdown = "# Set up {#set}\n\n## Use\n\n## End\n";
    expect(published("https://weir.example/guide", markdown, { anchors: [] })).toEqual(["", "", ""]);
    const anchors = [{ id: "Using", start: 17 }];
    expect(published("https://weir.example/guide", markdown, { anchors })).toEqual(["", "Using", ""]);
    expect(published("https://weir.example/guide", markdown)).toEqual(["set", "use", "end"]);
  });

  test.each([
    ["https://github.com/mill/weir/blob/main/docs/a.md", ["set-up--go", "use-use", "c", "c-1", "2", "named"]],
    [
      "https://gitlab.com/mill/weir/-/blob/main/docs/a.md",
      ["set-up-go", "use-use", "c", "c-1", "anchor-2", "named"],
    ],
    ["docs://weir/a.md", ["set-up--go", "use", "c", "c-1", "2", "named"]],
  ])("is the forge's where a forge shows the document: %s", (url, anchors) => {
    const markdown =
      '# Set up & go\n\n## Use {#use}\n\n## C\n\n## C++\n\n## 2\n\n## <a name="named"></a>Six\n';
    expect(published(url, markdown)).toEqual(anchors);
  });

  test.each([
    [
      "github",
      ["🚀 Start: here!", "a -- b", "Été & C++", "1. One", "a", "a", "½ m²", "Ⅳ", "a\u00a0b"],
      ["-start-here", "a----b", "été--c", "1-one", "a", "a-1", "-m", "ⅳ", "ab"],
    ],
    [
      "vitepress",
      ["🚀 Start: here!", "a -- b", "Été & C++", "1. One", "a", "a"],
      ["🚀-start-here", "a-b", "ete-c", "_1-one", "a", "a-1"],
    ],
    [
      "mkdocs",
      ["🚀 Start: here!", "a -- b", "Été & C++", "1. One", "a", "a", "日本"],
      ["start-here", "a-b", "ete-c", "1-one", "a", "a_1", "_1"],
    ],
    [
      "docutils",
      ["🚀 Start: here!", "a_b -- c", "Été & Straße", "1. One", "a", "a", "日本", "2", "Øl"],
      ["start-here", "a-b-c", "ete-strasze", "one", "a", "id1", "id2", "id3", "ol"],
    ],
  ] as const)("is made by the rules of %s", (style, headings, anchors) => {
    const slugs = new Slugs(style);
    expect(headings.map((heading) => slugs.next(heading))).toEqual([...anchors]);
  });

  test.each(SLUG_STYLES)("is unique whatever the headings are, in %s", (style) => {
    const slugs = new Slugs(style);
    slugs.reserve("a-2");
    const anchors = ["a", "a", "a-1", "a", "", "", "日", "日", "a_1", "a"].map((text) => slugs.next(text));
    expect(new Set([...anchors, "a-2"]).size).toBe(anchors.length + 1);
  });
});

test("a heading is found by its fragment, whatever its id is", () => {
  const anyId = fc
    .oneof(
      fc.string({ unit: "binary", minLength: 1 }),
      fc.constantFrom("a b", "%41", "100%", '"', "水 %20", "<b>", "a#b"),
    )
    .map((id) => id.toWellFormed())
    .filter((id) => id.trim() !== "");
  fc.assert(
    fc.property(anyId, (id) => {
      const document = read("# One\n\nText.\n\n## Two\n\nMore.\n", [{ id, start: 14 }]);
      const [, entry] = outlineOf(document, 9);
      expect(entry!.anchor).not.toMatch(/[\s"<>`]/);
      expect(textAt(document, entry!.anchor!)).toBe("## Two\n\nMore.");
      // What a browser makes of it is found too.
      const { hash } = new URL(`https://weir.example/#${entry!.anchor}`);
      expect(textAt(document, hash.slice(1))).toBe("## Two\n\nMore.");
    }),
  );
});

describe("a fragment leads to", () => {
  const document = read(
    [
      "Before.",
      '<a id="early"></a>',
      "# One",
      "One's text.",
      "## Sub\nInner.",
      '<a name="alone"></a>',
      "```\ncode\n```",
      '- <a id="item"></a>first\n\n  more\n\n- <a id="second"></a>second',
      "# Two {#zwei}",
      "End.",
    ].join("\n\n"),
  );

  test.each([
    ["one", "# One\n\nOne's text.\n\n## Sub"],
    ["early", "# One\n\nOne's text.\n\n## Sub"],
    ["sub", "## Sub\nInner."],
    ["SUB", "## Sub\nInner."],
    ["zwei", "# Two {#zwei}\n\nEnd."],
    ["two", "# Two {#zwei}\n\nEnd."],
    ["alone", "```\ncode\n```"],
    ["second", '- <a id="second"></a>second'],
  ])("%p: the section from its heading on, or the part with the id", (fragment, start) => {
    expect(textAt(document, fragment)).toStartWith(start);
    expect(textAt(document, encodeURIComponent(fragment))).toBe(textAt(document, fragment));
  });

  test("no more than the section, up to the next of its level", () => {
    expect(textAt(document, "one")).toEndWith("second");
    expect(textAt(document, "item")).toBe('- <a id="item"></a>first\n\n  more');
    expect(textAt(document, "alone")).toBe("```\ncode\n```");
  });

  test.each(["", "none", "%", "one two", "#one"])("nothing for %p", (fragment) => {
    expect(rangeOfFragment(document, fragment)).toBeNull();
    expect(rangeOfFragment(read(""), fragment)).toBeNull();
  });

  test("its place in what is left of a text that was cleaned", () => {
    const markdown = "Hi.<!-- a\ncomment -->\n\n## One\n\nText.\n";
    const cleaned = cleanDocument(
      sourceOf(markdown, "x", { anchors: [{ id: "x", start: markdown.indexOf("##") }] }),
    );
    expect(textAt(analyse(cleaned), "x")).toBe("## One\n\nText.");
  });
});

test("an outline has the headings with their lengths, and leaves out the deepest when there are too many", () => {
  const document = read("x\n\n# A\n\n## B\n\nText.\n\n# C\n");
  expect(outlineOf(document, 9)).toEqual([
    { level: 1, heading: "A", anchor: "a", characters: 16 },
    { level: 2, heading: "B", anchor: "b", characters: 11 },
    { level: 1, heading: "C", anchor: "c", characters: 3 },
  ]);
  expect(outlineOf(document, 2).map(({ heading }) => heading)).toEqual(["A", "C"]);
  expect(outlineOf(document, 1).map(({ heading }) => heading)).toEqual(["A"]);
  expect(outlineOf(read(""), 9)).toEqual([]);
});

describe("a collection's own links tell how its generator makes anchors", () => {
  const heading = "## Été -- 1. C++ & `a_b`";
  const link = (fragment: string): string => `See [there](page.md#${fragment}).\n`;
  const build = async (
    name: string,
    documents: readonly SourceDocument[],
    previous: Segment | null = null,
    slugStyle?: SlugStyle,
  ) => {
    const path = join(SCRATCH, name);
    await buildAt(path, documents, { previous, slugStyle });
    return Segment.open(path);
  };
  const page = sourceOf(`${heading}\n\n## Usage\n\n## Usage\n\nText.\n`);

  test.each([
    ["none of them", "x", ["été----1-c--a_b", "usage", "usage-1"]],
    ["GitHub's", "%C3%A9t%C3%A9----1-c--a_b", ["été----1-c--a_b", "usage", "usage-1"]],
    ["VitePress'", "ete-1-c-a-b", ["ete-1-c-a-b", "usage", "usage-1"]],
    ["MkDocs'", "ete-1-c-a_b", ["ete-1-c-a_b", "usage", "usage_1"]],
  ])("%s", async (_, fragment, anchors) => {
    using segment = await build(`styles-${fragment}`, [page, sourceOf(link(fragment), "other")]);
    expect(anchorsOf(segment.document(segment.findDocument(page.url)))).toEqual(anchors);
  });

  test.each([
    ["vitepress", ["ete-1-c-a-b", "usage", "usage-1"]],
    ["docutils", ["ete-1-c-a-b", "usage", "id1"]],
  ] as const)("unless its configuration tells: %s", async (style, anchors) => {
    // READMEs are written for GitHub, whoever prints them.
    const documents = [page, sourceOf(link("%C3%A9t%C3%A9----1-c--a_b"), "other")];
    using first = await build(`told-${style}`, documents, null, style);
    using second = await build(`told-again-${style}`, documents, first, style);
    for (const segment of [first, second])
      expect(anchorsOf(segment.document(segment.findDocument(page.url)))).toEqual([...anchors]);
  });

  test("also for documents that are carried over, and back again", async () => {
    const vitepress = sourceOf(link("ete-1-c-a-b"), "other");
    using first = await build("carry-1", [page, sourceOf("No link.\n", "other")]);
    using second = await build("carry-2", [page, vitepress], first);
    using third = await build("carry-3", [page, sourceOf("No link.\n", "other")], second);
    const anchors = [first, second, third].map(
      (one) => anchorsOf(one.document(one.findDocument(page.url)))[0],
    );
    expect(anchors).toEqual(["été----1-c--a_b", "ete-1-c-a-b", "été----1-c--a_b"]);
    expect(await Bun.file(join(SCRATCH, "carry-3")).bytes()).toEqual(
      await Bun.file(join(SCRATCH, "carry-1")).bytes(),
    );
  });
});

describe("the pages of a printed document", () => {
  const markdown = "# Birds\n\nOne.\n\n- two\n- Two.\n\n## Nests\n\nThree.\n\nFour.\n\n## Eggs\n\nFive.\n";
  const idsAt = (ids: Readonly<Record<string, string>>) =>
    Object.entries(ids).map(([id, text]) => ({ id, start: markdown.indexOf(text) }));
  const pages = read(
    markdown,
    idsAt({ "page=1": "One", "page=2": "- Two", "page=3": "## Nests", inner: "Three", "page=4": "Four" }),
  );

  test("are sections of their own, without a heading, unless they begin with one", () => {
    expect(pages.sections.map(({ level, heading, anchor }) => [level, heading, anchor])).toEqual([
      [0, "", ""],
      [1, "Birds", ""],
      [7, "", "page=1"],
      [7, "", "page=2"],
      [2, "Nests", "page=3"],
      [7, "", "page=4"],
      [2, "Eggs", ""],
    ]);
    expect(pages.anchors.map(({ id }) => id)).toEqual(["inner"]);
  });

  test("end where the next one begins", () => {
    expect(["page=1", "page=2", "page=3", "page=4"].map((page) => textAt(pages, page))).toEqual([
      "One.\n\n- two",
      "- Two.",
      "## Nests\n\nThree.",
      "Four.\n\n## Eggs\n\nFive.",
    ]);
  });

  test("are no entries of the outline", () => {
    expect(outlineOf(pages, 10).map(({ heading }) => heading)).toEqual(["Birds", "Nests", "Eggs"]);
  });

  test("are none where no id says so", () => {
    expect(read(markdown).sections).toHaveLength(4);
    expect(read(markdown, idsAt({ "page=x": "One", "page=": "Four" })).sections).toHaveLength(4);
    expect(read("", [{ id: "page=1", start: 0 }]).sections).toHaveLength(1);
  });
});
