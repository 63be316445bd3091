import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { BunFile } from "bun";
import type { JobRecord, ManifestEntry } from "../../../../crawler/index.ts";

/** The manifest starts with the id of its job, so its beginning tells whose it is. */
const HEAD_BYTES = 200;

/** The manifest's file of a job; null when there is none, or a later crawl has replaced it. */
export async function findManifest({ id, directory }: JobRecord): Promise<BunFile | null> {
  const path = join(directory, "manifest.json");
  const stats = await lstat(path).catch(() => null);
  const file = Bun.file(path);
  const isOurs = stats?.isFile() && (await file.slice(0, HEAD_BYTES).text()).includes(JSON.stringify(id));
  return isOurs ? file : null;
}

/** The pages of a job that has ended; null without a manifest. */
export async function readManifest(
  job: JobRecord,
): Promise<{ readonly results: readonly ManifestEntry[] } | null> {
  const file = await findManifest(job);
  // The crawler wrote it.
  return file && ((await file.json()) as { readonly results: readonly ManifestEntry[] });
}
