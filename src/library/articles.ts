import { availableParallelism } from "node:os";
import { articleFromDocument } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import type { Extractor } from "../extraction/index.ts";
import { checkOptions, extractionOptions, flatten, readDocument, wrong } from "./arguments.ts";
import type { ExtractArticlesOptions, PageResult, PageSource } from "./types.ts";
import { openWorkers } from "./workers.ts";

/**
 * Extracts many pages on worker threads, each with a time limit. The results come in the order of the pages; a failed
 * page becomes a result with an error and does not stop the others. Pages are read from the source as they are needed,
 * at most twice `concurrency` ahead of the requested result. Leaving the loop closes the source and the workers.
 * @param pages for example an array, or an async generator that reads files
 * @throws Failure `invalid_usage` for wrong options, `cancelled` when the signal fires; an error of the source is thrown
 * after the results of the pages before it
 */
export function extractArticles<Page extends PageSource>(
  pages: Iterable<Page> | AsyncIterable<Page>,
  options: ExtractArticlesOptions = {},
): AsyncGenerator<PageResult<Page>, void, undefined> {
  checkOptions("extractArticles", options);
  if (!isIterable(pages)) throw wrong("extractArticles", "pages as an iterable or async iterable", pages);
  return extractInOrder(pages, options);
}

const isIterable = (pages: unknown): boolean =>
  typeof pages === "object" && pages !== null && (Symbol.asyncIterator in pages || Symbol.iterator in pages);

async function* extractInOrder<Page extends PageSource>(
  pages: Iterable<Page> | AsyncIterable<Page>,
  options: ExtractArticlesOptions,
): AsyncGenerator<PageResult<Page>, void, undefined> {
  const workers = options.concurrency ?? Math.max(1, availableParallelism() - 1);
  await using extractor = openWorkers(workers, options.timeLimitMs);
  const work = (page: Page, index: number) => extractOne({ page, index }, options, extractor);
  yield* new Underway(pages, work, { ahead: 2 * workers, signal: options.signal }).results();
}

async function extractOne<Page extends PageSource>(
  turn: { readonly page: Page; readonly index: number },
  options: ExtractArticlesOptions,
  extractor: Extractor,
): Promise<PageResult<Page>> {
  const { signal } = options;
  try {
    const document = readDocument(requireSource(turn.page), "extractArticles");
    const parts = { extractor, ...(signal ? { signal } : {}) };
    const article = await articleFromDocument(document, extractionOptions(options), parts);
    return { ...turn, article: await flatten(article, options), error: null };
  } catch (thrown) {
    return { ...turn, article: null, error: failureOf(thrown) };
  }
}

function requireSource(page: PageSource): PageSource {
  if (typeof page === "object" && page !== null && "html" in page) return page;
  throw wrong("extractArticles", "each page as an object with html", page);
}

// The page is the caller's own object, which may throw anything.
function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const message = `reading the page stopped with ${String(thrown).slice(0, 300)}`;
  return new Failure("internal", message, { cause: thrown });
}

type MapOptions = {
  /** The maximum number of items that are read and not yet returned, at least 1. */
  readonly ahead: number;
  readonly signal: AbortSignal | undefined;
};

/** The place of an item in the order; its result comes later. */
type Slot<Result> = { outcome: { readonly result: Result } | null };

/** Work on items while later items are read. */
class Underway<Item, Result> {
  readonly #source: Iterator<Item> | AsyncIterator<Item>;
  readonly #work: (item: Item, index: number) => Promise<Result>;
  readonly #options: MapOptions;
  readonly #places: Slot<Result>[] = [];
  #index = 0;
  #isReading = false;
  /** Set when the source has ended, with what it threw. */
  #end: { readonly thrown: unknown; readonly isFailure: boolean } | null = null;
  #wake: () => void = () => {};

  /** @param work never fails */
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

  /**
   * Yields the results in the order of the items.
   * @throws Failure `cancelled` when the signal fires; what the source throws, after the results of the items before
   */
  async *results(): AsyncGenerator<Result, void, undefined> {
    try {
      for (let next = await this.#next(); next !== null; next = await this.#next()) yield next.result;
    } finally {
      await this.#close();
    }
  }

  /** Returns the next result, or null after the last. */
  async #next(): Promise<{ readonly result: Result } | null> {
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
  async #close(): Promise<void> {
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
    const place: Slot<Result> = { outcome: null };
    this.#places.push(place);
    void this.#work(item, this.#index++).then((result) => {
      place.outcome = { result };
      this.#wake();
    });
  }
}
