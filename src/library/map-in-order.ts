import { Failure } from "../base/failure.ts";

type MapOptions = {
  /** The maximum number of items that are read and not yet returned, at least 1. */
  readonly ahead: number;
  readonly signal: AbortSignal | undefined;
};

/**
 * Yields the results of work on items, in the order of the items, while later items are read and worked on.
 * @param work never fails
 * @throws Failure `cancelled` when the signal fires; what the source throws, after the results of the items before
 */
export async function* mapInOrder<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item, index: number) => Promise<Result>,
  options: MapOptions,
): AsyncGenerator<Result, void, undefined> {
  const underway = new Underway(items, work, options);
  try {
    for (let next = await underway.next(); next !== null; next = await underway.next()) yield next.result;
  } finally {
    await underway.close();
  }
}

/** The place of an item in the order; its result comes later. */
type Place<Result> = { outcome: { readonly result: Result } | null };

class Underway<Item, Result> {
  readonly #source: Iterator<Item> | AsyncIterator<Item>;
  readonly #work: (item: Item, index: number) => Promise<Result>;
  readonly #options: MapOptions;
  readonly #places: Place<Result>[] = [];
  #index = 0;
  #isReading = false;
  /** Set when the source has ended, with what it threw. */
  #end: { readonly thrown: unknown; readonly isFailure: boolean } | null = null;
  #wake: () => void = () => {};

  constructor(
    items: Iterable<Item> | AsyncIterable<Item>,
    work: (item: Item, index: number) => Promise<Result>,
    options: MapOptions,
  ) {
    this.#source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    this.#work = work;
    this.#options = options;
    options.signal?.addEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#wake();

  /** Returns the next result; null when there are no more. */
  async next(): Promise<{ readonly result: Result } | null> {
    for (;;) {
      if (this.#options.signal?.aborted)
        throw new Failure("cancelled", "the work on many pages was cancelled by its caller");
      this.#read();
      const [oldest] = this.#places;
      if (oldest?.outcome) {
        this.#places.shift();
        return oldest.outcome;
      }
      if (!oldest && this.#end) {
        if (this.#end.isFailure) throw this.#end.thrown;
        return null;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Closes the source, unless it has come to its end by itself. */
  async close(): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    if (this.#end) return;
    this.#end = { thrown: null, isFailure: false };
    const closing = Promise.resolve(this.#source.return?.());
    // A source that is being read closes after the read, and may never answer.
    if (this.#isReading) closing.catch(() => {});
    else await closing;
  }

  /** Reads ahead while there is room; a slow source holds no result back. */
  #read(): void {
    if (this.#isReading || this.#end || this.#places.length >= this.#options.ahead) return;
    this.#isReading = true;
    void this.#readOne().then(() => {
      this.#isReading = false;
      this.#read();
      this.#wake();
    });
  }

  async #readOne(): Promise<void> {
    try {
      const { done, value } = await this.#source.next();
      if (done) this.#end = { thrown: null, isFailure: false };
      else if (!this.#end) this.#start(value);
    } catch (thrown) {
      this.#end ??= { thrown, isFailure: true };
    }
  }

  #start(item: Item): void {
    const place: Place<Result> = { outcome: null };
    this.#places.push(place);
    void this.#work(item, this.#index++).then((result) => {
      place.outcome = { result };
      this.#wake();
    });
  }
}
