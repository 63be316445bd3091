import { failureRecordOf, serveRequests, type WorkerScope } from "../base/worker-thread.ts";
import { extractBody } from "./extract.ts";
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

/**
 * The number of input characters after which garbage is collected. The runtime sizes its heap by the machine's whole
 * memory and lets the strings of past pages pile up: over 1 497 pages it used 336 MB instead of 211. A collection
 * costs 9 ms of CPU, so 0.15 ms a page; collecting every 8 million characters would cost twice as much and save 10 MB
 * more.
 */
const MAX_CHARS_BETWEEN = 16_000_000;

/**
 * Keeps the memory of a thread small that extracts page after page. Call the returned function after each page with
 * the page's length in characters.
 * @param collect collects all garbage of the thread
 */
export function createGarbageWatch(collect: () => void): (bodyChars: number) => void {
  let chars = 0;
  return (bodyChars) => {
    chars += bodyChars;
    if (chars < MAX_CHARS_BETWEEN) return;
    chars = 0;
    collect();
  };
}
