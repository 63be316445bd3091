import { PAGE_TYPES, type PageType } from "../types.ts";
import { Around, type Places } from "./places.ts";
import { foldedWords, overlap } from "./text-overlap.ts";
import { type TitleCandidate, TitleOrigin } from "./title-candidates.ts";

/** What the candidates of a page are compared with. */
export type TitlePage = {
  readonly pageTitle: string;
  readonly openGraph: string;
  readonly siteName: string | null;
  /** Host name and path of the page, which often hold the site's name and the title's words. */
  readonly url: URL | null;
  readonly headingCount: number;
  readonly pageType: PageType | null;
  readonly places: Places;
};

const ORIGINS = Object.values(TitleOrigin);

/** Names of the numbers about a candidate, in their order. */
export const TITLE_FEATURES = [
  ...Object.keys(TitleOrigin).map((name) => `from.${name}`),
  "originCount",
  "headingIndex",
  "headingCount",
  "words",
  "chars",
  "inTitle",
  "titleIn",
  "inOpenGraph",
  "openGraphIn",
  "inFirstHeading",
  "firstHeadingIn",
  "inSiteName",
  "siteNameIn",
  "isHost",
  "hostWords",
  "slugIn",
  "inSlug",
  "hasSeparator",
  "endsLikeSentence",
  "isCapitals",
  "cutSeparator",
  "cutKeepsFront",
  "cutWords",
  "cutIsSite",
  "cutIsHost",
  "keptShare",
  "distance",
  "isContent",
  "isHidden",
  "around.nav",
  "around.header",
  "around.footer",
  "around.aside",
  "around.article",
  "isCard",
  "isRelated",
  "longestCandidate",
  "others",
  "titleParts",
  "pathDepth",
  "hasOpenGraph",
  "pageType",
] as const;

/** A row of numbers for each candidate. */
export function computeTitleFeatures(candidates: readonly TitleCandidate[], page: TitlePage): Float32Array {
  const width = TITLE_FEATURES.length;
  const rows = new Float32Array(candidates.length * width);
  const shared = describePage(candidates, page);
  candidates.forEach((candidate, index) => {
    rows.set(describe(candidate, page, shared), index * width);
  });
  return rows;
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

function describe(candidate: TitleCandidate, page: TitlePage, shared: Shared): number[] {
  const { text, folded, origins, headingIndex, cut } = candidate;
  const words = foldedWords(text);
  const removed = foldedWords(cut?.removed ?? "");
  const letters = text.replace(/[^\p{L}]/gu, "");
  return [
    ...ORIGINS.map((bit) => ((origins & bit) !== 0 ? 1 : 0)),
    ORIGINS.reduce((count, bit) => count + ((origins & bit) !== 0 ? 1 : 0), 0),
    headingIndex,
    page.headingCount,
    words.length,
    text.length,
    ...overlap(words, shared.title),
    ...overlap(words, shared.openGraph),
    ...overlap(words, shared.firstHeading),
    ...overlap(words, shared.site),
    namesHost(folded, shared.host),
    words.reduce((count, word) => count + (word.length > 2 && shared.host.includes(word) ? 1 : 0), 0) /
      Math.max(words.length, 1),
    ...overlap(shared.slug, words),
    /\s[|\-–—·•»«:/]+\s/.test(text) ? 1 : 0,
    /[.!?。]$/.test(text) ? 1 : 0,
    letters !== "" && letters === letters.toUpperCase() && letters !== letters.toLowerCase() ? 1 : 0,
    cut?.separator ?? -1,
    cut ? Number(cut.keepsFront) : -1,
    removed.length,
    overlap(removed, shared.site)[0],
    cut ? namesHost(removed.join(" "), shared.host) : -1,
    folded.length / shared.longest,
    ...describePlace(candidate, page.places),
    shared.longest,
    folded.length,
    shared.parts,
    shared.depth,
    page.openGraph === "" ? 0 : 1,
    page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType),
  ];
}

const CARD_GROUP = 1 << 14;
const RELATED_GROUP = 1 << 6;
const FAR = 60;

function describePlace({ element }: TitleCandidate, places: Places): number[] {
  if (element < 0 || places.first < 0) return [FAR + 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  const block = places.blockOf(element);
  const { tags, groups } = places.surroundings(element);
  const has = (bit: number): number => ((tags & bit) !== 0 ? 1 : 0);
  return [
    Math.max(-FAR, Math.min(FAR, block - places.first)),
    places.isContent(block) ? 1 : 0,
    places.isHidden(element) ? 1 : 0,
    has(Around.nav),
    has(Around.header),
    has(Around.footer),
    has(Around.aside),
    has(Around.article),
    (groups & CARD_GROUP) !== 0 ? 1 : 0,
    (groups & RELATED_GROUP) !== 0 ? 1 : 0,
  ];
}

/** The letters of a host name, without "www" and the public suffix's last label. */
function hostLetters(url: URL | null): string {
  if (url === null) return "";
  return url.hostname
    .replace(/^www\d?\./, "")
    .replace(/\.[^.]*$/, "")
    .replace(/[.-]/g, "");
}

/** 1 when a text is the host's name, up to letters that one of the two lacks at its end. */
function namesHost(folded: string, host: string): number {
  const joined = folded.replaceAll(" ", "");
  if (host === "" || joined.length < 3) return 0;
  if (joined === host) return 1;
  return host.startsWith(joined) || joined.startsWith(host) ? 0.5 : host.includes(joined) ? 0.25 : 0;
}

/** Words of the last part of a path that has some. */
function slugOf({ pathname }: URL): string[] {
  const parts = pathname.split("/").filter((part) => /\p{L}{3}/u.test(part));
  const last = (parts.at(-1) ?? "").replace(/\.\w{2,5}$/, "");
  return foldedWords(last.replace(/[-_+]|%20/g, " "));
}
