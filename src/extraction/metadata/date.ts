import { wordsIn } from "../../base/text.ts";
import { each, features, flag, given, joined, ofPart, rowsOf } from "../classification/trees.ts";
import { ElementFlag, type ScannedPage } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { PAGE_TYPES } from "../types.ts";
import {
  AROUND_FEATURES,
  Around,
  clip,
  DISTANCES,
  grouped,
  type JsonLdObject,
  type MetadataPage,
  NAMED_FEATURES,
  NameGroup,
  named,
  near,
  type Places,
  propertyText,
  type Reach,
  typesOf,
} from "./metadata-page.ts";

type WrittenDate = {
  /** The date as an ISO 8601 calendar date. */
  readonly day: string;
  /** The reading with day and month swapped; null when only one reading is a date. */
  readonly alternative: string | null;
  /** Whether the page's language leaves open which of the two readings is meant. */
  readonly isAmbiguous: boolean;
  readonly start: number;
  readonly end: number;
};

const NAME = "([\\p{L}\\p{M}]{3,14})";
const ORDINAL = "(?:st|nd|rd|th|er|º|ª|\\.)?";
const OF = "(?:(?:of|de|del|di|d')\\s?)?";

/** A form of written dates, with the groups that hold day, month and year. */
type Form = {
  readonly pattern: RegExp;
  readonly read: (groups: RegExpExecArray, lang: string | null) => Reading | null;
};

type Reading = Pick<WrittenDate, "day" | "alternative" | "isAmbiguous">;

const certain = (day: string): Reading => ({ day, alternative: null, isAmbiguous: false });

const reading = (year: number, month: number, day: number): Reading | null => {
  const written = isoDay(year, month, day);
  return written === null ? null : certain(written);
};

const namedReading = (year = "", month = "", day = "", lang: string | null = null): Reading | null =>
  reading(Number(year), monthNumber(month, lang), Number(day));

const FORMS: readonly Form[] = [
  // 12 March 2024, 12. März 2024, 12 de marzo de 2024, 12-Mar-2024
  {
    pattern: new RegExp(
      `(?<![\\d\\p{L}])(\\d{1,2})${ORDINAL}[\\s-]${OF}${NAME}\\.?,?[\\s-]${OF}(\\d{4})(?!\\d)`,
      "gu",
    ),
    read: ([, day, month, year], lang) => namedReading(year, month, day, lang),
  },
  // March 12, 2024
  {
    pattern: new RegExp(`(?<!\\p{L})${NAME}\\.?\\s(\\d{1,2})${ORDINAL},?\\s(\\d{4})(?!\\d)`, "gu"),
    read: ([, month, day, year], lang) => namedReading(year, month, day, lang),
  },
  // 2024. március 12.
  {
    pattern: new RegExp(`(?<!\\d)(\\d{4})\\.?\\s(?:m\\.\\s)?${NAME}\\.?\\s(\\d{1,2})(?!\\d)`, "gu"),
    read: ([, year, month, day], lang) => namedReading(year, month, day, lang),
  },
  // 2024年3月12日
  {
    pattern: /(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]/gu,
    read: ([, year, month, day]) => reading(Number(year), Number(month), Number(day)),
  },
  // 2024-03-12, 2024/3/12, 2024. 3. 12
  {
    pattern: /(?<![\d/.-])(\d{4})([-/.])\s?(\d{1,2})\2\s?(\d{1,2})(?!\d)/g,
    read: ([, year, , month, day]) => reading(Number(year), Number(month), Number(day)),
  },
  // 12.03.2024, 3/12/2024, 12.03.24
  {
    pattern: /(?<![\d/.-])(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d/-]|\.\d)/g,
    read: numericDay,
  },
];

// Only the United States and a few other countries write the month first, and never with dots.
function numericDay(
  [, first = "", separator, second = "", year = ""]: RegExpExecArray,
  lang: string | null,
): Reading | null {
  if (year.length === 2 && (first.length < 2 || second.length < 2)) return null;
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  const [one, two] = [Number(first), Number(second)];
  const dayFirst = isoDay(fullYear, two, one);
  const monthFirst = isoDay(fullYear, one, two);
  if (dayFirst === null || monthFirst === null || dayFirst === monthFirst) {
    const day = dayFirst ?? (separator === "." ? null : monthFirst);
    return day === null ? null : certain(day);
  }
  if (separator === ".") return certain(dayFirst);
  const isUnknown = lang === null || /^en(?:-Latn)?$/i.test(lang);
  const isMonthFirst = isUnknown || MONTH_FIRST.test(lang);
  const [day, alternative] = isMonthFirst ? [monthFirst, dayFirst] : [dayFirst, monthFirst];
  return { day, alternative, isAmbiguous: isUnknown };
}

const MONTH_FIRST = /^(?:en(?:-Latn)?-(?:US|PH|PR|GU|AS|MH)|es-PR|fil)(?:-|$)/i;

const ARABIC_DIGIT = /[\u0660-\u0669]/;

/**
 * Finds the dates written in a text, in their order. Relative dates ("two days ago") are not found.
 * @param lang BCP 47 tag of the page, for the names of months and the order of day and month
 */
export function findWrittenDates(written: string, lang: string | null): WrittenDate[] {
  const text = ARABIC_DIGIT.test(written)
    ? written.replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    : written;
  if (!/\d/.test(text)) return [];
  const found: WrittenDate[] = [];
  for (const { pattern, read } of FORMS) {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const understood = read(match, lang);
      const [start, end] = [match.index, match.index + match[0].length];
      if (understood === null) {
        // "Page 12 March 2024" must not lose its date to "Page 12".
        pattern.lastIndex = start + 1;
      } else if (!found.some((other) => start < other.end && end > other.start)) {
        found.push({ ...understood, start, end });
      }
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/**
 * Returns the readings of a date that the page can mean. When one reading lies in the future and the other does not,
 * the future one is a mistake.
 * @param today ISO 8601 day; the day after it may have begun elsewhere
 */
function possibleReadings({ day, alternative, isAmbiguous }: WrittenDate, today: string): string[] {
  if (alternative === null) return [day];
  const past = [day, alternative].filter((reading) => daysBetween(today, reading) <= 1);
  if (past.length === 1) return past;
  return isAmbiguous ? [day, alternative] : [day];
}

/** The names of the twelve months by language, folded, each with its number. */
const monthsByLanguage = new Map<string, ReadonlyMap<string, number>>();
const MAX_LANGUAGES = 80;
const SHORTEST_NAME = 3;

// Pages often declare the language of their template instead of their own.
const COMMON_LANGUAGES = ["de", "es", "fr", "it", "pt", "nl", "pl", "ru", "tr", "sv"];

/**
 * Returns the number of the month that a word names: in full or abbreviated in English and in this language, in full
 * in a few others; 0 for any other word. The names come from the Unicode Common Locale Data Repository.
 * @param lang BCP 47 tag of the page, or null
 */
function monthNumber(word: string, lang: string | null): number {
  const folded = foldName(word);
  for (const language of [lang ?? "en", "en"]) {
    const names = namesOf(language);
    const month = folded.length < SHORTEST_NAME ? names.get(folded) : numberIn(names, folded);
    if (month) return month;
  }
  for (const language of COMMON_LANGUAGES) {
    const month = folded.length > SHORTEST_NAME ? namesOf(language).get(folded) : undefined;
    if (month) return month;
  }
  return 0;
}

// "Sept" is September; "jui" may be June or July, so it is neither.
function numberIn(names: ReadonlyMap<string, number>, folded: string): number {
  const exact = names.get(folded);
  if (exact !== undefined) return exact;
  let found = 0;
  for (const [name, month] of names) {
    if (!name.startsWith(folded) || month === found) continue;
    if (found > 0) return 0;
    found = month;
  }
  return found;
}

const foldName = (name: string): string =>
  name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/(?<![.\s])[.\s]+$/, "");

function namesOf(lang: string): ReadonlyMap<string, number> {
  const language = lang.split("-")[0]?.toLowerCase() ?? "en";
  const known = monthsByLanguage.get(language);
  if (known) return known;
  const names = readNames(language);
  if (monthsByLanguage.size >= MAX_LANGUAGES) monthsByLanguage.clear();
  monthsByLanguage.set(language, names);
  return names;
}

// Many languages use another grammatical case for the month in a date than for the month alone.
function readNames(language: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const month of ["long", "short"] as const) {
    for (const day of [undefined, "numeric"] as const) {
      const options = { month, day, timeZone: "UTC", calendar: "gregory" } as const;
      // An unknown language must not fall back to the machine's own.
      const format = new Intl.DateTimeFormat([language, "en"], options);
      for (let index = 0; index < 12; index++) {
        const parts = format.formatToParts(Date.UTC(2023, index, 15));
        const name = foldName(parts.find(({ type }) => type === "month")?.value ?? "");
        if (name.length > 1 && !/\d/.test(name) && !names.has(name)) names.set(name, index + 1);
      }
    }
  }
  return names;
}

/** Formats an ISO 8601 calendar date; null when there is no such day, or before 1990, when there were no pages. */
function isoDay(year: number, month: number, day: number): string | null {
  if (year < 1990 || year > 2100 || month < 1 || month > 12 || day < 1) return null;
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return null;
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

/** Counts the whole days from the first ISO date to the second. */
const daysBetween = (first: string, second: string): number =>
  Math.round((Date.parse(second.slice(0, 10)) - Date.parse(first.slice(0, 10))) / 86_400_000);

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/;
/** The context in which dates in words are read. */
type DateContext = {
  /** The page's BCP 47 tag, for the names of months and the order of day and month. */
  readonly lang: string | null;
  /** Today as an ISO 8601 day. */
  readonly today: string;
};

/** Longer texts are sentences that happen to contain a date. */
const MAX_WRITTEN_CHARS = 60;

/** Reads a date as an ISO date, no more precise than the page gives it; null when it is not a real date. */
function isoDate(text: string | null, { lang, today }: DateContext): string | null {
  const written = text?.trim() ?? "";
  const match = ISO.exec(written);
  if (match) {
    const [, year, month, day, time, zone = ""] = match;
    const date = isoDay(Number(year), Number(month), Number(day));
    if (date === null) return null;
    return time && isRealTime(time, zone)
      ? `${date}T${time}${zone.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2")}`
      : date;
  }
  if (written.length > MAX_WRITTEN_CHARS) return null;
  const [first] = findWrittenDates(written, lang);
  const [day, ...others] = first ? possibleReadings(first, today) : [];
  return day === undefined || others.length > 0 ? null : day;
}

const isRealTime = (time: string, zone: string): boolean =>
  /^(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d+)?)?$/.test(time) &&
  /^(?:|Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/.test(zone);

/** The kinds of places that name a date. Their order is part of the trained model: append, never insert. */
const DATE_KINDS = wordsIn(
  `jsonLdPublished jsonLdPagePublished jsonLdCreated jsonLdModified metaPublished metaModified
   metaOther timePublished timeModified timeCreated time text ambiguous url state`,
);
type DateKind = (typeof DATE_KINDS)[number];

export type DateMention = {
  readonly kind: DateKind;
  /** ISO 8601, as precise as the page gives it. */
  readonly value: string;
  /** The place where it is shown; null when it is not visible text. */
  readonly shown: ShownDate | null;
};

type ShownDate = {
  readonly block: number;
  readonly element: number;
  /** The text before it in its line, or else the short line above. */
  readonly before: string;
  /** The number of characters of its line besides the date. */
  readonly otherChars: number;
};

/** Finds every date that a page states for itself or shows around its content. */
function findDateMentions(page: MetadataPage, titleBlock: number): DateMention[] {
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

function fromJsonLd(object: JsonLdObject, context: DateContext): DateMention[] {
  const isPage = typesOf(object).every((type) => type.endsWith("Page"));
  const properties: readonly (readonly [string, DateKind])[] = [
    ["datePublished", isPage ? "jsonLdPagePublished" : "jsonLdPublished"],
    ["dateCreated", "jsonLdCreated"],
    ["uploadDate", "jsonLdCreated"],
    ["dateModified", "jsonLdModified"],
  ];
  return properties.flatMap(([property, kind]) => {
    const value = isoDate(propertyText(object[property]), context);
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
    const kind = role === null ? "time" : KIND_OF_ROLE[role];
    const shown = block < 0 ? null : shownAt(places, block, element, text.trim());
    if (isBesideAfterEnd(places, block, element) && !/^publi/i.test(shown?.before ?? "")) continue;
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

/** Returns the text before a place in a block; at its start, the block before if it is a mere label. */
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
  /©|\bcopyright\b|\bfounded\b|\btoday's\b|\blast (?:active|visit)|\beffective\b|\bas of\b|\bvalid (?:through|till?)\b|\bjoined\b|\bregistered\b|\bmember since\b|\bexpires?\b|\bdeadline\b|\bborn\b|\bvalid until\b|\baccessed\b|\bretrieved\b|\bregistriert seit\b|\bmitglied seit\b|\b(?:received|accepted|eingegangen|angenommen|reçu|accepté|recibido|aceptado|ricevuto|accettato)\b[^\d\n]{0,12}$/iu;

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

const URL_DAY = /[/_-](\d{4})([/_-])(\d{1,2}|[a-z]{3,9})\2(\d{1,2})(?=[/_.-]|$)/i;
const URL_DIGITS = /[/_-](20\d{2})(\d{2})(\d{2})(?=[/_.-]|$)/;

function fromUrl(url: URL | null): DateMention[] {
  const match = url === null ? null : URL_DAY.exec(url.pathname);
  const digits = url === null || match ? null : URL_DIGITS.exec(url.pathname);
  const value = match
    ? isoDay(Number(match[1]), Number(match[3]) || monthNumber(match[3] ?? "", "en"), Number(match[4]))
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

/** A day, with every mention of it on the page. */
type DayCandidate = { readonly day: string; readonly mentions: readonly DateMention[] };

export const MODIFIED_KINDS: readonly DateKind[] = ["jsonLdModified", "metaModified", "timeModified"];

/** Tells whether a page may have been published that day; an invisible date of change does not count. */
const mayBePublication = ({ mentions }: DayCandidate): boolean =>
  mentions.some(({ kind, shown }) => shown !== null || !MODIFIED_KINDS.includes(kind));

const MAX_DAYS = 24;

const SAYS_PUBLISHED =
  /publi|posted|written|released?|veröffentlicht|erschienen|geplaatst|opublikowan|опубликован|发布|發布|公開|投稿|掲載|게시|입력/i;
const SAYS_OTHER =
  /©|copyright|joined|registered|member since|until|expires|deadline|founded|born|valid|version|accessed|retrieved/i;

const POST =
  /\/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|press|insights?|magazine|journal|reviews?|podcast)\b|\/20\d\d\//i;
const REFERENCE =
  /^docs?\.|\/(?:docs?|documentation|manual|reference|api|help|support|wiki|handbook|tutorials?)\b/i;
const SHOP = /\/(?:products?|shop|store|items?|categor(?:y|ies)|collections?|services?|pricing|p|dp)\b/i;
const COMMENT_GROUP = 1 << NameGroup.comment;

/** These features say whether pages of this kind usually state their day and author. */
const PAGE_CUES = features<MetadataPage>({
  "cue.articleLd": (page) => hasType(page, /Article$|Posting$|^Report$/),
  "cue.productLd": (page) => hasType(page, /^Product/),
  "cue.pageLd": (page) => hasType(page, /Page$/),
  "cue.personLd": ({ jsonLd }) => flag(jsonLd.some(({ author }) => author !== undefined)),
  "cue.openGraphType": ({ meta }) => rankOfKind(meta.get("og:type") ?? ""),
  "cue.publishedMeta": ({ meta }) => flag(meta.has("article:published_time")),
  "cue.pathDepth": ({ url }) => (url === null ? -1 : stepsOf(url).length),
  "cue.pathPost": ({ url }) => flag(POST.test(addressOf(url))),
  "cue.pathReference": ({ url }) => flag(REFERENCE.test(addressOf(url))),
  "cue.pathShop": ({ url }) => flag(SHOP.test(addressOf(url))),
  "cue.slugWords": ({ url }) => (stepsOf(url).at(-1) ?? "").split(/[-_]+/).length,
  "cue.titleWords": ({ facts }) => facts.title.split(/\s+/).length,
  "cue.contentBlocks": ({ places }) => places.contentBlocks.length,
  "cue.contentChars": ({ places: { contentBlocks, model } }) =>
    contentBlocks.reduce((sum, block) => sum + model.blocks.text[block]!.length, 0),
  "cue.commented": ({ places }) => flag(places.model.groups.some((groups) => (groups & COMMENT_GROUP) !== 0)),
  "cue.marked": ({ facts }) => facts.authors.length,
});

const hasType = ({ jsonLd }: MetadataPage, pattern: RegExp): number =>
  flag(jsonLd.some((object) => typesOf(object).some((type) => pattern.test(type))));

const rankOfKind = (kind: string): number =>
  kind === "" ? -1 : /article/i.test(kind) ? 2 : /product/i.test(kind) ? 1 : 0;

const addressOf = (url: URL | null): string => (url === null ? "" : url.hostname + url.pathname);
const stepsOf = (url: URL | null): readonly string[] => url?.pathname.split("/").filter(Boolean) ?? [];

/** A visible date, and its surroundings. */
type Shown = ReturnType<typeof lookAround>;

const SHOWN = features<Shown>({
  isContent: ({ places, block }) => flag(places.isContent(block)),
  otherChars: ({ otherChars }) => otherChars,
  lineChars: ({ places, block }) => places.model.blocks.text[block]!.length,
  saysPublished: ({ before }) => flag(SAYS_PUBLISHED.test(before)),
  saysModified: ({ before }) => flag(saysModified(before)),
  saysOther: ({ before }) => flag(SAYS_OTHER.test(before)),
  namedPublished: ({ names }) => flag(/publi|posted|created/i.test(names)),
  namedModified: ({ names }) => flag(/updat|modif|changed|edited|revis/i.test(names)),
  namedDate: near(NameGroup.date),
  namedAuthor: near(NameGroup.author),
  namedHeader: near(NameGroup.header),
  ...NAMED_FEATURES,
  namedProduct: named(NameGroup.product),
  ...AROUND_FEATURES,
  isLinked: ({ places, element }) => flag((places.model.flags[element]! & ElementFlag.link) !== 0),
  isHidden: ({ places, element }) => flag(places.isHidden(element)),
  twins: ({ looks, places, element }) => looks.get(lookOf(element, places)) ?? 0,
});

/** A day with its page. */
type Described = ReturnType<typeof describe>;

const FEATURES = joined<Described>(
  each(DATE_KINDS, "is.", ({ kinds }, kind) => flag(kinds.has(kind))),
  each(DATE_KINDS.slice(0, 8), "page.", ({ shared }, kind) => flag(shared.kinds.has(kind))),
  features({
    mentions: ({ mentions }) => mentions.length,
    kinds: ({ kinds }) => kinds.size,
    shownCount: ({ mentions }) => mentions.filter((mention) => mention.shown !== null).length,
  }),
  DISTANCES,
  ofPart(({ shown }) => shown, -1, SHOWN),
  features({
    order: ({ day, shared }) => shared.shownDays.indexOf(day),
    days: ({ shared }) => shared.sorted.length,
    shownDays: ({ shared }) => shared.shownDays.length,
    earlierDays: ({ day, shared }) => shared.sorted.indexOf(day),
    sincePublished: ({ day, shared }) => since(shared.published, day),
    sinceModified: ({ day, shared }) => since(shared.modified, day),
    sinceShownFirst: ({ day, shared }) => since(shared.firstShown, day),
    urlMonth: ({ day, shared }) => flag(shared.urlMonth !== null && day.startsWith(shared.urlMonth)),
    hasUrlMonth: ({ shared }) => flag(shared.urlMonth !== null),
    openGraphArticle: ({ page }) => flag(/article/i.test(page.meta.get("og:type") ?? "")),
    pageType: ({ page }) => (page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType)),
    titleRank: ({ day, shared }) => shared.fromTitle.findIndex((other) => other.day === day),
    nearestToTitle: ({ shared }) => shared.fromTitle[0]?.steps ?? -1,
    publishedIsShown: ({ shared }) =>
      flag(shared.published !== null && shared.shownDays.includes(shared.published)),
    labelledPublished: ({ shared }) => flag(shared.saysPublished),
    labelledModified: ({ shared }) => flag(shared.saysModified),
    shownNeighbour: ({ day, shared }) =>
      flag(shared.shownDays.some((other) => Math.abs(daysBetween(other, day)) === 1)),
    neighbour: ({ day, shared }) =>
      flag(shared.sorted.some((other) => Math.abs(daysBetween(other, day)) === 1)),
    hour: ({ mentions }) => hourOf(mentions),
    isModified: ({ mentions }) => flag(mentions.some(({ kind }) => MODIFIED_KINDS.includes(kind))),
  }),
  given(PAGE_CUES.names, ({ shared }) => shared.cues),
);

/** The names of a day's features, in their order. */
export const DATE_FEATURES = FEATURES.names;

/** Days on which a page may have been published, a row of `DATE_FEATURES` for each, and all its dates. */
export function describeDates(page: MetadataPage, titleBlock: number) {
  const mentions = findDateMentions(page, titleBlock);
  const grouping = grouped(mentions, ({ value }) => value.slice(0, 10), MAX_DAYS);
  const all: DayCandidate[] = Array.from(grouping, ([day, same]) => ({ day, mentions: same }));
  // The day after today may have begun elsewhere.
  const days = all.filter((one) => mayBePublication(one) && daysBetween(page.today, one.day) <= 1);
  const shared = describePage(all, page, titleBlock);
  const described = days.map((candidate) => describe(candidate, page, shared));
  return { days, rows: rowsOf(FEATURES, described), mentions };
}

type Shared = ReturnType<typeof describePage>;

/** @param days every day that the page mentions, including days on which it cannot have been published */
function describePage(days: readonly DayCandidate[], page: MetadataPage, titleBlock: number) {
  const dayOf = (...kinds: readonly DateKind[]): string | null =>
    days.find(({ mentions }) => mentions.some(({ kind }) => kinds.includes(kind)))?.day ?? null;
  const shown = days
    .map(({ day, mentions }) => ({ day, block: page.places.nearest(mentions, titleBlock)?.block ?? -1 }))
    .filter(({ block }) => block >= 0)
    .sort((one, other) => one.block - other.block);
  const labels = days.flatMap(({ mentions }) => mentions.flatMap(({ shown: place }) => place?.before ?? []));
  /** The number of dates in elements of the same tag and class. */
  const looks = new Map<number, number>();
  for (const { mentions } of days) {
    for (const { shown: place } of mentions) {
      if (place === null) continue;
      const look = lookOf(place.element, page.places);
      looks.set(look, (looks.get(look) ?? 0) + 1);
    }
  }
  const month = /[/_-](20\d\d)[/_-]?(0[1-9]|1[0-2])(?!\d)/.exec(page.url?.pathname ?? "");
  return {
    titleBlock,
    kinds: new Set(days.flatMap(({ mentions }) => mentions.map(({ kind }) => kind))),
    published: dayOf("jsonLdPublished", "jsonLdPagePublished", "metaPublished", "timePublished"),
    modified: dayOf("jsonLdModified", "metaModified", "timeModified"),
    firstShown: shown[0]?.day ?? null,
    sorted: days.map(({ day }) => day).sort(),
    shownDays: shown.map(({ day }) => day),
    urlMonth: month ? `${month[1]}-${month[2]}` : null,
    // The days by their distance from the title, the nearest first.
    fromTitle: shown
      .map(({ day, block }) => ({ day, steps: Math.abs(block - Math.max(titleBlock, 0)) }))
      .sort((one, other) => one.steps - other.steps),
    // Whether a visible date is labelled as that of the publication, or of a change.
    saysPublished: labels.some((before) => SAYS_PUBLISHED.test(before)),
    saysModified: labels.some(saysModified),
    cues: rowsOf(PAGE_CUES, [page]),
    looks,
  };
}

const lookOf = (element: number, { model }: Places): number =>
  model.tag[element]! * 65536 + (model.classId[element]! & 65535);

const MAX_DAYS_APART = 3000;
const UNKNOWN_DAYS = 9999;

const since = (from: string | null, day: string): number =>
  from === null ? UNKNOWN_DAYS : clip(daysBetween(from, day), MAX_DAYS_APART);

function describe({ day, mentions }: DayCandidate, page: MetadataPage, shared: Shared) {
  const shown = page.places.nearest(mentions, shared.titleBlock);
  return {
    day,
    mentions,
    page,
    shared,
    kinds: new Set(mentions.map(({ kind }) => kind)),
    shown: shown === null ? null : lookAround(shown, page.places, shared),
  };
}

function lookAround(shown: ShownDate, places: Places, { looks }: Shared) {
  return {
    ...shown,
    ...places.surroundings(shown.element),
    places,
    looks,
    names: namesAround(places.model, shown.element),
  };
}

/** Reads the hour at which the page was published on that day; -1 when none is stated. */
const hourOf = (mentions: readonly DateMention[]): number =>
  Number(mentions.find(({ value }) => value.length > 10)?.value.slice(11, 13) ?? -1);

/** Collects the classes and ids of an element and of the two around it. */
function namesAround({ names, classId, idId, parent }: ScannedPage["model"], element: number): string {
  let all = "";
  for (let step = 0, at = element; step < 3 && at >= 0; step++, at = parent[at]!)
    all += ` ${names[classId[at]!]!.slice(0, 200)} ${names[idId[at]!]!.slice(0, 100)}`;
  return all;
}
