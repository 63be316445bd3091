import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const paragraph = (number: number): string =>
  `<p>Kiln ${number} at the ford was built in ${1700 + number} from clay of the eastern bank, and it burned for nine days at a time.</p>`;
const vendor = (says: string): string =>
  Array.from({ length: 30 }, (_, number) => `<p>${says} ${number + 1}.</p>`).join("");
const pageOf = (box: string, place: "first" | "last"): string => {
  const main = `<main><article><h1>Kilns</h1>${[1, 2, 3].map(paragraph).join("")}</article></main>`;
  return `<!doctype html><html lang="en"><head><title>Kilns</title></head><body><header><a href="/">Ford Gazette</a></header>${place === "first" ? box + main : main + box}<footer>© 2024</footer></body></html>`;
};

/** What such a box says, and its button. */
const SAYS: readonly (readonly [text: string, button: string])[] = [
  [
    "This vendor uses cookies to keep statistics and to choose what fits your interests, by purpose",
    "Accept all",
  ],
  [
    "Dieser Anbieter nutzt Cookies für Statistik und Werbung, und Sie können jederzeit widerrufen, Zweck",
    "Alle akzeptieren",
  ],
  [
    "Ce partenaire utilise des cookies pour mesurer l’audience et choisir la publicité, finalité",
    "Tout accepter",
  ],
  ["Этот партнёр использует файлы cookie для статистики и рекламы, цель", "Принять все"],
];

describe("a box that asks for consent is no content, however long:", () => {
  for (const [says, button] of SAYS)
    for (const place of ["first", "last"] as const)
      test(`${button}, ${place}`, async () => {
        const box = `<div class="k1"><div class="k2"><h2>Your choices</h2>${vendor(says)}</div><div><button>${button}</button><button>More</button></div></div>`;
        const text = (await extract(pageOf(box, place))).article?.text ?? "";
        expect(text).toContain("Kiln 3 at the ford");
        expect(text).not.toContain(says);
      });
});

test("an article about cookies stays, with a button in it", async () => {
  const box = `<p>Bakers of the ford keep their cookies for nine days, in jars that are closed with wax.</p><button>Accept all</button>`;
  const html = pageOf("", "last").replace("</article>", `${box}</article>`);
  expect((await extract(html)).article?.text).toContain("Bakers of the ford keep their cookies");
});

test("a page without a title or main part is never taken for the box around its button", async () => {
  const recipe =
    "Roll the dough of the cookies thin, cut it with the lid of a jar, and bake it until the edges are brown.";
  const text = [1, 2, 3].map((number) => `<p>${recipe} Batch ${number}.</p>`).join("");
  const { article } = await extract(
    `<!doctype html><title>Cookies</title><body><div><div>${text}</div><div><span>We value your privacy.</span><button>Accept all</button></div></div>`,
  );
  expect(article?.text).toContain("Batch 3.");
});
