import { type Page, within } from "./chromium.ts";
import type { Session } from "./intercept.ts";

/** How long a tab rests, in ms. Its scripts do not run meanwhile. */
const REST_MS = 1_000;
const FORGET_TIMEOUT_MS = 500;
const LISTENED = [
  "request",
  "requestfinished",
  "requestfailed",
  "response",
  "popup",
  "download",
  "crash",
] as const;

type Resting = { readonly origin: string; readonly session: Session };

/**
 * Tabs of one context that have shown a document and may show another one of its origin: opening a tab and closing it
 * takes twice the CPU of showing a small document.
 */
export class RestingTabs {
  readonly #tabs = new Map<Page, Resting>();

  has(page: Page): boolean {
    return this.#tabs.has(page);
  }

  /** Takes a tab that has shown a document of the origin; null when none rests. */
  async take(origin: string): Promise<Page | null> {
    for (const [page, resting] of this.#tabs)
      if (resting.origin === origin && this.#tabs.delete(page) && !page.isClosed()) {
        for (const event of LISTENED) page.removeAllListeners(event);
        await resting.session.detach().catch(() => {});
        return page;
      }
    return null;
  }

  /**
   * Lets a tab rest, without what it would hand from page to page.
   * @returns false when its scripts do not yield, so that it has to be closed
   */
  async keep(page: Page, resting: Resting): Promise<boolean> {
    let isSilent = true;
    const stopping = page.evaluate(forget).then(async () => {
      // Scripts would go on to load images and open windows; they run again when the session is detached.
      await resting.session.send("Emulation.setScriptExecutionDisabled", { value: true });
      isSilent = false;
    });
    await within(FORGET_TIMEOUT_MS, stopping);
    if (isSilent) return false;
    this.#tabs.set(page, resting);
    const end = (): void => {
      // It may have been taken and kept again meanwhile.
      if (this.#tabs.get(page) === resting && this.#tabs.delete(page))
        void page.close({ runBeforeUnload: false }).catch(() => {});
    };
    page.on("crash", end);
    setTimeout(end, REST_MS).unref();
    return true;
  }
}

/** Removes what a tab hands from page to page. Runs inside the page. */
function forget(): void {
  window.name = "";
  sessionStorage.clear();
}
