import { runExtractionWorker } from "../src/extraction/worker.ts";

runExtractionWorker(globalThis as unknown as Parameters<typeof runExtractionWorker>[0]);
