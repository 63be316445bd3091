import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const paragraph = (number: number): string =>
  `<p>Loom ${number} of the mill came up the river in ${1840 + number} on a raft, in eleven crates that were marked with chalk. The weavers put it
  together in the yard, since no door was wide enough, and built the walls of the hall around it afterwards.</p>`;
const SAYS = "The raft of the fourth loom at the landing";
const BOXES = {
  "a paragraph in a box": `<div style="width: 310px" class="k-7"><img src="/l.jpg" alt="" width="300" height="200"><p class="k-t">${SAYS}</p></div>`,
  "a picture in a link": `<div><a href="/l.jpg"><img src="/l-3.jpg" alt="" width="300" height="200"></a><p>${SAYS}</p></div>`,
  "a span in a paragraph": `<p class="pic"><img src="/l.jpg" alt="" width="300" height="200"><span class="c">${SAYS}</span></p>`,
  "a figure": `<figure><img src="/l.jpg" alt="" width="300" height="200"><figcaption>${SAYS}</figcaption></figure>`,
  "a definition": `<dl><dt><img src="/l.jpg" alt="" width="300" height="200"></dt><dd>${SAYS}</dd></dl>`,
};

async function textWith(between: string): Promise<string> {
  const main = [1, 2, 3, 4].map(paragraph).toSpliced(2, 0, between).join("");
  const html = `<!doctype html><title>Looms - Mill Post</title><body><header><a href="/">Mill Post</a></header><main><article><h1>Looms</h1>${main}</article></main>
  <footer>© 2024 Mill Post</footer>`;
  return (await extract(html)).article?.text ?? "";
}

describe("a caption belongs to its picture, as", () => {
  for (const [form, markup] of Object.entries(BOXES))
    test(form, async () => expect(await textWith(markup)).toContain(SAYS));
});

test("whose picture it is is no caption, in any alphabet", async () => {
  const lone = (text: string): string =>
    `<div class="k-7"><img src="/l.jpg" alt="" width="300" height="200"><div>${text}</div></div>`;
  for (const credit of ["Photo: W. Lind", "Фото: В. Линд", "© W. Lind"])
    expect(await textWith(lone(credit)), credit).not.toContain(credit);
  expect(await textWith(lone("Фото тётушки Линд"))).toContain("Фото тётушки Линд");
});

describe("what is no caption beside a picture:", () => {
  const BESIDE = {
    "a button": '<div><img src="/l.jpg" alt="" width="300" height="200"><button>Enlarge it</button></div>',
    "hidden text":
      '<div><img src="/l.jpg" alt="" width="300" height="200"><span hidden>Enlarge it</span></div>',
    "a button in a figure":
      '<figure><div><img src="/l.jpg" alt="" width="300" height="200"><button>Enlarge it</button></div><figcaption>A raft.</figcaption></figure>',
  };
  for (const [form, markup] of Object.entries(BESIDE))
    test(form, async () => expect(await textWith(markup)).not.toContain("Enlarge it"));
});

describe("the last thing of an article may be a picture with its caption, as", () => {
  const PICTURE = '<img src="/l.jpg" alt="" width="300" height="200">';
  const FIGURES = {
    "a linked picture": `<figure class="i"><a href="/l.jpg">${PICTURE}</a><figcaption>${SAYS}</figcaption></figure>`,
    "a plain figure": `<figure>${PICTURE}<figcaption><span>${SAYS}</span></figcaption></figure>`,
  };
  for (const [form, markup] of Object.entries(FIGURES))
    test(form, async () => {
      const main = [1, 2, 3].map(paragraph).join("");
      const html = `<!doctype html><title>Looms</title><body><main><article><h1>Looms</h1>${main}${markup}</article></main>`;
      expect((await extract(html)).article?.text).toContain(SAYS);
    });
});

describe("a preview of a link that the author set keeps its title and its link,", () => {
  const inner =
    "<div><div>The ledgers of the mill</div><div>Forty books, scanned.</div></div><div><img src='/t.jpg' alt=''></div>";
  const card = `<figure class="k"><a class="c" href="https://archive.test/ledgers">${inner}</a></figure>`;
  for (const place of [1, 3, 5])
    test(`as part ${place} of the article`, async () => {
      const main = [1, 2, 3, 4]
        .map(paragraph)
        .toSpliced(place - 1, 0, card)
        .join("");
      const html = `<!doctype html><title>Looms - Mill Post</title><body><header><a href="/">Mill Post</a></header><main><article><h1>Looms</h1>${main}</article></main>`;
      const markdown = (await extract(html)).article?.markdown ?? "";
      expect(markdown).toMatch(/The ledgers of the mill[\s\S]*\(https:\/\/archive\.test\/ledgers\)/);
    });
});
