import { wordsIn } from "../../base/text.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { MetadataSource } from "../types.ts";
import { type JsonLdObject, textOf, typesOf } from "./declared.ts";
import { Around, type MetadataPage, type Places, type Reach } from "./metadata-page.ts";
import { type DateContext, findWrittenDates, isoDate, isoDay, possibleReadings } from "./written-dates.ts";

/**
 * The kinds of places where a page names a date. The order is part of the trained model: append, never insert.
 */
export const DATE_KINDS = wordsIn(
  `jsonLdPublished jsonLdPagePublished jsonLdCreated jsonLdModified metaPublished metaModified
   metaOther timePublished timeModified timeCreated time text ambiguous url state`,
);
export type DateKind = (typeof DATE_KINDS)[number];

/** One mention of a date. */
export type DateMention = {
  readonly kind: DateKind;
  /** ISO 8601, as precise as the page gives it. */
  readonly value: string;
  /** The place where it is shown; null when it is not visible text. */
  readonly shown: ShownDate | null;
};

export type ShownDate = {
  readonly block: number;
  readonly element: number;
  /** The text before it in its line, or else the short line above. */
  readonly before: string;
  /** The number of characters of its line besides the date. */
  readonly otherChars: number;
};

/** Finds every date that a page states for itself or shows around its content. */
export function findDateMentions(page: MetadataPage, titleBlock: number): DateMention[] {
  const shown = [...fromTimes(page), ...fromBlocks(page, titleBlock)];
  // In a forum the first post may be marked up as a comment like all others.
  const isForum = page.pageType === "forum";
  return withoutMistakenOrder([
    ...page.jsonLd.flatMap((object) => fromJsonLd(object, page)),
    ...fromMeta(page),
    ...shown.filter((one) => isForum || !one.shown || !page.places.isInComments(one.shown.element)),
    ...fromUrl(page.url),
    ...fromStates(page),
  ]);
}

/** Keeps only the reading of an ambiguous date that lies in the month of an unambiguous date, if one does. */
function withoutMistakenOrder(mentions: readonly DateMention[]): DateMention[] {
  const monthOf = ({ value }: DateMention): string => value.slice(0, 7);
  const months = new Set(mentions.filter(({ kind }) => kind !== "ambiguous").map(monthOf));
  const isConfirmed = (mention: DateMention): boolean =>
    mention.kind === "ambiguous" && months.has(monthOf(mention));
  const settled = new Set(mentions.filter(isConfirmed).map(({ shown }) => shown));
  return mentions.filter((one) => one.kind !== "ambiguous" || !settled.has(one.shown) || isConfirmed(one));
}

const SAYS_MODIFIED =
  /updat|modif|revis|review|\blast\b|edited|changed|aktualisiert|\bstand\b|geändert|mis(?:e)? à jour|actualiza|atualiza|aggiornat|bijgewerkt|aktualiz|обновл|更新|수정/i;

/** Tells whether the words before a date say that it is the date of a change. */
export const saysModified = (before: string): boolean => SAYS_MODIFIED.test(before);

/** Returns the public name of the source of such dates. */
export function sourceOfKind(kind: DateKind): MetadataSource {
  if (kind.startsWith("jsonLd")) return "json-ld";
  if (kind.startsWith("meta")) return "meta";
  if (kind.startsWith("time")) return "time";
  return kind === "url" ? "url" : kind === "state" ? "state" : "text";
}

function fromJsonLd(object: JsonLdObject, context: DateContext): DateMention[] {
  const isPage = typesOf(object).every((type) => type.endsWith("Page"));
  const properties: readonly (readonly [string, DateKind])[] = [
    ["datePublished", isPage ? "jsonLdPagePublished" : "jsonLdPublished"],
    ["dateCreated", "jsonLdCreated"],
    ["uploadDate", "jsonLdCreated"],
    ["dateModified", "jsonLdModified"],
  ];
  return properties.flatMap(([property, kind]) => {
    const value = isoDate(textOf(object[property]), context);
    return value === null ? [] : [{ kind, value, shown: null }];
  });
}

const DATE_NAME = /date|time|publish|posted|modif|updat|created|issued|revis/i;
const NO_DATE_NAME = /expir|event|start|end_|reading|read[-_]?time|timezone|valid|unavailable/i;
const PUBLISHED_NAME = /publi|pubdate|issued|posted|release|created|dateline/i;
const MODIFIED_NAME = /modif|updat|revis|edit|chang/i;

const MAX_META_DATES = 40;

function fromMeta(page: MetadataPage): DateMention[] {
  const mentions: DateMention[] = [];
  for (const [name, content] of page.meta) {
    if (mentions.length >= MAX_META_DATES) break;
    if (!DATE_NAME.test(name) || NO_DATE_NAME.test(name)) continue;
    const value = isoDate(content, page);
    if (value === null) continue;
    const kind = MODIFIED_NAME.test(name)
      ? "metaModified"
      : PUBLISHED_NAME.test(name)
        ? "metaPublished"
        : "metaOther";
    mentions.push({ kind, value, shown: null });
  }
  return mentions;
}

function fromTimes(page: MetadataPage): DateMention[] {
  const { facts, places } = page;
  const mentions: DateMention[] = [];
  for (const { element, text, datetime, role } of facts.times) {
    const value = isoDate(datetime, page) ?? isoDate(text, page);
    if (value === null) continue;
    const block = places.blockOf(element);
    if (isBesideAfterEnd(places, block, element)) continue;
    const kind = role === null ? "time" : KIND_OF_ROLE[role];
    const shown = block < 0 ? null : shownAt(places, block, element, text.trim());
    if (shown === null || !OF_SOMETHING_ELSE.test(shown.before)) mentions.push({ kind, value, shown });
  }
  return mentions;
}

/** Lists of other stories follow the content. */
const isBesideAfterEnd = (places: Places, block: number, element: number): boolean =>
  block > places.last && (places.surroundings(element).tags & (Around.aside | Around.nav)) !== 0;

const KIND_OF_ROLE = {
  published: "timePublished",
  modified: "timeModified",
  created: "timeCreated",
} as const;

function shownAt(places: Places, block: number, element: number, written: string): ShownDate {
  const text = places.model.blocks.text[block] ?? "";
  const start = Math.max(text.indexOf(written), 0);
  return {
    block,
    element,
    before: textBefore(places, block, start),
    otherChars: text.length - written.length,
  };
}

const MAX_LEAD = 40;

/**
 * Returns the text before a place in a block; at its start, the text of the previous block if that is a mere label.
 */
function textBefore({ model: { blocks } }: Places, block: number, start: number): string {
  const before = blocks.text[block]!.slice(Math.max(0, start - MAX_LEAD), start);
  if (/[\p{L}©]/u.test(before) || block === 0) return before;
  const previous = blocks.text[block - 1]!;
  return previous.length <= MAX_LEAD ? previous : "";
}

/** The blocks in which dates are looked for. */
const REACH: Reach = { beforeStart: 30, afterStart: 20, title: 15, beforeEnd: 3 };
/** Longer blocks are prose, whose dates belong to the events that it describes. */
const MAX_BLOCK_CHARS = 240;
const FEWEST_DIGITS = 5;

function fromBlocks(page: MetadataPage, titleBlock: number): DateMention[] {
  const { places } = page;
  const { text } = places.model.blocks;
  const mayHold = (block: number): boolean =>
    text[block]!.length <= MAX_BLOCK_CHARS &&
    statOf(places.model, block, TextStat.digits) >= FEWEST_DIGITS &&
    !isBesideAfterEnd(places, block, places.elementOf(block));
  return [...places.blocksAround(titleBlock, REACH, mayHold)].flatMap((block) => fromLine(page, block));
}

/** Matches words before a date that is not the page's own. */
const OF_SOMETHING_ELSE =
  /©|\bcopyright\b|\bjoined\b|\bregistered\b|\bmember since\b|\bexpires?\b|\bdeadline\b|\bborn\b|\bvalid until\b|\baccessed\b|\bretrieved\b|\bregistriert seit\b|\bmitglied seit\b/i;

function fromLine({ places, lang, today }: MetadataPage, block: number): DateMention[] {
  const line = places.model.blocks.text[block]!;
  const mentions: DateMention[] = [];
  for (const written of findWrittenDates(line, lang)) {
    const { start, end } = written;
    const before = textBefore(places, block, start);
    if (OF_SOMETHING_ELSE.test(before)) continue;
    const otherChars = line.length - (end - start);
    const shown = { block, element: places.elementOf(block), before, otherChars };
    const readings = possibleReadings(written, today);
    const kind = readings.length === 1 ? "text" : "ambiguous";
    for (const value of readings) mentions.push({ kind, value, shown });
  }
  return mentions;
}

const URL_DAY = /[/_-](\d{4})([/_-])(\d{1,2})\2(\d{1,2})(?=[/_.-]|$)/;
const URL_DIGITS = /[/_-](20\d{2})(\d{2})(\d{2})(?=[/_.-]|$)/;

function fromUrl(url: URL | null): DateMention[] {
  const match = url === null ? null : URL_DAY.exec(url.pathname);
  const digits = url === null || match ? null : URL_DIGITS.exec(url.pathname);
  const value = match
    ? isoDay(Number(match[1]), Number(match[3]), Number(match[4]))
    : digits && isoDay(Number(digits[1]), Number(digits[2]), Number(digits[3]));
  return value ? [{ kind: "url", value, shown: null }] : [];
}

const STATE_DATE =
  /"(?:date_?published|(?:first_?)?publi(?:shed|cation|sh)_?(?:at|on|date|time)?|posted_?(?:at|on|date)|post_?date)\\?"\s*:\s*\\?"([^"\\]{8,40})/gi;
/** The maximum number of characters of all states together. */
const MAX_STATE_CHARS = 500_000;
const MAX_STATE_DATES = 12;

/** Finds dates in an application's state: the page's own, but also those of other pages. */
function fromStates(page: MetadataPage): DateMention[] {
  const mentions: DateMention[] = [];
  let budget = MAX_STATE_CHARS;
  for (const state of page.facts.states) {
    const read = state.slice(0, budget);
    budget -= read.length;
    for (const [, written = ""] of read.matchAll(STATE_DATE)) {
      const value = isoDate(written, page);
      if (value !== null) mentions.push({ kind: "state", value, shown: null });
      if (mentions.length >= MAX_STATE_DATES) return mentions;
    }
  }
  return mentions;
}
