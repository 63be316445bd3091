import { parentPort } from "node:worker_threads";
import { runExtractionWorker } from "../src/extraction/worker.ts";

// Node's worker threads have no global scope of messages as the web's have; Bun's have both.
const port = parentPort;
if (!port) throw new Error("this module runs on a worker thread of the library");
runExtractionWorker({
  postMessage: (reply) => port.postMessage(reply),
  addEventListener: (_, listener) => void port.on("message", (data) => listener({ data })),
});
