import { ElementFlag } from "../page/page-model.ts";
import { foldForComparison } from "../text.ts";
import { type MetadataSource, PAGE_TYPES } from "../types.ts";
import { BYLINE_KINDS, type BylineKind, type BylineMention, sourceOfByline } from "./byline-mentions.ts";
import type { MetadataPage } from "./metadata-page.ts";
import { foldNames, startsSpoken } from "./person-names.ts";
import { Around, type Places } from "./places.ts";
import { foldedWords, overlap } from "./text-overlap.ts";

/** A name, or several in one byline, with every place that gives it. */
export type BylineCandidate = {
  readonly name: string;
  readonly source: MetadataSource;
  readonly folded: string;
  readonly mentions: readonly BylineMention[];
};

const MAX_CANDIDATES = 40;

/** The names of these mentions, each once, in the order in which they were found. */
export function groupByName(mentions: readonly BylineMention[]): BylineCandidate[] {
  const names = new Map<string, BylineMention[]>();
  for (const mention of mentions) {
    const folded = foldNames(mention.name);
    if (folded === "") continue;
    const known = names.get(folded);
    if (known) known.push(mention);
    else if (names.size < MAX_CANDIDATES) names.set(folded, [mention]);
  }
  return Array.from(names, ([folded, named]) => {
    const { name, kind } = bestSpelt(named);
    return { name, source: sourceOfByline(kind), folded, mentions: named };
  });
}

/** As readers see it joined ("A, B and C"), but not in capitals that a style sheet would make. */
function bestSpelt(mentions: readonly BylineMention[]): BylineMention {
  const first = mentions[0]!;
  const shown = mentions.find(({ shown: place, name }) => place !== null && name !== name.toUpperCase());
  const isJoined = shown && foldForComparison(shown.name) !== foldForComparison(first.name);
  if (shown && isJoined) return shown;
  return mentions.find(({ name }) => name !== name.toUpperCase()) ?? first;
}

const PAGE_KINDS = BYLINE_KINDS.slice(0, 8);

/** Names of the numbers about a candidate, in their order. */
export const BYLINE_FEATURES = [
  ...BYLINE_KINDS.map((kind) => `is.${kind}`),
  ...PAGE_KINDS.map((kind) => `page.${kind}`),
  "mentions",
  "kinds",
  "shownCount",
  "distance",
  "titleDistance",
  "endDistance",
  "isContent",
  "lineChars",
  "otherChars",
  "saysAuthor",
  "saysOther",
  "namedAuthor",
  "namedMeta",
  "namedComment",
  "namedRelated",
  "namedCard",
  "namedReview",
  "namedThread",
  "namedSidebar",
  "inNav",
  "inHeader",
  "inFooter",
  "inAside",
  "inArticle",
  "inList",
  "inTable",
  "isLinked",
  "isHeading",
  "isHidden",
  "order",
  "markedOrder",
  "namedOrder",
  "linkedOrder",
  "candidates",
  "shownCandidates",
  "words",
  "chars",
  "capitalised",
  "digits",
  "isOneLowerWord",
  "commas",
  "joins",
  "isTeam",
  "isAccount",
  "isInterface",
  "isAddress",
  "inSiteName",
  "siteNameIn",
  "isHost",
  "inTitle",
  "isInOther",
  "holdsOther",
  "openGraphArticle",
  "pageType",
  "isRole",
  "peopleNamed",
] as const;

/** A row of numbers for each candidate. */
export function computeBylineFeatures(
  candidates: readonly BylineCandidate[],
  page: MetadataPage,
  titleBlock: number,
): Float32Array {
  const rows = new Float32Array(candidates.length * BYLINE_FEATURES.length);
  const shared = describePage(candidates, page, titleBlock);
  candidates.forEach((candidate, index) => {
    rows.set(describe(candidate, page, shared), index * BYLINE_FEATURES.length);
  });
  return rows;
}

type Shared = ReturnType<typeof describePage>;

function describePage(candidates: readonly BylineCandidate[], page: MetadataPage, titleBlock: number) {
  const order = candidates
    .map(({ folded, mentions }) => ({
      folded,
      block: bestShown(mentions, page.places, titleBlock)?.block ?? -1,
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

function bestShown(mentions: readonly BylineMention[], places: Places, titleBlock: number): Shown | null {
  const anchor = titleBlock >= 0 ? titleBlock : places.first;
  let best: Shown | null = null;
  for (const { shown } of mentions) {
    if (shown && (!best || Math.abs(shown.block - anchor) < Math.abs(best.block - anchor))) best = shown;
  }
  return best;
}

const flag = (value: boolean): number => (value ? 1 : 0);

const TEAM =
  /\b(?:team|staff|editors?|editorial|newsroom|desk|redaktion|redaction|rédaction|redacción|redazione|redactie|contributors?|writers?|inc|llc|ltd|gmbh|group|agency|news|magazine|press|media|association|institute|university|department)\b/i;
const ACCOUNT =
  /^(?:admin|administrator|webmaster|editor|guest|user|moderator|webteam|web team|super user)\w*$/i;
// Words of buttons and links that stand where names do.
const INTERFACE =
  /^(?:share|comments?|follow|home|about|menu|search|log ?in|sign ?(?:in|up)|register|edited|answered|asked|reply|more|contact|facebook|twitter|instagram|linkedin|pinterest|youtube|tiktok|reddit|medium|bluesky|mastodon|profile|users?|posts?|author|staff|members?|(?:main|user) menu|teilen|folgen|anmelden|partager|compartir)\b/i;

function describe({ name, folded, mentions }: BylineCandidate, page: MetadataPage, shared: Shared): number[] {
  const kinds = new Set(mentions.map(({ kind }) => kind));
  const words = folded.split(" ");
  const letters = name.match(/\p{L}+/gu) ?? [];
  const capitalised = letters.filter((word) => word[0] !== word[0]!.toLowerCase()).length;
  const joined = words.join("");
  return [
    ...BYLINE_KINDS.map((kind) => flag(kinds.has(kind))),
    ...PAGE_KINDS.map((kind) => flag(shared.kinds.has(kind))),
    mentions.length,
    kinds.size,
    mentions.filter(({ shown }) => shown !== null).length,
    ...describeShown(mentions, name, page.places, shared.titleBlock),
    shared.order.indexOf(folded),
    shared.marked.indexOf(folded),
    shared.named.indexOf(folded),
    shared.linked.indexOf(folded),
    shared.all.length,
    shared.order.length,
    words.length,
    name.length,
    letters.length === 0 ? 0 : capitalised / letters.length,
    name.replace(/\D/g, "").length,
    flag(words.length === 1 && name === name.toLowerCase()),
    name.split(/[,;]/).length - 1,
    name.split(/\s(?:and|&|und|et|y|e|en)\s/i).length - 1,
    flag(TEAM.test(name)),
    flag(ACCOUNT.test(name)),
    flag(INTERFACE.test(name)),
    flag(name.includes("@")),
    ...overlap(words, shared.site),
    flag(joined.length > 2 && shared.host.includes(joined)),
    overlap(words, shared.title)[0],
    flag(shared.all.some((other) => other !== folded && ` ${other} `.includes(` ${folded} `))),
    flag(shared.all.some((other) => other !== folded && ` ${folded} `.includes(` ${other} `))),
    flag(/article/i.test(page.meta.get("og:type") ?? "")),
    page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType),
    flag(ROLE.test(name)),
    shared.all.filter((other) => PERSON.test(other)).length,
  ];
}

/** A job or a title beside or instead of a name. */
const ROLE =
  /\b(?:editor|writer|author|director|manager|president|founder|officer|ceo|specialist|expert|analyst|contributor|columnist|reporter|correspondent|engineer|head of|ph\.?d|m\.?d|rd|rdn|mba)\b/i;
const PERSON = /^\p{L}+(?: \p{L}\.?)? \p{L}{2,}$/u;

const FAR = 60;
const clip = (value: number): number => Math.max(-FAR, Math.min(FAR, value));
const SAYS_OTHER =
  /review|edited|editor|fact|photo|image|illustrat|sponsor|translat|medical|credit|updated by|geprüft|foto|bild|supervis|check|repl(?:y|ied)|comment|thanks|follow/i;

/** Groups of names, see `groupsOf`. */
const GROUPS = { author: 15, meta: 16, comment: 4, related: 6, card: 14, review: 24, thread: 25, sidebar: 3 };

function describeShown(
  mentions: readonly BylineMention[],
  name: string,
  places: Places,
  titleBlock: number,
): number[] {
  const shown = bestShown(mentions, places, titleBlock);
  if (shown === null) return NOT_SHOWN;
  const { block, element, line, above } = shown;
  const { model } = places;
  const { tags, groups, nearGroups } = places.surroundings(element);
  const inside = (bit: number): number => flag((tags & bit) !== 0);
  const named = (group: number): number => flag((groups & (1 << group)) !== 0);
  const near = (group: number): number => flag((nearGroups & (1 << group)) !== 0);
  const before = line.slice(0, Math.max(line.indexOf(name), 0));
  return [
    clip(block - places.first),
    titleBlock < 0 ? FAR + 1 : clip(block - titleBlock),
    clip(block - places.last),
    flag(places.isContent(block)),
    line.length,
    line.length - name.length,
    flag(startsSpoken(`${before || above} X`)),
    flag(SAYS_OTHER.test(before) || SAYS_OTHER.test(above)),
    near(GROUPS.author),
    near(GROUPS.meta),
    named(GROUPS.comment),
    named(GROUPS.related),
    named(GROUPS.card),
    named(GROUPS.review),
    named(GROUPS.thread),
    named(GROUPS.sidebar),
    inside(Around.nav),
    inside(Around.header),
    inside(Around.footer),
    inside(Around.aside),
    inside(Around.article),
    inside(Around.list),
    inside(Around.table),
    flag((model.flags[element]! & ElementFlag.link) !== 0),
    flag((model.blocks.flags[block]! & ElementFlag.heading) !== 0),
    flag(places.isHidden(element)),
  ];
}

const SHOWN_FEATURES = 26;
const NOT_SHOWN: number[] = [FAR + 2, FAR + 2, FAR + 2, ...new Array<number>(SHOWN_FEATURES - 3).fill(-1)];
