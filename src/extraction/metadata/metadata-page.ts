import type { Choice } from "../classification/choose.ts";
import { flag } from "../features.ts";
import {
  ElementFlag,
  isInside,
  type PageFacts,
  type PageModel,
  type ScannedPage,
  textAt,
} from "../page/page-model.ts";
import { Tag, type TagId } from "../page/tags.ts";
import { collapseSpace, foldForComparison, tidyValue } from "../text.ts";
import type { PageType } from "../types.ts";
import { firstOf, type JsonLdObject, type MetaTags, readMetaTags, textOf } from "./declared.ts";

/** A page as the metadata readers see it: what it says about itself, and where things stand. */
export type MetadataPage = {
  readonly facts: PageFacts;
  readonly meta: MetaTags;
  readonly jsonLd: readonly JsonLdObject[];
  readonly places: Places;
  readonly pageType: PageType | null;
  readonly siteName: string | null;
  /** The BCP 47 language tag that the page declares. */
  readonly lang: string | null;
  /** Today as an ISO 8601 day; a page's dates lie before it. */
  readonly today: string;
  readonly url: URL | null;
};

/** The input that the metadata of a page is read from. */
export type MetadataInput = {
  readonly page: ScannedPage;
  readonly choice: Pick<Choice, "blocks" | "pageType">;
  readonly jsonLd: readonly JsonLdObject[];
  readonly url: string | null;
};

export function viewPage({ page, choice, jsonLd, url }: MetadataInput): MetadataPage {
  const meta = readMetaTags(page.facts);
  return {
    facts: page.facts,
    meta,
    jsonLd,
    places: new Places(page.model, choice),
    pageType: choice.pageType,
    siteName: readSiteName(page.facts, meta, jsonLd),
    lang: readLang(page.facts, meta),
    today: new Date().toISOString().slice(0, 10),
    url: url === null ? null : new URL(url),
  };
}

function readSiteName(facts: PageFacts, meta: MetaTags, jsonLd: readonly JsonLdObject[]): string | null {
  const named = firstOf(meta, ["og:site_name", "application-name", "twitter:site:name"]);
  // Some pages declare their own title as the site's name.
  const isTitle = named !== null && facts.headings.some(({ text }) => sameWords(text, named));
  if (named && !isTitle) return named;
  for (const object of jsonLd) {
    const publisher = textOf(object.publisher);
    if (publisher && !publisher.startsWith("http")) return tidyValue(publisher);
  }
  return named;
}

const sameWords = (one: string, other: string): boolean =>
  foldForComparison(one) === foldForComparison(other);

function readLang(facts: PageFacts, meta: MetaTags): string | null {
  const written =
    facts.htmlLang?.trim() ||
    facts.bodyLang?.trim() ||
    firstOf(meta, ["content-language", "og:locale", "dc.language"]);
  // No registered language has a longer first subtag, such as "english".
  if (!written || !/^[a-z]{2,3}(?![a-z])/i.test(written)) return null;
  try {
    return Intl.getCanonicalLocales(written.replace(/_/g, "-"))[0] ?? null;
  } catch {
    return null;
  }
}

/** The number of ancestors in which an element's surroundings are looked for. */
const STEPS = 12;

/** The kinds of elements around a place, one bit each. */
export const Around = {
  nav: 1,
  header: 2,
  footer: 4,
  aside: 8,
  article: 16,
  main: 32,
  list: 64,
  table: 128,
  figure: 256,
} as const;

const AROUND_TAGS: readonly (readonly [TagId, number])[] = [
  [Tag.nav, Around.nav],
  [Tag.header, Around.header],
  [Tag.footer, Around.footer],
  [Tag.aside, Around.aside],
  [Tag.article, Around.article],
  [Tag.main, Around.main],
  [Tag.li, Around.list],
  [Tag.td, Around.table],
  [Tag.figure, Around.figure],
];
const BIT_OF_TAG: ReadonlyMap<number, number> = new Map(AROUND_TAGS);

/** The surroundings of an element: structural tags as `Around` bits, and groups of names, see `groupsOf`. */
type Surroundings = { readonly tags: number; readonly groups: number; readonly nearGroups: number };

type OfPlace = (place: Surroundings) => number;

/** Tells whether a place stands in such an element, see `Around`. */
export const inside: (bit: number) => OfPlace =
  (bit) =>
  ({ tags }) =>
    flag((tags & bit) !== 0);
/** Tells whether an element around a place has a name of this group, see `NameGroup`. */
export const named: (group: number) => OfPlace =
  (group) =>
  ({ groups }) =>
    flag((groups & (1 << group)) !== 0);
/** Tells whether such a name stands right around the place. */
export const near: (group: number) => OfPlace =
  (group) =>
  ({ nearGroups }) =>
    flag((nearGroups & (1 << group)) !== 0);

/** The groups of names, see `groupsOf`. */
export const NameGroup = {
  header: 2,
  sidebar: 3,
  comment: 4,
  related: 6,
  product: 13,
  card: 14,
  author: 15,
  date: 16,
  review: 24,
  thread: 25,
} as const;

/** A line of text with its block, and its first piece that has an element of its own. */
export type PlacedLine = { readonly text: string; readonly firstPiece: string; readonly block: number };

const MAX_LINES = 3;
const MAX_LINE_CHARS = 400;
/**
 * The maximum number of blocks, and of texts of each, that are read: a byline is short, and a page may nest its parts
 * deeply.
 */
const MAX_BLOCKS = 12;
const MAX_TEXTS = 400;

/** Answers where things stand on a page, relative to its content. */
export class Places {
  readonly model: PageModel;
  /** The first and the last block of the content; -1 without content. */
  readonly first: number;
  readonly last: number;
  readonly contentBlocks: Int32Array;
  readonly #isChosen: Uint8Array;

  constructor(model: PageModel, { blocks }: Pick<Choice, "blocks">) {
    this.model = model;
    this.first = blocks[0] ?? -1;
    this.last = blocks.at(-1) ?? -1;
    this.contentBlocks = blocks;
    this.#isChosen = new Uint8Array(model.blocks.count);
    for (const block of blocks) this.#isChosen[block] = 1;
  }

  isContent(block: number): boolean {
    return this.#isChosen[block] === 1;
  }

  /**
   * Returns the block that an element stands in, or else the first one inside or after it; -1 on an empty page.
   */
  blockOf(element: number): number {
    const { blocks, openStart, textEnd } = this.model;
    const offset = openStart[element] ?? 0;
    let low = 0;
    let high = blocks.count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (textEnd[blocks.endText[middle]! - 1]! <= offset) low = middle + 1;
      else high = middle;
    }
    return low < blocks.count ? low : -1;
  }

  /** Returns the innermost element around the first text of a block. */
  elementOf(block: number): number {
    const { blocks, textParent } = this.model;
    return textParent[blocks.firstText[block]!] ?? -1;
  }

  /** Returns the lines with words inside an element, from its first few blocks. */
  linesInside(element: number): PlacedLine[] {
    const { blocks, openEnd, closeEnd, textStart } = this.model;
    const lines: PlacedLine[] = [];
    const [start, end] = [openEnd[element] ?? 0, closeEnd[element] ?? 0];
    const firstBlock = this.blockOf(element);
    if (firstBlock < 0) return lines;
    const lastBlock = Math.min(firstBlock + MAX_BLOCKS, blocks.count);
    for (let block = firstBlock; block < lastBlock && lines.length < MAX_LINES; block++) {
      let written = "";
      let firstPiece = "";
      const endText = Math.min(blocks.endText[block]!, blocks.firstText[block]! + MAX_TEXTS);
      for (let text = blocks.firstText[block]!; text < endText; text++) {
        const at = textStart[text]!;
        if (at < start || at >= end) continue;
        const piece = textAt(this.model, text);
        written += piece;
        if (firstPiece === "" && /\p{L}/u.test(piece)) firstPiece = collapseSpace(piece);
        if (written.length > MAX_LINE_CHARS) break;
      }
      const text = collapseSpace(written);
      if (/\p{L}/u.test(text)) lines.push({ text, firstPiece, block });
      if (textStart[blocks.endText[block]! - 1]! >= end) break;
    }
    return lines;
  }

  surroundings(element: number): Surroundings {
    const { parent, tag, groups } = this.model;
    let tags = 0;
    let all = 0;
    let near = 0;
    for (let step = 0, at = element; step < STEPS && at >= 0; step++, at = parent[at]!) {
      // The classes of a body describe the page, not a place on it.
      if (tag[at] === Tag.body || tag[at] === Tag.html) break;
      tags |= BIT_OF_TAG.get(tag[at]!) ?? 0;
      all |= groups[at]!;
      if (step < NEAR_STEPS) near |= groups[at]!;
    }
    return { tags, groups: all, nearGroups: near };
  }

  /** Tells whether an element is among comments: inside an element named so, and apart from the content. */
  isInComments(element: number): boolean {
    const { parent, groups } = this.model;
    const content = this.first < 0 ? -1 : this.elementOf(this.first);
    for (let step = 0, at = element; step < STEPS && at >= 0; step++, at = parent[at]!) {
      if ((groups[at]! & COMMENT_GROUP) !== 0 && !isInside(this.model, content, at)) return true;
    }
    return false;
  }

  isHidden(element: number): boolean {
    return ((this.model.flags[element] ?? 0) & ElementFlag.hidden) !== 0;
  }
}

const NEAR_STEPS = 3;
const COMMENT_GROUP = 1 << NameGroup.comment;
