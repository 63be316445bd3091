import { Failure } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
import { onAbort, orAborted } from "../on-abort.ts";
import { isGone } from "./answered.ts";
import type { Tab } from "./contexts.ts";

/** A person at the browser's window. */
export type Pause = {
  /** The longest wait, in ms. */
  readonly timeoutMs: number;
  /** Fulfilled when the person says so; rejected or pending otherwise. */
  readonly untilDone: (signal: AbortSignal) => Promise<void>;
};

export type PauseOptions = {
  readonly url: PageUrl;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  /** For going to the page, in ms. */
  readonly timeoutMs: number;
};

const KEEP_EVERY_MS = 1_000;

/**
 * Shows a page until the person has logged in or solved what the page asks, the window is closed or the time
 * is over, and keeps the cookies and the local storage that came of it.
 * @throws Failure `cancelled`, `unwritable_output`; what `navigationFailure` reads when the page cannot be shown
 */
export async function pauseForPerson(tab: Tab, options: PauseOptions): Promise<void> {
  const { pause, signal } = options;
  const calledOff = (): Failure => new Failure("cancelled", "the page was called off");
  const going = tab.page.goto(options.url, { waitUntil: "commit", timeout: options.timeoutMs });
  await orAborted(going, signal, calledOff);
  const ending = new AbortController();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const timer = setTimeout(end, pause.timeoutMs);
  // The person may close the window instead of saying so, and then nothing can be asked any more.
  const keeping = setInterval(() => void tab.keepState({ isWhole: false }).catch(() => {}), KEEP_EVERY_MS);
  void tab.gone.then(() => end());
  const release = onAbort(signal, end);
  pause.untilDone(ending.signal).then(end, () => {});
  try {
    await over;
    if (signal.aborted) throw calledOff();
  } finally {
    clearTimeout(timer);
    clearInterval(keeping);
    release();
    ending.abort();
  }
  // Closing the window may end the browser, and then what was kept every second is what there is.
  await tab.keepState({ isWhole: true }).catch((error: unknown) => {
    if (!isGone(error)) throw error;
  });
}
