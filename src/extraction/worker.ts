import { Failure, type FailureRecord } from "../base/failure.ts";
import { extractBody } from "./extract.ts";
import { createGarbageWatch } from "./garbage.ts";
import type { ExtractionTask, WorkerReply } from "./protocol.ts";

/** The part of a worker's global scope that is used here. */
type WorkerScope = {
  postMessage(reply: WorkerReply): void;
  addEventListener(type: "message", listener: (event: { readonly data: ExtractionTask }) => void): void;
};

/** Turns the calling worker thread into one that extracts a page per message. */
export function runExtractionWorker(scope: WorkerScope): void {
  const watchGarbage = createGarbageWatch(() => Bun.gc(true));
  scope.addEventListener("message", (event) => {
    void extract(event.data).then((reply) => {
      scope.postMessage(reply);
      // After the answer, so that nobody waits for it.
      watchGarbage(event.data.body.length);
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
