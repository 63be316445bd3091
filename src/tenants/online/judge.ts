import { fingerprintOf as fingerprintText, type PageFingerprint, saySame } from "../../articles/index.ts";
import type { PageOutcome } from "../../crawler/index.ts";
import type { Page } from "../../pages/index.ts";
import type { PageUrl } from "../../urls/index.ts";

/** The outcome of a page in the crawl of a sync. */
export type CrawledOutcome = Pick<PageOutcome, "status" | "httpStatus" | "finalUrl" | "reason">;

/** A document of earlier syncs. */
export type KnownDocument = {
  readonly hash: string;
  /** The number of syncs in a row that did not find it. */
  readonly misses: number;
};

type Evidence = {
  readonly known: ReadonlyMap<PageUrl, KnownDocument>;
  readonly outcomes: ReadonlyMap<PageUrl, CrawledOutcome>;
  /** Fingerprints of pages with new text, in the order in which they came. */
  readonly staged: readonly PageFingerprint[];
  /** Outcomes of documents that the crawl did not reach, requested one by one. */
  readonly checks: ReadonlyMap<PageUrl, CrawledOutcome>;
  /** The site's pages for URLs that do not exist. */
  readonly errorPages: readonly ErrorPage[];
  /** Whether the crawl is complete: every sitemap was read and no page was left over. */
  readonly isWhole: boolean;
  /** Whether the settings still include the page. */
  readonly isWanted: (url: PageUrl) => boolean;
  /** Pages that people have named; they are believed even when the site shows them for every address. */
  readonly entries: ReadonlySet<PageUrl>;
};

/** A page is removed after this many syncs in a row have not found it. */
const MISSES_TO_REMOVE = 2;
/** How many documents that still answer may leave the sitemap at once: this number, or this share. */
const LEAVING_AT_ONCE = 5;
const LEAVING_SHARE = 0.2;
const MIN_SHARED_TARGET = 3;

/**
 * Decides what a sync changes. The rule behind all others: a document is removed only when its absence is
 * certain, and a text replaces another only when it is a real page.
 */
export function judge(evidence: Evidence) {
  const warnings: string[] = [];
  const quarantined = quarantine(evidence);
  if (quarantined.size > 0) warnings.push(describeQuarantine(quarantined.size));
  const accepted = new Set(evidence.staged.map(({ url }) => url).filter((url) => !quarantined.has(url)));
  const sharedTargets = targetsOfMany(evidence);
  const absences = new Map<PageUrl, Absence>();
  for (const url of evidence.known.keys())
    absences.set(url, absenceOf(url, evidence, { sharedTargets, quarantined }));
  const leaving = [...absences.values()].filter((absence) => absence === "leaving").length;
  const isExodus = leaving > Math.max(LEAVING_AT_ONCE, evidence.known.size * LEAVING_SHARE);
  if (isExodus)
    warnings.push(
      `${leaving} of ${evidence.known.size} documents are not listed any more but still there: they stay`,
    );
  const removed = new Set<PageUrl>();
  const misses = new Map<PageUrl, number>();
  for (const [url, absence] of absences) {
    const before = evidence.known.get(url)?.misses ?? 0;
    const isMissed = absence === "gone" || (absence === "leaving" && !isExodus);
    const count = isMissed ? before + 1 : absence === "present" ? 0 : before;
    if (absence === "unwanted" || count >= MISSES_TO_REMOVE) removed.add(url);
    else misses.set(url, count);
  }
  return {
    accepted,
    /** Pages that look like error pages: their text is not used, and the next sync requests them again. */
    quarantined,
    removed,
    /** New counts of misses for documents that stay. */
    misses,
    warnings,
  };
}

export type Judgement = Readonly<ReturnType<typeof judge>>;

/** Tells a person why pages that answered are missing. */
export const describeQuarantine = (count: number): string =>
  count === 1
    ? "1 page looks like an error page and is not used"
    : `${count} pages look like error pages and are not used`;

function quarantine({ staged, errorPages, entries }: Evidence): ReadonlySet<PageUrl> {
  const found = new Set(findRepeatedTexts([...staged]));
  for (const page of staged)
    if (errorPages.some((errorPage) => isLikeErrorPage(page, errorPage))) found.add(page.url);
  // This is the start page of an application that answers every address with it.
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0 && (entries.has(only) || new URL(only).pathname === "/"))
    found.clear();
  return found;
}

/**
 * `leaving` means that it is still there but the site no longer names it; `unsure` that there is no answer,
 * or one that says nothing about the page.
 */
type Absence = "present" | "gone" | "leaving" | "unsure" | "unwanted";

type Suspects = { readonly sharedTargets: ReadonlySet<string>; readonly quarantined: ReadonlySet<PageUrl> };

function absenceOf(url: PageUrl, evidence: Evidence, { sharedTargets, quarantined }: Suspects): Absence {
  if (!evidence.isWanted(url)) return "unwanted";
  const outcome = evidence.outcomes.get(url);
  // An error page is believed only when its status agrees.
  if (quarantined.has(url)) return isGone(outcome?.httpStatus ?? null) ? "gone" : "unsure";
  // A page that was left over, or refused before its request, tells as little as one that was not reached.
  const isMet = outcome !== undefined && outcome.reason !== "max_pages";
  if (isMet) return meaningOf(outcome, sharedTargets);
  if (!evidence.isWhole) return "unsure";
  const check = evidence.checks.get(url);
  if (!check) return "unsure";
  const meaning = meaningOf(check, sharedTargets);
  return meaning === "present" ? "leaving" : meaning;
}

function meaningOf(
  { status, httpStatus, finalUrl, reason }: CrawledOutcome,
  sharedTargets: ReadonlySet<string>,
): Absence {
  if (status === "success") return "present";
  if (status === "failed") return isGone(httpStatus) ? "gone" : "unsure";
  if (reason === "duplicate" || reason === "out_of_scope")
    return finalUrl !== null && sharedTargets.has(finalUrl) ? "unsure" : "gone";
  return reason === "noindex" || reason === "robots" ? "gone" : "unsure";
}

const isGone = (httpStatus: number | null): boolean => httpStatus === 404 || httpStatus === 410;

/** Targets to which documents of several names redirect: a login or a start page, which says nothing about them. */
function targetsOfMany({ known, outcomes, checks }: Evidence): ReadonlySet<string> {
  const namesByTarget = new Map<string, Set<string>>();
  for (const url of known.keys()) {
    const outcome = outcomes.get(url) ?? checks.get(url);
    if (outcome?.status !== "skipped" || outcome.finalUrl === null) continue;
    const names = namesByTarget.get(outcome.finalUrl) ?? new Set();
    namesByTarget.set(outcome.finalUrl, names.add(nameOf(url)));
  }
  const shared = [...namesByTarget].filter(([, names]) => names.size >= MIN_SHARED_TARGET);
  return new Set(shared.map(([target]) => target));
}

/** A site's page for a URL that does not exist. */
export type ErrorPage = PageFingerprint & {
  /** The page that answered after redirects, often the start page. */
  readonly answeredBy: string;
};

/** The longest error page in words, however much pages have in common. */
const MAX_ERROR_WORDS = 400;
/** Extraction counts words differently, for example numbers, so only pages of this length are certainly too long. */
const LONG_ENOUGH = 2 * MAX_ERROR_WORDS;

/**
 * The fingerprint of a page, without pairs and words where it is too long for an error page: a sync keeps those of
 * every page in memory.
 * @param page.wordCount the words of the Markdown; a page that is too long is not read
 */
export function fingerprintOf(
  url: PageUrl,
  { title, markdown, wordCount }: Pick<Page, "title" | "markdown" | "wordCount">,
): PageFingerprint {
  const tooLong = { url, wordCount: 0, pairs: new Uint32Array(), digest: url, fullDigest: url };
  if (wordCount > LONG_ENOUGH) return tooLong;
  const fingerprint = fingerprintText(url, `${title}\n${markdown}`);
  return fingerprint.wordCount > LONG_ENOUGH ? tooLong : fingerprint;
}

/** Whether a page is the one that the site shows for addresses that do not exist. */
function isLikeErrorPage(page: PageFingerprint, errorPage: ErrorPage): boolean {
  // When a site redirects every unknown address to its start page, the start page is still a page.
  if (page.url === errorPage.answeredBy) return false;
  return page.wordCount <= MAX_ERROR_WORDS && saySame(page, errorPage);
}

/** The fewest equal pages. Two may be equal by chance or as aliases, but not three with different names. */
const MIN_ALIKE = 3;

/**
 * Finds short pages that say the same under different names: a login, a maintenance notice, an error with
 * status 200. The same page in several versions of the documentation has one name and does not count.
 */
function findRepeatedTexts(pages: readonly PageFingerprint[]): ReadonlySet<PageUrl> {
  const short = pages.filter(({ wordCount }) => wordCount > 0 && wordCount <= MAX_ERROR_WORDS);
  // Stubs of a reference differ in the name that they describe, which is also part of their address.
  const groups = Map.groupBy(short, ({ fullDigest }) => fullDigest);
  const found = new Set<PageUrl>();
  for (const group of groups.values())
    if (new Set(group.map(({ url }) => nameOf(url))).size >= MIN_ALIKE)
      for (const { url } of group) found.add(url);
  return found;
}

/** The last part of a URL's path. */
const nameOf = (url: string): string =>
  new URL(url).pathname.split("/").findLast((part) => part !== "") ?? "";
