import { runIndexWorker } from "../src/search/worker.ts";
import { takePriority } from "./worker-priority.ts";

takePriority();
runIndexWorker(globalThis as unknown as Parameters<typeof runIndexWorker>[0]);
