import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const SAYS =
  "This grease was mixed for cable ferries, where spray settles on the drum twice a day. Two strokes per nipple every forty hours are enough, and the cartridge fits every common gun.";
const SPEC =
  "<table><tr><th>Base oil</th><td>68 mm²/s</td></tr><tr><th>Colour</th><td>amber</td></tr></table>";
const PRICES = ["€ 12.90", "12,90 €", "$12.90", "129 kr", "49,90 zł", "£1,249.00"];

const pageOf = (price: string, panels: string): string =>
  `<!doctype html><html lang="en"><head><title>Winch grease, 400 g - Lake Hardware</title><meta property="og:type" content="product"></head><body>
  <header><a href="/">Lake Hardware</a><nav><ul><li><a href="/a">Tools</a></li><li><a href="/b">Ropes</a></li></ul></nav></header>
  <main><div class="product"><div class="gallery"><img src="/g.jpg" alt="Cartridge"></div><div class="summary"><h1>Winch grease, 400 g</h1>
  <p class="price"><span class="amount">${price}</span></p><div class="short"><p>Stays soft down to minus fifty degrees and does not wash out.</p></div>
  <form class="cart"><button>Add to cart</button></form></div>${panels}
  <section class="related products"><h2>Related products</h2><ul><li><a href="/p/2">Red grease, 1 kg</a> € 9.90 <a href="?add=2">Add to cart</a></li></ul></section></div></main>
  <footer><ul><li><a href="/i">Imprint</a></li></ul></footer></body></html>`;
const panel = (id: string, title: string, inner: string, style = ""): string =>
  `<div id="${id}" class="panel" role="tabpanel"${style}><h2>${title}</h2>${inner}</div>`;
const hidden = ' style="display:none"';
const TABS =
  '<ul role="tablist"><li><a href="#d">Description</a></li><li><a href="#s">Specification</a></li></ul>';
const DESCRIBED = panel("d", "Description", `<p>${SAYS}</p>`);

describe("a product keeps its price", () => {
  for (const price of PRICES)
    test(price, async () => {
      const text = (await extract(pageOf(price, DESCRIBED))).article?.text ?? "";
      expect(text).toContain(price);
      expect(text).toContain("fits every common gun");
      expect(text).not.toMatch(/Add to cart|Red grease/);
    });
});

describe("a product keeps the facts behind a tab,", () => {
  const ORDERS = {
    "the last one": `${TABS}${DESCRIBED}${panel("s", "Specification", SPEC, hidden)}`,
    "the first one": `${TABS}${panel("s", "Specification", SPEC, hidden)}${DESCRIBED}`,
  };
  for (const [place, panels] of Object.entries(ORDERS))
    test(place, async () => {
      const markdown = (await extract(pageOf("€ 12.90", `<div class="tabs">${panels}</div>`))).article
        ?.markdown;
      expect(markdown).toMatch(/Base oil +\| +68 mm²\/s/);
      expect(markdown).toMatch(/Colour +\| +amber/);
    });

  test("but no form in one", async () => {
    const review = panel(
      "r",
      "Reviews",
      "<form><label>Your name</label><input><button>Send</button></form>",
      hidden,
    );
    const { article } = await extract(pageOf("€ 12.90", `<div class="tabs">${DESCRIBED}${review}</div>`));
    expect(article?.text).not.toContain("Your name");
  });
});
