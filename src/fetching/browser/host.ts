import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createTurns } from "../../base/event-loop.ts";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { systemCode } from "../../base/system-error.ts";
import { type Browser, launchChromium, unusable, within } from "./chromium.ts";

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
  /** Pages after which a new browser takes over to keep memory flat; the old one ends with its last page. */
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
  /** Whether the browser has served its share of pages and should be released as soon as possible. */
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
export const createBrowserHost = (options: BrowserHostOptions): BrowserHost => new Host(options);

class Host implements BrowserHost {
  readonly #options: BrowserHostOptions;
  #directory: string | null = null;
  #current: Promise<Running> | null = null;
  #failed: { readonly error: unknown; readonly at: number } | null = null;
  #isClosed = false;
  /** Every browser that runs, replaced ones that still have pages open among them. */
  readonly #all = new Set<Browser>();
  /** Hands leases out one at a time, in the order of calls, so that two at once do not start two browsers. */
  readonly #inTurn = createTurns();

  constructor(options: BrowserHostOptions) {
    this.#options = options;
  }

  async take(): Promise<BrowserLease> {
    const used = await this.#inTurn(() => this.#running());
    if (used.leases++ === 0) used.memory.start();
    let isBack = false;
    return {
      browser: used.browser,
      countPage: () => {
        if (++used.pages >= this.#options.maxPages) used.isRetired = true;
      },
      isWorn: () => used.isRetired,
      hasEndedGreedyPage: used.memory.hasJustEnded,
      giveBack: async (isBroken) => {
        if (!isBack) {
          isBack = true;
          await giveBack(used, isBroken);
        }
      },
    };
  }

  async #running(): Promise<Running> {
    if (this.#isClosed) throw new Failure("cancelled", "the browser is shut down");
    const known = this.#current && (await this.#current.catch(() => null));
    if (known && !known.isRetired && known.browser.isConnected()) return known;
    if (this.#failed && performance.now() - this.#failed.at < FAILURE_TTL_MS) throw this.#failed.error;
    this.#current = this.#launch();
    try {
      return await this.#current;
    } catch (error) {
      this.#failed = { error, at: performance.now() };
      this.#current = null;
      throw error;
    }
  }

  async #launch(): Promise<Running> {
    const options = this.#options;
    if (this.#directory === null) {
      this.#directory = ownDirectory(options);
      options.useTemporaryDirectory(this.#directory);
    }
    const browser = await launchChromium({
      executablePath: options.executablePath,
      isHeaded: options.isHeaded,
      hasSandbox: options.hasSandbox,
      environment: browserEnvironment(options.environment, this.#directory),
      timeoutMs: LAUNCH_TIMEOUT_MS,
    });
    options.log.info("browser started", { version: browser.version(), headed: options.isHeaded });
    this.#all.add(browser);
    browser.once("disconnected", () => this.#all.delete(browser));
    const memory = createMemoryWatch(browser, options.maxPageMb);
    return { browser, memory, pages: 0, leases: 0, isRetired: false };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#inTurn(async () => {});
    await Promise.all([...this.#all].map(closeBrowser));
    // A browser that is just ending may still write into it.
    if (this.#directory !== null)
      rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

async function giveBack(used: Running, isBroken: boolean): Promise<void> {
  used.leases--;
  if (used.leases === 0) used.memory.stop();
  if (isBroken) used.isRetired = true;
  if (isBroken || (used.isRetired && used.leases === 0)) await closeBrowser(used.browser);
}

function ownDirectory({ temporaryBase, pid }: BrowserHostOptions): string {
  try {
    return openProfileDirectory(temporaryBase, pid);
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw unusable(`the browser has no place for its files: ${why}`, error);
  }
}

// A browser that hangs would delay the end of the program.
const closeBrowser = (browser: Browser): Promise<boolean> => within(CLOSE_TIMEOUT_MS, browser.close());

/**
 * The variables that Chromium needs, by the first part of their names. They tell where programs, fonts,
 * screens and the user's sessions are, the language and the time zone; on Windows also where the system is.
 */
const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|FONTCONFIG_\w+|LD_LIBRARY_PATH|CHROME_DEVEL_SANDBOX|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|PROGRAMDATA|PROGRAMFILES\S*|COMMONPROGRAMFILES\S*|APPDATA|LOCALAPPDATA|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH)$/i;

/**
 * The environment of a browser's process. All other variables are withheld: they may hold secrets (API keys,
 * tokens of a CI job, proxy passwords), and a browser runs the scripts of strangers.
 * @param directory takes the browser's temporary files and crash reports, which would otherwise go to the
 * user's own configuration
 */
function browserEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  directory: string,
): Record<string, string> {
  const needed = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && NEEDED.test(entry[0]),
  );
  return {
    ...Object.fromEntries(needed),
    TMPDIR: directory,
    TEMP: directory,
    TMP: directory,
    BREAKPAD_DUMP_LOCATION: directory,
  };
}

const NAME = /^browser-(\d+)$/;

/**
 * Makes the directory for this process's browser profiles and their temporary files, with access for its user
 * alone. It also removes directories of ended processes, since SIGKILL leaves no time to tidy up.
 * @param base the user's own directory for this program's temporary files
 * @returns an absolute path; the caller removes it at the end
 * @throws Error when the base belongs to somebody else or cannot be made
 */
function openProfileDirectory(base: string, pid: number): string {
  mkdirSync(base, { recursive: true, mode: 0o700 });
  requireOwn(base);
  sweep(base);
  const directory = join(base, `browser-${pid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

// In a directory that all users share, somebody else may have made it first in order to read its contents.
function requireOwn(base: string): void {
  const stats = lstatSync(base);
  const user = process.getuid?.() ?? stats.uid;
  if (!stats.isDirectory() || stats.uid !== user) throw new Error(`${base} is not a directory of this user`);
  if ((stats.mode & 0o077) !== 0 && process.platform !== "win32") chmodSync(base, 0o700);
}

function sweep(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = Number(NAME.exec(name)?.[1] ?? 0);
    if (pid === 0 || isRunning(pid)) continue;
    try {
      rmSync(join(base, name), { recursive: true, force: true });
    } catch {
      // The next start tries again to remove it.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process runs, as another user whom we may not signal.
    return systemCode(error) === "EPERM";
  }
}

/**
 * Ends page processes of a browser that take too much memory. V8 limits its own heap, but nothing limits
 * memory outside it. Only Linux tells how much a process takes; nothing is watched on other systems.
 */
type MemoryWatch = {
  start(): void;
  stop(): void;
  /** Whether a page was ended a moment ago, so that a tab that crashed now was probably that page's. */
  hasJustEnded(): boolean;
};

/** A page can fill a gigabyte in this time. */
const LOOK_EVERY_MS = 250;
/** How long to wait for a slow browser's answer before asking again. */
const LOOK_TIMEOUT_MS = 2_000;
/** On a busy machine seconds may pass before a tab's end is reported. */
const RECENT_MS = 15_000;

/** @param maxMb the limit of resident memory for one page */
function createMemoryWatch(browser: Browser, maxMb: number): MemoryWatch {
  let timer: ReturnType<typeof setInterval> | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;
  const stop = (): void => clearInterval(timer);
  let session: ReturnType<Browser["newBrowserCDPSession"]> | null = null;
  const look = async (): Promise<void> => {
    session ??= browser.newBrowserCDPSession();
    const { processInfo } = await (await session).send("SystemInfo.getProcessInfo");
    for (const { type, id } of processInfo) {
      if (type !== "renderer" || residentMb(id) <= maxMb) continue;
      endedAt = performance.now();
      end(id);
    }
  };
  // The watch must continue after a failed look.
  const lookAgain = (): void => {
    session = null;
    if (!browser.isConnected()) stop();
  };
  return {
    start() {
      stop();
      timer = setInterval(() => {
        if (isLooking) return;
        isLooking = true;
        void within(LOOK_TIMEOUT_MS, look().catch(lookAgain)).then(() => {
          isLooking = false;
        });
      }, LOOK_EVERY_MS);
    },
    stop,
    hasJustEnded: () => performance.now() - endedAt < RECENT_MS,
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {} // The process has ended by itself.
}

/** Returns 0 when no page's process has this id: a browser in its own container has ids of its own. */
function residentMb(pid: number): number {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--type=renderer")) return 0;
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
