import { Failure } from "../../failure.ts";
import { type FindBrowserOptions, findBrowser } from "./find.ts";
import { type BrowserHost, type BrowserHostOptions, createBrowserHost } from "./host.ts";

/** Null options where no browser is wanted. */
export type BrowserHostsOptions = Omit<BrowserHostOptions, "executablePath" | "isHeaded"> & {
  readonly find: FindBrowserOptions;
  /** Whether a window can be shown. */
  readonly hasDisplay: boolean;
};

/** The browsers of the program: one that nobody sees, one with a window, each started when first wanted. */
export interface BrowserHosts extends AsyncDisposable {
  /** The browser's executable, looked for once; null when this machine has none. */
  readonly path: string | null;
  readonly hasDisplay: boolean;
  /** @throws Failure `invalid_usage` without a browser, or without a display for a window */
  host(isHeaded: boolean): BrowserHost;
}

/** @throws Failure `invalid_settings` when the operator names a browser that cannot be run */
export function createBrowserHosts(options: BrowserHostsOptions): BrowserHosts {
  const { hasDisplay } = options;
  const path = findBrowser(options.find);
  const hosts = new Map<boolean, BrowserHost>();
  return {
    path,
    hasDisplay,
    host(isHeaded) {
      if (path === null) throw new Failure("invalid_usage", NO_BROWSER);
      if (isHeaded && !hasDisplay)
        throw new Failure("invalid_usage", "a browser's window needs a display, and there is none here");
      const known = hosts.get(isHeaded) ?? createBrowserHost({ ...options, executablePath: path, isHeaded });
      hosts.set(isHeaded, known);
      return known;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...hosts.values()].map((host) => host[Symbol.asyncDispose]()));
    },
  };
}

const NO_BROWSER =
  "no Chromium, Chrome or Edge was found: install one, or name it in ARTICLE_EXTRACTOR_BROWSER_PATH";
