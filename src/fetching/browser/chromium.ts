import { stripVTControlCharacters } from "node:util";
import type { Browser } from "playwright-core";
import { onAbort, within as orLate } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";
import type { PinningProxy } from "../egress/pinning-proxy.ts";
import { errorCode, wireFailure } from "../http/tries.ts";

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
  // The two popups of the address bar are pages of their own, in a process that every new tab would start.
  "--disable-features=MediaRouter,OptimizationHints,AutofillServerCommunication,CertificateTransparencyComponentUpdater,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
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
 * @throws Failure `internal` that `isUnusable` recognises, with the browser's own reason, when it does not start
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
      // Playwright's handlers would keep the program from ending on a signal; our own shutdown closes the browser.
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

/** The Failure for a browser or tab that ended by itself. Its code is one that is retried. */
export const browserGone = (why: string): Failure =>
  new Failure("network", why, { cause: { code: "BROWSER_GONE" } });

/** Whether an error means that a browser or a tab ended. */
export const isGone = (error: unknown): boolean =>
  (error instanceof Failure && error.code === "network") ||
  (error instanceof Error && /has been closed|crashed|Target closed/i.test(error.message));

const SILENT = "the browser does not answer";

/** Whether an error means that a browser is running but does not answer. */
export const isSilent = (error: unknown): boolean => error instanceof Failure && error.message === SILENT;

/** A browser on a busy machine may take seconds to open a tab. */
const ANSWER_TIMEOUT_MS = 20_000;

/**
 * Returns the browser's answer. A browser that dies or hangs may leave a command without one.
 * @throws Failure `network` when it dies or is silent for too long, `cancelled` when the signal aborts
 */
export async function answered<T>(browser: Browser, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  work.catch(() => {});
  const crash = (): void => reject(browserGone("the browser crashed"));
  const timer = setTimeout(() => reject(browserGone(SILENT)), ANSWER_TIMEOUT_MS);
  browser.once("disconnected", crash);
  if (!browser.isConnected()) crash();
  using _ = onAbort(signal, () => reject(new Failure("cancelled", "the page was cancelled")));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    browser.off("disconnected", crash);
  }
}

/**
 * Waits for the work, but no longer than `ms`.
 * @returns whether the work ended in time, successfully or not
 */
export function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const end = (): true => true;
  return orLate(ms, work.then(end, end), () => false);
}

const DOWNLOAD = "BROWSER_DOWNLOAD";

/** The failure for what the browser does not show as a page; a plain client may be able to read it. */
export const fileToSave = (what: string, error?: unknown): Failure =>
  new Failure("unsupported_content", `${what}: the answer is a file to save, not a page`, {
    cause: { code: DOWNLOAD, error },
  });

/** Whether it failed because the browser would download the answer; a plain client may be able to read it. */
export const isDownload = (error: unknown): boolean =>
  error instanceof Failure && errorCode(error.cause) === DOWNLOAD;

const UNUSABLE = "BROWSER_UNUSABLE";

export const unusable = (message: string, error: unknown): Failure =>
  new Failure("internal", message, { cause: { code: UNUSABLE, error } });

/** Whether a failure means that no browser can be started on this machine. */
export const isUnusable = (error: unknown): error is Failure =>
  error instanceof Failure && errorCode(error.cause) === UNUSABLE;

export function navigationFailure(
  error: unknown,
  context: {
    readonly what: string;
    readonly url: string;
    readonly proxy: PinningProxy;
    readonly requestTimeoutMs: number;
  },
): Failure {
  if (error instanceof Failure)
    return error.code === "network" && !error.message.startsWith(context.what)
      ? new Failure("network", `${context.what}: ${error.message}`, { cause: error.cause })
      : error;
  const message = error instanceof Error ? error.message : String(error);
  const code = /net::(ERR_[A-Z_0-9]+)/.exec(message)?.[1] ?? "";
  if (code === "ERR_TUNNEL_CONNECTION_FAILED") {
    const refused = context.proxy.failureFor(context.url);
    if (refused) return refused;
  }
  if (/download is starting/i.test(message)) return fileToSave(context.what, error);
  if (error instanceof Error && error.name === "TimeoutError")
    return new Failure(
      "timeout",
      `${context.what} took longer than the limit of a request of ${context.requestTimeoutMs} ms`,
    );
  const isGone = /has been closed|crashed|Target closed|detached/i.test(message);
  return wireFailure(context.what, { code: isGone ? "BROWSER_GONE" : code || "BROWSER", cause: error });
}
