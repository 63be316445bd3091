import { describe, expect, test } from "bun:test";
import { buildPageTree } from "../../../src/extraction/classification/page-tree.ts";
import { scanPage } from "../../../src/extraction/page/scan.ts";
import { selectJudged } from "../../../src/extraction/selection/selection.ts";
import { PAGE_TYPES } from "../../../src/extraction/types.ts";
import { extract } from "../../support/extraction.ts";

/*
 * Equal boxes with sentences in an article: whatever their tags, names and depth, a reader copies all of them or none. The shapes are
 * all combinations of the parts below; each is tried first, in the middle and last.
 */

const paragraph = (number: number): string =>
  `<p>Lock ${number} on the northern canal was dug by hand in the winter of ${1800 + number}, when the water was low and the masons had no
  other work. Its gates were hung in May, and the first boat to pass them carried slate for ${number + 3} roofs in the town.</p>`;
const PARAGRAPHS = [1, 2, 3, 4, 5].map(paragraph);
const SAYS = [
  "The keeper wrote the height of the water down twice a day.",
  "No boat went through after dark before the lamps came in 1851.",
  "A horse pulled three barges where two engines pull one now.",
  "The toll was paid in flour.",
];
const HEADS = ["Heights of water", "Lamps at night", "Horses and engines", "Tolls"];

type Member = (head: string, says: string, at: number) => string;
const MEMBERS: Readonly<Record<string, Member>> = {
  "columns of boxes": (_, says) => `<div class="c-cell"><div class="c-cell__in"><p>${says}</p></div></div>`,
  "sections with headings": (head, says) => `<section class="u-row"><h3>${head}</h3><p>${says}</p></section>`,
  "boxes with labels": (head, says) =>
    `<div class="css-1x2"><strong>${head}</strong><div><div>${says}</div></div></div>`,
  "questions in buttons": (head, says) =>
    `<div class="q"><h3><button type="button" aria-expanded="false">${head}</button></h3><div class="a"><p>${says}</p></div></div>`,
  "numbered steps": (_, says, at) => `<div class="st"><div class="n">${at + 1}</div><p>${says}</p></div>`,
  "lines of verse": (_, says) => `<div class="v">${says}</div>`,
  "pictures with what they show": (_, says, at) =>
    `<div class="ph"><img src="/p/${at}.jpg" alt="" width="640" height="420"><p class="t">${says}</p></div>`,
  quotations: (_, says) => `<blockquote class="k"><p>${says}</p></blockquote>`,
  "spans as boxes": (_, says) => `<span class="jsx-1"><div>${says}</div></span>`,
};
const HOLDERS: Readonly<Record<string, (members: string) => string>> = {
  "in a box": (members) => `<div class="group-7">${members}</div>`,
  "without a box": (members) => members,
};
const SHELLS: Readonly<Record<string, (main: string) => string>> = {
  "an article": (main) => `<main><article><h1>Locks of the canal</h1>${main}</article></main>`,
  boxes: (main) =>
    `<div class="x1"><div class="x2"><h1>Locks of the canal</h1></div><div class="x3">${main}</div></div>`,
  "no box": (main) => `<h1>Locks of the canal</h1>${main}`,
};
const PLACES = { first: 0, "in the middle": 3, last: PARAGRAPHS.length };

const inSite = (main: string): string =>
  `<!doctype html><html lang="en"><head><title>Locks of the canal - Slate Post</title></head><body><header><a href="/">Slate Post</a><nav><ul>
  <li><a href="/n">Northern news</a></li><li><a href="/w">Weather and water</a></li></ul></nav></header>${main}<footer><ul>
  <li><a href="/i">Imprint</a></li></ul><p>© 2024 Slate Post. All rights reserved.</p></footer></body></html>`;

const textOf = async (html: string): Promise<string> => (await extract(html)).article?.text ?? "";

for (const [shell, around] of Object.entries(SHELLS)) {
  describe(`members of a group, in ${shell}`, () => {
    for (const [kind, write] of Object.entries(MEMBERS))
      for (const [holder, hold] of Object.entries(HOLDERS))
        for (const [place, at] of Object.entries(PLACES))
          for (const count of [2, 4])
            test(`${count} ${kind}, ${holder}, ${place}, are kept together`, async () => {
              const members = SAYS.slice(0, count).map((says, number) => write(HEADS[number]!, says, number));
              const text = await textOf(
                inSite(around(PARAGRAPHS.toSpliced(at, 0, hold(members.join(""))).join(""))),
              );
              for (const says of SAYS.slice(0, count)) expect(text).toContain(says);
              if (write("head", "", 0).includes("head"))
                for (const head of HEADS.slice(0, count)) expect(text).toContain(head);
              expect(text).not.toMatch(/Northern news|All rights reserved/);
            });
  });
}

describe("a group stays out", () => {
  const FRAMES: Readonly<Record<string, Member>> = {
    "that the page names as other stories": (_, says) => `<div class="related"><p>${says}</p></div>`,
    "in a form": (_, says) => `<form><p>${says}</p></form>`,
    "whose members are links": (head, says, at) =>
      `<div class="m"><a href="/m/${at}">${head}</a><p>${says}</p></div>`,
    "that says one thing several times": () => `<div class="m"><p>${SAYS[1]}</p></div>`,
  };
  for (const [kind, write] of Object.entries(FRAMES))
    test(kind, () => {
      expect(keptOf(write)).not.toContain(SAYS[1]!);
    });

  test("but not by its probabilities alone", () => {
    expect(keptOf((_, says) => `<div class="m"><p>${says}</p></div>`)).toContain(SAYS[1]!);
  });

  /** What is kept where the paragraphs are sure and all else is not, whatever the trees would say. */
  function keptOf(write: Member): readonly string[] {
    const members = SAYS.slice(1).map((says, number) => write(HEADS[number]!, says, number));
    const main = `<main><article><h1>Locks of the canal</h1>${PARAGRAPHS.join("")}<div>${members.join("")}</div></article></main>`;
    const tree = buildPageTree(scanPage(inSite(main)).model);
    const { text } = tree.model.blocks;
    const p = Float32Array.from(tree.candidates, (block) => (text[block]!.startsWith("Lock ") ? 0.9 : 0.2));
    const typeP = Float32Array.from(PAGE_TYPES, (type) => (type === "article" ? 1 : 0));
    return Array.from(selectJudged(tree, { p, typeP, favor: "balanced" }).judged, (block) => text[block]!);
  }
});
