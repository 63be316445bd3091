import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const NAMES = ["Copper kettle", "Walnut tray", "Linen apron", "Oak stool", "Wool blanket", "Clay teapot"];
const MORE_NAMES = ["Brass lamp", "Ash ladle", "Slate board", "Cork mat", "Iron pan", "Glass jug"];
const LISTS: Readonly<Record<string, (name: string, number: number) => string>> = {
  "products with prices and reviews": (name, number) =>
    `<div class="product-card"><a href="/p/${number}"><img src="/p${number}.jpg" alt=""></a><div class="product-card__info">
      <h3 class="name"><a href="/p/${number}">${name}</a></h3><span class="price">$${10 + number}.00</span>
      <div class="reviews">${number + 2} reviews</div></div></div>`,
  "products in an unordered list": (name, number) =>
    `<li class="grid-item"><a href="/p/${number}"><div class="title">${name}</div>
      <div class="price">$${10 + number}.00</div></a><div class="swatches">${(number % 4) + 2} colours</div></li>`,
  "recipes that are links": (name, number) =>
    `<a class="card" href="/r/${number}"><div class="card__content"><div class="card__tag">Recipe</div>
      <span class="card__title">${name}</span></div></a>`,
};
const INTRODUCTIONS = {
  "a heading": "<h1>Kitchen</h1>",
  "a heading and a sentence":
    "<h1>Kitchen</h1><p>Everything for a kitchen that is used every day, made by people who cook themselves.</p>",
};

const inShop = (main: string): string => `<!doctype html><title>Kitchen | Mill Store</title>
  <header><nav><ul><li><a href="/">Home</a><li><a href="/new">New</a><li><a href="/sale">Sale</a></ul></nav></header>
  <main>${main}</main>
  <footer><ul><li><a href="/about">About us</a><li><a href="/help">Help</a></ul><p>© 2026 Mill Store</p></footer>`;

describe("a page of cards has all of each", () => {
  for (const [list, card] of Object.entries(LISTS)) {
    for (const [introduction, html] of Object.entries(INTRODUCTIONS)) {
      for (const names of [NAMES, [...NAMES, ...MORE_NAMES]]) {
        test(`${list} under ${introduction}, ${names.length} of them`, async () => {
          const cards = names.map(card).join("");
          const holder = list.includes("unordered")
            ? `<ul class="grid">${cards}</ul>`
            : `<div class="grid">${cards}</div>`;
          const { article } = await extract(inShop(html + holder));
          const lines = (article?.text ?? "").split("\n").map((line) => line.trim());
          expect(names.filter((name) => !lines.includes(name))).toEqual([]);
          const prices = names.map((_, number) => `$${10 + number}.00`);
          if (list.includes("products")) expect(prices.filter((price) => !lines.includes(price))).toEqual([]);
          expect(article?.text).not.toMatch(/About us|Sale|Mill Store/);
        });
      }
    }
  }
});

test("cards beside an article stay out of it", async () => {
  const paragraphs = Array.from({ length: 8 }, (_, number) => {
    return `<p>In the year ${1900 + number} the mill at the upper weir ground ${number + 4} hundred sacks of rye for the town.</p>`;
  });
  const cards = NAMES.map((name, number) => LISTS["products with prices and reviews"]!(name, number)).join(
    "",
  );
  const { article } = await extract(
    inShop(`<article><h1>The mill</h1>${paragraphs.join("")}</article>
      <section class="related"><h2>You may also like</h2>${cards}</section>`),
  );
  expect(article?.text).toContain("In the year 1907");
  expect(article?.text).not.toContain("reviews");
});
