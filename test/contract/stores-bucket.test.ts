import { openObjectStore } from "../../src/scale/objects/open.ts";
import { createObjectPageStore } from "../../src/scale/page-store.ts";
import { makeBucket } from "../support/bucket.ts";
import { describeObjectStore } from "./object-store.contract.ts";
import { describePageStore } from "./page-store.contract.ts";

describePageStore("objects in a folder of a bucket", async () => {
  const { name: bucket, options } = await makeBucket();
  const store = await openObjectStore({ kind: "s3", bucket, prefix: "a b" }, options);
  return {
    open: () => createObjectPageStore(store, { folder: "pages/" }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
});

for (const prefix of ["", "with blank/é"]) {
  describeObjectStore(prefix === "" ? "a bucket" : "a prefix of a bucket", async () => {
    const { name: bucket, options } = await makeBucket();
    const location = { kind: "s3", bucket, prefix } as const;
    return { open: () => openObjectStore(location, options), [Symbol.asyncDispose]: async () => {} };
  });
}
