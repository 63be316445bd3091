/** Makes pseudo-random numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;
type Damage = (page: string, random: Random, other: string) => string;

const MAX_DAMAGES = 4;
/** Damages make pages longer; this limit keeps a run of thousands within minutes. */
const MAX_PAGE_CHARS = 4_000_000;

const below = (random: Random, limit: number): number => Math.floor(random() * limit);

/** The position of a "<" at or after a random one; 0 in a page without any. */
const tagPlace = (page: string, random: Random): number =>
  Math.max(0, page.indexOf("<", below(random, page.length)));

const pick = <Item>(items: readonly Item[], random: Random): Item => items[below(random, items.length)]!;

const SCRAPS = (
  `< > " ' & &#0; <!-- --> <script> </style> <svg> <table> <pre> </p> </div> <title> <template> <noscript> <![CDATA[ ` +
  "\ud800 \0 \u202e <math> <select> <plaintext> <a\thref=' <b> </body> <frameset> \r &notanentity"
).split(" ");

function flipBytes(page: string, random: Random): string {
  const bytes = new TextEncoder().encode(page);
  for (let flips = 1 + below(random, 60); flips > 0; flips--) {
    const at = below(random, bytes.length);
    bytes[at] = bytes[at]! ^ (1 << below(random, 8));
  }
  return new TextDecoder().decode(bytes);
}

function repeatSubtree(page: string, random: Random): string {
  const start = tagPlace(page, random);
  const end = page.indexOf("<", start + 1 + below(random, 4000));
  const part = page.slice(start, end < 0 ? undefined : end);
  return page.slice(0, start) + part.repeat(2 + below(random, 40)) + page.slice(start);
}

function floodAttributes(page: string, random: Random): string {
  const at = page.indexOf(">", tagPlace(page, random));
  const name = pick(["class", "style", "id", "data-x", "href", "onclick"], random);
  const flood = Array.from(
    { length: below(random, 5000) },
    (_, index) => ` ${name}${index}="${index} a;b:c"`,
  );
  return `${page.slice(0, at)} ${name}="${"x ".repeat(below(random, 20_000))}"${flood.join("")}${page.slice(at)}`;
}

function scatterScraps(page: string, random: Random): string {
  let damaged = page;
  for (let scraps = 1 + below(random, 40); scraps > 0; scraps--) {
    const at = below(random, damaged.length);
    damaged = damaged.slice(0, at) + pick(SCRAPS, random) + damaged.slice(at);
  }
  return damaged;
}

function nestDeeply(page: string, random: Random): string {
  const at = tagPlace(page, random);
  const tags = pick(
    ["<div>", "<b><p>", "<ul><li>", "<table><tr><td>", "<blockquote>", "<span class=x>", "<a href=x>"],
    random,
  );
  return page.slice(0, at) + tags.repeat(below(random, 3000)) + page.slice(at);
}

/** The kinds of damage by name. */
const DAMAGES: Readonly<Record<string, Damage>> = {
  flipBytes,
  truncate: (page, random) => page.slice(0, below(random, page.length)),
  behead: (page, random) => page.slice(below(random, page.length)),
  splice: (page, random, other) =>
    page.slice(0, below(random, page.length)) + other.slice(below(random, other.length)),
  repeatSubtree,
  unclose: (page, random) => page.replace(/<\/[a-z][^>]*>/gi, (tag) => (random() < 0.5 ? "" : tag)),
  unopen: (page, random) =>
    page.replace(/<(?:div|p|table|ul|li|span)\b[^>]*>/gi, (tag) => (random() < 0.3 ? "" : tag)),
  unquote: (page, random) => page.replaceAll('"', (quote) => (random() < 0.02 ? "" : quote)),
  rename: (page, random) =>
    page.replace(/(<\/?)([a-z]\w*)/gi, (tag, open: string) =>
      random() < 0.05
        ? open + pick(["p", "table", "tr", "td", "a", "pre", "li", "select", "svg", "h1", "x-y"], random)
        : tag,
    ),
  floodAttributes,
  scatterScraps,
  nestDeeply,
};

/** A damaged page, and the kinds of damage done to it. */
export type DamagedPage = { readonly html: string; readonly damages: readonly string[] };

/** Damages one of the pages in up to four ways; equal random numbers make equal damage. */
export function damagePage(pages: readonly string[], random: Random): DamagedPage {
  let html = pick(pages, random);
  const damages: string[] = [];
  for (let left = 1 + below(random, MAX_DAMAGES); left > 0 && html !== ""; left--) {
    const name = pick(Object.keys(DAMAGES), random);
    html = DAMAGES[name]!(html, random, pick(pages, random)).slice(0, MAX_PAGE_CHARS);
    damages.push(name);
  }
  return { html, damages };
}
