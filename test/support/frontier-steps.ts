import type { PageOutcome } from "../../src/crawler/index.ts";
import type { ClaimedPage, Frontier, FrontierEntry, Settlement } from "../../src/crawler/testing.ts";
import type { PageUrl } from "../../src/urls/index.ts";
import { pageUrl } from "./test-fetcher.ts";

/** When the tests of a frontier take place. */
export const NOW = 1_000_000;

export const url = (path: string, host = "h.test"): PageUrl => pageUrl(`https://${host}${path}`);

export const seed = (path: string, host?: string): FrontierEntry => ({
  url: url(path, host),
  source: "seed",
  lastModified: null,
  refusal: null,
});

type Wanted = Partial<Parameters<Frontier["claim"]>[0]>;

export const options = (wanted: Wanted): Parameters<Frontier["claim"]>[0] => ({
  now: NOW,
  count: 9,
  untried: 1000,
  isHostExclusive: false,
  ...wanted,
});

export const claim = async (frontier: Frontier, wanted: Wanted): Promise<readonly ClaimedPage[]> =>
  (await frontier.claim(options(wanted))).pages;

export const paths = (pages: readonly ClaimedPage[]): string[] =>
  pages.map((page) => new URL(page.url).pathname);

export const all = (frontier: Frontier): Promise<PageOutcome[]> => Array.fromAsync(frontier.outcomes());

type Ending = {
  readonly links?: readonly string[];
  readonly follow?: Settlement["follow"];
  readonly skippedLinks?: Settlement["skippedLinks"];
  readonly validators?: Settlement["validators"];
  readonly outcome?: Partial<Settlement["outcome"]>;
};

export function settle(frontier: Frontier, page: ClaimedPage | undefined, ending: Ending): Promise<boolean> {
  if (!page) throw new Error("no page was claimed");
  return frontier.settle({
    page,
    isFetched: true,
    links: (ending.links ?? []).map((path) => url(path)),
    follow: ending.follow ?? "now",
    skippedLinks: ending.skippedLinks ?? new Map(),
    validators: ending.validators ?? null,
    outcome: {
      status: "success",
      filePath: null,
      wordCount: null,
      title: null,
      httpStatus: 200,
      finalUrl: page.url,
      durationMs: 1,
      contentHash: null,
      warnings: [],
      error: null,
      reason: null,
      change: "new",
      ...ending.outcome,
    },
  });
}
