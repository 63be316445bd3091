import { each, features, flag, joined, ofPart, rowsOf } from "../features.ts";
import { PAGE_TYPES, type PageType } from "../types.ts";
import { Around, inside, NameGroup, named, type Places } from "./places.ts";
import { foldedWords, shareIn } from "./text-overlap.ts";
import { type TitleCandidate, TitleOrigin } from "./title-candidates.ts";

/** The page as the candidates for its title are compared with it. */
export type TitlePage = {
  readonly pageTitle: string;
  readonly openGraph: string;
  readonly siteName: string | null;
  /** The page's URL; its host name and path often contain the site's name and the title's words. */
  readonly url: URL | null;
  readonly headingCount: number;
  readonly pageType: PageType | null;
  readonly places: Places;
};

const ORIGIN_NAMES = Object.keys(TitleOrigin) as (keyof typeof TitleOrigin)[]; // the keys of an object of our own
const FAR = 60;
const clip = (value: number): number => Math.max(-FAR, Math.min(FAR, value));

/** A candidate with its page. */
type Described = ReturnType<typeof describe>;

/** A visible candidate, and its surroundings. */
type Shown = NonNullable<Described["shown"]>;

const PLACE = joined<Described>(
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
);

const FEATURES = joined<Described>(
  each(ORIGIN_NAMES, "from.", ({ candidate }, name) => flag((candidate.origins & TitleOrigin[name]) !== 0)),
  features({
    originCount: ({ candidate }) =>
      ORIGIN_NAMES.filter((name) => (candidate.origins & TitleOrigin[name]) !== 0).length,
    headingIndex: ({ candidate }) => candidate.headingIndex,
    headingCount: ({ page }) => page.headingCount,
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
  PLACE,
  features({
    longestCandidate: ({ shared }) => shared.longest,
    others: ({ candidate }) => candidate.folded.length,
    titleParts: ({ shared }) => shared.parts,
    pathDepth: ({ shared }) => shared.depth,
    hasOpenGraph: ({ page }) => flag(page.openGraph !== ""),
    pageType: ({ page }) => (page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType)),
  }),
);

/** The names of a candidate's features, in their order. */
export const TITLE_FEATURES = FEATURES.names;

/** Computes a row of features for each candidate. */
export function computeTitleFeatures(candidates: readonly TitleCandidate[], page: TitlePage): Float32Array {
  const shared = describePage(candidates, page);
  return rowsOf(
    FEATURES,
    candidates.map((candidate) => describe(candidate, page, shared)),
  );
}

type Shared = ReturnType<typeof describePage>;

function describePage(candidates: readonly TitleCandidate[], page: TitlePage) {
  const slug = page.url ? slugOf(page.url) : [];
  return {
    title: foldedWords(page.pageTitle),
    openGraph: foldedWords(page.openGraph),
    firstHeading: foldedWords(candidates.find(({ headingIndex }) => headingIndex === 0)?.text ?? ""),
    site: foldedWords(page.siteName ?? ""),
    host: hostLetters(page.url),
    slug,
    longest: candidates.reduce((most, { folded }) => Math.max(most, folded.length), 1),
    parts: page.pageTitle.split(/[|｜•·»«]\s?|\s[-–—:/]+\s/).length,
    depth: page.url ? page.url.pathname.split("/").filter(Boolean).length : -1,
  };
}

function describe(candidate: TitleCandidate, page: TitlePage, shared: Shared) {
  const { element, text, cut } = candidate;
  const { places } = page;
  const isShown = element >= 0 && places.first >= 0;
  return {
    ...{ candidate, page, shared },
    shown: isShown
      ? { ...places.surroundings(element), places, element, block: places.blockOf(element) }
      : null,
    words: foldedWords(text),
    removed: foldedWords(cut?.removed ?? ""),
    letters: text.replace(/[^\p{L}]/gu, ""),
  };
}

/** Returns the letters of a host name without "www" and the last label of the public suffix. */
function hostLetters(url: URL | null): string {
  if (url === null) return "";
  return url.hostname
    .replace(/^www\d?\./, "")
    .replace(/\.[^.]*$/, "")
    .replace(/[.-]/g, "");
}

/** Returns 1 when a text is the host's name, except for letters that one of the two lacks at its end. */
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
