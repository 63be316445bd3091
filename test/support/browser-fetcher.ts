import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BrowserMachine } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import type { BrowserFetcherOptions } from "../../src/fetching/browser/fetcher.ts";
import { type BrowserHost, createBrowserHost } from "../../src/fetching/browser/host.ts";
import { findBrowser } from "../../src/fetching/browser/hosts.ts";
import type { Resolve } from "../../src/fetching/egress/egress.ts";
import {
  createBrowserFetcher,
  createBrowsingSession,
  DEFAULT_FETCH_LIMITS,
  type Fetcher,
  type FetchLimits,
} from "../../src/fetching/index.ts";
import { testParts } from "./test-fetcher.ts";

// This is read first, because a browser's directory later takes the place of the machine's.
const TEMPORARY = tmpdir();

/** Finds the Chromium or Chrome of this machine. */
export function browserPath(): string {
  const found = findBrowser({
    explicit: process.env.ARTICLE_EXTRACTOR_BROWSER_PATH || null,
    searchPath: process.env.PATH ?? "",
    platform: process.platform,
    home: process.env.HOME ?? "/",
  });
  if (found === null) throw new Error("no Chromium was found: run sh scripts/ensure.sh fast");
  return found;
}

// Tests look into a directory after its browser has gone, so it stays until all are through.
function temporaryBase(): string {
  const base = mkdtempSync(join(TEMPORARY, "bt-"));
  process.once("exit", () => rmSync(base, { recursive: true, force: true }));
  return base;
}

/** Describes this machine, with a directory of the test's own for temporary files. */
export function testMachine(): BrowserMachine {
  return {
    searchPath: dirname(browserPath()),
    platform: process.platform,
    home: "/nonexistent",
    temporaryBase: temporaryBase(),
    useTemporaryDirectory: () => {},
    environment: process.env,
    pid: process.pid,
    isRoot: process.getuid?.() === 0,
    hasDisplay: false,
  };
}

/** Opens a browser for one test, which keeps its files in a directory of its own. */
export function openTestHost(
  options: {
    maxPages?: number;
    maxPageMb?: number;
    base?: string;
    environment?: Record<string, string | undefined>;
  } = {},
): BrowserHost & { base: string } {
  const base = options.base ?? temporaryBase();
  const host = createBrowserHost({
    executablePath: browserPath(),
    isHeaded: false,
    hasSandbox: process.getuid?.() !== 0,
    environment: options.environment ?? process.env,
    temporaryBase: base,
    useTemporaryDirectory: (directory) => {
      process.env.TMPDIR = directory;
    },
    pid: process.pid,
    maxPages: options.maxPages ?? 500,
    maxPageMb: options.maxPageMb ?? 2048,
    log: silentLog,
  });
  return {
    take: () => host.take(),
    base,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      // The directory is gone, and tests of other files keep theirs in the machine's.
      process.env.TMPDIR = TEMPORARY;
    },
  };
}

export type TestBrowserOptions = Partial<Omit<BrowserFetcherOptions, "limits" | "host" | "behaviour">> & {
  readonly host: BrowserHost;
  readonly policy?: string;
  readonly resolve?: Resolve;
  readonly limits?: Partial<FetchLimits>;
  readonly behaviour?: Partial<BrowserFetcherOptions["behaviour"]>;
};

/** Opens the browser fetcher of the command line; it hardly waits before it tries again. */
export function testBrowserFetcher(options: TestBrowserOptions): Fetcher {
  const { policy: _policy, resolve: _resolve, limits, behaviour, ...rest } = options;
  return createBrowserFetcher({
    ...testParts(options),
    pagesPerContext: 100,
    session: createBrowsingSession(null, Date.now),
    isRequired: false,
    pause: null,
    ...rest,
    behaviour: { waitFor: null, scrolls: false, loadsMedia: false, ...behaviour },
    limits: { ...DEFAULT_FETCH_LIMITS, ...limits },
  });
}
