import { Worker } from "node:worker_threads";
import type { StartThread } from "../base/worker-thread.ts";

/** Starts a worker thread by the interface that Node and Bun share. */
export const startNodeThread: StartThread = (url, listener) => {
  const worker = new Worker(new URL(url));
  worker.on("message", listener.onMessage);
  worker.on("error", (error: unknown) =>
    listener.onError(error instanceof Error ? error.message : String(error)),
  );
  worker.on("exit", listener.onExit);
  return {
    post: (task) => worker.postMessage(task),
    terminate: () => void worker.terminate(),
  };
};
