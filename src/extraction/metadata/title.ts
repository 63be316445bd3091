import { each, features, flag, joined, ofPart, rowsOf } from "../classification/trees.ts";
import { ElementFlag } from "../page/page-model.ts";
import { foldedWords, foldForComparison, shareIn, unescapeTwice, visibleLine } from "../text.ts";
import { type MetadataSource, PAGE_TYPES } from "../types.ts";
import {
  Around,
  clip,
  FAR,
  inside,
  type MetadataPage,
  NameGroup,
  named,
  propertyText,
} from "./metadata-page.ts";

/** The sources of a candidate's words, one bit each; a text may come from several. */
const TitleOrigin = {
  heading: 1,
  openGraph: 2,
  twitter: 4,
  page: 8,
  jsonLd: 16,
  block: 32,
  /** A part of og:title or a similar property, and of `<title>`. */
  openGraphPart: 64,
  pagePart: 128,
  otherMeta: 256,
} as const;

/** Describes how a candidate was cut out of a longer text. */
type TitleCut = {
  /** The part that was removed. */
  readonly removed: string;
  readonly keepsFront: boolean;
  /** The kind of separator: 0 for a bar or similar, 1 for a dash, 2 for a colon. */
  readonly separator: number;
};

/** A text that may be the title; texts that differ only in case or punctuation are one candidate. */
type TitleCandidate = {
  text: string;
  readonly folded: string;
  source: MetadataSource;
  origins: number;
  /** The number among the level-1 headings, and the element; -1 for none. */
  headingIndex: number;
  element: number;
  cut: TitleCut | null;
};

const SHOWN = TitleOrigin.heading | TitleOrigin.block;
const MAX_CANDIDATES = 24;
const MAX_HEADINGS = 6;
const MAX_BLOCK_HEADINGS = 3;
/** Longer texts are only searched for parts up to this length. */
const MAX_SPLIT_CHARS = 400;
const OTHER_META = ["title", "dc.title", "dcterms.title", "headline", "parsely-title", "sailthru.title"];

/** Finds the texts of a page that may be its title, each once. */
function findTitleCandidates(page: MetadataPage): TitleCandidate[] {
  const { facts, meta, jsonLd, siteName } = page;
  const found = new Candidates();
  facts.headings.slice(0, MAX_HEADINGS).forEach(({ text, element }, index) => {
    const candidate = found.add(text, "heading", TitleOrigin.heading);
    if (candidate === null || candidate.headingIndex >= 0) return;
    candidate.headingIndex = index;
    candidate.element = element;
  });
  const openGraph = meta.get("og:title") ?? "";
  const twitter = meta.get("twitter:title") ?? "";
  found.add(openGraph, "meta", TitleOrigin.openGraph);
  found.add(twitter, "meta", TitleOrigin.twitter);
  found.add(facts.title, "title", TitleOrigin.page);
  for (const object of jsonLd.slice(0, 4)) {
    found.add(propertyText(object.headline) ?? "", "json-ld", TitleOrigin.jsonLd);
    found.add(propertyText(object.name) ?? "", "json-ld", TitleOrigin.jsonLd);
  }
  for (const name of OTHER_META) found.add(meta.get(name) ?? "", "meta", TitleOrigin.otherMeta);
  addParts(found, openGraph, "meta", TitleOrigin.openGraphPart);
  addParts(found, facts.title, "title", TitleOrigin.pagePart);
  if (twitter !== openGraph) addParts(found, twitter, "meta", TitleOrigin.openGraphPart);
  addBlockHeadings(found, page);
  return withoutSiteName(found.list, foldForComparison(siteName ?? ""));
}

/** Drops the site's name, and texts that contain it when the rest is a candidate too. */
function withoutSiteName(candidates: readonly TitleCandidate[], site: string): TitleCandidate[] {
  const wholes = new Set<string>();
  for (const { folded, cut } of candidates) {
    if (cut && foldForComparison(cut.removed) === site)
      wholes.add(`${site} ${folded}`).add(`${folded} ${site}`);
  }
  return candidates.filter(
    ({ folded, origins }) => (origins & SHOWN) !== 0 || (folded !== site && !wholes.has(folded)),
  );
}

/** Collects the candidates in the order in which they are found. */
class Candidates {
  readonly list: TitleCandidate[] = [];
  readonly #byText = new Map<string, TitleCandidate>();

  add(
    written: string,
    source: MetadataSource,
    origin: number,
    cut: TitleCut | null = null,
  ): TitleCandidate | null {
    const shows = source === "heading" || source === "title";
    const text = shows ? visibleLine(written) : visibleLine(unescapeTwice(written));
    const folded = foldForComparison(text);
    if (folded === "") return null;
    const known = this.#byText.get(folded);
    if (known) {
      known.origins |= origin;
      known.cut ??= cut;
      return known;
    }
    if (this.list.length >= MAX_CANDIDATES) return null;
    const candidate = { text, folded, source, origins: origin, headingIndex: -1, element: -1, cut };
    this.list.push(candidate);
    this.#byText.set(folded, candidate);
    return candidate;
  }
}

// Matches separators in a line with single spaces.
const SEPARATOR = /\s?[|｜•·»«›‹]+\s?|\s[-–—−~/\\:]+\s|(?<=[^\s\d]): /g;
const MAX_SEPARATORS = 6;

/** Adds what precedes and what follows each separator of a text. */
function addParts(found: Candidates, written: string, source: MetadataSource, origin: number): void {
  const text = visibleLine(written).slice(0, MAX_SPLIT_CHARS);
  const separators = [...text.matchAll(SEPARATOR)];
  if (separators.length > MAX_SEPARATORS) separators.splice(3, separators.length - MAX_SEPARATORS);
  for (const match of separators) {
    const front = text.slice(0, match.index);
    const back = text.slice(match.index + match[0].length);
    if (front === "" || back === "") continue;
    const separator = /[|｜•·»«›‹]/.test(match[0]) ? 0 : match[0].includes(":") ? 2 : 1;
    found.add(front, source, origin, { removed: back, keepsFront: true, separator });
    found.add(back, source, origin, { removed: front, keepsFront: false, separator });
  }
}

/** Adds headings of any level near the start of the content that also appear in the page's declared titles. */
function addBlockHeadings(found: Candidates, { facts, meta, places }: MetadataPage): void {
  const { blocks } = places.model;
  if (places.first < 0) return;
  const said = foldedWords(`${facts.title} ${meta.get("og:title") ?? ""}`);
  let count = 0;
  const end = Math.min(places.first + 6, blocks.count);
  for (let block = Math.max(0, places.first - 12); block < end && count < MAX_BLOCK_HEADINGS; block++) {
    if ((blocks.flags[block]! & ElementFlag.heading) === 0) continue;
    if (shareIn(foldedWords(blocks.text[block]!), said) < 0.5) continue;
    const candidate = found.add(blocks.text[block]!, "heading", TitleOrigin.block);
    if (candidate === null) continue;
    count++;
    if (candidate.element >= 0) continue;
    candidate.element = places.elementOf(block);
    // A visible heading has the spelling that readers see.
    candidate.source = "heading";
    candidate.text = visibleLine(blocks.text[block]!);
  }
}

const ORIGIN_NAMES = Object.keys(TitleOrigin) as (keyof typeof TitleOrigin)[]; // the keys of an object of our own

/** A candidate with its page. */
type Described = ReturnType<typeof describe>;

/** A visible candidate, and its surroundings. */
type Shown = NonNullable<Described["shown"]>;

const FEATURES = joined<Described>(
  each(ORIGIN_NAMES, "from.", ({ candidate }, name) => flag((candidate.origins & TitleOrigin[name]) !== 0)),
  features({
    originCount: ({ candidate }) =>
      ORIGIN_NAMES.filter((name) => (candidate.origins & TitleOrigin[name]) !== 0).length,
    headingIndex: ({ candidate }) => candidate.headingIndex,
    headingCount: ({ page }) => page.facts.headings.length,
    words: ({ words }) => words.length,
    chars: ({ candidate }) => candidate.text.length,
    inTitle: ({ words, shared }) => shareIn(words, shared.title),
    titleIn: ({ words, shared }) => shareIn(shared.title, words),
    inOpenGraph: ({ words, shared }) => shareIn(words, shared.openGraph),
    openGraphIn: ({ words, shared }) => shareIn(shared.openGraph, words),
    inFirstHeading: ({ words, shared }) => shareIn(words, shared.firstHeading),
    firstHeadingIn: ({ words, shared }) => shareIn(shared.firstHeading, words),
    inSiteName: ({ words, shared }) => shareIn(words, shared.site),
    siteNameIn: ({ words, shared }) => shareIn(shared.site, words),
    isHost: ({ candidate, shared }) => namesHost(candidate.folded, shared.host),
    hostWords: ({ words, shared }) =>
      words.filter((word) => word.length > 2 && shared.host.includes(word)).length /
      Math.max(words.length, 1),
    slugIn: ({ words, shared }) => shareIn(shared.slug, words),
    inSlug: ({ words, shared }) => shareIn(words, shared.slug),
    hasSeparator: ({ candidate }) => flag(/\s[|\-–—·•»«:/]+\s/.test(candidate.text)),
    endsLikeSentence: ({ candidate }) => flag(/[.!?。]$/.test(candidate.text)),
    isCapitals: ({ letters }) => flag(letters === letters.toUpperCase() && letters !== letters.toLowerCase()),
    cutSeparator: ({ candidate: { cut } }) => cut?.separator ?? -1,
    cutKeepsFront: ({ candidate: { cut } }) => (cut ? flag(cut.keepsFront) : -1),
    cutWords: ({ removed }) => removed.length,
    cutIsSite: ({ removed, shared }) => shareIn(removed, shared.site),
    cutIsHost: ({ candidate: { cut }, removed, shared }) =>
      cut ? namesHost(removed.join(" "), shared.host) : -1,
    keptShare: ({ candidate, shared }) => candidate.folded.length / shared.longest,
  }),
  features({
    distance: ({ shown, page }) => (shown === null ? FAR + 1 : clip(shown.block - page.places.first)),
  }),
  ofPart(
    ({ shown }) => shown,
    0,
    features<Shown>({
      isContent: ({ places, block }) => flag(places.isContent(block)),
      isHidden: ({ places, element }) => flag(places.isHidden(element)),
      "around.nav": inside(Around.nav),
      "around.header": inside(Around.header),
      "around.footer": inside(Around.footer),
      "around.aside": inside(Around.aside),
      "around.article": inside(Around.article),
      isCard: named(NameGroup.card),
      isRelated: named(NameGroup.related),
    }),
  ),
  features({
    longestCandidate: ({ shared }) => shared.longest,
    others: ({ candidate }) => candidate.folded.length,
    titleParts: ({ shared }) => shared.parts,
    pathDepth: ({ shared }) => shared.depth,
    hasOpenGraph: ({ page }) => flag(openGraphOf(page) !== ""),
    pageType: ({ page }) => (page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType)),
  }),
);

/** The names of a candidate's features, in their order. */
export const TITLE_FEATURES = FEATURES.names;

/**
 * The candidates for a page's title, with a row of `TITLE_FEATURES` for each, and the block of the heading that
 * matches the page's title best; -1 when no heading comes close.
 */
export function describeTitles(page: MetadataPage) {
  const candidates = findTitleCandidates(page);
  const shared = describePage(candidates, page);
  const described = candidates.map((candidate) => describe(candidate, page, shared));
  return { candidates, rows: rowsOf(FEATURES, described), block: titleBlock(page, candidates) };
}

/**
 * Chooses the page's own title where the trees chose the site's name, or both in one: what the title element says
 * besides that name, as a heading does if there is one. The site's name is what the page declares, what leads to
 * the site's start, and a heading before the page's own.
 */
export function ownTitle(page: MetadataPage, candidates: readonly TitleCandidate[], at: number) {
  const chosen = candidates[at];
  // The start of a site has its name as title.
  if (!chosen || page.url?.pathname === "/") return chosen ?? null;
  const names = namesOfSite(page);
  const title = withoutName(chosen, candidates, {
    names,
    whole: foldForComparison(visibleLine(page.facts.title)),
  });
  return withSubtitle(title, candidates, page, names);
}

function namesOfSite({ facts, siteName, url }: MetadataPage): ReadonlySet<string> {
  const names = new Set([foldForComparison(siteName ?? "")]);
  for (const { href, text } of facts.links.slice(0, MAX_MENU_LINKS))
    if (HOME.test(href) && leadsElsewhere(href, url)) names.add(foldForComparison(visibleLine(text)));
  return names;
}

/** Adds the subtitle that the trees cut off, if the title element and a heading both have it. */
function withSubtitle(
  title: TitleCandidate,
  candidates: readonly TitleCandidate[],
  { facts, url }: MetadataPage,
  names: ReadonlySet<string>,
): TitleCandidate {
  const whole = foldForComparison(visibleLine(facts.title));
  const full = candidates.find(
    ({ folded, origins }) => folded === whole && (origins & TitleOrigin.heading) !== 0,
  );
  const subtitle = foldForComparison(title.cut?.removed ?? "");
  if (!full || subtitle === "" || !whole.includes(subtitle) || names.has(subtitle)) return title;
  const isHeadingAbove = candidates.some(
    ({ folded, element }) => folded === subtitle && element >= 0 && element < full.element,
  );
  return isHeadingAbove || namesHost(subtitle, hostLetters(url)) > 0 ? title : full;
}

function withoutName(
  chosen: TitleCandidate,
  candidates: readonly TitleCandidate[],
  { names, whole }: { readonly names: ReadonlySet<string>; readonly whole: string },
): TitleCandidate {
  const isName = (name: string, { element }: TitleCandidate): boolean =>
    names.has(name) ||
    candidates.some((one) => one.folded === name && one.element >= 0 && one.element < element);
  const isOwn = (one: TitleCandidate, text: string): boolean =>
    (text.startsWith(`${one.folded} `) && isName(text.slice(one.folded.length + 1), one)) ||
    (text.endsWith(` ${one.folded}`) && isName(text.slice(0, -one.folded.length - 1), one));
  const own = candidates.filter(
    (one) => one.folded !== chosen.folded && isOwn(one, whole) && !isName(one.folded, one),
  );
  const heading = own.find(({ element }) => element > chosen.element);
  if (chosen.folded === whole || (heading && isName(chosen.folded, heading))) return heading ?? chosen;
  if (!names.has(chosen.folded)) return chosen;
  return own[0] ?? candidates.find(({ folded }) => folded === whole) ?? chosen;
}

const MAX_MENU_LINKS = 200;
/** A reference to the start of a site, or of a manual that its pages are in. */
const HOME = /^(?:https?:\/\/[^/?#]{1,100}\/?|\/|(?:\.\.\/){1,10}|(?:\.{0,2}\/){0,10}index\.\w{3,5})$/;

function leadsElsewhere(href: string, url: URL | null): boolean {
  const home = url && URL.parse(href, url);
  return home === null || (home.host === url?.host && home.pathname !== url.pathname);
}

// A rule finds this block, not the trees, so that features measured from it do not depend on the trees.
function titleBlock({ facts, places }: MetadataPage, candidates: readonly TitleCandidate[]): number {
  const said = foldedWords(facts.title);
  const headings = candidates.filter(({ element }) => element >= 0);
  const agreeing = headings.find(({ text }) => shareIn(foldedWords(text), said) >= 0.5) ?? headings[0];
  if (agreeing) return places.blockOf(agreeing.element);
  const folded = candidates[0]?.folded;
  const { text, count } = places.model.blocks;
  const end = Math.min(Math.max(places.first, 0) + 10, count);
  for (let block = Math.max(0, places.first - 40); block < end; block++)
    if (text[block]!.length < 400 && foldForComparison(text[block]!) === folded) return block;
  return -1;
}

type Shared = ReturnType<typeof describePage>;

function describePage(candidates: readonly TitleCandidate[], page: MetadataPage) {
  const slug = page.url ? slugOf(page.url) : [];
  return {
    title: foldedWords(page.facts.title),
    openGraph: foldedWords(openGraphOf(page)),
    firstHeading: foldedWords(candidates.find(({ headingIndex }) => headingIndex === 0)?.text ?? ""),
    site: foldedWords(page.siteName ?? ""),
    host: hostLetters(page.url),
    slug,
    longest: candidates.reduce((most, { folded }) => Math.max(most, folded.length), 1),
    parts: page.facts.title.split(/[|｜•·»«]\s?|\s[-–—:/]+\s/).length,
    depth: page.url ? page.url.pathname.split("/").filter(Boolean).length : -1,
  };
}

function describe(candidate: TitleCandidate, page: MetadataPage, shared: Shared) {
  const { element, text, cut } = candidate;
  const { places } = page;
  const isShown = element >= 0 && places.first >= 0;
  return {
    candidate,
    page,
    shared,
    shown: isShown
      ? { ...places.surroundings(element), places, element, block: places.blockOf(element) }
      : null,
    words: foldedWords(text),
    removed: foldedWords(cut?.removed ?? ""),
    letters: text.replace(/[^\p{L}]/gu, ""),
  };
}

const openGraphOf = ({ meta }: MetadataPage): string =>
  meta.get("og:title") ?? meta.get("twitter:title") ?? "";

/** Returns the letters of a host name without "www" and the last label of the public suffix. */
function hostLetters(url: URL | null): string {
  if (url === null) return "";
  return url.hostname
    .replace(/^www\d?\./, "")
    .replace(/\.[^.]*$/, "")
    .replace(/[.-]/g, "");
}

/** Returns 1 when a text is the host's name, or when one of the two begins with the other. */
function namesHost(folded: string, host: string): number {
  const joined = folded.replaceAll(" ", "");
  if (host === "" || joined.length < 3) return 0;
  if (joined === host) return 1;
  return host.startsWith(joined) || joined.startsWith(host) ? 0.5 : host.includes(joined) ? 0.25 : 0;
}

/** Returns the words of the last part of a path that has any. */
function slugOf({ pathname }: URL): string[] {
  const parts = pathname.split("/").filter((part) => /\p{L}{3}/u.test(part));
  const last = (parts.at(-1) ?? "").replace(/\.\w{2,5}$/, "");
  return foldedWords(last.replace(/[-_+]|%20/g, " "));
}
