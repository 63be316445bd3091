// The index worker, with documents that it hangs on, dies of, or fails on.
import { readDocuments } from "../../../src/search/reading/read-document.ts";
import { runIndexWorker } from "../../../src/search/worker.ts";

runIndexWorker(globalThis as unknown as Parameters<typeof runIndexWorker>[0], (document) => {
  const documents = readDocuments(document).toArray();
  const { markdown = "" } = documents[0] ?? {};
  if (markdown.includes("HANG")) for (;;);
  if (markdown.includes("WAIT")) Bun.sleepSync(2500);
  if (markdown.includes("DIE")) process.exit(1);
  if (markdown.includes("THROW")) throw new SyntaxError("regular expression too large");
  return documents;
});
