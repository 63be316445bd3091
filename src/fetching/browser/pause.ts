import { onAbort, orAborted } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
import { isGone } from "./answered.ts";
import type { Tab } from "./contexts.ts";

/** Waits for a person at the browser's window. */
export type Pause = {
  /** The longest wait, in ms. */
  readonly timeoutMs: number;
  /** Fulfilled when the person is done; otherwise it is rejected or stays pending. */
  readonly untilDone: (signal: AbortSignal) => Promise<void>;
};

export type PauseOptions = {
  readonly url: PageUrl;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  /** The time limit for loading the page, in ms. */
  readonly timeoutMs: number;
};

const KEEP_EVERY_MS = 1_000;

/**
 * Shows a page until the person has logged in or solved what the page asks, the window is closed or the time
 * is over, and keeps the resulting cookies and local storage.
 * @throws Failure `cancelled` or `unwritable_output`; errors for `navigationFailure` when the page cannot be
 * shown
 */
export async function pauseForPerson(tab: Tab, options: PauseOptions): Promise<void> {
  const { pause, signal } = options;
  const calledOff = (): Failure => new Failure("cancelled", "the page was called off");
  const going = tab.page.goto(options.url, { waitUntil: "commit", timeout: options.timeoutMs });
  await orAborted(going, signal, calledOff);
  const ending = new AbortController();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const timer = setTimeout(end, pause.timeoutMs);
  // The person may just close the window, and a closed window cannot be asked any more.
  const keeping = setInterval(() => void tab.keepState({ isWhole: false }).catch(() => {}), KEEP_EVERY_MS);
  void tab.gone.then(() => end());
  using _ = onAbort(signal, end);
  pause.untilDone(ending.signal).then(end, () => {});
  try {
    await over;
    if (signal.aborted) throw calledOff();
  } finally {
    clearTimeout(timer);
    clearInterval(keeping);
    ending.abort();
  }
  // Closing the window may end the browser; then the copy that was made every second has to do.
  await tab.keepState({ isWhole: true }).catch((error: unknown) => {
    if (!isGone(error)) throw error;
  });
}
