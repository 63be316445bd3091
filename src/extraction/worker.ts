import { failureRecordOf, serveRequests, type WorkerScope } from "../base/worker-thread.ts";
import { extractBody } from "./extract.ts";
import { createGarbageWatch } from "./garbage.ts";
import type { ExtractionTask, WorkerReply } from "./types.ts";

/** Turns the calling worker thread into one that extracts a page per message. */
export function runExtractionWorker(scope: WorkerScope<ExtractionTask, WorkerReply>): void {
  const watchGarbage = createGarbageWatch(() => {
    // Node, on which the library also runs, collects garbage by itself.
    if (process.versions.bun) Bun.gc(true);
  });
  serveRequests(scope, (task) => {
    void extract(task).then((reply) => {
      scope.postMessage(reply);
      // Garbage is collected after the answer, so that nobody waits for it.
      watchGarbage(task.body.length);
    });
  });
}

async function extract(task: ExtractionTask): Promise<WorkerReply> {
  try {
    return { kind: "extracted", extraction: await extractBody(task) };
  } catch (error) {
    return { kind: "failed", failure: failureRecordOf(error, "extraction") };
  }
}
