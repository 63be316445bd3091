import { onAbort } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";
import type { Browser } from "./chromium.ts";

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
  using _ = onAbort(signal, () => reject(new Failure("cancelled", "the page was called off")));
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
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const end = (): true => true;
  const isDone = await Promise.race([work.then(end, end), promise]);
  clearTimeout(timer);
  return isDone;
}
