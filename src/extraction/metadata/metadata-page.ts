import { isRecord } from "../../base/json.ts";
import type { Choice } from "../classification/choose.ts";
import { type Features, features, flag } from "../classification/trees.ts";
import {
  ElementFlag,
  isInside,
  type PageFacts,
  type PageModel,
  type ScannedPage,
  Tag,
  tagId,
  textAt,
} from "../page/page-model.ts";
import { collapseSpace, foldForComparison, tidyValue, unescapeTwice, visibleLine } from "../text.ts";
import type { MetadataSource, PageType } from "../types.ts";

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
  const publisher = jsonLd
    .map((one) => propertyText(one.publisher))
    .find((one) => one && !one.startsWith("http"));
  return publisher ? tidyValue(publisher) : named;
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

/** The tags of elements around a place, one bit each. */
export const Around = {
  nav: 1,
  header: 2,
  footer: 4,
  aside: 8,
  article: 16,
  li: 32,
  td: 64,
} as const;

const BIT_OF_TAG = new Map(Object.entries(Around).map(([name, bit]) => [tagId(name), bit]));

/** The surroundings of an element: structural tags as `Around` bits, and groups of names, see `groupsOf`. */
type Surroundings = { readonly tags: number; readonly groups: number; readonly nearGroups: number };

/** Tells whether a place stands in such an element, see `Around`. */
export function inside(bit: number) {
  return ({ tags }: Surroundings): number => flag((tags & bit) !== 0);
}
/** Tells whether an element around a place has a name of this group, see `NameGroup`. */
export function named(group: number) {
  return ({ groups }: Surroundings): number => flag((groups & (1 << group)) !== 0);
}
/** Tells whether such a name stands right around the place. */
export function near(group: number) {
  return ({ nearGroups }: Surroundings): number => flag((nearGroups & (1 << group)) !== 0);
}

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

/** Features that dates and bylines share: the names and the elements around their places. */
export const AROUND_FEATURES = {
  inNav: inside(Around.nav),
  inHeader: inside(Around.header),
  inFooter: inside(Around.footer),
  inAside: inside(Around.aside),
  inArticle: inside(Around.article),
  inList: inside(Around.li),
  inTable: inside(Around.td),
} as const;
export const NAMED_FEATURES = {
  namedComment: named(NameGroup.comment),
  namedRelated: named(NameGroup.related),
  namedCard: named(NameGroup.card),
  namedReview: named(NameGroup.review),
  namedThread: named(NameGroup.thread),
} as const;

/** The distance of a place that is not shown, or has nothing to be measured from, lies beyond this one. */
export const FAR = 60;
export const clip = (value: number, limit = FAR): number => Math.max(-limit, Math.min(limit, value));

/** A thing that is shown somewhere, as dates and bylines are. */
type Located = {
  readonly shown: { readonly block: number; readonly places: Places } | null;
  readonly shared: { readonly titleBlock: number };
};

/** Features that say how many blocks a thing is shown from the start of the content, the title and the end. */
export const DISTANCES: Features<Located> = features({
  distance: ({ shown }) => (shown === null ? FAR + 2 : clip(shown.block - shown.places.first)),
  titleDistance: ({ shown, shared: { titleBlock } }) =>
    shown === null ? FAR + 2 : titleBlock < 0 ? FAR + 1 : clip(shown.block - titleBlock),
  endDistance: ({ shown }) => (shown === null ? FAR + 2 : clip(shown.block - shown.places.last)),
});

/** Groups mentions by what they name, in the order in which the names were found; those beyond `most` are left out. */
export function grouped<Mention>(
  mentions: readonly Mention[],
  nameOf: (mention: Mention) => string,
  most: number,
): Map<string, Mention[]> {
  const groups = new Map<string, Mention[]>();
  for (const mention of mentions) {
    const name = nameOf(mention);
    const known = groups.get(name);
    if (known) known.push(mention);
    else if (groups.size < most) groups.set(name, [mention]);
  }
  return groups;
}

/** How many blocks are read before and after the start of the content, on both sides of the title, and before the end. */
export type Reach = {
  readonly beforeStart: number;
  readonly afterStart: number;
  readonly title: number;
  readonly beforeEnd: number;
};

const AFTER_END = 12;

/** A line of text with its block, and its first piece that has an element of its own. */
export type PlacedLine = { readonly text: string; readonly firstPiece: string; readonly block: number };

const MAX_LINES = 3;
const MAX_LINE_CHARS = 400;
/** The most blocks, and texts of each, that are read: a byline is short, and parts may nest deeply. */
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

  /** Returns an element's block, or else the first one inside or after it; -1 on an empty page. */
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

  /** The blocks around the title and the start of the content, and after its end, that pass the test. */
  blocksAround(titleBlock: number, reach: Reach, isRead: (block: number) => boolean): ReadonlySet<number> {
    const { first, last } = this;
    const read = new Set<number>();
    const look = (from: number, to: number): void => {
      const end = Math.min(to, this.model.blocks.count);
      for (let block = Math.max(0, from); block < end; block++) if (isRead(block)) read.add(block);
    };
    if (titleBlock >= 0) look(titleBlock - reach.title, titleBlock + reach.title);
    if (first >= 0) look(first - reach.beforeStart, first + reach.afterStart);
    if (first >= 0) look(Math.max(last - reach.beforeEnd, first), last + AFTER_END);
    return read;
  }

  /** The mention that is shown nearest to the title, or else to the start of the content. */
  nearest<Shown extends { readonly block: number }>(
    mentions: readonly { readonly shown: Shown | null }[],
    titleBlock: number,
  ): Shown | null {
    const anchor = titleBlock >= 0 ? titleBlock : this.first;
    let best: Shown | null = null;
    for (const { shown } of mentions)
      if (shown && (!best || Math.abs(shown.block - anchor) < Math.abs(best.block - anchor))) best = shown;
    return best;
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
    for (let step = 0, at = element; step < STEPS && at >= 0; step++, at = parent[at]!)
      if ((groups[at]! & COMMENT_GROUP) !== 0 && !isInside(this.model, content, at)) return true;
    return false;
  }

  isHidden(element: number): boolean {
    return ((this.model.flags[element] ?? 0) & ElementFlag.hidden) !== 0;
  }
}

const NEAR_STEPS = 3;
const COMMENT_GROUP = 1 << NameGroup.comment;

/** A value, and where it was found. */
export type Sourced = { readonly value: string; readonly source: MetadataSource };

/** Returns the public name of the source of dates and bylines of a kind. */
export function sourceOf(kind: string): MetadataSource {
  const [, found = "text"] = /^(jsonLd|meta|time|url|state|marked)/.exec(kind) ?? [];
  return found === "jsonLd" ? "json-ld" : found === "marked" ? "rel-author" : (found as MetadataSource); // as above
}

/** Contents of `<meta>` elements by lower-case name, property, itemprop or http-equiv; the first counts. */
type MetaTags = ReadonlyMap<string, string>;

const readMetaTags = ({ meta }: PageFacts): MetaTags =>
  new Map(
    Array.from(meta, ([name, content]) => [name, visibleLine(content)] as const).filter(([, value]) => value),
  );

/** Returns the value of the first of the given names that has a value. */
export const firstOf = (meta: MetaTags, names: readonly string[]): string | null =>
  names.map((name) => meta.get(name)).find(Boolean) ?? null;

/** One object of a page's JSON-LD; its properties are named as in schema.org. */
export type JsonLdObject = Readonly<Record<string, unknown>>;

// Some pages embed whole catalogues; the article's own object stands near the front.
const MAX_OBJECTS = 200;
const MAX_VISITED = 10_000;
const ARTICLE_TYPES =
  /^(?:.*Article|BlogPosting|Report|LiveBlogPosting|SocialMediaPosting|DiscussionForumPosting|Recipe|Product|QAPage|WebPage|VideoObject|.*Posting)$/;

/** Reads the JSON-LD objects about the main content, the most specific first; broken blocks are ignored. */
export function readJsonLd(facts: PageFacts): JsonLdObject[] {
  const objects: JsonLdObject[] = [];
  for (const script of facts.jsonLd) collectObjects(parseLeniently(script), objects);
  const named = new Map(objects.flatMap((object) => (hasNameAndId(object) ? [[object["@id"], object]] : [])));
  const described = objects
    .filter((object) => typesOf(object).some((type) => ARTICLE_TYPES.test(type)))
    .map((object) => withPeople(object, named));
  // A WebPage describes the page, an Article describes its content.
  return described.sort((a, b) => Number(isWebPage(a)) - Number(isWebPage(b)));
}

const hasNameAndId = (object: JsonLdObject): boolean =>
  typeof object["@id"] === "string" && typeof object.name === "string";

const PEOPLE = ["author", "creator", "publisher"] as const;

/** Returns the object with the people filled in that it only refers to by `@id`. */
function withPeople(object: JsonLdObject, named: ReadonlyMap<unknown, JsonLdObject>): JsonLdObject {
  const resolve = (value: unknown): unknown =>
    isRecord(value) && value.name === undefined ? (named.get(value["@id"]) ?? value) : value;
  const people = PEOPLE.flatMap((property) => {
    const value = object[property];
    if (value === undefined) return [];
    return [[property, Array.isArray(value) ? value.map(resolve) : resolve(value)]];
  });
  return people.length === 0 ? object : { ...object, ...Object.fromEntries(people) };
}

/** Reads a property as text: a string, or the names of a person, an organisation or a list of them. */
export const propertyText = (value: unknown): string | null => nestedText(value, 0);

// A list of people has two levels; anything nested deeper is not a name.
const MAX_TEXT_DEPTH = 8;

function nestedText(value: unknown, depth: number): string | null {
  if (typeof value === "string") return value.trim() || null;
  if (depth > MAX_TEXT_DEPTH) return null;
  if (Array.isArray(value)) {
    const names = value.map((item) => nestedText(item, depth + 1)).filter((name) => name !== null);
    return names.length > 0 ? [...new Set(names)].join(", ") : null;
  }
  if (isRecord(value))
    return nestedText(value["@value"] ?? value.name, depth + 1) ?? nestedText(value.url, depth + 1);
  return null;
}

function collectObjects(value: unknown, into: JsonLdObject[]): void {
  const queue: unknown[] = [value];
  for (let next = 0; next < queue.length && next < MAX_VISITED && into.length < MAX_OBJECTS; next++) {
    const item = queue[next];
    if (Array.isArray(item)) queue.push(...item.slice(0, MAX_OBJECTS));
    else if (isRecord(item)) {
      into.push(item);
      queue.push(item["@graph"] ?? [], item.mainEntity ?? [], item.mainEntityOfPage ?? []);
    }
  }
}

/** Measures how deeply lists and objects are nested in a JSON text. */
export function nestingOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [sign] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[[{]|[\]}]/gs)) {
    if (sign === "[" || sign === "{") deepest = Math.max(deepest, ++depth);
    else if (sign === "]" || sign === "}") depth--;
  }
  return deepest;
}

/** Parses a script that should hold JSON, mending what pages often do wrong; null when that does not help. */
export function parseLeniently(text: string): unknown {
  const json = text.trim();
  return (
    parsed(json) ?? parsed(mended(json)) ?? (json.includes("&") ? parsed(mended(unescapeTwice(json))) : null)
  );
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

// Each alternative consumes all it looked at, so that no text is looked at twice: scripts may be long and hostile.
const JSON_STRING = /"(?:[^"\\]|\\.)*"?/.source;
const WRAPPER =
  /(?:(?:\/\/|\/\*)[ \t]{0,8})?(?:(?:<|&lt;)!\[CDATA\[|(?:<!)?\]\](?:>|&gt;)|<!--|-->)(?:[ \t]{0,8}\*\/)?/
    .source;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/.source;
const UNWANTED = new RegExp(`(${JSON_STRING})|${WRAPPER}|${COMMENT}`, "gs");
const NEEDLESS = new RegExp(`(${JSON_STRING})|,(?=\\s*(?:[}\\]]|$))|;`, "gs");

/** Takes comments, the wrappers of scripts in XHTML, commas and semicolons at ends and raw line breaks out of JSON. */
const mended = (json: string): string =>
  json
    .replace(UNWANTED, (_, string?: string) => string?.replace(/\\([^"\\/bfnrtu])|(\\.)/gs, "$1$2") ?? " ")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what breaks the JSON
    .replace(/[\u0000-\u001f]+/g, " ")
    .replace(NEEDLESS, (_, string?: string) => string ?? "");

/** Returns the types of an object, as schema.org names them; they may be written as addresses. */
export const typesOf = (object: JsonLdObject): string[] =>
  [object["@type"]]
    .flat()
    .flatMap((type) => (typeof type === "string" ? (type.split(/[/#:]/).at(-1) ?? []) : []));

const isWebPage = (object: JsonLdObject): boolean => typesOf(object).every((type) => type === "WebPage");
