import { each, features, flag, joined, ofPart, rowsOf } from "../features.ts";
import { ElementFlag } from "../page/page-model.ts";
import { foldedWords, foldForComparison, shareIn } from "../text.ts";
import { type MetadataSource, PAGE_TYPES } from "../types.ts";
import {
  BYLINE_KINDS,
  type BylineKind,
  type BylineMention,
  foldNames,
  sourceOfByline,
  startsSpoken,
} from "./byline-mentions.ts";
import {
  AROUND_FEATURES,
  DISTANCES,
  grouped,
  type MetadataPage,
  NAMED_FEATURES,
  NameGroup,
  named,
  near,
  type Places,
} from "./metadata-page.ts";

/** A byline of one name or several, with every mention of it. */
export type BylineCandidate = {
  readonly name: string;
  readonly source: MetadataSource;
  readonly folded: string;
  readonly mentions: readonly BylineMention[];
};

const MAX_CANDIDATES = 40;

/** Groups these mentions by name, in the order in which the names were found. */
export function groupByName(mentions: readonly BylineMention[]): BylineCandidate[] {
  const named = mentions.filter(({ name }) => foldNames(name) !== "");
  const names = grouped(named, ({ name }) => foldNames(name), MAX_CANDIDATES);
  return Array.from(names, ([folded, same]) => {
    const { name, kind } = bestSpelt(same);
    return { name, source: sourceOfByline(kind), folded, mentions: same };
  });
}

/**
 * Chooses the mention with the best spelling: joined as readers see it ("A, B and C"), but not in capitals that a
 * style sheet would make.
 */
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

/** Computes a row of features for each candidate. */
export function computeBylineFeatures(
  candidates: readonly BylineCandidate[],
  page: MetadataPage,
  titleBlock: number,
): Float32Array {
  const shared = describePage(candidates, page, titleBlock);
  return rowsOf(
    FEATURES,
    candidates.map((candidate) => describe(candidate, page, shared)),
  );
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
    ...{ name, folded, mentions, page, shared, words },
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
