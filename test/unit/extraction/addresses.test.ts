import { describe, expect, test } from "bun:test";
import { ADDRESSES } from "../../support/addresses.ts";
import { articleOf, PROSE } from "../../support/extraction.ts";
import { framed } from "../../support/framed.ts";
import { HEADINGS, paragraphs, SHELLS, titledPage } from "../../support/titled-pages.ts";

const each = (count: number, write: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index + 1)).join("");

const work = (n: number): string =>
  `Weir, A. (${1900 + (n % 99)}). <a href="https://books.example/${n}">Ledger ${n}</a>. Quay Press.`;

/** Each form of notes, as what stands below the text. */
const FORMS: Readonly<Record<string, (count: number) => string>> = {
  list: (count) =>
    `<div class="reflist"><ol>${each(count, (n) => `<li id="n${n}"><a href="#r${n}">^</a> ${work(n)}</li>`)}</ol></div>`,
  "list without names": (count) =>
    `<div><ol>${each(count, (n) => `<li id="n${n}">${work(n)}</li>`)}</ol></div>`,
  definitions: (count) =>
    `<dl>${each(count, (n) => `<dt id="n${n}">Term ${n}</dt><dd>${work(n)}</dd>`)}</dl>`,
  paragraphs: (count) => each(count, (n) => `<p id="n${n}"><a href="#r${n}">[${n}]</a> ${work(n)}</p>`),
  asides: (count) => each(count, (n) => `<aside id="n${n}"><p>${work(n)}</p></aside>`),
};

/** What the title element and the only heading say; some of the words stand in an address. */
const TITLES: Readonly<Record<string, readonly [head: string, heading: string]>> = {
  "the heading": ["Tide", "Tide"],
  "the heading and the site": ["Tide | Site", "Tide"],
  "more than the heading": ["Tide guide of the harbour", "Tide"],
  "less than the heading": ["Tide", "Tide and topic of the week"],
  "another than the heading": ["Tide | Site", "When the water comes and goes"],
  "the site's": ["Site", "Tide tables for sailors"],
};

const pageOf = (paragraphs: number, notes: string): string =>
  framed(
    `${each(paragraphs, (n) => `<p>${PROSE} In parish ${n} they wrote it down.<sup id="r${n}"><a href="#n${n}">[${n}]</a></sup></p>`)}<h2>Sources</h2>${notes}`,
  );

describe("the same page at any address", () => {
  for (const [form, write] of Object.entries(FORMS))
    for (const count of [3, 30, 200])
      test(`${count} notes (${form}) are the same, with their heading`, async () => {
        const page = pageOf(count, write(count));
        const texts: string[] = [];
        for (const url of ADDRESSES) texts.push((await articleOf(page, { url })).text);
        for (const text of texts) expect(text).toBe(texts[0]!);
        expect(texts[0]).toContain("Sources");
        for (let n = 1; n <= count; n++) expect(texts[0]).toContain(`Ledger ${n}`);
      });

  for (const [said, [head, heading]] of Object.entries(TITLES))
    test(`whose title is ${said} keeps its words, and its heading there or as the title`, async () => {
      for (const [shellName, shell] of Object.entries(SHELLS))
        for (const [form, written] of Object.entries(HEADINGS))
          for (const count of [2, 9]) {
            const page = titledPage(head, shell(written(heading) + paragraphs(count)));
            const texts = new Set<string>();
            for (const url of ADDRESSES) {
              const { title, text } = await articleOf(page, { url });
              texts.add(text);
              expect([shellName, form, url, `${title}\n${text}`]).toEqual([
                shellName,
                form,
                url,
                expect.stringContaining(heading),
              ]);
            }
            expect([shellName, form, count, texts.size]).toEqual([shellName, form, count, 1]);
          }
    });

  test("a list of notes comes whole where the text refers to some", async () => {
    const { text } = await articleOf(pageOf(40, FORMS["list without names"]!(90)), { url: null });
    expect(text).toContain("Ledger 90");
  });
});

describe("what the text points to", () => {
  test("menus and what is above stay out", async () => {
    const toc = `<div class="layout"><div id="toc"><ul>${each(9, (n) => `<li id="t${n}"><a href="#s${n}">Outline entry ${n}</a></li>`)}</ul></div></div>`;
    const body = each(
      9,
      (n) =>
        `<h2 id="s${n}">Part ${n}</h2><p>${PROSE} ${PROSE} <a href="#t${n}">Up</a> or <a href="#m${n}">down</a></p>`,
    );
    const menu = `<div><ul>${each(9, (n) => `<li id="m${n}"><a href="#s${n}">Closing entry ${n}</a></li>`)}</ul></div>`;
    const { text } = await articleOf(
      framed(body).replace("<main", `${toc}<main`).replace("</body>", `${menu}</body>`),
      { url: null },
    );
    expect(text).not.toContain("Outline entry 5");
    expect(text).not.toContain("Closing entry 5");
  });
});
