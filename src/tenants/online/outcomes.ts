import type { FailureRecord } from "../../base/failure.ts";
import { readManifestEntries } from "../../crawler/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import { createBreathing } from "../breathing.ts";
import type { CrawledOutcome } from "./judge.ts";

/** What became of a page, and the hash of its text; null without one. */
export type MetOutcome = CrawledOutcome & { readonly contentHash: string | null };

export type MetOutcomes = {
  readonly outcomes: ReadonlyMap<PageUrl, MetOutcome>;
  /** Of the first page that failed. */
  readonly error: FailureRecord | null;
};

/**
 * What became of every page, those included that were crawled before the sync was cut off.
 * @throws Failure `unreadable_input`
 */
export async function readOutcomes(manifestPath: string): Promise<MetOutcomes> {
  const outcomes = new Map<PageUrl, MetOutcome>();
  let firstError: FailureRecord | null = null;
  const breathe = createBreathing();
  for await (const entry of readManifestEntries(manifestPath)) {
    const { url, status, http_status, final_url, reason, content_hash, error } = entry;
    outcomes.set(url, {
      status,
      httpStatus: http_status,
      finalUrl: final_url,
      reason,
      contentHash: content_hash,
    });
    firstError ??= error;
    await breathe();
  }
  return { outcomes, error: firstError };
}
