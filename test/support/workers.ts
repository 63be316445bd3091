/** The modules of the worker threads. */
export const WORKER_URL = new URL("../../bin/extraction-worker.ts", import.meta.url);
export const INDEX_WORKER_URL = new URL("../../bin/index-worker.ts", import.meta.url);
