import { expect } from "bun:test";
import { expectAgreement, type ManifestJson } from "../scale/crawl.ts";
import type { ManyHosts, Visit } from "../scale/site.ts";
import type { Kept } from "./kept.ts";

/** A site of which the oracle knows each page; see site-entry.ts. */
export type KnownSite = ManyHosts & { readonly pagesPerHost: number; readonly missing: number };

type Crawled = {
  readonly site: KnownSite;
  readonly manifest: ManifestJson;
  /** The files or objects of pages, by name. */
  readonly files: readonly string[];
  readonly read: (name: string) => Promise<string>;
  readonly maxPages: number;
  /** What the site saw of this crawl. */
  readonly visits: readonly Visit[];
  /** Whether pages may have failed because of a fault of the site. */
  readonly mayFail: boolean;
};

/** The page that a URL is on the site: its host, number and the URLs that it links to. */
function pageOf({ origins, pagesPerHost, missing }: KnownSite, url: string) {
  const { origin, pathname, port } = new URL(url);
  const number = pathname === "/" ? 0 : Number(pathname.slice("/p/".length));
  const children = Array.from({ length: 10 }, (_, index) => number * 10 + 1 + index);
  const links = children.filter((child) => child < pagesPerHost).map((child) => `${origin}/p/${child}`);
  const isMissing = links.length === 0 && number % missing === 0;
  if (url === `http://127.0.0.1:${port}/`) links.push(...origins.slice(1).map((other) => `${other}/`));
  return { title: `Page ${number} of ${new URL(url).hostname}`, links, isMissing };
}

/** What robots.txt disallows; it fails instead of being skipped where robots.txt cannot be had. */
const isPrivate = (url: string): boolean => new URL(url).pathname.startsWith("/private/");

/**
 * Checks a crawl that has ended: one outcome for each URL that its pages lead to and for no other, each as the site
 * answers; a manifest that agrees with its counters and with the files; nothing asked for beyond the limits.
 */
export async function expectCrawl(crawl: Crawled): Promise<void> {
  const { site, manifest, files, maxPages, visits, mayFail } = crawl;
  expectAgreement(manifest, files);
  const asked = new Set(visits.map(({ authority, path }) => `http://${authority}${path}`));
  expect([...asked].filter(isPrivate)).toEqual([]);
  const askedPages = [...asked].filter((url) => new URL(url).pathname !== "/robots.txt");
  expect(askedPages.length).toBeLessThanOrEqual(maxPages);

  expect(manifest.results.filter(({ url, status }) => isPrivate(url) && status === "success")).toEqual([]);
  const pages = manifest.results.filter(({ url, reason }) => !isPrivate(url) && reason !== "max_pages");
  const wrong = pages.filter(({ url, status }) => {
    const { isMissing } = pageOf(site, url);
    return !asked.has(url) || status !== (isMissing ? "failed" : "success");
  });
  // Pages of a host whose robots.txt cannot be had fail without a request.
  expect(wrong.filter(({ status }) => !(mayFail && status === "failed"))).toEqual([]);
  const expected = new Set([`${site.origin}/`]);
  for (const { url, status } of pages)
    if (status === "success") for (const link of pageOf(site, url).links) expected.add(link);
  // Where the limit cuts the crawl off, links are left out without an entry.
  if (askedPages.length < maxPages) expect(pages.map(({ url }) => url).sort()).toEqual([...expected].sort());
  else expect(pages.filter(({ url }) => !expected.has(url))).toEqual([]);
  for (const { url, status, file_path } of pages)
    if (status === "success")
      expect(await crawl.read(file_path ?? "")).toContain(`# ${pageOf(site, url).title}\n`);
}

/** A process that was stopped for so long may have lost its turn at a host, and still sends what it had begun. */
const LOST_TURN_MS = 10_000;
const WAKING_MS = 1000;
/** A busy machine holds a request up between its turn and its arrival, but hardly for this long. */
const HELD_UP_MS = 400;
/** It does so rarely: no more than this share of all gaps are below the delay, and these few. */
const SHORT_SHARE = 0.02;
const FEW_SHORT = 3;

/**
 * Checks that no request comes before its time. Pace counts from sending to sending, and the site sees arrivals. Each
 * request was sent after the one before had arrived, since a host has one at a time, after the delay, and, unless its
 * process was stopped just then, at most HELD_UP_MS before it arrived. What arrives before the earliest time that follows
 * from this was sent too early. A delay that is a little short now and then shows in the number of short gaps alone.
 */
export function expectPace(visits: readonly Visit[], delayMs: number, kept: readonly Kept[]): void {
  const wakes = kept.flatMap((one) => one.wakes);
  const hasWoken = (at: number, leastMs: number): boolean =>
    wakes.some((wake) => wake.stoppedMs >= leastMs && at >= wake.at && at < wake.at + WAKING_MS);
  const early: object[] = [];
  const gaps: number[] = [];
  for (const [host, seen] of Map.groupBy(visits, ({ authority }) => authority)) {
    let sentAt = Number.NEGATIVE_INFINITY;
    let arrivedAt = Number.NEGATIVE_INFINITY;
    for (const { at, path } of seen.toSorted((one, other) => one.at - other.at)) {
      if (hasWoken(at, LOST_TURN_MS)) continue;
      const earliest = Math.max(arrivedAt, sentAt + delayMs);
      // A process asks for it first. While the disk is full, the one before could not write down when it had last asked.
      const isFirst = path === "/robots.txt";
      if (!isFirst && !hasWoken(at, 0) && !hasWoken(arrivedAt, 0)) gaps.push(at - arrivedAt);
      if (at < earliest) early.push({ host, path, at, gapMs: at - arrivedAt, earlyMs: earliest - at });
      sentAt = Math.max(Math.min(earliest, at), hasWoken(at, 0) ? 0 : at - HELD_UP_MS);
      arrivedAt = at;
    }
  }
  expect(early).toEqual([]);
  const short = gaps.filter((gap) => gap < delayMs);
  expect(short.length, `gaps below ${delayMs} ms: ${short}`).toBeLessThanOrEqual(
    FEW_SHORT + SHORT_SHARE * gaps.length,
  );
}

/** The most memory of one process, in kB. */
const MOST_KB = 450_000;

/** Checks that each process kept within the memory that it may have. @returns the most that one had, in kB */
export function expectMemory(kept: readonly Kept[]): number {
  const most = Math.max(0, ...kept.flatMap((one) => [...one.peaks.values()]));
  expect(most).toBeWithin(1, MOST_KB);
  return most;
}
