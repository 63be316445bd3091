import { createHash } from "node:crypto";
import type { Link } from "../extraction/index.ts";
import { compileUrlRules, originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { ClaimedPage } from "./frontier/frontier.ts";
import type { CrawlPlan } from "./plan.ts";
import type { LinkRefusal, SkipReason } from "./types.ts";

/** Decides which URLs belong to a crawl (docs/crawl.md, "Which pages"). */
export interface Scope {
  /** Returns why a seed or sitemap URL is skipped; null when it is crawled. */
  refuseStart(url: PageUrl): SkipReason | null;
  /** Tells whether a page of this source may answer from another URL. */
  admitsTarget(url: PageUrl, source: ClaimedPage["source"]): boolean;
  /** Admits links to an origin from now on: that of a sitemap's URL, or one that a seed redirected to. */
  addOrigin(origin: string): void;
  /** Notes a stored page, with its text. */
  noteStored(url: PageUrl, text: string): void;
  /** Tells whether the site has answered pages of this pattern with one and the same text. */
  isEcho(url: PageUrl): boolean;
  /**
   * Splits a page's links into the crawl's, however deep, and the reasons for refusing the others.
   * @param isNofollow whether the page asks crawlers not to follow any of its links
   */
  chooseLinks(links: readonly Link[], isNofollow: boolean): ChosenLinks;
}

type ChosenLinks = { readonly links: readonly PageUrl[]; readonly refused: ReadonlyMap<LinkRefusal, number> };

/** @param now decides which calendars are far away, in ms since 1970; one time for the whole crawl */
export function createScope(plan: CrawlPlan, now: number): Scope {
  const refusalOf = compileUrlRules(plan);
  const origins = new Set(plan.seeds.map(originOf));

  const echoes = new EchoedPages();

  const isNamed = (url: PageUrl): boolean =>
    plan.allowPrefixes.some((prefix) => prefix.includes(SOURCES.slice(0, -1)) && url.startsWith(prefix));

  const refuseLink = (link: Link, isNofollow: boolean): LinkRefusal | null => {
    const refusal = refusalOf(link.url, origins);
    if (refusal !== null) return refusal;
    if (isSourceCopy(link.url) && !isNamed(link.url)) return "source_copy";
    if (plan.respectsMetaRobots && (isNofollow || link.isNofollow)) return "nofollow";
    return isTrap(link.url, now) || echoes.has(link.url) ? "trap" : null;
  };

  return {
    refuseStart(url) {
      if (refusalOf(url, null) !== null) return "out_of_scope";
      return isTrap(url, now) ? "trap" : null;
    },
    admitsTarget: (url, source) =>
      refusalOf(url, source === "link" || source === "memory" ? origins : null) === null,
    noteStored: (url, text) => echoes.note(url, text),
    isEcho: (url) => echoes.has(url),
    addOrigin: (origin) => void origins.add(origin),
    chooseLinks(links, isNofollow) {
      const chosen = new Set<PageUrl>();
      const refused = new Map<LinkRefusal, number>();
      if (!plan.followsLinks) return { links: [], refused };
      for (const written of links) {
        const link = { ...written, url: withoutSession(written.url) };
        const refusal = refuseLink(link, isNofollow);
        if (refusal === null) chosen.add(link.url);
        else refused.set(refusal, (refused.get(refusal) ?? 0) + 1);
      }
      return { links: [...chosen], refused };
    },
  };
}

/** The folder in which Sphinx keeps the sources that its pages link to. */
const SOURCES = "/_sources/";
const SOURCE_ENDING = /\.(?:rst|md|ipynb|txt)(?:\.txt)?$/;

/** Tells whether a URL leads to the source of a page that is there too. */
function isSourceCopy(url: PageUrl): boolean {
  if (!url.includes(SOURCES)) return false;
  const { pathname } = new URL(url);
  return pathname.includes(SOURCES) && SOURCE_ENDING.test(pathname);
}

/** Longer URLs are made by loops, not by people (RFC 9110, section 4.1, asks for support of 8000). */
const MAX_URL_LENGTH = 2000;
const MAX_SEGMENTS = 30;
/** `/a/b/a/b/a/b` and `/x/x/x` come from a relative link on a page that answers under every path. */
const MAX_REPEATS = 3;
const MAX_SAME_SEGMENT = 5;
const MAX_PARAMETERS = 16;
const MAX_SAME_PARAMETER = 4;
/** `/a//b` happens; `/a///b` and `/a//b//c` come from a link that adds a slash each time. */
const MAX_EMPTY_SEGMENTS = 1;
/** Matches text that was escaped once too often, and again on each page: `&amp;amp;`, `%2525`. */
const GROWING_ESCAPE = /(?:amp(?:;|%3b)){2}|%25(?:25)+/i;
const ESCAPED_AMPERSAND = /(?:&|%26)amp(?:;|%3b)/gi;
/** Calendars lead from month to month forever, and pages about dates years from now are not written yet. */
const MAX_CALENDAR_MONTHS = 12;
const MAX_FUTURE_MONTHS = 24;

/**
 * Tells whether a URL looks like one of the endlessly many that a site generates: very long, with repeated path
 * segments, runs of slashes, repeated escapes, endless parameters, or a calendar page far from now.
 * @param now decides what is far, in ms since 1970
 */
export function isTrap(url: PageUrl, now: number): boolean {
  if (url.length > MAX_URL_LENGTH) return true;
  const pathStart = url.indexOf("/", url.indexOf("//") + 2);
  const queryStart = url.indexOf("?", pathStart);
  const path = queryStart < 0 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const query = queryStart < 0 ? "" : url.slice(queryStart + 1);
  if (hasSlashRuns(path) || GROWING_ESCAPE.test(url)) return true;
  if ((path.match(ESCAPED_AMPERSAND)?.length ?? 0) > 1) return true;
  return hasRepeats(path) || (query !== "" && hasEndlessParameters(query)) || isFarCalendar(path, query, now);
}

function hasSlashRuns(path: string): boolean {
  let empty = 0;
  for (let at = path.indexOf("//"); at >= 0; at = path.indexOf("//", at + 1)) {
    // An archive's path may contain the address of an archived page.
    if (path[at - 1] !== ":") empty++;
    if (empty > MAX_EMPTY_SEGMENTS) return true;
  }
  return false;
}

function hasRepeats(path: string): boolean {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.length < MAX_REPEATS) return false;
  if (segments.length > MAX_SEGMENTS) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) {
    const count = (counts.get(segment) ?? 0) + 1;
    if (count >= MAX_SAME_SEGMENT) return true;
    counts.set(segment, count);
  }
  // Most paths contain no segment twice, so nothing can repeat in a row.
  if (counts.size === segments.length) return false;
  for (let period = 1; period * MAX_REPEATS <= segments.length; period++)
    if (repeatsInARow(segments, period)) return true;
  return false;
}

function repeatsInARow(segments: readonly string[], period: number): boolean {
  let equal = 0;
  for (let at = period; at < segments.length; at++) {
    // A date such as /1/1/1 or a page such as /2/2 repeats by chance; words do not.
    const isSame = segments[at] === segments[at - period] && !/^\d+$/.test(segments[at] ?? "");
    equal = isSame ? equal + 1 : 0;
    if (equal >= period * (MAX_REPEATS - 1)) return true;
  }
  return false;
}

function hasEndlessParameters(query: string): boolean {
  const pairs = query.split("&");
  if (pairs.length > MAX_PARAMETERS) return true;
  if (pairs.length < 2) return false;
  const counts = new Map<string, number>();
  for (const pair of pairs) {
    const name = pair.split("=", 1)[0] ?? "";
    const count = (counts.get(name) ?? 0) + 1;
    if (count >= MAX_SAME_PARAMETER) return true;
    counts.set(name, count);
  }
  return false;
}

const CALENDAR_WORD =
  /(?:^|[/_?&=.-])(?:calendar|kalender|calendrier|calendario|agenda|events?|termine|month|day|date)(?:$|[/_?&=.-])/i;
const PATH_DATE = /(?:^|\/)((?:19|20|21)\d\d)[/-](0?[1-9]|1[0-2])(?=$|[/-])/;
const QUERY_DATE = /(?:^|[&=])((?:19|20|21)\d\d)-(0[1-9]|1[0-2])(?=$|[&-])/;
const QUERY_YEAR = /(?:^|&)(?:[a-z]{1,20}[_-])?(?:year|yr|y|jahr)=((?:19|20|21)\d\d)(?=$|&)/i;
const QUERY_MONTH = /(?:^|&)(?:[a-z]{1,20}[_-])?(?:month|mon|m|monat)=(0?[1-9]|1[0-2])(?=$|&)/i;

function isFarCalendar(path: string, query: string, now: number): boolean {
  const months = monthOf(path, query);
  if (months === null) return false;
  const today = new Date(now);
  const away = months - (today.getUTCFullYear() * 12 + today.getUTCMonth());
  if (away > MAX_FUTURE_MONTHS) return true;
  const isCalendar = CALENDAR_WORD.test(path) || CALENDAR_WORD.test(`?${query}`);
  return isCalendar && Math.abs(away) > MAX_CALENDAR_MONTHS;
}

/** Returns the months since the year 0 of the date in the URL; null when it contains none. */
function monthOf(path: string, query: string): number | null {
  const dated = PATH_DATE.exec(path) ?? (query === "" ? null : QUERY_DATE.exec(query));
  if (dated) return Number(dated[1]) * 12 + Number(dated[2]) - 1;
  const year = query === "" ? null : QUERY_YEAR.exec(query);
  if (!year) return null;
  return Number(year[1]) * 12 + Number(QUERY_MONTH.exec(query)?.[1] ?? 1) - 1;
}

/** Matches names that servers use only for sessions, whatever the value. */
const SESSION_NAME = /^(?:jsessionid|phpsessid|aspsessionid\w{0,40}|oscsid|zenid|cfid|cftoken)$/i;
/** Matches names that forums use for sessions; with another kind of value they may name a page. */
const FORUM_NAME = /^(?:s|sid)$/i;
const FORUM_SESSION = /^[0-9a-f]{32}$/i;
const PATH_PARAMETER = /;([a-z_-]{1,40})=([^/;?]*)/gi;
/** Matches ASP.NET's `/(S(id))/`, with other letters for other cookies. */
const COOKIELESS = /\/\((?:[A-Z]\([\w-]{1,500}\)){1,4}\)(?=\/|$)/i;

/**
 * Removes the session that a server wrote into a link for visitors without cookies, because each answer would lead to
 * new addresses of the same pages. The other parts stay as they are.
 */
export function withoutSession(url: PageUrl): PageUrl {
  const queryStart = url.indexOf("?");
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const query = queryStart < 0 ? "" : url.slice(queryStart + 1);
  const plainPath = path
    .replace(PATH_PARAMETER, (parameter, name: string, value: string) =>
      isSession(name, value) ? "" : parameter,
    )
    .replace(COOKIELESS, "");
  const plainQuery = query
    .split("&")
    .filter((pair) => {
      const [name = "", value = ""] = pair.split("=", 2);
      return !isSession(name, value);
    })
    .join("&");
  if (plainPath === path && plainQuery === query) return url;
  return parsePageUrl(plainQuery === "" ? plainPath : `${plainPath}?${plainQuery}`) ?? url;
}

const isSession = (name: string, value: string): boolean =>
  SESSION_NAME.test(name) || (FORUM_NAME.test(name) && FORUM_SESSION.test(value));

/** Tells whether a text looks random: hexadecimal digits and letters, or alternating letters and digits. */
function isRandom(text: string): boolean {
  if (text.length > 200) return false;
  const plain = text.replaceAll("-", "").toLowerCase();
  if (!/\d/.test(plain) || !/[a-z]/.test(plain)) return /^\d{20,}$/.test(plain);
  if (/^[0-9a-f]{8,}$/.test(plain)) return true;
  const turns = plain.match(/[a-z](?=\d)|\d(?=[a-z])/g)?.length ?? 0;
  return /^[0-9a-z_]{12,}$/.test(plain) && turns >= MIN_TURNS;
}

/** `release20260101` changes once from letters to digits. */
const MIN_TURNS = 3;

/** This many pages of one pattern with the same text, and none with another, are one page. */
const MAX_ECHOES = 3;
/** The value after such a name may be a session's, even as a number, when the texts are equal. */
const SESSION_WORD = /^(?:s|sid|sess|sessid|session|session_?id)$/i;
/** Matches path segments whose random part is a session, whatever the texts. */
const SESSION_SEGMENT = /\/(?:s|sid|sess|sessid|session_?id)[/=:_-]?\*\//i;
/** The maximum number of patterns kept. A resumed crawl starts without any, and requests a few pages more. */
const MAX_PATTERNS = 10_000;

/** Recognises pages served again and again under addresses with a random part, by the stored texts. */
export class EchoedPages {
  readonly #patterns = new Map<string, { readonly hash: string; count: number; isMixed: boolean }>();

  note(url: PageUrl, text: string): void {
    const { key, parts } = patternOf(url);
    if (parts.length === 0) return;
    const hash = hashOf(text, parts);
    const known = this.#patterns.get(key);
    if (!known) {
      if (this.#patterns.size >= MAX_PATTERNS) this.#patterns.clear();
      this.#patterns.set(key, { hash, count: 1, isMixed: false });
    } else if (known.hash === hash || SESSION_SEGMENT.test(key)) known.count++;
    else known.isMixed = true;
  }

  /** Tells whether the page would repeat a known one. */
  has(url: PageUrl): boolean {
    const { key, parts } = patternOf(url);
    const known = parts.length === 0 ? undefined : this.#patterns.get(key);
    return known !== undefined && !known.isMixed && known.count >= MAX_ECHOES;
  }
}

/** Replaces random parts of an address by `*`, numbers that may be a session's by `#`, and returns them. */
function patternOf(url: PageUrl): { readonly key: string; readonly parts: readonly string[] } {
  const parts: string[] = [];
  let previous = "";
  const key = url.replace(/[^/?&=;:()]+/g, (part) => {
    const isNamed = SESSION_WORD.test(previous);
    previous = part;
    // A name before it, as in `sid-8f3a…`, is not random.
    const start = /^(?:s|sid|sess|session)[-_]/i.exec(part)?.[0] ?? "";
    const rest = part.slice(start.length);
    const isLot = isRandom(rest);
    if (!isLot && !(isNamed && /\d/.test(part))) return part;
    parts.push(isLot ? rest : part);
    return isLot ? `${start}*` : "#";
  });
  return { key, parts };
}

/** The maximum number of parts that are removed from a text, because each takes a pass over it. */
const MAX_PARTS = 8;

/** Hashes a text without the addresses of its links and without the random parts of its own address. */
function hashOf(text: string, parts: readonly string[]): string {
  let plain = text.replace(/\]\([^()\s]{0,2000}/g, "]");
  // Short numbers may be ordinary numbers of the text.
  for (const part of parts.slice(0, MAX_PARTS)) if (isRandom(part)) plain = plain.replaceAll(part, "");
  return createHash("sha256").update(plain).digest("base64");
}
