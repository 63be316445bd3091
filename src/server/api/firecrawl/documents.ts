import type { JobRecord, ManifestEntry } from "../../../crawler/index.ts";
import { pageText, parsePage } from "../../../pages/index.ts";
import { isSafe } from "../extractor/jobs/download.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import { given } from "./scrape.ts";

type StoredText = { readonly text: string; readonly language?: string; readonly date?: string };

/** The Markdown of a page that a job has stored; null where its file is gone. */
export async function markdownOf(
  { file_path: path }: ManifestEntry,
  job: JobRecord,
  places: ExtractorParts["places"],
): Promise<StoredText | null> {
  const file = path !== null && isSafe(path) ? await places.page(job, path) : null;
  const page = file && parsePage(await new Response(file).text());
  return page && { ...page, text: pageText(page).text };
}

/** A page of a job as a document of Firecrawl. */
export const documentOf = (page: ManifestEntry, stored: StoredText | null): object =>
  given({
    markdown: stored?.text,
    metadata: given({
      title: page.title,
      language: stored?.language,
      publishedTime: stored?.date,
      sourceURL: page.url,
      url: page.final_url ?? page.url,
      statusCode: page.http_status,
      error: stored ? null : "the page's file is gone",
    }),
    warning: page.warnings?.join(" "),
  });
