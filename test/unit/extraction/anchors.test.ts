import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { extractHtml } from "../../../src/extraction/pool.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";

const PROSE = "The weir keeps the water of the mill at one level, whatever the river does in spring. ".repeat(
  3,
);

async function read(content: string, title = "Weirs") {
  const html = `<html><head><title>${title}</title></head><body><nav id="menu"><a href="/x">Elsewhere</a></nav>
    <main id="main"><article>${content}</article></main><footer id="foot">Imprint</footer></body></html>`;
  const options = { ...DEFAULT_EXTRACTION, renderings: ["markdown", "anchors"] as const };
  const { article } = await extractHtml(html, null, options);
  return { markdown: article?.markdown ?? "", found: article?.anchors ?? [] };
}

/** Each anchor of a page's content with the line that it leads to; the title's line is empty. */
async function anchorsIn(content: string): Promise<readonly (readonly [string, string])[]> {
  const { markdown, found } = await read(content);
  return found.map(({ id, start }) => {
    const end = markdown.indexOf("\n", Math.max(start, 0));
    return [id, start < 0 ? "" : markdown.slice(start, end < 0 ? undefined : end)];
  });
}

/** The page's ids without those of its frame. */
const among = (found: readonly (readonly [string, string])[]) => found.filter(([id]) => id !== "main");

describe("the anchors of a page", () => {
  test.each([
    ["the heading's own", `<h2 id="own">Gates &amp; locks</h2>`, [["own", "## Gates & locks"]]],
    ["of a section", `<section id="around"><h2>Gates</h2>`, [["around", "## Gates"]]],
    ["a name in it", `<h2><a name="named"></a>Gates</h2>`, [["named", "## Gates"]]],
    ["a name before it", `<a name="before"></a><h2>Gates</h2>`, [["before", "## Gates"]]],
    [
      "a link to it after its text",
      `<h2>Gates<span><a href="#last" id="last">#</a></span></h2>`,
      [["last", "## Gates"]],
    ],
    ["after its text, empty", `<h2>Gates<span><a name="after"></a></span></h2>`, [["after", "## Gates"]]],
    [
      "before it, with a space",
      `A weir.\n<a name="space">&nbsp;</a>\n<h2>Gates</h2>`,
      [["space", "## Gates"]],
    ],
    ["before it, between lines", `A weir.\n<a name="line"></a>\n<h2>Gates</h2>`, [["line", "## Gates"]]],
    ["of two lines", `<h2 id="two">Gates <div>and locks</div></h2>`, [["two", "## Gates and locks"]]],
    ["unquoted", `<h2 id=bare>Gates</h2>`, [["bare", "## Gates"]]],
    ["in another script", `<h2 id="水門">水門の話</h2>`, [["水門", "## 水門の話"]]],
    ["beside emoji", `<h2 id="🚀">🚀 Gates</h2>`, [["🚀", "## 🚀 Gates"]]],
    [
      "several, the heading's own first",
      `<section id="outer"><div id="near"><h2 id="own"><span id="inner">Gates</span></h2></div>`,
      [
        ["own", "## Gates"],
        ["inner", "## Gates"],
        ["near", "## Gates"],
        ["outer", "## Gates"],
      ],
    ],
  ] as const)("of a heading: %s", async (_, heading, anchors) => {
    const rest = `<p>${PROSE}</p><h2>Other</h2><p>${PROSE}</p>`;
    const found = among(await anchorsIn(`<h1>Weirs</h1><p>${PROSE}</p>${heading}${rest}`));
    expect(found).toEqual(anchors as never);
  });

  test("lead to the right one of equal headings, and to the first of equal ids", async () => {
    const section = (id: string) => `<h2 id="${id}">Usage</h2><p>Usage of the ${id}. ${PROSE}</p>`;
    const found = among(
      await anchorsIn(`<h1>Weirs</h1><p>Usage. ${PROSE}</p>${["a", "b", "a"].map(section).join("")}`),
    );
    expect(found).toEqual([
      ["a", "## Usage"],
      ["b", "## Usage"],
    ]);
  });

  test("lead to a heading that begins with the title of a note before it", async () => {
    const note = `<div class="note"><h3>Note</h3><p>Mind the gap. ${PROSE}</p></div>`;
    const sections = ["Locks", "Notes"].map(
      (name) => `<div id="${name}"><h2>${name}</h2><p>${PROSE}</p></div>`,
    );
    const found = among(await anchorsIn(`<h1>Weirs</h1><p>${PROSE}</p>${note}${sections.join("")}`));
    expect(found).toEqual([
      ["Locks", "## Locks"],
      ["Notes", "## Notes"],
    ]);
  });

  test("lead to the title where the content leaves it out", async () => {
    const found = await anchorsIn(
      `<section id="weirs"><h1 id="top">Weirs</h1><p>${PROSE}</p><p id="more">More. ${PROSE}</p></section>`,
    );
    expect(found.slice(0, 3)).toEqual([
      ["top", ""],
      ["weirs", ""],
      ["main", ""],
    ]);
    expect(found.at(-1)![0]).toBe("more");
    expect(found.at(-1)![1]).toStartWith("More. The weir");
  });

  test("lead to definitions, items and code, and not to what is no content", async () => {
    const found = among(
      await anchorsIn(`<h1>Weirs</h1><p>${PROSE}</p><dl><dt id="weir.open">weir.open(gate)</dt><dd><p>Opens. ${PROSE}</p></dd>
        <dt id="weir.shut">weir.shut(gate)</dt><dd><p>Shuts. ${PROSE}</p></dd></dl>
        <ul><li id="item">One item of <a href="/long/target/here">many</a> things</li><li>Two</li></ul><p>${PROSE}</p>`),
    );
    expect(found.map(([id, line]) => [id, line.slice(0, 16)])).toEqual([
      ["weir.open", "**`weir.open(gat"],
      ["weir.shut", "**`weir.shut(gat"],
      ["item", "- One item of [m"],
    ]);
  });

  type Form = (id: string, title: string) => string;
  const FORMS: Readonly<Record<string, readonly [open: Form, close: string]>> = {
    own: [(id, title) => `<div><h2 id="${id}">${title}</h2>`, "</div>"],
    sphinx: [
      (id, title) => `<section id="${id}"><h2>${title}<a class="headerlink" href="#x">¶</a></h2>`,
      "</section>",
    ],
    docbook: [
      (id, title) =>
        `<div class="sect1" id="${id}"><div class="titlepage"><div><div><h2 class="title">${title}</h2></div></div></div>`,
      "</div>",
    ],
    mdbook: [(id, title) => `<h2 id="${id}"><a class="header" href="#x">${title}</a></h2>`, ""],
    before: [(id, title) => `<a name="${id}"></a><h2>${title}</h2>`, ""],
    within: [
      (id, title) => `<h2><a id="${id}" class="anchor" href="#x" aria-hidden="true"></a>${title}</h2>`,
      "",
    ],
    around: [(id, title) => `<h3><span class="mw-headline" id="${id}">${title}</span></h3>`, ""],
    wrapped: [(id, title) => `<div class="heading"><h2 id="${id}">${title}</h2><a href="#x">#</a></div>`, ""],
  };
  const inHtml = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const title = fc.oneof(
    fc.constantFrom(
      "Usage",
      "Usage",
      "See also",
      "Ärger & Öl",
      "水門の話",
      "🚀 Start",
      "1. Gates",
      "f(*args, **kw)",
    ),
    fc.constantFrom(
      "`code` in it",
      "a_b_c",
      "[x](y)",
      "# hash",
      "x < y",
      "C++",
      "- dash",
      "É — “quoted”",
      "--> ---",
    ),
  );
  const id = fc.oneof(
    fc.constantFrom(
      "a b",
      '"',
      "'",
      "%41",
      "100%",
      "%E4%BD%A0",
      "--> ---",
      "- x: y",
      "水",
      "🚀",
      "a&b",
      "<b>",
      "SEC.1",
      "1:2",
    ),
    fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 30 }),
  );
  const sections = fc.array(
    fc.record({
      form: fc.constantFrom(...Object.keys(FORMS)),
      title,
      id,
      text: fc.constantFrom("Short.", PROSE),
    }),
    { minLength: 1, maxLength: 12 },
  );

  test("lead each to its own heading, whatever both are and however the page says it", async () => {
    const seen: number[] = [];
    await fc.assert(
      fc.asyncProperty(sections, async (made) => {
        const ids = new Set<string>();
        const own = made.map((section, at) => {
          // White space alone is no id, and names keep their entities.
          let { id } = section;
          if (id.trim() === "" || ids.has(id) || (section.form === "before" && /[&"<]/.test(id)))
            id = `id-${at}`;
          ids.add(id);
          return { ...section, id };
        });
        const html = own.map(({ form, title, id, text }, at) => {
          const [open, close] = FORMS[form]!;
          return `${open(inHtml(id), inHtml(title))}<p>Part ${at}. ${text}</p>${close}`;
        });
        const { markdown, found } = await read(
          `<h1>Weirs</h1><p>${PROSE}</p>${html.join("\n")}<p>${PROSE}</p>`,
        );
        // Each heading that the page's content has, with the number of the part below it.
        const headings = [...markdown.matchAll(/^#{1,6} .*\n+Part (\d+)\./gm)];
        seen.push(headings.length / own.length);
        const places = new Map(found.map(({ id, start }) => [id, start]));
        for (const { 1: part, index } of headings) {
          const { id } = own[Number(part)]!;
          expect([id, places.get(id)]).toEqual([id, index]);
        }
      }),
      { numRuns: 60 },
    );
    expect(seen.filter((share) => share > 0.9).length).toBeGreaterThan(seen.length * 0.6);
  });

  test("are not looked for unless somebody asks", async () => {
    const { article } = await extractHtml(`<h1 id="x">X</h1><p>${PROSE}</p>`, null, {
      ...DEFAULT_EXTRACTION,
      renderings: ["markdown"],
    });
    expect(article?.anchors).toBeNull();
  });
});
