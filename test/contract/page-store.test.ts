import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../../src/pages/index.ts";
import { describePageStore } from "./page-store.contract.ts";

describePageStore("files", async () => {
  const directory = await mkdtemp(join(tmpdir(), "page-store-"));
  return {
    open: () => createFileStore(directory),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
});
