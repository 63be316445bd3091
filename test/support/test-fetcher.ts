import { Failure } from "../../src/base/failure.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import type { Resolve } from "../../src/fetching/egress/egress.ts";
import type { HttpFetcherOptions } from "../../src/fetching/http/fetcher.ts";
import {
  chooseProxy,
  createEgress,
  createHttpFetcher,
  DEFAULT_FETCH_LIMITS,
  type FetchLimits,
  type HttpFetcher,
  parseEgressPolicy,
} from "../../src/fetching/index.ts";
import { type PageUrl, parsePageUrl } from "../../src/urls/index.ts";

/** Resolves names by the test's table; a name that is not in it does not exist. */
export function tableResolver(table: Readonly<Record<string, readonly string[]>>): Resolve {
  return async (host) => {
    const answer = table[host];
    if (!answer) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    return answer;
  };
}

export type TestFetcherOptions = Partial<Omit<HttpFetcherOptions, "limits">> & {
  readonly policy?: string;
  readonly resolve?: Resolve;
  readonly limits?: Partial<FetchLimits>;
};

/** Chooses no proxy, whatever the machine's environment says. */
export const NO_PROXY = chooseProxy({
  explicit: null,
  explicitSource: "caller",
  bypass: [],
  environment: { http: null, https: null, bypass: [] },
});

/** Gives test fetchers the rights of the command line, no proxy, and hardly any wait before they try again. */
export const testParts = ({ policy, resolve }: { readonly policy?: string; readonly resolve?: Resolve }) => ({
  egress: createEgress({
    policy: parseEgressPolicy(policy ?? "auto"),
    resolve: resolve ?? tableResolver({}),
    resolverTtlMs: 0,
  }),
  caller: { kind: "cli" } as const,
  chooseProxy: NO_PROXY,
  userAgent: "article-extractor/test (+https://example.org/)",
  log: silentLog,
  clock: {
    now: Date.now,
    random: () => 0,
    sleep: async (ms: number) => void (await Bun.sleep(Math.min(ms, 20))),
  },
});

/** Opens the fetcher of the command line with the default limits and no proxy; it tries again at once. */
export function testFetcher(options: TestFetcherOptions = {}): HttpFetcher {
  const { policy: _policy, resolve: _resolve, limits, ...rest } = options;
  return createHttpFetcher({
    ...testParts(options),
    ...rest,
    limits: { ...DEFAULT_FETCH_LIMITS, ...limits },
  });
}

export function pageUrl(text: string): PageUrl {
  const url = parsePageUrl(text);
  if (!url) throw new Error(`not a page's URL: ${text}`);
  return url;
}

/** Gives the Failure that some work ends with, and throws on whatever else it throws. */
export async function failureOf(work: Promise<unknown>): Promise<Failure | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
