import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { type Browser, launchChromium } from "./chromium.ts";
import { browserEnvironment } from "./environment.ts";
import { createMemoryWatch, type MemoryWatch } from "./memory-watch.ts";
import { unusable } from "./navigation-failure.ts";
import { openProfileDirectory, removeProfileDirectory } from "./profile-directory.ts";

export type BrowserHostOptions = {
  readonly executablePath: string;
  readonly isHeaded: boolean;
  readonly hasSandbox: boolean;
  /** The user's own directory for this program's temporary files. */
  readonly temporaryBase: string;
  /** Makes this process and its child processes keep their temporary files in the directory. */
  readonly useTemporaryDirectory: (directory: string) => void;
  /** This process's environment; the browser gets the part that `browserEnvironment` lets through. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /**
   * Pages after which a browser is replaced by a new one and ends with its last page, so that memory stays
   * flat.
   */
  readonly maxPages: number;
  /** The memory in MB above which a page is ended; see `MemoryWatch`. */
  readonly maxPageMb: number;
  readonly log: Log;
};

/** One browser process for all sessions of the program, started when first wanted and again after a crash. */
export interface BrowserHost extends AsyncDisposable {
  /**
   * Lends a running browser; give it back when none of its pages is needed any more.
   * @throws Failure `internal` that `isUnusable` recognises, when it does not start
   */
  take(): Promise<BrowserLease>;
}

export type BrowserLease = {
  readonly browser: Browser;
  countPage(): void;
  /** Whether the browser has had its share of pages and should be given back as soon as possible. */
  isWorn(): boolean;
  /** Whether a page was ended a moment ago because it took too much memory. */
  hasEndedGreedyPage(): boolean;
  /** @param isBroken whether the browser stopped answering, so that the next lease needs a new one */
  giveBack(isBroken: boolean): Promise<void>;
};

const LAUNCH_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;
/** After a failed start the browser is not started again for this long, because each attempt takes time. */
const FAILURE_TTL_MS = 60_000;

type Running = {
  readonly browser: Browser;
  readonly memory: MemoryWatch;
  pages: number;
  leases: number;
  isRetired: boolean;
};

/** Makes a host. Nothing is started before the first lease. */
export function createBrowserHost(options: BrowserHostOptions): BrowserHost {
  let directory: string | null = null;
  let current: Promise<Running> | null = null;
  let failed: { readonly error: unknown; readonly at: number } | null = null;
  let isClosed = false;
  // This includes replaced browsers that still have pages open.
  const all = new Set<Browser>();
  let tail: Promise<unknown> = Promise.resolve();
  // Leases are handed out one at a time, in the order of calls, so that two at once do not start two
  // browsers.
  const serialised = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => {});
    return result;
  };

  const launch = async (): Promise<Running> => {
    if (directory === null) {
      directory = ownDirectory(options);
      options.useTemporaryDirectory(directory);
    }
    const browser = await launchChromium({
      ...options,
      environment: browserEnvironment(options.environment, directory),
      timeoutMs: LAUNCH_TIMEOUT_MS,
    });
    options.log.info("browser started", { version: browser.version(), headed: options.isHeaded });
    all.add(browser);
    browser.once("disconnected", () => all.delete(browser));
    const memory = createMemoryWatch(browser, options.maxPageMb);
    return { browser, memory, pages: 0, leases: 0, isRetired: false };
  };
  const running = async (): Promise<Running> => {
    if (isClosed) throw new Failure("cancelled", "the browser is shut down");
    const known = current && (await current.catch(() => null));
    if (known && !known.isRetired && known.browser.isConnected()) return known;
    if (failed && performance.now() - failed.at < FAILURE_TTL_MS) throw failed.error;
    current = launch();
    try {
      return await current;
    } catch (error) {
      failed = { error, at: performance.now() };
      current = null;
      throw error;
    }
  };
  const retire = (used: Running): void => {
    used.isRetired = true;
  };
  const giveBack = async (used: Running, isBroken: boolean): Promise<void> => {
    used.leases--;
    if (used.leases === 0) used.memory.stop();
    if (isBroken) retire(used);
    if (isBroken || (used.isRetired && used.leases === 0)) await closeBrowser(used.browser);
  };

  return {
    async take() {
      const used = await serialised(running);
      if (used.leases++ === 0) used.memory.start();
      let isBack = false;
      return {
        browser: used.browser,
        countPage: () => {
          if (++used.pages >= options.maxPages) retire(used);
        },
        isWorn: () => used.isRetired,
        hasEndedGreedyPage: used.memory.hasJustEnded,
        giveBack: async (isBroken) => {
          if (isBack) return;
          isBack = true;
          await giveBack(used, isBroken);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await tail;
      await Promise.all([...all].map(closeBrowser));
      if (directory !== null) removeProfileDirectory(directory);
    },
  };
}

function ownDirectory({ temporaryBase, pid }: BrowserHostOptions): string {
  try {
    return openProfileDirectory(temporaryBase, pid);
  } catch (error) {
    throw unusable(
      `the browser has no place for its files: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
}

// A browser that hangs would delay the end of the program.
async function closeBrowser(browser: Browser): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  await Promise.race([browser.close().catch(() => {}), promise]);
  clearTimeout(timer);
}
