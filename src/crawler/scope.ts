import type { Link } from "../extraction/index.ts";
import { compileUrlGlobs, compileUrlRules, originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { ClaimedPage } from "./frontier/frontier.ts";
import type { CrawlPlan } from "./plan.ts";
import type { LinkRefusal, SkipReason } from "./types.ts";
import { Variants } from "./variants.ts";

/** Decides which URLs belong to a crawl (docs/crawl.md, "Which pages"). */
export interface Scope {
  /** Returns why a seed or sitemap URL is skipped; null when it is crawled. */
  refuseStart(url: PageUrl): SkipReason | null;
  /** Tells whether a page of this source may answer from another URL. */
  admitsTarget(url: PageUrl, source: ClaimedPage["source"]): boolean;
  /** Admits links to an origin from now on: that of a sitemap's URL, or one that a seed redirected to. */
  addOrigin(origin: string): void;
  /** Other languages and versions of pages, as far as pages have told of them. */
  readonly variants: Variants;
  /** Traps that the crawl has detected. */
  readonly traps: Traps;
  /**
   * Splits a page's links into the crawl's, however deep, and the reasons for refusing the others.
   * @param isNofollow whether the page asks crawlers not to follow any of its links
   */
  chooseLinks(page: PageUrl, links: readonly Link[], isNofollow: boolean): ChosenLinks;
  /** Why a link of a page is not followed; null where it is. */
  refuseLink(page: PageUrl, link: Link, isNofollow: boolean): LinkRefusal | null;
}

type ChosenLinks = { readonly links: readonly PageUrl[]; readonly refused: ReadonlyMap<LinkRefusal, number> };

export function createScope(plan: CrawlPlan): Scope {
  const refusalOf = compileRules(plan);
  const origins = new Set(plan.seeds.map(originOf));
  const traps = new Traps();
  const variants = new Variants(plan);
  const isNamed = (url: PageUrl): boolean =>
    plan.allowPrefixes.some((prefix) => prefix.includes(SOURCES.slice(0, -1)) && url.startsWith(prefix));

  const refuseLink = (page: PageUrl, link: Link, isNofollow: boolean): LinkRefusal | null => {
    const refusal = refusalOf(link.url, origins);
    if (refusal !== null) return refusal;
    if (isSourceCopy(link.url) && !isNamed(link.url)) return "source_copy";
    if (plan.respectsMetaRobots && (isNofollow || link.isNofollow)) return "nofollow";
    return variants.refusalOf(link.url) ?? (traps.isTrap(link.url, page) ? "trap" : null);
  };
  return {
    variants,
    traps,
    refuseLink,
    // A URL that a person or a sitemap names is never a trap.
    refuseStart: (url) => (refusalOf(url, null) === null ? null : "out_of_scope"),
    admitsTarget: (url, source) =>
      refusalOf(url, source === "link" || source === "memory" ? origins : null) === null,
    addOrigin: (origin) => void origins.add(origin),
    chooseLinks(page, links, isNofollow) {
      const chosen = new Set<PageUrl>();
      const refused = new Map<LinkRefusal, number>();
      if (!plan.followsLinks) return { links: [], refused };
      for (const written of links) {
        const link = { ...written, url: withoutSession(written.url) };
        const refusal = refuseLink(page, link, isNofollow);
        if (refusal === null) chosen.add(link.url);
        else refused.set(refusal, (refused.get(refusal) ?? 0) + 1);
      }
      return { links: [...chosen], refused };
    },
  };
}

/** The rules of a plan: prefixes, then globs. A seed needs to match no glob, because its links lead to what does. */
function compileRules(plan: CrawlPlan): ReturnType<typeof compileUrlRules> {
  const refusalOf = compileUrlRules(plan);
  const [isIncluded, isExcluded] = [compileUrlGlobs(plan.includeUrls), compileUrlGlobs(plan.excludeUrls)];
  const seeds = new Set(plan.seeds);
  return (url, origins) => {
    const refusal = refusalOf(url, origins);
    if (refusal !== null) return refusal;
    if (plan.includeUrls.length > 0 && !isIncluded(url) && !seeds.has(url)) return "not_allowed";
    return isExcluded(url) ? "denied" : null;
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
/**
 * Tells whether a URL looks like one that links of a loop made: very long, with repeated path segments, runs of slashes,
 * repeated escapes or endless parameters. That alone proves nothing, but all of them are judged together.
 */
export function looksLooped(url: PageUrl): boolean {
  if (url.length > MAX_URL_LENGTH) return true;
  const [start, query] = splitQuery(url);
  const path = start.slice(originOf(url).length);
  if (hasSlashRuns(path) || GROWING_ESCAPE.test(url)) return true;
  if ((path.match(ESCAPED_AMPERSAND)?.length ?? 0) > 1) return true;
  return hasRepeats(path) || hasEndlessParameters(query);
}

/** Splits a URL before its query, which is empty where there is none. */
function splitQuery(url: PageUrl): readonly [path: string, query: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
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
  const most = highestCount(segments);
  if (most >= MAX_SAME_SEGMENT) return true;
  // Most paths contain no segment twice, so nothing can repeat in a row.
  if (most === 1) return false;
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
  return highestCount(pairs.map((pair) => pair.split("=", 1)[0] ?? "")) >= MAX_SAME_PARAMETER;
}

/** How often the most frequent of some names is among them. */
function highestCount(names: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Math.max(...counts.values());
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
  if (!/[;(?]/.test(url)) return url;
  const [path, query] = splitQuery(url);
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
function looksRandom(text: string): boolean {
  if (text.length > 200) return false;
  const plain = text.replaceAll("-", "").toLowerCase();
  if (!/\d/.test(plain) || !/[a-z]/.test(plain)) return /^\d{20,}$/.test(plain);
  if (/^[0-9a-f]{8,}$/.test(plain)) return true;
  const turns = plain.match(/[a-z](?=\d)|\d(?=[a-z])/g)?.length ?? 0;
  return /^[0-9a-z_]{12,}$/.test(plain) && turns >= MIN_TURNS;
}

/** `release20260101` changes once from letters to digits. */
const MIN_TURNS = 3;

/** This many pages in a row with the same text prove a trap to the links of such a page. */
const FEW = 5;
/** Under random names and in loops fewer without text of their own prove it, because nobody writes such an address. */
const FEW_RANDOM = 2;
/** This many pages without text of their own prove a trap to the links of any page. */
const MANY = 30;
/** Fewer new runs of words than this come from a date, a counter or a heading that the site made. */
const MIN_NEW_RUNS = 10;
const RUN_WORDS = 4;
const MAX_WORDS = 5000;
/** The maximum numbers of templates and of known words and runs. A crawl that forgets them requests a few pages more. */
const MAX_TEMPLATES = 10_000;
const MAX_KNOWN = 1_000_000;

const MAX_TOLD = 5;

type Template = {
  readonly key: string;
  readonly isRandom: boolean;
  readonly example: PageUrl;
  /** The pages without text of their own since the last one with some, and how many of them are copies. */
  inRow: number;
  copies: number;
};

/**
 * Recognises traps by what a site serves: pages of one template, which differ by numbers, random names and values of
 * parameters, that bring no text of their own one after the other.
 */
export class Traps {
  readonly #templates = new Map<string, Template>();
  /** Hashes of words and runs of words by template, and of whole texts. */
  readonly #known = new Set<number>();
  /** How often the same text with the same relative links has come. */
  readonly #copies = new Map<number, number>();
  /** The pages without text of their own, and whether they are the latest of many copies. */
  readonly #barren = new Map<PageUrl, boolean>();
  /** Whether a template has been one to the links of any page. */
  #hasTrap = false;
  readonly #told = new Set<string>();
  readonly #warnings: string[] = [];

  /** Notes the text and the links that a page answered with; a page without words has an empty text. */
  note(url: PageUrl, text: string, links: readonly Link[]): void {
    if (this.#known.size > MAX_KNOWN || this.#templates.size > MAX_TEMPLATES)
      for (const notes of [this.#known, this.#templates, this.#copies, this.#barren]) notes.clear();
    const { key, parts, isRandom } = templateOf(url);
    const relative = links.map((link) => link.url.replace(directoryOf(url), "./"));
    const copy = Bun.hash.xxHash32(`${text}\n${relative.join(" ")}`);
    const copies = (this.#copies.get(copy) ?? 0) + 1;
    this.#copies.set(copy, copies);
    const isCopy = copies > FEW;
    if (isCopy) this.#barren.set(url, true);
    const isNewText = this.#learns(hashOf(`text ${text}`));
    if (key === url) return;
    const template = this.#templates.get(key) ?? { key, isRandom, example: url, inRow: 0, copies: 0 };
    this.#templates.set(key, template);
    // A loop leads to pages that are known by other addresses.
    const hasOwn =
      this.#learnsWords(key, wordsOf(text, parts), parts.length === 0) && (isNewText || key !== loopOf(url));
    if (hasOwn) template.inRow = template.copies = 0;
    // A page that links to no others of its kind ends the sequence.
    else if (links.some((link) => link.url !== url && templateOf(link.url).key === key)) {
      template.inRow++;
      this.#hasTrap ||= template.inRow >= MANY;
      if (!isNewText) template.copies++;
      this.#barren.set(url, isCopy);
    }
  }

  /** Tells whether the site answers pages like this one, linked from `parent`, without text of their own. */
  isTrap(url: PageUrl, parent: PageUrl | null): boolean {
    const isCopy = parent === null ? undefined : this.#barren.get(parent);
    // Most sites have no traps, and then their links need no templates.
    if (isCopy === undefined && !this.#hasTrap) return false;
    const { key } = templateOf(url);
    const template = this.#templates.get(key);
    const { inRow = 0, copies = 0, isRandom = false } = template ?? {};
    const isProven = isCopy !== undefined && (copies >= FEW || (isRandom && inRow >= FEW_RANDOM));
    if (template && (isProven || inRow >= MANY)) return this.#tell(template);
    // Relative links lead from copy to copy, each deeper than the last.
    return isCopy === true && parent !== null && url.startsWith(directoryOf(parent));
  }

  /** Returns what a person should know of the traps met since the last call. */
  takeWarnings(): string[] {
    return this.#warnings.splice(0);
  }

  #tell({ key, example, inRow }: Template): true {
    if (!this.#told.has(key) && this.#told.size < MAX_TOLD)
      this.#warnings.push(`Pages like ${example} are left out: ${inRow} in a row had no text of their own`);
    this.#told.add(key);
    return true;
  }

  /** Learns the words of a page, and tells whether its template had not shown them before. */
  #learnsWords(key: string, words: readonly string[], countsNumbers: boolean): boolean {
    const seed = hashOf(key);
    const hashes = Int32Array.from(words, (word) => hashOf(word, seed));
    let newWords = 0;
    let newRuns = 0;
    for (const [at, word] of words.entries()) {
      let run = hashes[at] ?? 0;
      if (this.#learns(run) && (countsNumbers || !/^\p{N}/u.test(word))) newWords++;
      // The hash of a run is made of those of its words: joining texts took most of the time of a page's links.
      const end = Math.min(at + RUN_WORDS, words.length);
      for (let next = at + 1; next < end; next++)
        run = (Math.imul(run ^ (run >>> 15), HASH_FACTOR) + (hashes[next] ?? 0)) | 0;
      if (this.#learns(run)) newRuns++;
    }
    return newWords > 0 || newRuns >= MIN_NEW_RUNS;
  }

  #learns(hash: number): boolean {
    const { size } = this.#known;
    return this.#known.add(hash).size > size;
  }
}

/** Odd, and with bits all over, so that the order of a run's words counts. */
const HASH_FACTOR = 0x85eb_ca6b;

/** Small integers take less of a set's time and memory than numbers beyond 31 bits. */
const hashOf = (text: string, seed = 0): number => Bun.hash.xxHash32(text, seed) | 0;

const directoryOf = (url: PageUrl): string => url.slice(0, url.lastIndexOf("/") + 1);

const loopOf = (url: PageUrl): string => `loop ${originOf(url)}`;

/** Matches a year with a month, and perhaps a day; not within a hexadecimal number, such as a UUID. */
const DATE = /(?<![\da-f])(?:19|20|21)\d\d[/-](?:0?[1-9]|1[0-2])(?:[/-]\d\d?)?(?![\da-f])/gi;

/**
 * Replaces the parts of a URL that may vary without end: dates, random names, numbers and the values of parameters.
 * URLs that look like a loop share one template.
 * @returns also the replaced parts that a page may repeat as text. Numbers in the path are not among them, because many
 * pages differ only by their number
 */
function templateOf(
  url: PageUrl,
): Pick<Template, "key" | "isRandom"> & { readonly parts: readonly string[] } {
  if (looksLooped(url)) return { key: loopOf(url), isRandom: true, parts: [url] };
  const parts: string[] = [];
  const replaced = (by: string) => (part: string) => {
    parts.push(part);
    return by;
  };
  const origin = originOf(url);
  const [start, query] = splitQuery(url);
  const path = start.slice(origin.length);
  const key =
    origin +
    path.replace(DATE, replaced("@")).replace(/[^/=;:()]+/g, (part) => {
      // A name before it, as in `sid-8f3a…`, is not random.
      const prefix = /^(?:s|sid|sess|session)[-_]/i.exec(part)?.[0] ?? "";
      const rest = part.slice(prefix.length);
      return looksRandom(rest) ? prefix + replaced("*")(rest) : part.replace(/\d+/g, "#");
    });
  const isRandom = key.includes("*");
  if (query === "") return { key, isRandom, parts };
  const names = query.split("&").map((pair) => {
    const [name = "", value = ""] = pair.split("=", 2);
    parts.push(value);
    return name.replace(/\d+/g, "#");
  });
  return { key: `${key}?${[...new Set(names)].sort().join("&")}`, isRandom, parts };
}

/** Returns the words of a text without those of its own address, and without the numbers that calendars count. */
function wordsOf(text: string, parts: readonly string[]): string[] {
  const plain = text.replace(/\]\([^()\s]{0,2000}/g, "]").toLowerCase();
  const words = (plain.match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? []).slice(0, MAX_WORDS);
  if (parts.length === 0) return words;
  const own = new Set(
    parts
      .join(" ")
      .toLowerCase()
      .match(/[\p{L}\p{M}]+|\p{N}+/gu),
  );
  return words.filter((word) => !own.has(word) && !COUNTED.test(word));
}

/** Matches numbers of days, months and years. */
const COUNTED = /^(?:0?\d|[12]\d|3[01]|(?:19|20|21)\d\d)$/;
