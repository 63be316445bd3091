import { runIndexWorker } from "../src/search/worker.ts";

runIndexWorker(globalThis as unknown as Parameters<typeof runIndexWorker>[0]);
