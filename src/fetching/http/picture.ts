import type { PageUrl } from "../../urls/index.ts";
import type { FetchedStream, FetchOptions, StreamFetcher } from "../types.ts";

const ACCEPT =
  "image/avif,image/webp,image/png,image/jpeg,image/gif,image/svg+xml;q=0.9,image/*;q=0.8,*/*;q=0.1";

type FetchedPicture = Pick<FetchedStream, "status" | "headers"> & {
  /** What an address of a picture answered, whatever it is; empty unless the status is 2xx. */
  readonly bytes: Uint8Array;
};

/** Fetches what should be a picture. @throws Failure as a Fetcher; an HTTP error status is an answer */
export async function fetchPicture(
  fetcher: StreamFetcher,
  url: PageUrl,
  options: FetchOptions,
): Promise<FetchedPicture> {
  const stream = await fetcher.fetchStream(url, { accept: ACCEPT, ...options, purpose: "picture" });
  const { status, headers, body } = stream;
  if (status >= 200 && status < 300) return { status, headers, bytes: await new Response(body).bytes() };
  await body.cancel();
  return { status, headers, bytes: new Uint8Array() };
}
