import { onAbort } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import { FairQueue } from "../base/fair-queue.ts";
import { type StartThread, WorkerThread } from "../base/worker-thread.ts";
import type { PageUrl } from "../urls/index.ts";
import type { Extraction, ExtractionOptions, ExtractionTask, WorkerReply } from "./types.ts";

export type ExtractorOptions = {
  /** The maximum number of worker threads, at least 1. A thread starts when there is work for it. */
  readonly workers: number;
  /** The URL of the worker's module, as `new Worker` takes it. */
  readonly workerUrl: string | URL;
  /**
   * The hard limit of CPU time for one page in milliseconds, from when a worker that has loaded its code takes it
   * (see `WorkerThread.limitWork`). A worker that exceeds it is terminated and replaced.
   */
  readonly timeLimitMs: number;
  /** The time limit for a worker to load its code, in ms; beyond it, the page that waits for it fails. */
  readonly startLimitMs: number;
  /** Starts threads; the default starts web workers. */
  readonly startThread?: StartThread;
};

/** Extracts pages on worker threads. Each thread works on one page at a time. */
export interface Extractor extends AsyncDisposable {
  /** The maximum number of threads, besides one for small pages while large ones occupy all others. */
  readonly workers: number;
  /**
   * @param client whose page it is: turns go round among clients
   * @throws Failure `too_complex` when the page passes the time limit, `internal` when its worker crashes
   * or does not start,
   * `cancelled` when the signal fires or the extractor is disposed, and what `extractBody` throws
   */
  extract(task: ExtractionTask, signal?: AbortSignal, client?: string): Promise<Extraction>;
}

/**
 * Creates a pool of extraction workers. When a worker hangs or crashes, only the page that it worked on is lost; a page
 * whose worker crashes after others is tried once more, because one of those may be the cause.
 */
export const createExtractor = (options: ExtractorOptions): Extractor => new WorkerPool(options);

type Job = {
  readonly task: ExtractionTask;
  readonly resolve: (extraction: Extraction) => void;
  readonly reject: (failure: Failure) => void;
  /** Puts the job into the queue once more; false when that has been done before. */
  readonly tryAgain: () => boolean;
};

class WorkerPool implements Extractor {
  readonly workers: number;
  readonly #options: ExtractorOptions;
  readonly #idle: PageWorker[] = [];
  readonly #all = new Set<PageWorker>();
  readonly #queue = new FairQueue<Job>();
  /** This worker takes only small pages; null until a small page had to wait for large ones. */
  #express: PageWorker | null = null;
  #isDisposed = false;

  constructor(options: ExtractorOptions) {
    this.#options = options;
    this.workers = Math.max(1, options.workers);
  }

  extract(task: ExtractionTask, signal?: AbortSignal, client = ""): Promise<Extraction> {
    return new Promise<Extraction>((resolve, reject) => {
      if (this.#isDisposed || signal?.aborted) return reject(cancelled(task.url));
      let hasTriedAgain = false;
      const job: Job = {
        task,
        resolve: (extraction) => {
          listening[Symbol.dispose]();
          resolve(extraction);
        },
        reject: (failure) => {
          listening[Symbol.dispose]();
          reject(failure);
        },
        tryAgain: () => {
          if (hasTriedAgain || this.#isDisposed) return false;
          hasTriedAgain = true;
          this.#queue.push(client, job);
          return true;
        },
      };
      const listening = onAbort(signal, () => this.#abandon(job));
      this.#queue.push(client, job);
      this.#dispatch();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (let job = this.#queue.take(); job; job = this.#queue.take()) job.reject(cancelled(job.task.url));
    const workers = [...this.#all, ...(this.#express ? [this.#express] : [])];
    for (const worker of workers) worker.end(cancelled(worker.job?.task.url ?? null));
    await Promise.all(workers.map((worker) => worker.closed));
  }

  #dispatch(): void {
    while (this.#queue.size > 0) {
      const worker = this.#idle.pop() ?? this.#startWorker();
      if (!worker) break;
      const job = this.#queue.take();
      if (job) worker.run(job);
    }
    if (this.#queue.size > 0) this.#dispatchSmall();
  }

  /** When large pages occupy all workers, one more thread takes the small pages, so that they do not wait. */
  #dispatchSmall(): void {
    const isFree = this.#express
      ? this.#express.job === null
      : [...this.#all].some(({ job }) => job !== null && !isSmall(job));
    const job = isFree ? this.#queue.take(isSmall) : undefined;
    if (!job) return;
    this.#express ??= this.#startExpress();
    this.#express.run(job);
  }

  #startExpress(): PageWorker {
    return new PageWorker(this.#options, {
      onIdle: () => this.#dispatch(),
      onEnd: () => {
        this.#express = null;
        if (!this.#isDisposed) this.#dispatch();
      },
    });
  }

  #startWorker(): PageWorker | null {
    if (this.#all.size >= this.workers) return null;
    const worker = new PageWorker(this.#options, {
      onIdle: () => {
        this.#idle.push(worker);
        this.#dispatch();
      },
      onEnd: () => {
        this.#all.delete(worker);
        // A worker may die while idle: out of memory, or by an error after its last answer.
        const position = this.#idle.indexOf(worker);
        if (position >= 0) this.#idle.splice(position, 1);
        if (!this.#isDisposed) this.#dispatch();
      },
    });
    this.#all.add(worker);
    return worker;
  }

  #abandon(job: Job): void {
    this.#queue.remove(job);
    const holder = [...this.#all, this.#express].find((worker) => worker?.job === job);
    if (holder) holder.end(cancelled(job.task.url));
    else job.reject(cancelled(job.task.url));
  }
}

/** The maximum characters of a small body; others should not wait for longer ones, which may take long. */
const SMALL_CHARACTERS = 256 * 1024;

const isSmall = ({ task }: Job): boolean => task.body.length <= SMALL_CHARACTERS;

/** One worker thread, with the page that it works on. */
class PageWorker {
  job: Job | null = null;
  #hasAnswered = false;
  readonly #options: ExtractorOptions;
  readonly #onIdle: () => void;
  readonly #thread: WorkerThread<ExtractionTask, WorkerReply>;

  constructor(options: ExtractorOptions, { onIdle, onEnd }: Record<"onIdle" | "onEnd", () => void>) {
    this.#options = options;
    this.#onIdle = onIdle;
    this.#thread = new WorkerThread({
      name: "the extraction worker",
      url: options.workerUrl,
      startLimitMs: options.startLimitMs,
      onReady: () => {
        if (this.job) this.#begin(this.job);
      },
      onReply: (reply) => this.#take(reply),
      onLost: (failure) => {
        const job = this.#release();
        // A thread that has had other pages may have died of one of those.
        const isLeftToAnother = this.#hasAnswered && failure.code === "internal" && job?.tryAgain();
        onEnd();
        if (!isLeftToAnother) job?.reject(failure);
      },
      describeWork: () => `while it held ${this.#page()}`,
      startThread: options.startThread,
    });
  }

  /** Resolves when the thread is gone. */
  get closed(): Promise<void> {
    return this.#thread.closed;
  }

  run(job: Job): void {
    this.job = job;
    if (this.#thread.isReady) this.#begin(job);
  }

  /** Terminates the thread and fails the page that it works on with this failure. */
  end(failure: Failure): void {
    this.#thread.lose(failure);
  }

  #take(reply: WorkerReply): void {
    this.#thread.stopClock();
    this.#hasAnswered = true;
    const job = this.#release();
    if (reply.kind === "extracted") job?.resolve(reply.extraction);
    else job?.reject(Failure.of(reply.failure));
    this.#onIdle();
  }

  /** Starts the page's time limit. The code is loaded, so only the page itself counts against it. */
  #begin(job: Job): void {
    this.#thread.limitWork(this.#options.timeLimitMs, (limit) =>
      this.end(new Failure("too_complex", `extracting ${this.#page()} took longer than ${limit}`)),
    );
    this.#thread.post(job.task);
  }

  #release(): Job | null {
    const { job } = this;
    this.job = null;
    return job;
  }

  #page(): string {
    return this.job?.task.url ?? "the page";
  }
}

const cancelled = (url: PageUrl | null): Failure =>
  new Failure("cancelled", `extracting ${url ?? "the page"} was cancelled`);

// The engine is loaded with the first page. A program that extracts on workers does not need it on its own thread,
// where loading it took a tenth of the CPU time of a whole page.
const engine = () => import("./extract.ts");

/**
 * Extracts a body of any kind on the calling thread. One pass over a page yields the article, the links, the robots
 * directives and the canonical URL.
 * @throws Failure `invalid_usage` for a wrong selector, `too_large` for trees nested too deeply for one,
 * `too_complex` for too many elements,
 * `internal` for a page that the libraries cannot take
 */
export const extractBody = async (task: ExtractionTask): Promise<Extraction> =>
  (await engine()).extractBody(task);

/** Extracts one page in HTML in the same way. */
export const extractHtml = (
  html: string,
  url: PageUrl | null,
  options: ExtractionOptions,
): Promise<Extraction> => extractBody({ kind: "html", body: html, url, options });

/**
 * Extracts bodies of at most `maxChars` characters on the calling thread, and all others on the workers of `pool`.
 * This suits a program that extracts one page: starting a worker costs more than extracting a small page, and a small
 * page cannot block the thread for long. Pages for the engine `readability` always go to the pool, because 500 kB of
 * nested frames keep it busy for 15 s.
 */
export const withSmallPagesHere = (pool: Extractor, maxChars: number): Extractor => ({
  workers: pool.workers,
  extract: async (task, signal) => {
    // A file may take long and much memory, whatever its length.
    const isQuick =
      task.kind !== "file" && task.body.length <= maxChars && task.options.engine === "article-extractor";
    if (!isQuick) return pool.extract(task, signal);
    if (signal?.aborted) throw new Failure("cancelled", "the extraction was cancelled before it began");
    return extractBody(task);
  },
  [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
});
