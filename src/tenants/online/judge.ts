import type { PageOutcome } from "../../crawler/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import {
  type ErrorPage,
  findRepeatedTexts,
  isLikeErrorPage,
  nameOf,
  type PageFingerprint,
} from "./soft-404.ts";

/** What became of a page in the crawl of a sync. */
export type CrawledOutcome = Pick<PageOutcome, "status" | "httpStatus" | "finalUrl" | "reason">;

/** A document of earlier syncs. */
export type KnownDocument = {
  readonly hash: string;
  /** Syncs in a row that did not find it. */
  readonly misses: number;
};

export type Evidence = {
  readonly known: ReadonlyMap<PageUrl, KnownDocument>;
  readonly outcomes: ReadonlyMap<PageUrl, CrawledOutcome>;
  /** Pages whose text is new, as they came. */
  readonly staged: readonly PageFingerprint[];
  /** Of documents that the crawl did not meet, asked for one by one. */
  readonly checks: ReadonlyMap<PageUrl, CrawledOutcome>;
  /** What the site shows for addresses that do not exist. */
  readonly errorPages: readonly ErrorPage[];
  /** Whether the crawl has seen all there is: every sitemap read, nothing left over. */
  readonly isWhole: boolean;
  /** Whether the settings still want the page. */
  readonly isWanted: (url: PageUrl) => boolean;
  /** Pages that people have named: they are believed, even when the site shows them for everything. */
  readonly entries: ReadonlySet<PageUrl>;
};

export type Judgement = {
  readonly accepted: ReadonlySet<PageUrl>;
  /** Look like error pages: their text is not taken over, and they are asked for anew next time. */
  readonly quarantined: ReadonlySet<PageUrl>;
  readonly removed: ReadonlySet<PageUrl>;
  /** New counts of documents that stay. */
  readonly misses: ReadonlyMap<PageUrl, number>;
  /** For the log and the status. */
  readonly warnings: readonly string[];
};

/** A page goes when so many syncs in a row have not found it. */
const MISSES_TO_REMOVE = 2;
/** Documents that may leave the sitemap at once though they still answer: so many, or this share. */
const LEAVING_AT_ONCE = 5;
const LEAVING_SHARE = 0.2;
const MIN_SHARED_TARGET = 3;

/**
 * Decides what a sync changes. The rule behind all others: a document goes only when its absence is certain, and a
 * text replaces another only when it is a page.
 */
export function judge(evidence: Evidence): Judgement {
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
  return { accepted, quarantined, removed, misses, warnings };
}

/** For a person: why pages that answered are not there. */
export const describeQuarantine = (count: number): string =>
  count === 1
    ? "1 page looks like an error page and is not taken over"
    : `${count} pages look like error pages and are not taken over`;

function quarantine({ staged, errorPages, entries }: Evidence): ReadonlySet<PageUrl> {
  const found = new Set(findRepeatedTexts([...staged]));
  for (const page of staged)
    if (errorPages.some((errorPage) => isLikeErrorPage(page, errorPage))) found.add(page.url);
  // The start page of an application that answers everything with it.
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0 && (entries.has(only) || new URL(only).pathname === "/"))
    found.clear();
  return found;
}

/**
 * `leaving`: still there, but the site does not name it any more. `unsure`: no answer, or one that says nothing
 * of the page.
 */
type Absence = "present" | "gone" | "leaving" | "unsure" | "unwanted";

type Suspects = { readonly sharedTargets: ReadonlySet<string>; readonly quarantined: ReadonlySet<PageUrl> };

function absenceOf(url: PageUrl, evidence: Evidence, { sharedTargets, quarantined }: Suspects): Absence {
  if (!evidence.isWanted(url)) return "unwanted";
  const outcome = evidence.outcomes.get(url);
  // An error page is only believed where its status says the same.
  if (quarantined.has(url)) return isGone(outcome?.httpStatus ?? null) ? "gone" : "unsure";
  // What was left over or found refused before it was asked for says as little as not being met at all.
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

/** Where several documents of other names lead now: a login or a start page, which says nothing of them. */
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
