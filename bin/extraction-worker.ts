import { runExtractionWorker } from "../src/extraction/worker.ts";
import { takePriority } from "./worker-priority.ts";

takePriority();
runExtractionWorker(globalThis as unknown as Parameters<typeof runExtractionWorker>[0]);
