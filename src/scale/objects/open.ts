import { folderOf, type ObjectStore, type StoreLocation } from "../../base/objects.ts";
import { DirectoryStore } from "./directory.ts";
import type { S3Options } from "./s3.ts";

/** A crawl rather waits a minute for its bucket than ends. */
export const DEFAULT_S3_LIMITS = { patienceMs: 60_000, silenceMs: 30_000 } as const;

/**
 * Opens a store. Nothing is read or written yet, so what is wrong with it shows at the first call. The package for S3
 * is loaded here: 10 ms and 20 MB that a program without a bucket does not spend.
 */
export async function openObjectStore(
  location: StoreLocation,
  options: S3Options,
): Promise<ObjectStore & AsyncDisposable> {
  if (location.kind === "directory") return new DirectoryStore(location.path);
  const { Bucket } = await import("./s3.ts");
  const bucket = new Bucket(location.bucket, options);
  if (location.prefix === "") return bucket;
  return { ...folderOf(bucket, location.prefix), [Symbol.asyncDispose]: () => bucket[Symbol.asyncDispose]() };
}
