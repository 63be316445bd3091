import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { onAbort } from "../../base/abort.ts";
import { Failure, type FailureRecord } from "../../base/failure.ts";
import { WorkerThread } from "../../base/worker-thread.ts";
import type { LeftOutReason } from "../folder/read-files.ts";
import { nameOf, type UnreadDocument } from "../reading/read-document.ts";
import type { AnalyzerProfile, Language } from "../types.ts";
import type { BuildCounts, BuildOptions } from "./build-segment.ts";
import { buildDirectory } from "./temporary-file.ts";

/** The most documents that are posted together, and the most of their characters. */
const BATCH_DOCUMENTS = 64;
const BATCH_CHARACTERS = 512 * 1024;
/** How many batches are with the worker: it never has to wait for one, and only a few wait for it. */
const BATCHES_UNDER_WAY = 2;
/** The time for the worker to load its code. */
const START_LIMIT_MS = 60_000;

/** How many documents may end the worker; after each of them the build starts again. */
const MAX_FATAL_DOCUMENTS = 20;

export type IndexBuildOptions = Omit<BuildTask, "buildName" | "place"> & {
  /** The URL of the worker's module (`bin/index-worker.ts`) for `new Worker`. */
  readonly workerUrl: string | URL;
  /** The CPU time that the worker may take for one document, in ms; it may be noticed only after twice that time. */
  readonly documentLimitMs: number;
  readonly signal?: AbortSignal;
  /** Called after each batch of documents. */
  readonly onProgress?: (counts: BuildCounts) => void;
  /** Called once for each document that is left out or cut. */
  readonly onNotice?: (notice: DocumentNotice) => void;
};

/**
 * Builds an index file on a worker thread, which reads, cleans and analyses the documents (see
 * `readDocument`, `buildSegment`). Unchanged documents are carried over from the existing file, which stays
 * in place until the new one is complete. A document on which the worker fails, hangs or dies is left out.
 * @param documents yields all of them, from the first one, each time that it is called
 * @throws Failure `unwritable_output`; `timeout` or `internal` when the worker hangs or crashes outside any
 * document, or does so again and again; `cancelled`; and what the documents throw
 */
export async function buildIndex(
  documents: () => AsyncIterable<UnreadDocument> | Iterable<UnreadDocument>,
  options: IndexBuildOptions,
): Promise<BuildCounts> {
  const fatal = new Set<string>();
  const told = new Set<string>();
  const onNotice = (notice: DocumentNotice): void => {
    const line = JSON.stringify(notice);
    if (!told.has(line)) options.onNotice?.(notice);
    told.add(line);
  };
  for (;;) {
    try {
      return await buildOnce(documents(), { ...options, onNotice, fatal });
    } catch (error) {
      if (!(error instanceof FatalDocument)) throw error;
      if (fatal.size >= MAX_FATAL_DOCUMENTS) throw error.failure;
      fatal.add(error.document.url);
      onNotice({ path: nameOf(error.document), detail: error.failure.message, reason: "failed" });
    }
  }
}

/** The worker was lost together with a document. */
class FatalDocument extends Error {
  readonly document: UnreadDocument;
  readonly failure: Failure;

  constructor(document: UnreadDocument, failure: Failure) {
    super(failure.message);
    this.document = document;
    this.failure = failure;
  }
}

type OneBuildOptions = IndexBuildOptions & {
  readonly onNotice: (notice: DocumentNotice) => void;
  /** Addresses of documents that are left out without being read. */
  readonly fatal: ReadonlySet<string>;
};

async function buildOnce(
  documents: AsyncIterable<UnreadDocument> | Iterable<UnreadDocument>,
  options: OneBuildOptions,
): Promise<BuildCounts> {
  await using worker = new IndexWorker(options);
  let batch: UnreadDocument[] = [];
  let characters = 0;
  for await (const document of documents) {
    if (options.fatal.has(document.url)) continue;
    batch.push(document);
    characters += ("text" in document ? document.text : document.markdown).length;
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
  readonly #thread: WorkerThread<BuildRequest, BuildReply>;
  readonly #options: OneBuildOptions;
  readonly #outcome = Promise.withResolvers<BuildCounts>();
  readonly #listening: Disposable;
  readonly #place = new Int32Array(new SharedArrayBuffer(4));
  /** Batches that the worker has not finished, the oldest first. */
  readonly #underWay: (readonly UnreadDocument[])[] = [];
  /** The number of documents in finished batches. */
  #takenDocuments = 0;
  #onTaken: (() => void) | null = null;
  #failure: Failure | FatalDocument | null = null;

  constructor(options: OneBuildOptions) {
    this.#options = options;
    this.#outcome.promise.catch(() => {}); // whoever waits for anything is told by `#failure`
    this.#thread = new WorkerThread({
      name: "the index worker",
      url: options.workerUrl,
      startLimitMs: START_LIMIT_MS,
      onReady: () => this.#watchDocument(),
      onReply: (reply) => this.#take(reply),
      onLost: (failure) => this.#blame(failure),
      describeWork: () => "before the index was built",
    });
    const { path, profile, language, memoryBytes, slugStyle, owner } = options;
    const buildName = this.#buildName;
    const place = this.#place;
    const task = { path, profile, language, memoryBytes, slugStyle, owner, buildName, place };
    this.#thread.post({ kind: "start", task });
    this.#listening = onAbort(options.signal, () =>
      this.#fail(new Failure("cancelled", "building the search index was cancelled")),
    );
  }

  async send(documents: readonly UnreadDocument[]): Promise<void> {
    while (this.#underWay.length >= BATCHES_UNDER_WAY && this.#failure === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onTaken = resolve;
      await promise;
    }
    if (this.#failure !== null) throw this.#failure;
    this.#underWay.push(documents);
    this.#thread.post({ kind: "documents", documents });
    if (this.#underWay.length === 1) this.#watchDocument();
  }

  async end(): Promise<BuildCounts> {
    this.#thread.post({ kind: "end" });
    return await this.#outcome.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening[Symbol.dispose]();
    this.#thread.end();
    await this.#thread.closed;
    // A thread that was ended could not remove its files.
    await rm(buildDirectory(this.#options.path, this.#buildName), { recursive: true, force: true });
  }

  #take(reply: BuildReply): void {
    if (reply.kind === "failed") this.#fail(Failure.of(reply.failure));
    else if (reply.kind === "built") this.#outcome.resolve(reply.counts);
    else if (reply.kind === "notice") this.#options.onNotice(reply.notice);
    else {
      this.#takenDocuments += this.#underWay.shift()?.length ?? 0;
      this.#watchDocument();
      this.#options.onProgress?.(reply.counts);
      this.#onTaken?.();
    }
  }

  /** Fails with the document that the lost worker had, if it had one. */
  #blame(failure: Failure): void {
    const held = Atomics.load(this.#place, 0) - this.#takenDocuments - 1;
    const document = this.#underWay.flat()[held];
    this.#fail(document ? new FatalDocument(document, failure) : failure);
  }

  #fail(failure: Failure | FatalDocument): void {
    this.#failure ??= failure;
    this.#thread.stopClock();
    this.#outcome.reject(this.#failure);
    this.#onTaken?.();
  }

  /** Starts timing when a document is first seen in work, because the worker does not announce it. */
  #watchDocument(): void {
    if (!this.#thread.isReady) return;
    this.#thread.stopClock();
    if (this.#underWay.length === 0) return;
    const place = Atomics.load(this.#place, 0);
    this.#thread.limitWork(this.#options.documentLimitMs, (limit) => {
      if (Atomics.load(this.#place, 0) !== place) return this.#watchDocument();
      this.#thread.lose(new Failure("timeout", `the index worker took longer than ${limit} for it`));
    });
  }
}

/** The order to a worker. Unchanged documents are carried over from the index file at `path`. */
export type BuildTask = Pick<BuildOptions, "path" | "memoryBytes" | "slugStyle" | "owner"> & {
  readonly profile: AnalyzerProfile;
  /** The documents' language; by default their text tells. */
  readonly language?: Language | undefined;
  /** Part of the name of the directory for temporary files. */
  readonly buildName: string;
  /** A shared number that the worker sets to that of the document it begins; the first is 1. */
  readonly place: Int32Array;
};

export type BuildRequest =
  | { readonly kind: "start"; readonly task: BuildTask }
  | { readonly kind: "documents"; readonly documents: readonly UnreadDocument[] }
  | { readonly kind: "end" };

/** A message about one document. */
export type DocumentNotice = {
  /** The path of its file; without one, its address. */
  readonly path: string;
  readonly detail: string;
  /** Why it is missing from the index; null when only part of it was changed or cut. */
  readonly reason: LeftOutReason | null;
};

/** The worker's answers. A failure is sent as a record, because a posted Error keeps only its message. */
export type BuildReply =
  /** All documents of one message are indexed or left out. */
  | { readonly kind: "taken"; readonly counts: BuildCounts }
  | { readonly kind: "notice"; readonly notice: DocumentNotice }
  | { readonly kind: "built"; readonly counts: BuildCounts }
  | { readonly kind: "failed"; readonly failure: FailureRecord };
