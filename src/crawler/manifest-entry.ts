import type { PageOutcome } from "./types.ts";

/** An entry of the manifest's `results` (docs/crawl.md, "Files"). */
export type ManifestEntry = ReturnType<typeof manifestEntry>;

/** Translates an outcome to its form in the manifest and on the wire; every field is always there. */
export function manifestEntry(outcome: PageOutcome) {
  return {
    url: outcome.url,
    // A page that is gone has its file elsewhere, where it is no page of the crawl.
    file_path: outcome.status === "success" ? outcome.filePath : null,
    status: outcome.status,
    word_count: outcome.wordCount,
    title: outcome.title,
    http_status: outcome.httpStatus,
    final_url: outcome.finalUrl,
    depth: outcome.depth,
    parent: outcome.parent,
    duration_ms: outcome.durationMs,
    content_hash: outcome.contentHash,
    warnings: outcome.warnings.length > 0 ? [...outcome.warnings] : null,
    error: outcome.error,
    reason: outcome.reason,
    unchanged: outcome.change === "unchanged",
    change: outcome.change,
    transient_404: isTransient404(outcome),
  } as const;
}

/** Whether the page was extracted although its status says that it is gone (see `articleOfVisit`). */
export const isTransient404 = ({ status, httpStatus }: Pick<PageOutcome, "status" | "httpStatus">): boolean =>
  status === "success" && (httpStatus === 404 || httpStatus === 410);
