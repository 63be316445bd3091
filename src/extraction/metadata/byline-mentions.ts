import { isRecord } from "../../base/json.ts";
import { type JsonLdObject, textOf, typesOf } from "../json-ld.ts";
import { ElementFlag } from "../page/page-model.ts";
import { Tag } from "../page/tags.ts";
import type { MetadataSource } from "../types.ts";
import type { MetadataPage } from "./metadata-page.ts";
import { announcesName, cleanName, startsSpoken } from "./person-names.ts";
import type { PlacedLine, Places } from "./places.ts";

/**
 * The kinds of places where a page names its author. The order is part of the trained model: append, never insert.
 */
export const BYLINE_KINDS = [
  "jsonLdPerson",
  "jsonLdOrganisation",
  "jsonLdText",
  "jsonLdPage",
  "metaAuthor",
  "metaOther",
  "metaLabel",
  "marked",
  "named",
  "spoken",
  "linked",
] as const;
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
  const blocks = blocksToRead(places, titleBlock);
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
      const match = HREF.exec(
        model.html.slice(
          model.openStart[link]!,
          Math.min(model.openEnd[link]!, model.openStart[link]! + 2000),
        ),
      );
      if (!PROFILE_PATH.test(match?.[1] ?? match?.[2] ?? match?.[3] ?? "")) continue;
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

const AROUND_TITLE = 14;
const BEFORE_START = 12;
const AFTER_START = 12;
const AFTER_END = 12;
const MAX_BLOCK_CHARS = 400;

function blocksToRead({ first, last, model }: Places, titleBlock: number): ReadonlySet<number> {
  const read = new Set<number>();
  const look = (from: number, to: number): void => {
    for (let block = Math.max(0, from); block < Math.min(to, model.blocks.count); block++) {
      if (model.blocks.text[block]!.length <= MAX_BLOCK_CHARS) read.add(block);
    }
  };
  if (titleBlock >= 0) look(titleBlock - AROUND_TITLE, titleBlock + AROUND_TITLE);
  if (first >= 0) look(first - BEFORE_START, first + AFTER_START);
  if (first >= 0) look(Math.max(last - 2, first), last + AFTER_END);
  return read;
}

function shownAt({ model }: Places, block: number, element: number): BylineMention["shown"] {
  const { text } = model.blocks;
  const above = block > 0 ? text[block - 1]! : "";
  return { block, element, line: text[block]!.slice(0, 400), above: above.length <= 60 ? above : "" };
}
