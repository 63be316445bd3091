import { Failure, type FailureRecord } from "../failure.ts";
import { Analyser } from "./analysis/analyser.ts";
import type { BuildReply, BuildRequest, BuildTask } from "./builder/build-protocol.ts";
import { type BuildCounts, buildSegment } from "./builder/build-segment.ts";
import { DocumentAnalyser } from "./document/analyse.ts";
import { Segment } from "./segment/segment.ts";
import type { SourceDocument } from "./types.ts";

/** The part of a worker's global scope that is used here. */
type WorkerScope = {
  postMessage(reply: BuildReply): void;
  addEventListener(type: "message", listener: (event: { readonly data: BuildRequest }) => void): void;
};

/** Turns the calling worker thread into one that builds one index from the documents it is sent. */
export function runIndexWorker(scope: WorkerScope): void {
  const inbox = new Inbox();
  scope.addEventListener("message", ({ data: request }) => {
    if (request.kind === "documents") inbox.put(request.documents);
    else if (request.kind === "end") inbox.put(null);
    else void build(request.task, inbox, scope).then((reply) => scope.postMessage(reply));
  });
  scope.postMessage({ kind: "ready" });
}

async function build(task: BuildTask, inbox: Inbox, scope: WorkerScope): Promise<BuildReply> {
  const analyser = new Analyser(task.profile);
  const documents = new DocumentAnalyser(analyser);
  using previous = openPrevious(task.path);
  let counts: BuildCounts = { documents: 0, unchanged: 0 };
  try {
    counts = await buildSegment(
      inbox.documents(() => scope.postMessage({ kind: "taken", counts })),
      {
        path: task.path,
        memoryBytes: task.memoryBytes,
        buildName: task.buildName,
        previous,
        analysis: {
          fingerprint: analyser.fingerprint,
          vocabulary: analyser,
          analyse: (source) => documents.analyse(source),
        },
        onProgress: (made) => {
          counts = made;
        },
      },
    );
    return { kind: "built", counts };
  } catch (error) {
    return { kind: "failed", failure: toRecord(error) };
  }
}

// Without an index, or with one that is damaged or of another version, everything is analysed anew.
function openPrevious(path: string): Segment | null {
  try {
    return Segment.open(path);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** Documents that were posted and not yet asked for. */
class Inbox {
  readonly #batches: (readonly SourceDocument[] | null)[] = [];
  #wake: (() => void) | null = null;

  /** @param batch null at the end */
  put(batch: readonly SourceDocument[] | null): void {
    this.#batches.push(batch);
    this.#wake?.();
  }

  /** @param onTaken called when all of a batch were asked for */
  async *documents(onTaken: () => void): AsyncGenerator<SourceDocument> {
    for (;;) {
      const batch = this.#batches.shift();
      if (batch === null) return;
      if (batch === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
        continue;
      }
      yield* batch;
      onTaken();
    }
  }
}

const toRecord = (error: unknown): FailureRecord =>
  error instanceof Failure
    ? error.toRecord()
    : { code: "internal", message: `building the search index stopped with ${String(error).slice(0, 300)}` };
