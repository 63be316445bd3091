import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { Failure } from "../../failure.ts";
import type { SourceDocument } from "../types.ts";
import { buildDirectory } from "./build-directory.ts";
import type { BuildReply, BuildRequest, BuildTask } from "./build-protocol.ts";
import type { BuildCounts } from "./build-segment.ts";

/** Documents that are posted together, and how many of their characters. */
const BATCH_DOCUMENTS = 64;
const BATCH_CHARACTERS = 512 * 1024;
/** Batches on their way: the worker always has one, and what waits stays small. */
const BATCHES_UNDER_WAY = 2;

export type IndexBuildOptions = Omit<BuildTask, "buildName"> & {
  /** The worker's module (`bin/index-worker.ts`), as an address that `new Worker` takes. */
  readonly workerUrl: string | URL;
  /** How long the worker may take for one batch before it counts as hung, ms. */
  readonly stallLimitMs: number;
  readonly signal?: AbortSignal;
  /** Called after each batch of documents. */
  readonly onProgress?: (counts: BuildCounts) => void;
};

/**
 * Builds an index file on a worker thread (see `buildSegment`). What the file holds already is carried over
 * where the documents are the same; whatever happens, it stays as it is until the new one is whole.
 * @throws Failure `unwritable_output`, `timeout` (the worker hangs), `internal` (it crashed), `cancelled`,
 *   and what the documents throw
 */
export async function buildIndex(
  documents: AsyncIterable<SourceDocument> | Iterable<SourceDocument>,
  options: IndexBuildOptions,
): Promise<BuildCounts> {
  await using worker = new IndexWorker(options);
  let batch: SourceDocument[] = [];
  let characters = 0;
  for await (const document of documents) {
    batch.push(document);
    characters += document.markdown.length;
    if (batch.length < BATCH_DOCUMENTS && characters < BATCH_CHARACTERS) continue;
    await worker.send(batch);
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) await worker.send(batch);
  return await worker.end();
}

class IndexWorker implements AsyncDisposable {
  readonly #buildName = randomUUID();
  readonly #worker: Worker;
  readonly #options: IndexBuildOptions;
  readonly #outcome = Promise.withResolvers<BuildCounts>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #onAbort = (): void =>
    this.#fail(new Failure("cancelled", "building the search index was cancelled"));
  #underWay = 0;
  #onTaken: (() => void) | null = null;
  #failure: Failure | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isReady = false;

  constructor(options: IndexBuildOptions) {
    this.#options = options;
    this.#outcome.promise.catch(() => {}); // whoever waits for anything is told by `#failure`
    const worker = new Worker(options.workerUrl);
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<BuildReply>) => this.#take(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      const what = this.#isReady ? "stopped" : `${options.workerUrl} did not start`;
      this.#fail(new Failure("internal", `the index worker ${what}: ${event.message.slice(0, 500)}`));
    };
    worker.addEventListener("close", () => {
      this.#fail(new Failure("internal", "the index worker ended before the index was built"));
      this.#closed.resolve();
    });
    const { path, profile, memoryBytes } = options;
    this.#post({ kind: "start", task: { path, profile, memoryBytes, buildName: this.#buildName } });
    if (options.signal?.aborted) this.#onAbort();
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  async send(documents: readonly SourceDocument[]): Promise<void> {
    while (this.#underWay >= BATCHES_UNDER_WAY && this.#failure === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onTaken = resolve;
      await promise;
    }
    if (this.#failure !== null) throw this.#failure;
    this.#underWay++;
    this.#post({ kind: "documents", documents });
    this.#startClock();
  }

  async end(): Promise<BuildCounts> {
    this.#post({ kind: "end" });
    return await this.#outcome.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#stopClock();
    this.#worker.terminate();
    await this.#closed.promise;
    // A thread that was ended could not clear up after itself.
    await rm(buildDirectory(this.#options.path, this.#buildName), { recursive: true, force: true });
  }

  #post(request: BuildRequest): void {
    this.#worker.postMessage(request);
  }

  #take(reply: BuildReply): void {
    if (reply.kind === "ready") this.#isReady = true;
    else if (reply.kind === "failed") this.#fail(new Failure(reply.failure.code, reply.failure.message));
    else if (reply.kind === "built") this.#outcome.resolve(reply.counts);
    else {
      this.#underWay--;
      this.#stopClock();
      if (this.#underWay > 0) this.#startClock();
      this.#options.onProgress?.(reply.counts);
      this.#onTaken?.();
    }
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure;
    this.#stopClock();
    this.#outcome.reject(this.#failure);
    this.#onTaken?.();
  }

  #startClock(): void {
    if (this.#timer !== null) return;
    const limit = this.#options.stallLimitMs;
    this.#timer = setTimeout(() => {
      const what = `the index worker took longer than ${limit} ms for ${BATCH_DOCUMENTS} documents or fewer`;
      this.#fail(new Failure("timeout", what));
    }, limit);
  }

  #stopClock(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
