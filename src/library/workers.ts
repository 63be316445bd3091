import { Worker } from "node:worker_threads";
import type { StartThread } from "../base/worker-thread.ts";
import { createExtractor, type Extractor } from "../extraction/index.ts";
import { EXTRACTION_LIMITS } from "../settings/index.ts";

/** Opens worker threads that extract pages; dispose of them after use. */
export const openWorkers = (
  workers: number,
  timeLimitMs: number = EXTRACTION_LIMITS.timeLimitMs,
): Extractor =>
  createExtractor({
    ...EXTRACTION_LIMITS,
    timeLimitMs,
    workers,
    // The build puts the worker's module beside this one.
    workerUrl: new URL("./library-worker.js", import.meta.url),
    startThread: startNodeThread,
  });

/** Starts a worker thread with the interface that Node and Bun share. */
const startNodeThread: StartThread = (url, listener) => {
  const worker = new Worker(new URL(url));
  worker.on("message", listener.onMessage);
  worker.on("error", (error: unknown) =>
    listener.onError(error instanceof Error ? error.message : String(error)),
  );
  worker.on("exit", listener.onExit);
  return { post: (task) => worker.postMessage(task), terminate: () => void worker.terminate() };
};
