import { stripVTControlCharacters } from "node:util";
import type { Browser } from "playwright-core";
import { unusable } from "./navigation-failure.ts";

export type { Browser, BrowserContext, Page, Request, Response } from "playwright-core";

export type LaunchOptions = {
  readonly executablePath: string;
  readonly isHeaded: boolean;
  /** Whether Chromium's own sandbox is on; Chromium cannot use it as root. */
  readonly hasSandbox: boolean;
  /** The complete environment of the browser's process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};

// These switch off what a crawl does not need, and what would reach the network past the proxy.
const ARGUMENTS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-features=MediaRouter,OptimizationHints,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
  "--disable-gpu",
  "--disable-sync",
  "--disable-dev-shm-usage",
  // Chromium renamed this switch, so both names are passed.
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--metrics-recording-only",
  "--mute-audio",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
  // A page that uses too much memory should crash early and alone.
  "--js-flags=--max-old-space-size=1024",
];

// Playwright adds this switch, which lets pages open windows unasked. Nobody would close a window that
// another window opens while it is being closed.
const REFUSED_ARGUMENTS = ["--disable-popup-blocking"];

/**
 * Starts a browser driven over a pipe, so that it ends with this process, however this process ends.
 * @throws Failure `internal` that `isUnusable` recognises, with the browser's own reason, when it does not
 * start
 */
export async function launchChromium(options: LaunchOptions): Promise<Browser> {
  // Loading Playwright takes 58 ms and 70 MB, so it waits until a browser is wanted.
  const { chromium } = await import("playwright-core");
  try {
    return await chromium.launch({
      executablePath: options.executablePath,
      env: options.environment,
      headless: !options.isHeaded,
      chromiumSandbox: options.hasSandbox,
      args: ARGUMENTS,
      ignoreDefaultArgs: REFUSED_ARGUMENTS,
      timeout: options.timeoutMs,
      // Playwright's handlers would keep the program from ending on a signal; our own shutdown closes the
      // browser.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  } catch (error) {
    throw unusable(`the browser ${options.executablePath} does not start: ${reasonOf(error)}`, error);
  }
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/no usable sandbox|SUID sandbox|setuid_sandbox|running as root without --no-sandbox/i.test(message))
    return "it finds no usable sandbox here; ARTICLE_EXTRACTOR_BROWSER_SANDBOX=false starts it without one";
  if (/missing x server|cannot open display|ozone_platform/i.test(message)) return "there is no display";
  if (/socket path too long/i.test(message))
    return "the path of the directory for temporary files is too long";
  const lines = message.split("\n");
  const line =
    lines.find((text) => /FATAL/.test(text)) ??
    lines.find((text) => /error|fail|cannot/i.test(text)) ??
    message;
  // The browser's log contains colour codes.
  return stripVTControlCharacters(line).trim().slice(0, 300);
}
