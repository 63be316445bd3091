import { orAborted } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";
import { parsePageUrl } from "../../urls/index.ts";
import type { FetchedStream, FetchOptions, StreamFetcher } from "../types.ts";
import { ALLOW_ALL, DISALLOW_ALL, parseRobots, type RobotsRules } from "./rules.ts";

export type RobotsCacheOptions = {
  readonly fetcher: StreamFetcher;
  readonly now?: () => number;
  /** How long a site's rules are used, in ms; the default is 24 h. */
  readonly ttlMs: number;
  /** How long a site stays closed after its robots.txt could not be fetched, in ms. */
  readonly unreachableTtlMs: number;
  /** The number of sites to keep; the one that was fetched longest ago is dropped first. */
  readonly maxSites: number;
};

/** The default times for keeping a robots.txt. */
export const DEFAULT_ROBOTS_TIMES = {
  ttlMs: 24 * 60 * 60 * 1000,
  unreachableTtlMs: 10 * 60 * 1000,
  maxSites: 2000,
} as const;

/** The robots.txt of each site. Overlapping requests share one fetch, and its result is kept for a day. */
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
  const now = options.now ?? Date.now;
  const entries = new Map<string, Entry>();

  const load = (origin: string, fetchOptions: FetchOptions): Promise<RobotsRules> => {
    const found = entries.get(origin);
    if (found && now() < found.expiresAt) return found.rules;
    const entry: Entry = {
      rules: fetchRobots(options.fetcher, origin, fetchOptions).then(
        (rules) => {
          const isUnreachable = rules === DISALLOW_ALL || rules.failure !== undefined;
          entry.expiresAt = now() + (isUnreachable ? options.unreachableTtlMs : options.ttlMs);
          return rules;
        },
        (error: unknown) => {
          if (entries.get(origin) === entry) entries.delete(origin);
          throw error;
        },
      ),
      expiresAt: Number.POSITIVE_INFINITY, // while it is being fetched
    };
    entries.delete(origin);
    entries.set(origin, entry);
    const oldest = entries.size > options.maxSites ? entries.keys().next() : undefined;
    if (oldest && !oldest.done) entries.delete(oldest.value);
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
        new Failure("cancelled", `waiting for the robots.txt of ${origin} was called off`);
      return await orAborted(rules, signal, calledOff);
    },
  };
}

async function fetchRobots(
  fetcher: StreamFetcher,
  origin: string,
  options: FetchOptions,
): Promise<RobotsRules> {
  const url = parsePageUrl(`${origin}/robots.txt`);
  if (!url) return ALLOW_ALL;
  try {
    const answer = await fetcher.fetchStream(url, { ...options, purpose: "robots" });
    if (answer.status >= 200 && answer.status < 300) return parseRobots(await readText(answer));
    await answer.body.cancel();
    return answer.status >= 400 && answer.status < 500 ? ALLOW_ALL : DISALLOW_ALL;
  } catch (error) {
    if (!(error instanceof Failure) || error.code === "egress_refused" || error.code === "cancelled")
      throw error;
    return { ...DISALLOW_ALL, failure: error.toRecord() };
  }
}

async function readText(answer: FetchedStream): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for await (const bytes of answer.body) pieces.push(decoder.decode(bytes, { stream: true }));
  pieces.push(decoder.decode());
  return pieces.join("");
}
