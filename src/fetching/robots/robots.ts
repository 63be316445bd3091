import { orAborted } from "../../base/abort.ts";
import { keepNewest } from "../../base/bounded-map.ts";
import { steadyNow } from "../../base/clock.ts";
import { Away, Failure, type FailureRecord } from "../../base/failure.ts";
import { parsePageUrl } from "../../urls/index.ts";
import type { FetchOptions, StreamFetcher } from "../types.ts";

type RobotsCacheOptions = {
  readonly fetcher: StreamFetcher;
  readonly now?: () => number;
  /** How long a site's rules are used, in ms; the default is 24 h. */
  readonly ttlMs: number;
  /** How long a site stays closed after its robots.txt could not be fetched, in ms. */
  readonly unreachableTtlMs: number;
  /** The number of sites to keep; the one that was fetched longest ago is dropped first. */
  readonly maxSites: number;
  /** The store that several processes share; by default each process fetches its own files. */
  readonly store?: RobotsStore | undefined;
};

/** A site's answer to the request for its robots.txt. */
export type RobotsAnswer =
  | { readonly kind: "file"; readonly text: string }
  /** There is none (any 4xx), so everything is allowed. */
  | { readonly kind: "absent" }
  /** A server error or no answer; nothing is allowed (RFC 9309, 2.3.1). */
  | { readonly kind: "unreachable"; readonly failure: FailureRecord };

/** The robots.txt files that several processes share. */
export interface RobotsStore {
  /**
   * Returns the kept answer of a site, or fetches it while all other processes wait for it.
   * @param origin the site: scheme, host and port
   * @param lifetimeMs how long an answer may be used from when it was fetched, in ms
   * @returns the answer, and for how long it may still be used
   * @throws what `fetch` throws; then nothing is kept, and the next to ask fetches
   */
  load(
    origin: string,
    fetch: () => Promise<RobotsAnswer>,
    lifetimeMs: (answer: RobotsAnswer) => number,
  ): Promise<{ readonly answer: RobotsAnswer; readonly restMs: number }>;
}

const keepNothing: RobotsStore = {
  async load(_, fetch, lifetimeMs) {
    const answer = await fetch();
    return { answer, restMs: lifetimeMs(answer) };
  },
};

/** The default times for keeping a robots.txt. */
export const DEFAULT_ROBOTS_TIMES = {
  ttlMs: 24 * 60 * 60 * 1000,
  unreachableTtlMs: 10 * 60 * 1000,
  maxSites: 2000,
} as const;

/** The rules of each site's robots.txt. Overlapping requests share one fetch, and its result is kept for a day. */
export interface RobotsCache {
  /**
   * The rules of the URL's origin. A missing robots.txt (any 4xx) allows everything; a server error or no
   * answer allows nothing (RFC 9309, 2.3.1).
   * @throws Failure `egress_refused` and `cancelled` only
   */
  rulesFor(url: URL | string, options?: FetchOptions): Promise<RobotsRules>;
}

type Entry = { readonly rules: Promise<RobotsRules>; expiresAt: number };

export function createRobotsCache(options: RobotsCacheOptions): RobotsCache {
  const now = options.now ?? steadyNow;
  const { store = keepNothing } = options;
  const entries = new Map<string, Entry>();
  const lifetimeMs = ({ kind }: RobotsAnswer): number =>
    kind === "unreachable" ? options.unreachableTtlMs : options.ttlMs;

  const load = (origin: string, fetchOptions: FetchOptions): Promise<RobotsRules> => {
    const found = entries.get(origin);
    if (found && now() < found.expiresAt) return found.rules;
    const entry: Entry = {
      rules: store
        .load(origin, () => fetchRobots(options.fetcher, origin, fetchOptions), lifetimeMs)
        .then(
          ({ answer, restMs }) => {
            entry.expiresAt = now() + Math.min(restMs, lifetimeMs(answer));
            return rulesOf(answer);
          },
          (error: unknown) => {
            if (entries.get(origin) === entry) entries.delete(origin);
            throw error;
          },
        ),
      expiresAt: Number.POSITIVE_INFINITY, // while it is being fetched
    };
    keepNewest(entries, origin, entry, options.maxSites);
    return entry.rules;
  };

  return {
    async rulesFor(url, fetchOptions = {}) {
      const { origin } = new URL(url);
      const { signal, validators: _, ...rest } = fetchOptions;
      // Everybody who asks meanwhile shares this fetch, so one caller's signal must not end it.
      const rules = load(origin, rest);
      if (!signal) return await rules;
      const calledOff = (): Failure =>
        new Failure("cancelled", `waiting for the robots.txt of ${origin} was cancelled`);
      return await orAborted(rules, signal, calledOff);
    },
  };
}

async function fetchRobots(
  fetcher: StreamFetcher,
  origin: string,
  options: FetchOptions,
): Promise<RobotsAnswer> {
  const url = parsePageUrl(`${origin}/robots.txt`);
  if (!url) return { kind: "absent" };
  try {
    const answer = await fetcher.fetchStream(url, { ...options, purpose: "robots" });
    if (answer.status >= 200 && answer.status < 300)
      return { kind: "file", text: await readText(answer.body) };
    await answer.body.cancel();
    if (answer.status >= 400 && answer.status < 500) return { kind: "absent" };
    const message = `GET ${url} answered HTTP ${answer.status}`;
    return { kind: "unreachable", failure: { code: "http_status", message } };
  } catch (error) {
    if (!(error instanceof Failure) || error instanceof Away) throw error;
    if (error.code === "egress_refused" || error.code === "cancelled") throw error;
    return { kind: "unreachable", failure: error.toRecord() };
  }
}

async function readText(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}

function rulesOf(answer: RobotsAnswer): RobotsRules {
  if (answer.kind === "file") return parseRobots(answer.text);
  if (answer.kind === "absent") return ALLOW_ALL;
  return { ...DISALLOW_ALL, failure: answer.failure };
}

/** The content of a robots.txt (RFC 9309); `parseRobots` makes it, and the functions below read it. */
export type RobotsRules = {
  /** Groups by product token in lower case; `*` is for all other agents. Groups of one token are merged. */
  readonly groups: ReadonlyMap<string, RobotsGroup>;
  /** The absolute URLs of Sitemap lines as written; they apply to all agents. */
  readonly sitemaps: readonly string[];
  /** Why the file could not be fetched; then nothing is allowed. */
  readonly failure?: FailureRecord;
};

type RobotsGroup = {
  /** The longest pattern comes first; among equals Allow comes first. */
  readonly rules: readonly RobotsRule[];
  /** Crawl-delay in ms, null when the group has none. */
  readonly crawlDelayMs: number | null;
};

type RobotsRule = {
  readonly isAllow: boolean;
  /** The pattern without its `$`, cut at each `*`. */
  readonly parts: readonly string[];
  readonly isAnchoredAtEnd: boolean;
  readonly length: number;
};

/** The rules of a site without a robots.txt: everything is allowed. */
const ALLOW_ALL: RobotsRules = { groups: new Map(), sitemaps: [] };

/** The rules of a site whose robots.txt could not be fetched: nothing is allowed. */
const DISALLOW_ALL: RobotsRules = {
  groups: new Map([["*", { rules: [compileRule(false, "/")], crawlDelayMs: null }]]),
  sitemaps: [],
};

/** Hostile files hold more than any site needs; what exceeds these limits is ignored. */
const MAX_LINE_LENGTH = 8192;
const MAX_RULES = 20_000;
const MAX_SITEMAPS = 10_000;

/** A longer delay is a mistake or a trap. */
const MAX_CRAWL_DELAY_S = 86_400;

/** Reads a robots.txt. Any text is accepted; meaningless lines are ignored. */
export function parseRobots(text: string): RobotsRules {
  const reader = createReader();
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)) {
    if (line.length > MAX_LINE_LENGTH) continue;
    const content = line.split("#", 1)[0] ?? "";
    const colon = content.indexOf(":");
    if (colon > 0) reader.take(content.slice(0, colon).trim().toLowerCase(), content.slice(colon + 1).trim());
  }
  return reader.finish();
}

/**
 * Whether the agent may fetch the URL: the longest matching pattern decides, and among equals Allow.
 * @param userAgent a product token, or a user agent string with one; see `agentTokens`
 */
export function isAllowed(rules: RobotsRules, userAgent: string, url: URL | string): boolean {
  const { pathname, search } = new URL(url);
  if (pathname === "/robots.txt") return true;
  const group = groupFor(rules, userAgent);
  if (!group || group.rules.length === 0) return true;
  const target = normalizeEscapes(pathname + search)
    .replaceAll("*", "%2A")
    .replaceAll("$", "%24");
  return group.rules.find((rule) => matches(rule, target))?.isAllow ?? true;
}

/** The agent's Crawl-delay in ms; null without one. */
export const crawlDelayMs = (rules: RobotsRules, userAgent: string): number | null =>
  groupFor(rules, userAgent)?.crawlDelayMs ?? null;

/** The name of the group that holds for the agent; null when the file has none for it. */
export const groupName = ({ groups }: RobotsRules, userAgent: string): string | null =>
  [...agentTokens(userAgent), "*"].find((token) => groups.has(token)) ?? null;

const groupFor = (rules: RobotsRules, userAgent: string): RobotsGroup | undefined =>
  rules.groups.get(groupName(rules, userAgent) ?? "");

/** Names in the user agents of browsers, which bots put around their own. */
const BROWSER_TOKENS =
  /^(?:mozilla|msie|trident|applewebkit|khtml|gecko|(?:headless)?chrom(?:e|ium)|crios|safari|version|mobile|firefox|fxios|edge?|edga|edgios|opr|opera)$/;

/**
 * The product tokens of a user agent, those of a bot first. Many bots present themselves as a browser, and name
 * themselves after "compatible;" or with their own version: `Mozilla/5.0 (compatible; QuayBot/2.1; +https://…)`.
 */
function agentTokens(userAgent: string): readonly string[] {
  const first = productToken(userAgent);
  if (first !== "mozilla") return [first];
  const names = userAgent
    .replace(/\+?(?:https?:\/\/|mailto:)[^\s;)]*/gi, "")
    .matchAll(/compatible;\s{0,9}([^\s;()/]{1,100})|([^\s;()/]{1,100})\/v?\d/gi);
  const tokens = [...names].map(([, named, versioned]) => productToken(named ?? versioned ?? ""));
  return [...tokens.filter((token) => token !== "" && !BROWSER_TOKENS.test(token)), first];
}

const productToken = (text: string): string =>
  text.trim() === "*" ? "*" : (/^[a-z_-]+/i.exec(text.trim())?.[0] ?? "").toLowerCase();

type OpenGroup = { rules: RobotsRule[]; crawlDelayMs: number | null };

function createReader(): { take(key: string, value: string): void; finish(): RobotsRules } {
  const groups = new Map<string, OpenGroup>();
  const sitemaps: string[] = [];
  let current: OpenGroup[] = [];
  let isInRules = false;
  let ruleCount = 0;

  const startGroup = (agent: string): void => {
    if (isInRules) current = [];
    isInRules = false;
    const token = productToken(agent);
    if (token === "") return;
    const group = groups.get(token) ?? { rules: [], crawlDelayMs: null };
    groups.set(token, group);
    current.push(group);
  };
  const addRule = (isAllow: boolean, pattern: string): void => {
    isInRules = true;
    if (pattern === "" || ruleCount >= MAX_RULES) return; // an empty pattern matches nothing
    ruleCount++;
    const rule = compileRule(isAllow, pattern);
    for (const group of current) group.rules.push(rule);
  };
  // The RFC does not know this line, so by the RFC it must not end the list of agents at the start of a group.
  const setDelay = (value: string): void => {
    if (!/^\d{1,9}(?:\.\d{0,9})?$/.test(value)) return;
    const ms = Math.round(Math.min(Number(value), MAX_CRAWL_DELAY_S) * 1000);
    for (const group of current) group.crawlDelayMs = Math.max(ms, group.crawlDelayMs ?? 0);
  };

  return {
    take(key, value) {
      if (key === "user-agent") startGroup(value);
      else if (key === "allow") addRule(true, value);
      else if (key === "disallow") addRule(false, value);
      else if (key === "crawl-delay") setDelay(value);
      else if (key === "sitemap" && value !== "" && sitemaps.length < MAX_SITEMAPS) sitemaps.push(value);
    },
    finish() {
      for (const group of groups.values())
        group.rules.sort((a, b) => b.length - a.length || Number(b.isAllow) - Number(a.isAllow));
      return { groups, sitemaps };
    },
  };
}

function compileRule(isAllow: boolean, pattern: string): RobotsRule {
  const normal = normalizeEscapes(pattern);
  const isAnchoredAtEnd = normal.endsWith("$");
  const body = isAnchoredAtEnd ? normal.slice(0, -1) : normal;
  const parts = body.split(/\*+/).map((part) => part.replaceAll("$", "%24"));
  return { isAllow, parts, isAnchoredAtEnd, length: normal.length };
}

/** Whether the pattern matches from the path's start; each part is searched once, so nothing backtracks. */
function matches(rule: RobotsRule, path: string): boolean {
  const { parts, isAnchoredAtEnd } = rule;
  const first = parts[0] ?? "";
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = parts.length - 1;
  if (last === 0) return !isAnchoredAtEnd || at === path.length;
  for (let index = 1; index < last; index++) {
    const part = parts[index] ?? "";
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const end = parts[last] ?? "";
  return isAnchoredAtEnd ? path.length - end.length >= at && path.endsWith(end) : path.indexOf(end, at) >= 0;
}

/**
 * Normalises a path (RFC 9309, 2.2.2): characters outside ASCII are escaped, unreserved characters are
 * unescaped, and the remaining escapes are in upper case.
 */
function normalizeEscapes(text: string): string {
  return text
    .replace(/[^\x20-\x7e]+/g, (run) => encodeURIComponent(run.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (escaped) => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase();
    });
}
