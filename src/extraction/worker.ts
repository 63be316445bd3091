import { Failure, type FailureRecord } from "../failure.ts";
import { extractBody } from "./extract.ts";
import type { ExtractionTask, WorkerReply } from "./protocol.ts";

/** The part of a worker's global scope that is used here. */
type WorkerScope = {
  postMessage(reply: WorkerReply): void;
  addEventListener(type: "message", listener: (event: { readonly data: ExtractionTask }) => void): void;
};

/** Turns the calling worker thread into one that extracts a page per message. */
export function runExtractionWorker(scope: WorkerScope): void {
  scope.addEventListener("message", (event) => {
    void extract(event.data).then((reply) => scope.postMessage(reply));
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

// A page can drive the libraries into any exception; here is the edge where it becomes that page's failure.
function toRecord(error: unknown): FailureRecord {
  if (error instanceof Failure) return error.toRecord();
  if (error instanceof RangeError) {
    return { code: "too_large", message: "the page is nested too deeply to extract" };
  }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: "internal", message: `extraction stopped with ${cause.slice(0, 300)}` };
}
