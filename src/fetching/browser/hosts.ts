import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { type BrowserHost, type BrowserHostOptions, createBrowserHost } from "./host.ts";

type BrowserHostsOptions = Omit<BrowserHostOptions, "executablePath" | "isHeaded"> & {
  readonly find: FindBrowserOptions;
  /** Whether this machine can show a window. */
  readonly hasDisplay: boolean;
};

/** The browsers of the program: one without and one with a window, each started when first wanted. */
export interface BrowserHosts extends AsyncDisposable {
  /**
   * The browser's executable, or null when this machine has none. It is looked for once. Throws Failure
   * `invalid_settings` when the operator names one that cannot be run.
   */
  readonly path: string | null;
  /** @throws Failure `invalid_usage` without a browser, or without a display for a window */
  host(isHeaded: boolean): BrowserHost;
  /** Starts the browser to ask for its version. Throws like `host` and `BrowserHost.take`. */
  version(): Promise<string>;
}

/** Makes the browsers; nothing is searched or started before it is needed. */
export function createBrowserHosts(options: BrowserHostsOptions): BrowserHosts {
  const { hasDisplay } = options;
  let found: { readonly path: string | null } | null = null;
  // The search waits until somebody asks, because most runs never do.
  const path = (): string | null => {
    found ??= { path: findBrowser(options.find) };
    return found.path;
  };
  const hosts = new Map<boolean, BrowserHost>();
  const hostFor = (isHeaded: boolean): BrowserHost => {
    const executablePath = path();
    if (executablePath === null) throw new Failure("invalid_usage", NO_BROWSER);
    if (isHeaded && !hasDisplay)
      throw new Failure("invalid_usage", "a browser's window needs a display, and there is none here");
    const known = hosts.get(isHeaded) ?? createBrowserHost({ ...options, executablePath, isHeaded });
    hosts.set(isHeaded, known);
    return known;
  };
  return {
    get path() {
      return path();
    },
    host: hostFor,
    async version() {
      const lease = await hostFor(false).take();
      const version = lease.browser.version();
      await lease.giveBack(false);
      return version;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...hosts.values()].map((host) => host[Symbol.asyncDispose]()));
    },
  };
}

const NO_BROWSER =
  "no Chromium, Chrome or Edge was found: install one, or name it in ARTICLE_EXTRACTOR_BROWSER_PATH";

export type FindBrowserOptions = {
  /** The operator's choice (`ARTICLE_EXTRACTOR_BROWSER_PATH`) or null; `none` switches the search off. */
  readonly explicit: string | null;
  readonly searchPath: string;
  /** The platform in the words of `process.platform`. */
  readonly platform: string;
  /** The person's home directory, for browsers that are installed for one user. */
  readonly home: string;
};

/**
 * Finds the Chromium, Chrome or Edge of this machine: the named one, else the first on PATH, else the first
 * in the system's usual places. Nothing is ever downloaded.
 * @returns the executable's path, null when there is none
 * @throws Failure `invalid_settings` when the named one cannot be run
 */
export function findBrowser(options: FindBrowserOptions): string | null {
  const { explicit, platform } = options;
  if (explicit === NONE) return null;
  if (explicit !== null) {
    if (isExecutable(explicit)) return explicit;
    throw new Failure(
      "invalid_settings",
      `ARTICLE_EXTRACTOR_BROWSER_PATH: ${JSON.stringify(explicit)} is not a program that can be run`,
    );
  }
  const names = platform === "win32" ? [] : COMMANDS;
  // A relative entry depends on the working directory, which may be a hostile checkout that holds a browser.
  const directories = options.searchPath.split(delimiter).filter(isAbsolute);
  const onPath = names.flatMap((name) => directories.map((directory) => join(directory, name)));
  return [...onPath, ...placesOf(options)].find(isExecutable) ?? null;
}

/** To run a program that is called "none", write `./none`. */
const NONE = "none";

// Chromium comes first: a server has it when somebody installed a browser for this purpose.
const COMMANDS = [
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
  "microsoft-edge-stable",
  "microsoft-edge",
  "headless_shell",
  "chrome",
];

function placesOf({ platform, home }: FindBrowserOptions): string[] {
  if (platform === "darwin") {
    const apps = ["Chromium", "Google Chrome", "Microsoft Edge"];
    return ["/Applications", join(home, "Applications")].flatMap((folder) =>
      apps.map((app) => join(folder, `${app}.app`, "Contents/MacOS", app)),
    );
  }
  if (platform === "win32") {
    const programs = ["Google\\Chrome\\Application\\chrome.exe", "Microsoft\\Edge\\Application\\msedge.exe"];
    const roots = ["C:\\Program Files", "C:\\Program Files (x86)", `${home}\\AppData\\Local`];
    return roots.flatMap((root) => programs.map((program) => `${root}\\${program}`));
  }
  return [
    "/usr/lib/chromium/chromium",
    "/snap/bin/chromium",
    "/opt/google/chrome/chrome",
    "/opt/microsoft/msedge/msedge",
    "/var/lib/flatpak/exports/bin/org.chromium.Chromium",
  ];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
