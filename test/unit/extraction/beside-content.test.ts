import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const sentence = (number: number): string =>
  `Gate ${number} of the weir opens at six and closes when the tide has been in for ${number + 2} hours.`;
const TEXT = [0, 1, 2, 3, 4, 5, 6, 7]
  .map((number) => `<h2 id="g${number}">Part ${number}</h2><p>${sentence(number)}</p>`)
  .join("");
const TITLE = "<h1>Gates of the weir</h1>";

const link = (href: string, text: string): string => `<a href="${href}">${text}</a>`;
const FORMS: Readonly<Record<string, (links: readonly string[]) => string>> = {
  ul: (links) => `<ul>${links.map((a) => `<li>${a}</li>`).join("")}</ul>`,
  "nested ul": ([first, ...rest]) =>
    `<ul><li>${first}<ul>${rest.map((a) => `<li>${a}</li>`).join("")}</ul></li></ul>`,
  table: (links) => `<table>${links.map((a) => `<tr><td>${a}</td></tr>`).join("")}</table>`,
  dl: ([first, ...rest]) => `<dl><dt>${first}</dt>${rest.map((a) => `<dd>${a}</dd>`).join("")}</dl>`,
  details: (links) => `<details><summary>Show all</summary>${links.join(" ")}</details>`,
  boxes: (links) => links.map((a) => `<div>${a}</div>`).join(""),
  line: (links) => `<p>${links.join(" | ")}</p>`,
};
const MENU = [0, 1, 2, 3, 4, 5].map((number) => link(`/d/${number}`, `Side topic ${number}`));
const OUTLINE = [0, 1, 2, 3, 4, 5].map((number) => link(`#g${number}`, `Part ${number}`));

type Slots = {
  readonly top?: string;
  readonly below?: string;
  readonly end?: string;
  readonly side?: string;
};
const SHELLS: Readonly<Record<string, (slots: Slots) => string>> = {
  main: ({ top = "", below = "", end = "", side = "" }) =>
    `<main>${top}${TITLE}${below}${TEXT}${end}</main>${side}`,
  "unnamed boxes": ({ top = "", below = "", end = "", side = "" }) =>
    `<div><div>${top}<div>${TITLE}${below}${TEXT}${end}</div></div><div>${side}</div></div>`,
  columns: ({ top = "", below = "", end = "", side = "" }) =>
    `<table><tr><td>${top}${TITLE}${below}${TEXT}${end}</td><td>${side}</td></tr></table>`,
};
const PLACES = ["top", "below", "end", "side"] as const;

const textOf = async (body: string): Promise<string> => {
  const html = `<!doctype html><title>Gates of the weir</title><body><nav><a href="/">Weir</a></nav>${body}<footer>© 2020</footer>`;
  return (await extract(html)).article?.text ?? "";
};
async function expectOnlyText(body: string, beside: RegExp): Promise<void> {
  const text = await textOf(body);
  for (let number = 0; number < 8; number++) expect(text).toContain(sentence(number));
  expect(text).not.toMatch(beside);
}

for (const [shell, print] of Object.entries(SHELLS)) {
  for (const place of PLACES) {
    describe(`in ${shell}, ${place}`, () => {
      for (const [form, write] of Object.entries(FORMS)) {
        test(`a menu as ${form} is not content`, () =>
          expectOnlyText(
            print({ [place]: `<div><p>Chapters</p>${write(MENU)}</div>` }),
            /Side topic|Chapters/,
          ));
        test(`an outline as ${form} is not content`, () =>
          expectOnlyText(
            print({ [place]: `<div><p>On this page</p>${write(OUTLINE)}</div>` }),
            /On this page|Part 0\W+Part 1/,
          ));
      }
    });
  }

  describe(`at the end, in ${shell}`, () => {
    const PAGERS = {
      words: `<p>${link("/d/1", "Earlier: Side topic 1")} ${link("/d/3", "Later: Side topic 3")}</p>`,
      arrows: `<div>${link("/d/1", "← Side topic 1")} ${link("/d/3", "Side topic 3 →")}</div>`,
      relations: `<ul><li><a rel="prev" href="/d/1">Side topic 1</a></li><li><a rel="next" href="/d/3">Side topic 3</a></li></ul>`,
    };
    for (const [form, pager] of Object.entries(PAGERS))
      test(`a pager with ${form} is not content`, () => expectOnlyText(print({ end: pager }), /Side topic/));

    const item = (inner: string): string => `<div>${inner}</div>`.repeat(3);
    const CARDS = {
      "remarks of readers": `<h2>3 comments</h2>${item("<p><b>Ann</b> 3 May 2024</p><p>Beside: I liked this page.</p>")}`,
      "related posts": item(
        `<h4>${link("/d/8", "Beside the mill")}</h4><p>Beside: how the miller lives today.</p>`,
      ),
      "other news": `<h3>Latest news</h3>${item(`<h4>${link("/d/8", "Beside the mill")}</h4><p>Beside: a barge came in.</p>`)}`,
      "captions of a gallery":
        `<figure><img src="/a.png"><figcaption>Beside the mill, 1903</figcaption></figure>`.repeat(3),
    };
    for (const [kind, cards] of Object.entries(CARDS)) {
      for (const place of ["end", "side"]) {
        test(`${kind}, ${place}, are not content, nor is a pager before them`, () =>
          expectOnlyText(
            print({ [place]: `${PAGERS.words}<div>${cards}</div>` }),
            /Beside|comments|Latest|Side topic/,
          ));
      }
    }
  });

  describe(`what an author writes is kept in ${shell}`, () => {
    const links = `<ul><li>${link("/a", "Reading a tide table")}</li><li>${link("/b", "Closing a gate by hand")}</li></ul>`;
    const CASES: Readonly<Record<string, readonly [string, RegExp]>> = {
      "a list of links below a heading": [
        `<h2>See also</h2>${links}`,
        /See also\s+.*Reading a tide.*\s.*Closing a gate/,
      ],
      "a table of contents below a heading": [
        `<h2>Table of contents</h2>${FORMS.ul!(OUTLINE)}<p>Read it in this order, from the first gate to the last one.</p>`,
        /Table of contents\s+.*Part 0\s+.*Part 1/,
      ],
      "a figure": [
        '<figure><img src="/m.png"><figcaption>The mill in 1903.</figcaption></figure>',
        /The mill in 1903/,
      ],
      "facts of a reference": [
        `<dl class="notes"><dt>All known gates:</dt><dd>${link("/g", "The north gate")}</dd></dl>`,
        /All known gates:\s+.*The north gate/,
      ],
      "links among items of a list": [
        `<ul><li><p>Wood</p><ul><li>${link("/o", "Oak")}</li></ul></li><li><p>A gate of stone lasts longer than any that is made of wood, says the miller.</p></li></ul>`,
        /Wood\s+.*Oak/,
      ],
    };
    for (const [kind, [written, kept]] of Object.entries(CASES)) {
      for (const place of ["below", "end"])
        test(`${kind}, ${place}`, async () =>
          expect(await textOf(print({ [place]: written }))).toMatch(kept));
    }
  });
}

test("a page that is a list of links keeps it", async () => {
  const text = await textOf(`<main>${TITLE}<p>All chapters.</p>${FORMS.ul!(MENU)}</main>`);
  expect(text).toContain("Side topic 5");
});

describe("a list of links that a sentence announces is content,", () => {
  const items = ["Upper mill", "Lower mill", "Harbour"].map(
    (name, number) => `<li><p>${link(`https://h${number}.test/`, name)},</p></li>`,
  );
  const LISTS: Readonly<Record<string, string>> = {
    "in a named box": `<div class="itemizedlist"><ul class="itemizedlist">${items.join("")}</ul></div>`,
    "without a box": `<ul>${items.join("")}</ul>`,
    "in an unnamed box": `<div><ul>${items.join("")}</ul></div>`,
  };
  for (const [form, list] of Object.entries(LISTS))
    test(form, async () => {
      const steps = ["Cut the wood:", "Set the frame:"].map(
        (step) => `<li class="listitem"><p>${step}</p><pre class="screen">% make gate</pre></li>`,
      );
      const build = `<div class="titlepage"><div><div><h4 class="title">Building from wood</h4></div></div></div><p>The steps are:</p><div class="orderedlist"><ol class="orderedlist">${steps.join("")}</ol></div>`;
      const { article } = await extract(
        `<!doctype html><html lang="en"><head><title>Weirs</title></head><body><div class="section"><div class="section"><div class="titlepage"><h3 class="title">Packages</h3></div><p>Some weirs offer gates:</p>${list}<p>If you build on one of these weirs, follow their way of building, and skip the next part that tells how to build a gate from wood.</p></div><div class="section">${build}</div></div></body></html>`,
      );
      const text = article?.text ?? "";
      for (const name of ["Upper mill", "Lower mill", "Harbour"]) expect(text).toContain(name);
    });
});
