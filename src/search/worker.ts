import { Failure } from "../base/failure.ts";
import { failureRecordOf, serveRequests, type WorkerScope } from "../base/worker-thread.ts";
import { Analyser } from "./analysis/analyser.ts";
import type { BuildReply, BuildRequest, BuildTask } from "./builder/build-protocol.ts";
import { type BuildCounts, buildSegment } from "./builder/build-segment.ts";
import { DocumentAnalyser } from "./document/analyse.ts";
import type { LeftOutReason } from "./folder/left-out.ts";
import { languageOf } from "./reading/language.ts";
import { nameOf, readDocuments, type UnreadDocument } from "./reading/read-document.ts";
import { Segment } from "./segment/segment.ts";
import type { SourceDocument } from "./types.ts";

type Scope = WorkerScope<BuildRequest, BuildReply>;

/**
 * Turns the calling worker thread into one that builds one index from the documents that it receives. A
 * document that cannot be read or analysed is left out and reported to the builder.
 * @param read replaced by tests, whose documents hang or crash it
 */
export function runIndexWorker(scope: Scope, read: BuildParts["read"] = readDocuments): void {
  const inbox = new Inbox();
  serveRequests(scope, (request) => {
    if (request.kind === "documents") inbox.put(request.documents);
    else if (request.kind === "end") inbox.put(null);
    else void new Build(request.task, { inbox, scope, read }).run().then((reply) => scope.postMessage(reply));
  });
}

type BuildParts = {
  readonly inbox: Inbox;
  readonly scope: Scope;
  readonly read: (document: UnreadDocument) => Iterable<SourceDocument>;
};

class Build {
  readonly #task: BuildTask;
  readonly #parts: BuildParts;
  #counts: BuildCounts = { documents: 0, unchanged: 0 };
  /** The name of the document in work. */
  #path = "";

  constructor(task: BuildTask, parts: BuildParts) {
    this.#task = task;
    this.#parts = parts;
  }

  async run(): Promise<BuildReply> {
    const { path, memoryBytes, slugStyle, buildName, profile } = this.#task;
    const language = this.#task.language ?? (await languageOf(await this.#parts.inbox.firstTexts()));
    const analyser = new Analyser(profile, language);
    const documents = new DocumentAnalyser(analyser);
    using previous = openPrevious(path);
    try {
      const counts = await buildSegment(this.#documents(), {
        path,
        memoryBytes,
        slugStyle,
        buildName,
        previous,
        analysis: {
          fingerprint: analyser.fingerprint,
          vocabulary: analyser,
          analyse: (source) => documents.analyse(source, (detail) => this.#tell(detail, null)),
        },
        onProgress: (made) => {
          this.#counts = made;
        },
        onFailed: (_, error) => this.#tell(...refusalOf(error)),
        onRepeated: ({ url }) => this.#tell(`another document has its address ${url}`, "duplicate"),
      });
      return { kind: "built", counts };
    } catch (error) {
      return { kind: "failed", failure: failureRecordOf(error, "building the search index") };
    }
  }

  async *#documents(): AsyncGenerator<SourceDocument> {
    const { inbox, scope } = this.#parts;
    let number = 0;
    for await (const batch of inbox.batches()) {
      for (const document of batch) {
        Atomics.store(this.#task.place, 0, ++number);
        this.#path = nameOf(document);
        yield* this.#tryRead(document);
      }
      scope.postMessage({ kind: "taken", counts: this.#counts });
    }
  }

  *#tryRead(document: UnreadDocument): Generator<SourceDocument> {
    let isEmpty = true;
    try {
      for (const source of this.#parts.read(document)) {
        isEmpty = false;
        yield source;
      }
      if (isEmpty) this.#tell("it holds no words", "empty");
    } catch (error) {
      this.#tell(...refusalOf(error));
    }
  }

  #tell(detail: string, reason: LeftOutReason | null): void {
    this.#parts.scope.postMessage({ kind: "notice", notice: { path: this.#path, detail, reason } });
  }
}

// A document can cause any exception; here it becomes a reason for leaving out that document.
const refusalOf = (error: unknown): [detail: string, reason: LeftOutReason] =>
  error instanceof Failure
    ? [error.message, error.code === "no_content" ? "empty" : "failed"]
    : [`reading it stopped with ${String(error).slice(0, 300)}`, "failed"];

// When there is no index, or it is damaged or of another version, everything is analysed anew.
function openPrevious(path: string): Segment | null {
  try {
    return Segment.open(path);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** Documents that have arrived and were not yet asked for. */
class Inbox {
  readonly #batches: (readonly UnreadDocument[] | null)[] = [];
  #wake: (() => void) | null = null;

  /** @param batch the next documents; null at the end */
  put(batch: readonly UnreadDocument[] | null): void {
    this.#batches.push(batch);
    this.#wake?.();
  }

  /** The texts of the first documents, which stay. */
  async firstTexts(): Promise<readonly string[]> {
    while (this.#batches.length === 0) await this.#more();
    return (this.#batches[0] ?? []).map((document) =>
      "text" in document ? document.text : document.markdown,
    );
  }

  async *batches(): AsyncGenerator<readonly UnreadDocument[]> {
    for (;;) {
      const batch = this.#batches.shift();
      if (batch === null) return;
      if (batch !== undefined) {
        yield batch;
        continue;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }
}
