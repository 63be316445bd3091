import { Failure } from "../base/failure.ts";
import { composeDocument, type Extractor, STORED_RENDERINGS } from "../extraction/index.ts";
import type { DocumentExtractor } from "../search/index.ts";
import { extractionDefaults, type Settings } from "../settings/index.ts";

/** Reads the HTML pages, PDFs and their like of folders and repositories with the program's own settings. */
export function htmlReader(extractor: Extractor, settings: Settings): DocumentExtractor {
  const options = { ...extractionDefaults(settings), renderings: STORED_RENDERINGS };
  return async (body) => {
    const kind = typeof body === "string" ? "html" : "file";
    try {
      const { article } = await extractor.extract({ kind, body, url: null, options });
      if (!article) return null;
      const { language, publishedDate } = article;
      const declared = { language: language ?? undefined, date: publishedDate ?? undefined };
      return { ...composeDocument(article), declared };
    } catch (error) {
      // One file that cannot be read must not prevent the index of the others.
      if (error instanceof Failure && error.code !== "cancelled") return { reason: error.message };
      throw error;
    }
  };
}
