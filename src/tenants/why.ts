import { join } from "node:path";
import { isRecord } from "../base/json.ts";
import { type LeftOut, leftOutText } from "../search/index.ts";
import { compileUrlRules, originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { CrawledOutcome } from "./online/judge.ts";
import type { GitTenant, OnlineTenant, TenantSettings } from "./settings.ts";
import { readState, writeState } from "./state-file.ts";
import type { SyncRecord } from "./sync-book.ts";

/** The fate of a URL: it is indexed, or one sentence says why not. */
export type Whereabouts = {
  readonly state: "indexed" | "refused" | "failed" | "skipped" | "left_out" | "not_listed" | "no_index";
  readonly sentence: string;
  /** The address under which it is indexed; null when it is not. */
  readonly url: string | null;
};

/** The whereabouts in one tenant. */
export type TenantWhereabouts = Whereabouts & {
  readonly tenant: string;
  /** The place among the hits of the query, from 1; null without a query, and below the first 1000. */
  readonly rank: number | null;
};

/** A page that the last sync met and that is no document. */
type MissedPage = Pick<CrawledOutcome, "status" | "reason" | "finalUrl"> & {
  readonly url: string;
  /** The failure's message, or that the sync did not believe the page; null for others. */
  readonly detail: string | null;
};

/** A list of more pages would cost more than it tells. */
const MAX_MISSED = 100_000;

const missedPathIn = (stateDirectory: string): string => join(stateDirectory, "missed.json");

/** Keeps what a sync met and did not make documents. @throws Failure `unwritable_output` */
export const writeMissed = (stateDirectory: string, pages: readonly MissedPage[]): Promise<void> =>
  writeState(missedPathIn(stateDirectory), pages.slice(0, MAX_MISSED));

/** @returns what the last sync met and did not make documents; null before the first */
export const readMissed = (stateDirectory: string): Promise<readonly MissedPage[] | null> =>
  readState(missedPathIn(stateDirectory), isMissedList);

/** Tells whether the last sync tried a page without success. */
export const hasFailed = ({ detail }: MissedPage): boolean => detail !== null;

const isMissedList = (value: unknown): value is readonly MissedPage[] =>
  Array.isArray(value) && value.every((page) => isRecord(page) && typeof page.url === "string");

type Known = {
  readonly record: SyncRecord;
  readonly leftOut: readonly LeftOut[];
  readonly stateDirectory: string;
  /** The address under which the index has another one; null when it has none. */
  readonly indexedAs: (address: string) => string | null;
};

/** Says what became of an address that is not indexed; null when it is none of the tenant's. */
export async function whyNotIndexed(
  settings: TenantSettings,
  written: string,
  known: Known,
): Promise<Whereabouts | null> {
  if (settings.source !== "online") return whyNoFile(settings, written, known);
  const url = parsePageUrl(written);
  if (url === null || !isOfSite(settings, url)) return null;
  const missed = await readMissed(known.stateDirectory);
  const page = missed?.find((one) => one.url === url);
  return refusedByRule(settings, url) ?? (page && ofMissed(page, known)) ?? neverListed(settings, known);
}

const answer = (state: Whereabouts["state"], sentence: string): Whereabouts => ({
  state,
  sentence,
  url: null,
});

const siteOf = (url: string): string => new URL(url).hostname.replace(/^www\./, "");

function isOfSite({ entryUrls, sitemapUrls, allowPrefixes }: OnlineTenant, url: PageUrl): boolean {
  return [...entryUrls, ...sitemapUrls, ...allowPrefixes].some((one) => siteOf(one) === siteOf(url));
}

function refusedByRule(tenant: OnlineTenant, url: PageUrl): Whereabouts | null {
  const { allowPrefixes, denyPrefixes, entryUrls, sitemapUrls } = tenant;
  const origins = new Set([...entryUrls, ...sitemapUrls].map(originOf));
  const refusal = compileUrlRules(tenant)(url, origins);
  if (refusal === null) return null;
  const denying = denyPrefixes.find((prefix) => url.startsWith(prefix));
  const rules = {
    denied: `url_blacklist_prefixes refuses it: ${denying}`,
    not_allowed: `url_whitelist_prefixes does not allow it: ${allowPrefixes.join(", ")}`,
    foreign_origin: `it is on another origin than the entry pages: ${[...origins].join(", ")}`,
  };
  return answer("refused", rules[refusal]);
}

const SKIPPED: Readonly<Record<string, string>> = {
  robots: "robots.txt forbids it",
  noindex: "the page asks not to be indexed (noindex)",
  max_pages: "max_crawl_pages was reached before it",
  trap: "it looks like one of an endless number of addresses",
  content_type: "it is neither a page nor text",
};

function ofMissed({ status, reason, finalUrl, detail }: MissedPage, { indexedAs }: Known): Whereabouts {
  if (detail !== null) return answer("failed", `the last sync did not get it: ${detail}`);
  if (finalUrl !== null && reason !== null && ["duplicate", "out_of_scope"].includes(reason)) {
    const indexed = indexedAs(finalUrl) === null ? "is not indexed either" : "is indexed";
    return answer("skipped", `it leads to ${finalUrl}, which ${indexed}`);
  }
  const why = SKIPPED[reason ?? ""] ?? `the last sync left it out (${reason ?? status})`;
  return answer("skipped", why);
}

function neverListed({ followLinks }: OnlineTenant, { record }: Known): Whereabouts {
  const { syncedAt, lastError, counts, needsBuild } = record;
  if (syncedAt === null)
    return answer("no_index", `no sync has succeeded yet${lastError ? `: ${lastError.message}` : ""}`);
  const left = counts?.left ?? 0;
  const cut = left > 0 ? `; max_crawl_pages left ${left} known pages unfetched` : "";
  const named = followLinks
    ? "no sitemap, entry page or link names it"
    : "no sitemap or entry page names it, and enable_crawler is off, so links do not count";
  const stale = needsBuild ? "; the index is older than the last sync" : "";
  return answer("not_listed", `${named}${cut}${stale}`);
}

function whyNoFile(
  settings: Exclude<TenantSettings, OnlineTenant>,
  written: string,
  { leftOut, record }: Known,
): Whereabouts | null {
  const { codename } = settings;
  const isOwn =
    written.startsWith(`docs://${codename}/`) ||
    !written.includes("://") ||
    (settings.source === "git" && written.startsWith(forgeOf(settings)));
  if (!isOwn) return null;
  const path = `/${decoded(written)}`;
  const file = leftOut.find((one) =>
    one.path.endsWith("/") ? path.includes(`/${one.path}`) : path.endsWith(`/${one.path}`),
  );
  if (file) return answer("left_out", `the file ${file.path} is left out: ${leftOutText(file)}`);
  if (record.documents === null)
    return answer(
      "no_index",
      `no index was built yet${record.lastError ? `: ${record.lastError.message}` : ""}`,
    );
  const where = settings.source === "git" ? `below ${settings.subpaths.join(", ")}` : "of the folder";
  return answer("not_listed", `no file ${where} has this address`);
}

const forgeOf = ({ repositoryUrl }: GitTenant): string => `${repositoryUrl.replace(/\.git$/, "")}/`;

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
