import { isRecord } from "../../base/json.ts";
import { wordsIn } from "../../base/text.ts";
import { ElementFlag, startTagOf, Tag, valueIn } from "../page/page-model.ts";
import { foldForComparison, unescapeTwice, visibleLine } from "../text.ts";
import type { MetadataSource } from "../types.ts";
import { type JsonLdObject, textOf, typesOf } from "./declared.ts";
import type { MetadataPage, PlacedLine, Places, Reach } from "./metadata-page.ts";

/**
 * The kinds of places where a page names its author. The order is part of the trained model: append, never insert.
 */
export const BYLINE_KINDS = wordsIn(
  `jsonLdPerson jsonLdOrganisation jsonLdText jsonLdPage metaAuthor metaOther metaLabel marked named
   spoken linked`,
);
export type BylineKind = (typeof BYLINE_KINDS)[number];

/** One mention of somebody who may be the page's author. */
export type BylineMention = {
  readonly kind: BylineKind;
  readonly name: string;
  /** The place where it is shown; null when it is not visible text. */
  readonly shown: {
    readonly block: number;
    readonly element: number;
    readonly line: string;
    readonly above: string;
  } | null;
};

/** Finds everybody whom a page names as its author or shows around its title and content. */
export function findBylineMentions(page: MetadataPage, titleBlock: number): BylineMention[] {
  const { places } = page;
  const { text } = places.model.blocks;
  const blocks = places.blocksAround(titleBlock, REACH, (block) => text[block]!.length <= MAX_BLOCK_CHARS);
  const shown = [
    ...fromMarked(page),
    ...fromNamed(places, blocks),
    ...fromLines(places, blocks),
    ...fromLinks(places, blocks),
  ];
  // In a forum the first post may be marked up as a comment like all others.
  const isForum = page.pageType === "forum";
  const ofPage = shown.filter((one) => isForum || !one.shown || !places.isInComments(one.shown.element));
  return [...page.jsonLd.flatMap(fromJsonLd), ...fromMeta(page), ...ofPage];
}

/** Returns the public name of the source of such mentions. */
export function sourceOfByline(kind: BylineKind): MetadataSource {
  if (kind.startsWith("jsonLd")) return "json-ld";
  if (kind.startsWith("meta")) return "meta";
  return kind === "marked" ? "rel-author" : "text";
}

function mention(
  kind: BylineKind,
  written: string | null,
  shown: BylineMention["shown"] = null,
): BylineMention[] {
  const name = cleanName(written);
  return name === null ? [] : [{ kind, name, shown }];
}

function fromJsonLd(object: JsonLdObject): BylineMention[] {
  const author = object.author ?? object.creator;
  const written = textOf(author);
  if (written === null) return [];
  const isPage = typesOf(object).every((type) => type.endsWith("Page"));
  if (isPage) return mention("jsonLdPage", written);
  const types = [author].flat().flatMap((person) => (isRecord(person) ? typesOf(person) : []));
  if (types.some((type) => type === "Person") || (types.length === 0 && namesPeople(written)))
    return mention("jsonLdPerson", written);
  return mention(types.length > 0 ? "jsonLdOrganisation" : "jsonLdText", written);
}

const PERSON = /^\p{Lu}[\p{L}'’.-]*(?: \p{L}[\p{L}'’.-]*){1,3}$/u;

/** Tells whether a text names several people; a shop or an office stands alone. */
function namesPeople(written: string): boolean {
  const names = written.slice(0, 400).split(/, | and | & /);
  return names.length > 1 && names.every((name) => PERSON.test(name.trim()));
}

const AUTHOR_NAME = /(?:^|[^a-z])(?:authors?|creator|byl|byline)(?:$|[^a-z])/i;
const NO_AUTHOR_NAME = /id$|url|image|twitter|slug|count|type|link|photo|avatar|role|email|bio/i;

const MAX_META_NAMES = 20;

function fromMeta({ meta }: MetadataPage): BylineMention[] {
  const mentions = mention("metaAuthor", meta.get("author") ?? null);
  for (const [name, content] of meta) {
    if (mentions.length >= MAX_META_NAMES) break;
    if (name !== "author" && AUTHOR_NAME.test(name) && !NO_AUTHOR_NAME.test(name))
      mentions.push(...mention("metaOther", content));
  }
  // Twitter cards have two labelled facts: the author comes first, the reading time second.
  const label = meta.get("twitter:label1") ?? "";
  if (label !== "" && !/\d|time|price|length|likes|zeit|temps|tiempo/i.test(label))
    mentions.push(...mention("metaLabel", meta.get("twitter:data1") ?? null));
  return mentions;
}

function fromMarked({ facts, places }: MetadataPage): BylineMention[] {
  return facts.authors.flatMap(({ element, text }) => {
    const [line] = places.linesInside(element);
    return line ? fromLine("marked", line, { places, element }) : mention("marked", text);
  });
}

type Spot = { readonly places: Places; readonly element: number };

/** Reads a line and, when it continues in other elements, also its first piece: the name before a role. */
function fromLine(
  kind: BylineKind,
  { text, firstPiece, block }: PlacedLine,
  { places, element }: Spot,
): BylineMention[] {
  if (text.length > MAX_LINE && firstPiece.length > MAX_LINE) return [];
  const shown = shownAt(places, block, element);
  const whole = text.length > MAX_LINE ? [] : mention(kind, text, shown);
  const isWhole = firstPiece === text || announcesName(firstPiece);
  return isWhole ? whole : [...whole, ...mention(kind, firstPiece, shown)];
}

const AUTHOR_GROUP = 1 << 15;
const MAX_NAMED = 60;
const MAX_LINE = 120;

/** Finds elements whose class names mention an author, a user or a profile. */
function fromNamed(places: Places, blocks: ReadonlySet<number>): BylineMention[] {
  const { groups, elementCount } = places.model;
  const mentions: BylineMention[] = [];
  let examined = 0;
  for (let element = 0; element < elementCount && examined < MAX_NAMED; element++) {
    if ((groups[element]! & AUTHOR_GROUP) === 0 || !blocks.has(places.blockOf(element))) continue;
    examined++;
    const line = places.linesInside(element).find(({ text }) => !announcesName(text));
    if (line) mentions.push(...fromLine("named", line, { places, element }));
  }
  return mentions;
}

/** Finds lines that say "By" and a name, or that follow a line that announces one. */
function fromLines(places: Places, blocks: ReadonlySet<number>): BylineMention[] {
  const { text } = places.model.blocks;
  const mentions: BylineMention[] = [];
  for (const block of blocks) {
    const isAnnounced = block > 0 && announcesName(text[block - 1]!);
    for (const part of text[block]!.slice(0, 400).split(/\n|\s[|•·–—]\s/)) {
      if (part.length > MAX_LINE) continue;
      if (!isAnnounced && !startsSpoken(part)) continue;
      mentions.push(...mention("spoken", part, shownAt(places, block, places.elementOf(block))));
      if (isAnnounced) break;
    }
  }
  return mentions;
}

const PROFILE_PATH =
  /(?:\/|[?&])(?:authors?|autor(?:en|es|in)?|auteurs?|autori|redakteure?|contributors?|writers?|staff|people|person|profiles?|users?|members?|team|experts?|columnists?|journalists?|reporters?|bio|about-the-author|by|u|@\w+)(?:[/=?.-]|$)|\/@|memberlist|member\.php/i;
const HREF = /\shref\s*=\s*(?:"([^"]{1,500})|'([^']{1,500})|([^\s"'>]{1,500}))/i;

const MAX_LINKS = 200;

/** Finds links to what looks like a person's own page. */
function fromLinks(places: Places, blocks: ReadonlySet<number>): BylineMention[] {
  const { model } = places;
  const { firstText, endText } = model.blocks;
  const mentions: BylineMention[] = [];
  let last = -1;
  let examined = 0;
  for (const block of blocks) {
    for (let text = firstText[block]!; text < endText[block]!; text++) {
      const link = linkAround(places, model.textParent[text]!);
      if (link < 0 || link === last) continue;
      last = link;
      if (++examined > MAX_LINKS) return mentions;
      if (!PROFILE_PATH.test(valueIn(startTagOf(model, link), HREF) ?? "")) continue;
      const [line] = places.linesInside(link);
      if (line) mentions.push(...fromLine("linked", line, { places, element: link }));
    }
  }
  return mentions;
}

function linkAround({ model: { parent, tag, flags } }: Places, element: number): number {
  for (let step = 0, at = element; step < 4 && at >= 0; step++, at = parent[at]!) {
    if ((flags[at]! & ElementFlag.link) === 0) return -1;
    if (tag[at] === Tag.a) return at;
  }
  return -1;
}

/** The blocks in which names are looked for. */
const REACH: Reach = { beforeStart: 12, afterStart: 12, title: 14, beforeEnd: 2 };
const MAX_BLOCK_CHARS = 400;

function shownAt({ model }: Places, block: number, element: number): BylineMention["shown"] {
  const { text } = model.blocks;
  const above = block > 0 ? text[block - 1]! : "";
  return { block, element, line: text[block]!.slice(0, 400), above: above.length <= 60 ? above : "" };
}

const MAX_NAME_CHARS = 200;

/**
 * Matches the words before a name in a byline; they may stand alone on a line, with the name on the next one.
 */
const SPOKEN_WORDS =
  "(?:written|posted|authored|published|story|words|text|report(?:ed)?|article|post|created|submitted|shared|started|asked|guide)\\s+by|" +
  "this\\s+(?:post|article|story|guide)\\s+(?:was|is)\\s+written\\s+by|by|author|authors|contributors?(?=\\s*:)|autor(?:in|es|a)?|auteurs?|von|vom|par|por|di|door|av|af|écrit\\s+par|rédigé\\s+par|escrito\\s+por|scritto\\s+da|a\\s+cura\\s+di|geschreven\\s+door|verfasst\\s+von|geschrieben\\s+von|ein\\s+beitrag\\s+von|автор|текст|作者|文|著者|執筆";
const LEAD = new RegExp(`^[\\s|•·–—-]*(?:${SPOKEN_WORDS})(?:\\s*[:：]\\s*|\\s+(?=[\\p{L}@]))`, "iu");
const SPOKEN_LINE = new RegExp(`^(?:${SPOKEN_WORDS})\\s*[:：]?$`, "iu");

/** Tells whether a line announces an author's name on the next one. */
const announcesName = (line: string): boolean => line.length <= 40 && SPOKEN_LINE.test(line.trim());

/** Tells whether a text starts with the words that precede a name. */
export const startsSpoken = (text: string): boolean => LEAD.test(text);

// Matches what follows a name in its line (with single spaces): a date, a reading time, a role behind a bar.
const TAIL =
  /\s?(?:[|•·»⋅]|\s[-–—/]\s|[,;]?\s(?:on|am|le|el|for|updated|last|published|posted|reviewed|reading|is\san?|@)\s|(?:,\s?|\s)(?:\d{1,2}[.\s/-]|\d{4}\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d)|\s?\([^()]*\)$).*$/iu;
// Matches signs at either end, and the word that introduced the part that was cut off.
const LEFT_OVER = /^[\s,;:|•·●–—-]+|(?:\s(?:at|on|in|for|and|&))?[\s,;:|•·●–—-]*$/giu;
const NO_NAME =
  /^(?:https?:|www\.|\{|#|©|\(c\)|cc[ -]by\b|null$|undefined$|unknown$|n\/a$|none$)|\{\{|[<>]|\.(?:com|org|net|php|html?)\/|^\d+$/i;

/**
 * Reduces a byline to its name, without the words, dates and signs around it; null when it cannot be a name
 * (addresses, handles, templates that nobody filled in).
 */
export function cleanName(written: string | null): string | null {
  const text = visibleLine(unescapeTwice(written ?? ""));
  const name = text.replace(LEAD, "").replace(TAIL, "").replace(LEFT_OVER, "");
  if (name.length < 2 || name.length > MAX_NAME_CHARS || name.startsWith("@")) return null;
  if (announcesName(name) || NOBODY.test(name)) return null;
  return !/\p{L}/u.test(name) || NO_NAME.test(name) ? null : name;
}

// Matches what stands in the place of a name and is none: days and months, addresses, mere roles, and the words of
// buttons and labels.
const NOBODY = new RegExp(
  `^(?:${[
    "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)?\\.? \\d{1,2}(?:st|nd|rd|th)?",
    "(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    "\\S+@\\S+\\.\\w+|\\[email.protected\\]",
    "(?:the |our |site |web ?)?(?:admin(?:istrator)?|webmaster|editors?|staff|authors?|moderators?|guests?|users?|super ?user|root|unknown|anonymous|(?:the )?(?:editorial|marketing|content|web|blog|news) (?:team|staff|desk)|team)",
    "(?:my |your |view )?(?:profile|account)(?: settings)?|(?:about|meet) (?:the|our|us)\\b.*|email(?: address)?\\b.*|comments?|share|subscri(?:be|ption).*|contributors?|view \\p{L}+|sign(?:ing)? (?:up|in).*|log ?(?:in|out)|join .*|published|edited|answered|asked|recommended .*|category\\b.*|\\p{L}+ ?/ ?\\p{L}+",
  ].join("|")})\\W*$`,
  "iu",
);

const JOINING = /(?:^| )(?:and|und|et|y|e|en|i|och|og|ja|ve|и)(?= )/g;

/**
 * Folds bylines for comparison: those that name the same people in the same order become equal, however they are
 * joined.
 */
export const foldNames = (names: string): string =>
  foldForComparison(names).replace(JOINING, "").replace(/ +/g, " ").trim();
