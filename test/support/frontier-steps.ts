import type {
  ClaimedPage,
  Frontier,
  FrontierEntry,
  Settlement,
} from "../../src/crawler/frontier/frontier.ts";
import type { PageOutcome } from "../../src/crawler/index.ts";
import type { PageUrl } from "../../src/urls/index.ts";
import { pageUrl } from "./test-fetcher.ts";

export type FrontierLimits = { readonly maxPages: number; readonly maxDepth: number };

/** A place that keeps one frontier through restarts. */
export type FrontierPlace = AsyncDisposable & {
  /** Opens the frontier, as a restart does; the one before is closed or its process is dead. */
  open(limits: FrontierLimits): Promise<Frontier>;
  /** Ends the process of a frontier that is open, without a goodbye; its pages go to others as after its lease. */
  kill(frontier: Frontier): Promise<void>;
  /**
   * The pages that count as fetched since their process was lost, and were not tried again; among them are those that it
   * had claimed ahead and not handed out. Absent where nothing is claimed ahead.
   */
  lost?(): Promise<readonly string[]>;
  /** Lets this much time pass for the frontier, in ms. */
  pass(ms: number): Promise<void>;
};

/** What the tests of a frontier work with. */
export type FrontierSteps = {
  /** The frontier that is open. */
  readonly frontier: () => Frontier;
  readonly pass: (ms: number) => Promise<void>;
  /** Closes the frontier and opens it again. */
  readonly reopen: (limits?: Partial<FrontierLimits>) => Promise<Frontier>;
  /** Ends the frontier's process without a goodbye and opens it again. */
  readonly lose: (limits?: Partial<FrontierLimits>) => Promise<Frontier>;
};

export const url = (path: string, host = "h.test"): PageUrl => pageUrl(`https://${host}${path}`);

export const seed = (path: string, host?: string): FrontierEntry => ({
  url: url(path, host),
  source: "seed",
  lastModified: null,
  refusal: null,
});

type Wanted = Partial<Parameters<Frontier["claim"]>[0]>;

export const options = (wanted: Wanted): Parameters<Frontier["claim"]>[0] => ({
  count: 9,
  isHostExclusive: false,
  ...wanted,
});

export const claim = async (frontier: Frontier, wanted: Wanted = {}): Promise<readonly ClaimedPage[]> =>
  (await frontier.claim(options(wanted))).pages;

/** Claims one page, which has to be there. */
export async function claimOne(frontier: Frontier, wanted: Wanted = {}): Promise<ClaimedPage> {
  const [page] = await claim(frontier, { count: 1, ...wanted });
  if (!page) throw new Error("no page was claimed");
  return page;
}

/** Makes the host of this page rest: the page returns to its place, and the host's time comes after so many ms. */
export async function rest(frontier: Frontier, page: ClaimedPage, ms: number): Promise<void> {
  await frontier.retry(page, { waitMs: 0, tries: 0, spentMs: 0 });
  await frontier.freeHost(page, ms);
}

/** The outcomes that have not been told. */
export const told = async (frontier: Frontier): Promise<PageOutcome[]> =>
  (await frontier.takeRecorded(9999)).map(({ outcome }) => outcome);

export const paths = (pages: readonly ClaimedPage[]): string[] =>
  pages.map((page) => new URL(page.url).pathname);

export const all = (frontier: Frontier): Promise<PageOutcome[]> => Array.fromAsync(frontier.outcomes());

type Ending = {
  readonly links?: readonly string[];
  /** Links to other hosts. */
  readonly urls?: readonly PageUrl[];
  readonly follow?: Settlement["follow"];
  readonly skippedLinks?: Settlement["skippedLinks"];
  readonly validators?: Settlement["validators"];
  readonly isFetched?: boolean;
  readonly outcome?: Partial<Settlement["outcome"]>;
};

export function settle(frontier: Frontier, page: ClaimedPage | undefined, ending: Ending): Promise<boolean> {
  if (!page) throw new Error("no page was claimed");
  return frontier.settle({
    page,
    isFetched: ending.isFetched ?? true,
    links: [...(ending.links ?? []).map((path) => url(path)), ...(ending.urls ?? [])],
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
      fetcher: "browser",
      ...ending.outcome,
    },
  });
}
