import { Failure, type FailureRecord } from "../failure.ts";
import { extractBody } from "./extract.ts";
import type { ExtractionTask, WorkerReply } from "./protocol.ts";

/** The part of a worker's global scope that is used here. */
type WorkerScope = {
  postMessage(reply: WorkerReply): void;
  addEventListener(type: "message", listener: (event: { readonly data: ExtractionTask }) => void): void;
};

export type WorkerOptions = {
  /** Frees what pages left; the engine by itself waits until that is a good part of the machine's memory. */
  readonly collectGarbage: () => void;
};

/**
 * Characters of pages between two collections. Of 2000 pages of 100 KB the resident set stays 30 MB lower,
 * and the collections, of a heap that is small each time, cost no CPU that could be measured.
 */
const COLLECT_EVERY_CHARACTERS = 4_000_000;

/** Turns the calling worker thread into one that extracts a page per message. */
export function runExtractionWorker(scope: WorkerScope, { collectGarbage }: WorkerOptions): void {
  let uncollected = 0;
  scope.addEventListener("message", (event) => {
    void extract(event.data).then((reply) => {
      scope.postMessage(reply);
      uncollected += event.data.body.length;
      if (uncollected < COLLECT_EVERY_CHARACTERS) return;
      uncollected = 0;
      collectGarbage();
    });
  });
  scope.postMessage({ kind: "ready" });
}

async function extract(task: ExtractionTask): Promise<WorkerReply> {
  try {
    return { kind: "extracted", extraction: await extractBody(task) };
  } catch (error) {
    return { kind: "failed", failure: toRecord(error) };
  }
}

const toRecord = (error: unknown): FailureRecord =>
  error instanceof Failure
    ? error.toRecord()
    : { code: "internal", message: `extraction stopped with ${String(error).slice(0, 300)}` };
