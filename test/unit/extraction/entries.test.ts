import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const NAMES = ["tamsin_o", "Wick Harrow", "ilvar", "Dora Penn", "k. ostrander"];
const SAID = [
  "Our kiln cracks above nine hundred degrees and the manual is silent about it. Which clay do you use for the lining?",
  "We had the same fault for years. The answer was a clay from the eastern bank, mixed with sand of the second washing.",
  "Agreed, and two days of drying are enough; more of it only lets the dust settle in the joints.",
  "Mine has held for eleven firings now. I wrap it in wet straw on the first night, as my aunt did.",
  "Thank you all, it burns again and the tiles come out as red as they did in her time.",
];
const at = (number: number): string => `2024-05-0${number + 1}`;

/** How sites write who wrote an entry, and when. */
const HEADS: Readonly<Record<string, (number: number) => string>> = {
  "boxes with a time": (number) =>
    `<div class="u"><a href="/u/${number}">${NAMES[number]}</a></div><div class="t"><time datetime="${at(number)}">${at(number)}</time></div>`,
  "one line": (number) => `<div class="m"><span>${NAMES[number]}</span> <span>${at(number)}</span></div>`,
  "a paragraph": (number) => `<p class="by">${NAMES[number]}, ${at(number)}</p>`,
};
const BOXES: Readonly<Record<string, (head: string, number: number) => string>> = {
  articles: (head, number) =>
    `<article id="p${number}" class="post">${head}<div class="b"><p>${SAID[number]}</p></div><div class="x"><button>Like</button><button>Reply</button></div></article>`,
  "nested boxes": (head, number) =>
    `<div class="e" id="p${number}"><div class="r">${head}<div><p>${SAID[number]}</p></div></div></div>`,
  items: (head, number) => `<li class="e">${head}<p>${SAID[number]}</p></li>`,
};

const pageOf = (entries: string): string =>
  `<!doctype html><html lang="en"><head><title>Cracks in the kiln - Ford Potters</title></head><body><header><a href="/">Ford Potters</a></header>
  <main><h1>Cracks in the kiln</h1>${entries}</main><aside><h3>Most read</h3><ul><li><a href="/1">A fair at the ford</a></li></ul></aside><footer>© 2024 Ford Potters</footer></body></html>`;

describe("entries of a page keep who wrote them and when, once:", () => {
  for (const [head, headOf] of Object.entries(HEADS))
    for (const [box, boxOf] of Object.entries(BOXES))
      for (const count of [2, 5])
        test(`${count} ${box}, ${head}`, async () => {
          const entries = Array.from({ length: count }, (_, number) => boxOf(headOf(number), number)).join(
            "",
          );
          const text =
            (await extract(pageOf(box === "items" ? `<ol>${entries}</ol>` : entries))).article?.text ?? "";
          let from = 0;
          for (let number = 0; number < count; number++)
            for (const part of [NAMES[number]!, at(number), SAID[number]!]) {
              const found = text.indexOf(part, from);
              expect(found, part).toBeGreaterThanOrEqual(from);
              from = found + part.length;
            }
          expect(text).not.toContain("Reply");
        });
});

describe("a short entry is kept among long ones:", () => {
  const SHORT = "Thank you both, it burns again.";
  for (const [head, headOf] of Object.entries(HEADS))
    for (const [box, boxOf] of Object.entries(BOXES))
      for (const [place, at] of [
        ["in the middle", 2],
        ["last", 4],
      ] as const)
        test(`${box}, ${head}, ${place}`, async () => {
          const entries = SAID.map((said, number) =>
            boxOf(headOf(number), number).replace(
              `<p>${said}</p>`,
              number === at ? `<p>${SHORT}</p>` : `<p>${said} ${said}</p><p>${said} ${SAID[0]} ${said}</p>`,
            ),
          ).join("");
          const { article } = await extract(pageOf(box === "items" ? `<ol>${entries}</ol>` : entries));
          expect(article?.text).toContain(SHORT);
        });
});

test("a profile beside an entry is left out", async () => {
  const entries = SAID.map((said, number) => {
    const profile = `<div class="pr"><div>Posts: ${number + 40}</div><div>Joined: 4 July 201${number}</div></div>`;
    return `<div class="e">${profile}<div class="m">${NAMES[number]} ${at(number)}</div><p>${said}</p></div>`;
  });
  const text = (await extract(pageOf(entries.join("")))).article?.text ?? "";
  for (const [number, said] of SAID.entries()) {
    expect(text).toContain(`${NAMES[number]} ${at(number)}`);
    expect(text).toContain(said);
  }
  expect(text).not.toMatch(/Posts:|Joined:/);
});

test("the byline of a page that is no entry stays metadata", async () => {
  const paragraphs = SAID.map((said) => `<p>${said} ${said}</p>`).join("");
  const byline = '<div class="byline"><a href="/u/1">Tamsin Orrell</a> <time>2024-05-01</time></div>';
  const { article } = await extract(pageOf(`<article>${byline}${paragraphs}</article>`));
  expect(article?.text).not.toContain("Tamsin Orrell");
});
