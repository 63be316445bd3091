import { openDirectoryStore } from "./directory.ts";
import { folderOf, type ObjectStore, type S3Options, type StoreLocation } from "./store.ts";

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
  if (location.kind === "directory")
    return { ...openDirectoryStore(location.path), [Symbol.asyncDispose]: async () => {} };
  const { openBucket } = await import("./s3.ts");
  const bucket = openBucket(location.bucket, options);
  return { ...folderOf(bucket, location.prefix), [Symbol.asyncDispose]: () => bucket[Symbol.asyncDispose]() };
}
