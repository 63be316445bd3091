import { Failure } from "../../base/failure.ts";
import { type FindBrowserOptions, findBrowser } from "./find.ts";
import { type BrowserHost, type BrowserHostOptions, createBrowserHost } from "./host.ts";

export type BrowserHostsOptions = Omit<BrowserHostOptions, "executablePath" | "isHeaded"> & {
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
