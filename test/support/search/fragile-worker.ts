// The index worker, with documents that it hangs on, dies of, or fails on.
import { readDocument } from "../../../src/search/testing.ts";
import { runIndexWorker } from "../../../src/search/worker.ts";

runIndexWorker(globalThis as unknown as Parameters<typeof runIndexWorker>[0], (document) => {
  const source = readDocument(document);
  if (source.markdown.includes("HANG")) for (;;);
  if (source.markdown.includes("DIE")) process.exit(1);
  if (source.markdown.includes("THROW")) throw new SyntaxError("regular expression too large");
  return source;
});
