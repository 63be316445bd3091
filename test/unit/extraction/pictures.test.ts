import { describe, expect, test } from "bun:test";
import { articleOf } from "../../support/extraction.ts";

const ALT = "The wheel at low water";
const IMG = `<img src="/i/wheel.jpg" alt="${ALT}">`;

const paragraphs = (from: number, count: number): string =>
  Array.from(
    { length: count },
    (_, index) =>
      `<p>In year ${1500 + from + index} the miller of parish ${from + index} mends ${index + 2} gates before the river lifts its last barge.</p>`,
  ).join("");

const NAV = `<nav><a href="/">Home page</a> <a href="/shop">Shop front</a></nav>`;
const FOOT = `<footer><a href="/privacy">Privacy rules</a> Copyright 2026 Weirside</footer>`;
const SIDE = Array.from({ length: 14 }, (_, n) => `<li><a href="/d/${n}">Side topic ${n}</a></li>`).join("");
const SHELLS: Readonly<Record<string, (body: string) => string>> = {
  article: (body) => `<header>${NAV}</header><main><article><h1>Gates</h1>${body}</article></main>${FOOT}`,
  main: (body) => `${NAV}<main><h1>Gates</h1>${body}</main>${FOOT}`,
  "side bar": (body) =>
    `<div class="layout"><aside class="sidebar"><ul>${SIDE}</ul></aside><div class="content"><h1>Gates</h1>${body}</div></div>${FOOT}`,
  "plain boxes": (body) =>
    `<div id="top">${NAV}</div><div class="content"><h1>Gates</h1>${body}</div><div id="bottom">${FOOT}</div>`,
  "share buttons around the text": (body) =>
    `<header>${NAV}</header><main><h1>Gates</h1><div class="share"><a href="/s">Share this</a></div><div class="text">${body}</div><div class="tags"><a href="/t/1">Mills</a></div></main>${FOOT}`,
};

const PLACES: Readonly<Record<string, (what: string) => string>> = {
  first: (what) => what + paragraphs(0, 12),
  middle: (what) => paragraphs(0, 6) + what + paragraphs(6, 6),
  last: (what) => paragraphs(0, 12) + what,
};

const KINDS: Readonly<Record<string, string>> = {
  "an image": IMG,
  "an image in a paragraph": `<p>${IMG}</p>`,
  "an image in boxes": `<div class="wrap"><div>${IMG}</div></div>`,
  "the second of two images": `<div><img src="/i/other.jpg" alt="Other">${IMG}</div>`,
  "a figure": `<figure>${IMG}</figure>`,
  "a picture": `<picture><source srcset="/i/wheel.webp">${IMG}</picture>`,
  "a lazy image": `<img src="data:image/gif;base64,R0" data-src="/i/wheel.jpg" alt="${ALT}">`,
  "an image with a set": `<img srcset="/i/wheel-s.jpg 400w, /i/wheel.jpg 900w" alt="${ALT}">`,
  "a link to the large image": `<a href="/i/wheel-large.jpg">${IMG}</a>`,
  "a link to a page about it": `<p><a href="/wheel">${IMG}</a></p>`,
  "a link to another site": `<p><a href="https://maps.test/wheel">${IMG}</a></p>`,
  "an image beside a copy for pages without scripts": `<img class="lazy" src="data:image/gif;base64,R0" data-src="/i/wheel.jpg" alt="${ALT}"><noscript>${IMG}</noscript>`,
  "an image after a copy for pages without scripts": `<noscript>${IMG}</noscript><img src="data:image/gif;base64,R0" data-src="/i/wheel.jpg" alt="${ALT}">`,
  "an image for two screens": `<div class="desktop">${IMG}</div><div class="mobile">${IMG}</div>`,
};

const PLAYERS: Readonly<Record<string, string>> = {
  "a video": `<video controls src="/wheel.mp4" title="${ALT}"></video>`,
  "a player in a frame": `<iframe src="https://www.youtube.com/embed/abcdefghijk" title="${ALT}" width="560" height="315"></iframe>`,
  "a player in boxes": `<div class="embed"><div><iframe src="https://player.vimeo.com/video/123456" title="${ALT}"></iframe></div></div>`,
};

const FURNITURE: Readonly<Record<string, string>> = {
  "an icon by its size": `<img src="/i/a.png" width="24" height="24" alt="${ALT}">`,
  "an icon by its name": `<span class="icon">${IMG}</span>`,
  "an icon by its folder": `<img src="/assets/icons/clock.png" alt="${ALT}">`,
  "a portrait by its name": `<div class="author-avatar">${IMG}</div>`,
  "a portrait by its address": `<img src="https://secure.gravatar.com/avatar/0a?s=200" alt="${ALT}">`,
  "a tracking pixel": `<img src="/t.gif" width="1" height="1" alt="${ALT}">`,
  "a spacer": `<img src="/i/spacer.gif" alt="${ALT}">`,
  "a share button": `<a href="https://www.facebook.com/sharer/sharer.php?u=x">${IMG}</a>`,
  "a share button by its name": `<div class="social-share">${IMG}</div>`,
  "the link to the first page": `<a href="/">${IMG}</a>`,
  "the link to the first page with its host": `<a href="https://www.site.test/">${IMG}</a>`,
  "a sponsored link": `<a rel="nofollow sponsored" href="https://shop.test/x">${IMG}</a>`,
  "a banner": `<div class="banner"><a href="https://shop.test/x">${IMG}</a></div>`,
  "a teaser of another page": `<div class="related"><a href="/other">${IMG}</a></div>`,
  "a teaser with its words": `<div class="promo-box"><a href="/o">${IMG}</a><a href="/o">Read more stories</a></div>`,
  "an image in navigation": `<nav><a href="/o">${IMG}</a></nav>`,
  "a hidden image": `<div hidden>${IMG}</div>`,
};

type Places = Readonly<Record<string, string>>;

/** How often the content's Markdown and HTML have the picture, for each shell and place, where it differs. */
async function failuresOf(kinds: Places, times: number): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const [shell, around] of Object.entries(SHELLS))
    for (const [kind, html] of Object.entries(kinds))
      for (const [place, put] of Object.entries(PLACES)) {
        const page = (inner: string): string =>
          `<!doctype html><html lang="en"><head><title>Gates</title></head><body>${around(put(inner))}</body></html>`;
        const { markdown } = await articleOf(page(html));
        const found = (markdown ?? "").split(ALT).length - 1;
        if (found !== times) failures.push(`${kind}, ${place}, ${shell}: ${found}`);
      }
  return failures;
}

describe("a picture of the content", () => {
  test("is kept once wherever it stands", async () => {
    expect(await failuresOf(KINDS, 1)).toEqual([]);
  });

  test("is kept again below another paragraph", async () => {
    const copy = `<noscript>${IMG}</noscript>`;
    const body = paragraphs(0, 4) + copy + paragraphs(4, 4) + IMG + paragraphs(8, 4);
    const { markdown } = await articleOf(SHELLS.article!(body));
    expect((markdown ?? "").split(ALT)).toHaveLength(3);
  });

  test("may be a video or a player", async () => {
    expect(await failuresOf(PLAYERS, 1)).toEqual([]);
  });

  test("adds no word to the text", async () => {
    for (const around of Object.values(SHELLS))
      for (const put of Object.values(PLACES)) {
        const { text } = await articleOf(around(put("")));
        for (const html of Object.values(KINDS)) expect((await articleOf(around(put(html)))).text).toBe(text);
      }
  });

  test("brings its caption once", async () => {
    const figure = `<figure>${IMG}<figcaption>The mill in 1903. Photo: A. Weir</figcaption></figure>`;
    for (const put of Object.values(PLACES)) {
      const { markdown, text } = await articleOf(SHELLS.article!(put(figure)));
      expect((markdown ?? "").split(ALT)).toHaveLength(2);
      expect(text.split("The mill in 1903")).toHaveLength(2);
    }
  });

  test("is a value in a table, however small", async () => {
    const yes = `<img src="/i/yes.png" alt="Yes" width="16" height="16">`;
    const table = `<table><tr><th>Gate</th><th>Open</th><th>Lit</th></tr><tr><td>Upper</td><td>${yes}</td><td>${yes}</td></tr></table>`;
    const { markdown } = await articleOf(SHELLS.article!(PLACES.middle!(table)));
    expect(markdown).toContain("| Upper | ![Yes](https://site.test/i/yes.png) | ![Yes](");
  });
});

describe("furniture", () => {
  test("is left out wherever it stands", async () => {
    expect(await failuresOf(FURNITURE, 0)).toEqual([]);
  });

  test("is counted by its signs when the list of images is asked for", async () => {
    const html = SHELLS.article!(
      PLACES.middle!(
        `<div class="icon">${IMG}</div><a href="/">${IMG}</a><div class="icon"><img src="/i/b.png"></div>`,
      ),
    );
    const said = "images: left out 2 icons, 1 logos";
    expect((await articleOf(html, { renderings: ["images"] })).warnings).toContain(said);
    expect((await articleOf(html)).warnings).not.toContain(said);
    const clean = SHELLS.article!(PLACES.middle!(IMG));
    const { warnings } = await articleOf(clean, { renderings: ["images"] });
    expect(warnings.filter((warning) => warning.startsWith("images:"))).toEqual([]);
  });
});

test("a page of many images and refused texts takes linear time", async () => {
  const many = `<div class="promo"><a href="/x">Read more stories</a>${IMG}</div>`.repeat(8000);
  const deep = "<div>".repeat(300) + IMG.repeat(8000) + "</div>".repeat(300);
  const started = performance.now();
  await articleOf(SHELLS.main!(paragraphs(0, 5) + many + deep + paragraphs(5, 5)));
  expect(performance.now() - started).toBeLessThan(8000);
});
