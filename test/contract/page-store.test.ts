import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openObjectStore } from "../../src/base/objects/index.ts";
import { createFileStore, createObjectPageStore } from "../../src/pages/index.ts";
import { makeBucket, optionsFor } from "../support/bucket.ts";
import { describePageStore } from "./page-store.contract.ts";

describePageStore("files", async () => {
  const directory = await mkdtemp(join(tmpdir(), "page-store-"));
  return {
    open: () => createFileStore(directory),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
});

describePageStore("objects in a directory", async () => {
  const path = await mkdtemp(join(tmpdir(), "page-store-"));
  const store = await openObjectStore({ kind: "directory", path }, optionsFor(""));
  return {
    open: () => createObjectPageStore(store),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
});

describePageStore("objects in a folder of a bucket", async () => {
  const { name: bucket, options } = await makeBucket();
  const store = await openObjectStore({ kind: "s3", bucket, prefix: "a b" }, options);
  return {
    open: () => createObjectPageStore(store, { folder: "pages/" }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
});
