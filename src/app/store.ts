import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { ObjectStore, StoreLocation } from "../base/objects.ts";
import type { CrawlOutput } from "../crawler/index.ts";
import type { Program } from "./open.ts";

type StoreParts = {
  readonly metrics: Metrics;
  readonly log: Log;
  /** How long a call is repeated while the store cannot be reached, in ms; a minute by default. */
  readonly patienceMs?: number;
};

/** Opens a store with the settings and AWS's variables; see `openObjectStore`. */
export async function openStore(
  { settings, environment }: Program,
  location: StoreLocation,
  parts: StoreParts,
): Promise<ObjectStore & AsyncDisposable> {
  const { s3Endpoint, s3Region, s3Addressing, s3Encryption } = settings;
  const {
    AWS_ACCESS_KEY_ID: accessKeyId = "",
    AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
    AWS_SESSION_TOKEN: sessionToken = "",
  } = environment;
  const endpoint = s3Endpoint ?? (environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL || null);
  const region = s3Region ?? (environment.AWS_REGION || environment.AWS_DEFAULT_REGION || null);
  const { DEFAULT_S3_LIMITS, openObjectStore } = await import("../scale/index.ts");
  return openObjectStore(location, {
    ...DEFAULT_S3_LIMITS,
    endpoint,
    // Other servers than Amazon's rarely look at the region, which is signed all the same.
    region: region ?? (endpoint === null ? null : "us-east-1"),
    addressing: s3Addressing,
    encryption: s3Encryption,
    profile: environment.AWS_PROFILE || null,
    credentials:
      accessKeyId && secretAccessKey
        ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
        : null,
    ...parts,
  });
}

/**
 * The output of a crawl whose pages go into a store.
 * @param stateDirectory the local directory for the frontier; null keeps it in the store alone, between crawls
 */
export const storeOutput = (store: ObjectStore, stateDirectory: string | null): CrawlOutput => ({
  kind: "store",
  url: store.url,
  stateDirectory,
  open: async (options) => (await import("../scale/index.ts")).openStoreOutput(store, options),
});
