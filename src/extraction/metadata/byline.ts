import { isRecord } from "../../base/json.ts";
import { wordsIn } from "../../base/text.ts";
import { each, features, flag, joined, ofPart, rowsOf } from "../classification/trees.ts";
import { ElementFlag, startTagOf, Tag, valueIn } from "../page/page-model.ts";
import { foldedWords, foldForComparison, shareIn, unescapeTwice, visibleLine } from "../text.ts";
import { type MetadataSource, PAGE_TYPES } from "../types.ts";
import {
  AROUND_FEATURES,
  DISTANCES,
  grouped,
  type JsonLdObject,
  type MetadataPage,
  NAMED_FEATURES,
  NameGroup,
  named,
  near,
  type PlacedLine,
  type Places,
  propertyText,
  type Reach,
  sourceOf,
  typesOf,
} from "./metadata-page.ts";

/** Kinds of places that name an author. Their order is part of the trained model: append, never insert. */
const BYLINE_KINDS = wordsIn(
  `jsonLdPerson jsonLdOrganisation jsonLdText jsonLdPage metaAuthor metaOther metaLabel marked named
   spoken linked`,
);
type BylineKind = (typeof BYLINE_KINDS)[number];

/** One mention of somebody who may be the page's author. */
type BylineMention = {
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
function findBylineMentions(page: MetadataPage, titleBlock: number): BylineMention[] {
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
  const written = propertyText(author);
  if (written === null) return [];
  const isPage = typesOf(object).every((type) => type.endsWith("Page"));
  if (isPage) return mention("jsonLdPage", written);
  const types = [author].flat().flatMap((person) => (isRecord(person) ? typesOf(person) : []));
  if (types.some((type) => type === "Person") || (types.length === 0 && namesPeople(written)))
    return mention("jsonLdPerson", written);
  return mention(types.length > 0 ? "jsonLdOrganisation" : "jsonLdText", written);
}

const FULL_NAME = /^\p{Lu}[\p{L}'’.-]*(?: \p{L}[\p{L}'’.-]*){1,3}$/u;

/** Tells whether a text names several people; a shop or an office stands alone. */
function namesPeople(written: string): boolean {
  const names = written.slice(0, 400).split(/, | and | & /);
  return names.length > 1 && names.every((name) => FULL_NAME.test(name.trim()));
}

const DECLARED_KINDS: readonly BylineKind[] = ["jsonLdPerson", "jsonLdText", "metaAuthor"];

/** Tells whether the page declares this candidate to be several people, the named one first. */
export const listsPeople = ({ name, mentions }: BylineCandidate, first: string): boolean =>
  !/, | and | & /.test(first) &&
  /^(?:, | and | & )/.test(name.replace(first, "")) &&
  mentions.some(({ kind }) => DECLARED_KINDS.includes(kind)) &&
  namesPeople(name);

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

/** Matches the words before a name in a byline; they may stand alone, with the name on the next line. */
const SPOKEN_WORDS =
  "(?:written|posted|authored|published|story|words|text|report(?:ed)?|article|post|created|submitted|shared|started|asked|guide)\\s+by|" +
  "this\\s+(?:post|article|story|guide)\\s+(?:was|is)\\s+written\\s+by|(?:more )?articles\\s+by|by|author|authors|contributors?(?=\\s*:)|autor(?:in|es|a)?|auteurs?|von|vom|par|por|di|door|av|af|écrit\\s+par|rédigé\\s+par|escrito\\s+por|scritto\\s+da|a\\s+cura\\s+di|geschreven\\s+door|verfasst\\s+von|geschrieben\\s+von|ein\\s+beitrag\\s+von|автор|текст|作者|文|著者|執筆";
const LEAD = new RegExp(`^[\\s|•·–—-]*(?:${SPOKEN_WORDS})(?:\\s*[:：]\\s*|\\s+(?=[\\p{L}@]))`, "iu");
const SPOKEN_LINE = new RegExp(`^(?:${SPOKEN_WORDS})\\s*[:：]?$`, "iu");

/** Tells whether a line announces an author's name on the next one. */
const announcesName = (line: string): boolean => line.length <= 40 && SPOKEN_LINE.test(line.trim());

/** Tells whether a text starts with the words that precede a name. */
const startsSpoken = (text: string): boolean => LEAD.test(text);

// Matches what follows a name in its line (with single spaces): a date, a day, a reading time, a role behind a bar.
const TAIL =
  /\s?(?:[|•·»⋅]|\s[-–—/]\s|[,;]?\s(?:on|am|le|el|for|updated|last|published|posted|reviewed|reading|is\san?|@)\s|(?:,\s?|\s)(?:\d{1,2}[.\s/-]|\d{4}\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d)|,\s?(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|today|yesterday|heute|gestern|hier|hoy|ayer)(?!\p{L})|\s?\([^()]*\)$).*$/iu;
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
    "(?:facebook|twitter|linkedin|instagram|pinterest|youtube|tiktok|flipboard|log|log in|(?:get )?(?:started )?free(?: trial)?|medium|reddit|insights from|reviewed by|(?:become an )?expert)",
    "(?:my |your |view )?(?:profile|account)(?: settings)?|(?:about|meet) (?:the|our|us)\\b.*|email(?: address)?\\b.*|comments?|share|subscri(?:be|ption).*|contributors?|view \\p{L}+|sign(?:ing)? (?:up|in).*|log ?(?:in|out)|join .*|published|edited|answered|asked|recommended .*|category\\b.*|\\p{L}+ ?/ ?\\p{L}+",
  ].join("|")})\\W*$`,
  "iu",
);

const JOINING = /(?:^| )(?:and|und|et|y|e|en|i|och|og|ja|ve|и)(?= )/g;

/** Folds bylines for comparison: the same people in the same order are equal, however they are joined. */
export const foldNames = (names: string): string =>
  foldForComparison(names).replace(JOINING, "").replace(/ +/g, " ").trim();

/** A byline of one name or several, with every mention of it. */
type BylineCandidate = {
  readonly name: string;
  readonly source: MetadataSource;
  readonly folded: string;
  readonly mentions: readonly BylineMention[];
};

const MAX_CANDIDATES = 40;

/** Groups these mentions by name, in the order in which the names were found. */
function groupByName(mentions: readonly BylineMention[]): BylineCandidate[] {
  const named = mentions.filter(({ name }) => foldNames(name) !== "");
  const names = grouped(named, ({ name }) => foldNames(name), MAX_CANDIDATES);
  return Array.from(names, ([folded, same]) => {
    const { name, kind } = bestSpelt(same);
    return { name, source: sourceOf(kind), folded, mentions: same };
  });
}

/** Chooses the best spelling: joined as readers see it ("A, B and C"), not in a style sheet's capitals. */
function bestSpelt(mentions: readonly BylineMention[]): BylineMention {
  const first = mentions[0]!;
  const shown = mentions.find(({ shown: place, name }) => place !== null && name !== name.toUpperCase());
  const isJoined = shown && foldForComparison(shown.name) !== foldForComparison(first.name);
  if (shown && isJoined) return shown;
  return mentions.find(({ name }) => name !== name.toUpperCase()) ?? first;
}

const TEAM =
  /\b(?:team|staff|editors?|editorial|newsroom|desk|redaktion|redaction|rédaction|redacción|redazione|redactie|contributors?|writers?|inc|llc|ltd|gmbh|group|agency|news|magazine|press|media|association|institute|university|department)\b/i;
const ACCOUNT =
  /^(?:admin|administrator|webmaster|editor|guest|user|moderator|webteam|web team|super user)\w*$/i;
// Matches words of buttons and links that stand in the place of names.
const INTERFACE =
  /^(?:share|comments?|follow|home|about|menu|search|log ?in|sign ?(?:in|up)|register|edited|answered|asked|reply|more|contact|facebook|twitter|instagram|linkedin|pinterest|youtube|tiktok|reddit|medium|bluesky|mastodon|profile|users?|posts?|author|staff|members?|(?:main|user) menu|teilen|folgen|anmelden|partager|compartir)\b/i;

/** Matches a job or a title beside or instead of a name. */
const ROLE =
  /\b(?:editor|writer|author|director|manager|president|founder|officer|ceo|specialist|expert|analyst|contributor|columnist|reporter|correspondent|engineer|head of|ph\.?d|m\.?d|rd|rdn|mba)\b/i;
const PERSON = /^\p{L}+(?: \p{L}\.?)? \p{L}{2,}$/u;

const SAYS_OTHER =
  /review|edited|editor|fact|photo|image|illustrat|sponsor|translat|medical|credit|updated by|geprüft|foto|bild|supervis|check|repl(?:y|ied)|comment|thanks|follow/i;

/** A visible name, and its surroundings. */
type AroundName = ReturnType<typeof lookAround>;

const SHOWN = features<AroundName>({
  isContent: ({ places, block }) => flag(places.isContent(block)),
  lineChars: ({ line }) => line.length,
  otherChars: ({ line, name }) => line.length - name.length,
  saysAuthor: ({ before, above }) => flag(startsSpoken(`${before || above} X`)),
  saysOther: ({ before, above }) => flag(SAYS_OTHER.test(before) || SAYS_OTHER.test(above)),
  namedAuthor: near(NameGroup.author),
  namedMeta: near(NameGroup.date),
  ...NAMED_FEATURES,
  namedSidebar: named(NameGroup.sidebar),
  ...AROUND_FEATURES,
  isLinked: ({ places, element }) => flag((places.model.flags[element]! & ElementFlag.link) !== 0),
  isHeading: ({ places, block }) => flag((places.model.blocks.flags[block]! & ElementFlag.heading) !== 0),
  isHidden: ({ places, element }) => flag(places.isHidden(element)),
});

/** A candidate with its page. */
type Described = ReturnType<typeof describe>;

const FEATURES = joined<Described>(
  each(BYLINE_KINDS, "is.", ({ kinds }, kind) => flag(kinds.has(kind))),
  each(BYLINE_KINDS.slice(0, 8), "page.", ({ shared }, kind) => flag(shared.kinds.has(kind))),
  features({
    mentions: ({ mentions }) => mentions.length,
    kinds: ({ kinds }) => kinds.size,
    shownCount: ({ mentions }) => mentions.filter(({ shown }) => shown !== null).length,
  }),
  DISTANCES,
  ofPart(({ shown }) => shown, -1, SHOWN),
  features({
    order: ({ folded, shared }) => shared.order.indexOf(folded),
    markedOrder: ({ folded, shared }) => shared.marked.indexOf(folded),
    namedOrder: ({ folded, shared }) => shared.named.indexOf(folded),
    linkedOrder: ({ folded, shared }) => shared.linked.indexOf(folded),
    candidates: ({ shared }) => shared.all.length,
    shownCandidates: ({ shared }) => shared.order.length,
    words: ({ words }) => words.length,
    chars: ({ name }) => name.length,
    capitalised: ({ letters }) =>
      letters.length === 0
        ? 0
        : letters.filter((word) => word[0] !== word[0]!.toLowerCase()).length / letters.length,
    digits: ({ name }) => name.replace(/\D/g, "").length,
    isOneLowerWord: ({ name, words }) => flag(words.length === 1 && name === name.toLowerCase()),
    commas: ({ name }) => name.split(/[,;]/).length - 1,
    joins: ({ name }) => name.split(/\s(?:and|&|und|et|y|e|en)\s/i).length - 1,
    isTeam: ({ name }) => flag(TEAM.test(name)),
    isAccount: ({ name }) => flag(ACCOUNT.test(name)),
    isInterface: ({ name }) => flag(INTERFACE.test(name)),
    isAddress: ({ name }) => flag(name.includes("@")),
    inSiteName: ({ words, shared }) => shareIn(words, shared.site),
    siteNameIn: ({ words, shared }) => shareIn(shared.site, words),
    isHost: ({ joined: all, shared }) => flag(all.length > 2 && shared.host.includes(all)),
    inTitle: ({ words, shared }) => shareIn(words, shared.title),
    isInOther: ({ folded, shared }) =>
      flag(shared.all.some((other) => other !== folded && ` ${other} `.includes(` ${folded} `))),
    holdsOther: ({ folded, shared }) =>
      flag(shared.all.some((other) => other !== folded && ` ${folded} `.includes(` ${other} `))),
    openGraphArticle: ({ page }) => flag(/article/i.test(page.meta.get("og:type") ?? "")),
    pageType: ({ page }) => (page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType)),
    isRole: ({ name }) => flag(ROLE.test(name)),
    peopleNamed: ({ shared }) => shared.all.filter((other) => PERSON.test(other)).length,
  }),
);

/** The names of a candidate's features, in their order. */
export const BYLINE_FEATURES = FEATURES.names;

/** The candidates for a page's byline, with a row of `BYLINE_FEATURES` for each. */
export function describeBylines(page: MetadataPage, titleBlock: number) {
  const candidates = groupByName(findBylineMentions(page, titleBlock));
  const shared = describePage(candidates, page, titleBlock);
  const described = candidates.map((candidate) => describe(candidate, page, shared));
  return { candidates, rows: rowsOf(FEATURES, described) };
}

type Shared = ReturnType<typeof describePage>;

function describePage(candidates: readonly BylineCandidate[], page: MetadataPage, titleBlock: number) {
  const order = candidates
    .map(({ folded, mentions }) => ({
      folded,
      block: page.places.nearest(mentions, titleBlock)?.block ?? -1,
    }))
    .filter(({ block }) => block >= 0)
    .sort((one, other) => one.block - other.block)
    .map(({ folded }) => folded);
  const ofKind = (kind: BylineKind): string[] =>
    candidates
      .filter(({ mentions }) => mentions.some((mention) => mention.kind === kind))
      .map(({ folded }) => folded);
  return {
    titleBlock,
    order,
    marked: ofKind("marked"),
    named: ofKind("named"),
    linked: ofKind("linked"),
    all: candidates.map(({ folded }) => folded),
    kinds: new Set<BylineKind>(candidates.flatMap(({ mentions }) => mentions.map(({ kind }) => kind))),
    site: foldedWords(page.siteName ?? ""),
    title: foldedWords(page.facts.title),
    host: (page.url?.hostname ?? "").replace(/^www\./, "").replace(/[.-]/g, ""),
  };
}

type Shown = NonNullable<BylineMention["shown"]>;

function describe({ name, folded, mentions }: BylineCandidate, page: MetadataPage, shared: Shared) {
  const words = folded.split(" ");
  const shown = page.places.nearest(mentions, shared.titleBlock);
  return {
    name,
    folded,
    mentions,
    page,
    shared,
    words,
    kinds: new Set(mentions.map(({ kind }) => kind)),
    letters: name.match(/\p{L}+/gu) ?? [],
    joined: words.join(""),
    shown: shown === null ? null : lookAround(shown, name, page.places),
  };
}

function lookAround(shown: Shown, name: string, places: Places) {
  const before = shown.line.slice(0, Math.max(shown.line.indexOf(name), 0));
  return { ...shown, ...places.surroundings(shown.element), places, name, before };
}
