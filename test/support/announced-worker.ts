import { runExtractionWorker } from "../../src/extraction/worker.ts";

// A test counts the extraction workers of a program by their words on this channel.
new BroadcastChannel("extraction-workers").postMessage("started");
runExtractionWorker(globalThis as unknown as Parameters<typeof runExtractionWorker>[0]);
