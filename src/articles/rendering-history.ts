import { onAbort } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";

/** How long pages wait at least for another page of their profile before one of them is compared, in ms. */
const MIN_PATIENCE_MS = 500;
/** How long they wait at most. */
const MAX_PATIENCE_MS = 10_000;
/** A host that sends its pages slowly is given this many times the pause between two of them. */
const PATIENCE = 3;
/** The most profiles to remember; pages with further profiles are rendered. */
const MAX_PROFILES = 10_000;
/** The most pages that wait, because they are in memory. */
const MAX_WAITING = 200;

/** A page that waits since a time on the clock of `performance.now`. */
type Waiting = { readonly since: number; readonly end: (isCompared: boolean) => void };

/** A page with the history of its profile. */
type Turn = Entrant & { readonly history: ProfileHistory };

/**
 * Experience of one crawl, sync or list with rendering: for each host and script profile, whether rendering changes
 * anything, and whether the host refuses the plain client but not a browser.
 */
export class RenderingHistory {
  readonly #profiles = new Map<string, ProfileHistory>();
  readonly #waiting = new Map<ProfileHistory, Map<number, Waiting>>();
  readonly #refusing = new Map<string, boolean>();
  #count = 0;
  #gapMs = 0;
  #cameAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #begun = Promise.withResolvers<void>();

  /** The number of pages that wait for a comparison. */
  get waiting(): number {
    return this.#count;
  }

  /** Resolves when the next page begins to wait. */
  nextWait(): Promise<void> {
    return this.#begun.promise;
  }

  /** Takes in a page; null when it is rendered without learning from it. */
  take(host: string, profile: string): Turn | null {
    const now = performance.now();
    this.#gapMs = (this.#gapMs * 3 + now - this.#cameAt) / 4;
    this.#cameAt = now;
    const key = `${host} ${profile}`;
    let history = this.#profiles.get(key);
    if (!history && this.#profiles.size < MAX_PROFILES) {
      history = new ProfileHistory();
      this.#profiles.set(key, history);
    }
    return history ? { history, ...history.next() } : null;
  }

  /**
   * Waits until a page behind this one was compared.
   * @returns whether the page is to be rendered after all
   * @throws Failure `cancelled`
   */
  async wait({ history, place }: Turn, signal?: AbortSignal): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waiting = this.#waiting.get(history) ?? new Map<number, Waiting>();
    this.#waiting.set(history, waiting.set(place, { since: performance.now(), end: resolve }));
    this.#count++;
    this.#begun.resolve();
    this.#begun = Promise.withResolvers();
    using _ = onAbort(signal, () => reject(new Failure("cancelled", "the page was cancelled")));
    if (this.#count > MAX_WAITING) this.#release(history, history.compareLast());
    else this.#wakeSoon();
    try {
      return await promise;
    } catch (error) {
      history.leave(place);
      throw error;
    } finally {
      waiting.delete(place);
      if (waiting.size === 0) this.#waiting.delete(history);
      this.#count--;
    }
  }

  /** Notes what rendering did to a page; see `ProfileHistory.note`. */
  note({ history, place }: Turn, comparison: { readonly isSame: boolean; readonly asked: string }): void {
    this.#cameAt = performance.now();
    this.#release(history, history.note(place, comparison));
  }

  /** Whether the host refuses the plain client what it gives a browser; null when that is not known. */
  isRefusing(host: string): boolean | null {
    return this.#refusing.get(host) ?? null;
  }

  noteRefusal(host: string, isRefusing: boolean): void {
    if (this.#refusing.size < MAX_PROFILES) this.#refusing.set(host, isRefusing);
  }

  #release(history: ProfileHistory, { stand, compared }: Released): void {
    const waiting = this.#waiting.get(history);
    for (const place of stand) waiting?.get(place)?.end(false);
    for (const place of compared) waiting?.get(place)?.end(true);
  }

  // Further pages may come late or not at all; then the waiting pages are judged by one of themselves.
  #wakeSoon(): void {
    if (this.#timer !== null) return;
    const patienceMs = Math.min(Math.max(MIN_PATIENCE_MS, PATIENCE * this.#gapMs), MAX_PATIENCE_MS);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#count === 0) return;
      const now = performance.now();
      const isQuiet = now - this.#cameAt >= patienceMs - 1;
      for (const [history, waiting] of [...this.#waiting]) {
        const [first] = waiting.values();
        const isLate = first !== undefined && now - first.since >= MAX_PATIENCE_MS;
        if (!history.isComparing && (isQuiet || isLate)) this.#release(history, history.compareLast());
      }
      this.#wakeSoon();
    }, patienceMs);
  }
}

/** Comparisons without a difference, one after another, after which pages of a profile come plainly. */
const COMPARISONS = 8;
/** After that, one page in this many is still compared. */
const SAMPLE = 20;

/** A page by its place among the pages of its profile. It is rendered now if `isCompared`; otherwise it waits. */
type Entrant = { readonly place: number; readonly isCompared: boolean };

/** The pages whose wait is over. */
export type Released = {
  /** They stand as they came: a page behind them was compared, and rendering changed nothing. */
  readonly stand: readonly number[];
  /** They are rendered after all. */
  readonly compared: readonly number[];
};

const NOBODY: Released = { stand: [], compared: [] };

/**
 * The history of one script profile: decides which pages are rendered and compared with their plain form, and which wait
 * for the next comparison. A plain page is accepted only after a later page was compared without a difference. After a
 * difference, all waiting pages are rendered, and the profile loses its trust.
 */
export class ProfileHistory {
  #last = 0;
  /** Comparisons without a difference since the last difference. */
  #same = 0;
  #isMixed = false;
  /** Pages that came since the last one was chosen for a comparison. */
  #passed = 0;
  readonly #compared = new Set<number>();
  #waiting: number[] = [];
  /** URLs that the scripts of the pages compared so far have read; null before the first comparison. */
  #asked: string | null = null;

  /** Whether a comparison is under way that may release the pages that wait. */
  get isComparing(): boolean {
    return this.#compared.size > 0;
  }

  /** Takes in the next page. */
  next(): Entrant {
    const place = ++this.#last;
    const isLearning = this.#same + this.#compared.size < COMPARISONS;
    const isCompared = this.#isMixed || isLearning || ++this.#passed >= SAMPLE;
    if (!isCompared) this.#waiting.push(place);
    else this.#begin(place);
    return { place, isCompared };
  }

  /**
   * Notes what rendering did to a page.
   * @param asked the URLs that the page's scripts have read; pages of one profile that read different URLs may have any
   * content
   */
  note(place: number, { isSame, asked }: { readonly isSame: boolean; readonly asked: string }): Released {
    this.#compared.delete(place);
    const isAlike = this.#asked === null || this.#asked === asked;
    this.#asked = asked;
    if (!isSame || !isAlike) return this.#differ();
    this.#same++;
    if (this.#same < COMPARISONS || this.#isMixed) return NOBODY;
    const stand = this.#waiting.filter((other) => other < place);
    this.#waiting = this.#waiting.filter((other) => other > place);
    return { ...NOBODY, stand };
  }

  /** Forgets a page that ends without a result: its comparison, or its wait. */
  leave(place: number): void {
    this.#compared.delete(place);
    this.#waiting = this.#waiting.filter((other) => other !== place);
  }

  /** Has the last of the pages that wait compared, because no other page comes. */
  compareLast(): Released {
    const last = this.#waiting.pop();
    if (last === undefined) return NOBODY;
    this.#begin(last);
    return { ...NOBODY, compared: [last] };
  }

  #begin(place: number): void {
    this.#compared.add(place);
    this.#passed = 0;
  }

  #differ(): Released {
    this.#isMixed ||= this.#same >= COMPARISONS;
    this.#same = 0;
    const compared = this.#waiting;
    this.#waiting = [];
    for (const place of compared) this.#begin(place);
    return { ...NOBODY, compared };
  }
}
