import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openObjectStore } from "../../src/base/objects/index.ts";
import { makeBucket, optionsFor } from "../support/bucket.ts";
import { describeObjectStore } from "./object-store.contract.ts";

describeObjectStore("a directory", async () => {
  const path = await mkdtemp(join(tmpdir(), "object-store-"));
  return {
    open: () => openObjectStore({ kind: "directory", path: join(path, "made later") }, optionsFor("")),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
});

for (const prefix of ["", "with blank/é"]) {
  describeObjectStore(prefix === "" ? "a bucket" : "a prefix of a bucket", async () => {
    const { name: bucket, options } = await makeBucket();
    const location = { kind: "s3", bucket, prefix } as const;
    return { open: () => openObjectStore(location, options), [Symbol.asyncDispose]: async () => {} };
  });
}
