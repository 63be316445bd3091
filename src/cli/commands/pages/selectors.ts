import type { ArticleSession } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { ExtractionOptions } from "../../../extraction/index.ts";

/**
 * A selector is read with the page that it is for. One that is wrong should be said before a page is fetched,
 * and once for many pages, so it is tried on a page of one word first.
 * @throws Failure `invalid_usage`
 */
export async function requireSelectors(
  extraction: ExtractionOptions,
  { session, signal }: { readonly session: ArticleSession; readonly signal: AbortSignal },
): Promise<void> {
  if (extraction.select === null && extraction.exclude.length === 0) return;
  const page = { name: "selectors", kind: "html", body: "<p>word</p>", url: null, warnings: [] } as const;
  try {
    await session.fromDocument(page, extraction, signal);
  } catch (error) {
    const isExpected = error instanceof Failure && error.code === "no_content"; // nothing matches, of course
    if (!isExpected) throw error;
  }
}
