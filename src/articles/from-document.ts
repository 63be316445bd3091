import type { BodyKind, ExtractionOptions, Extractor } from "../extraction/index.ts";
import type { PageUrl } from "../urls/index.ts";
import { type FetchedArticle, requireArticle } from "./fetched-article.ts";

/** A document that is already here: a file, or text from a pipe. */
export type LocalDocument = {
  /** The document's name in messages. */
  readonly name: string;
  readonly kind: BodyKind;
  readonly body: string;
  /** Its address, for relative links; null leaves them relative. */
  readonly url: PageUrl | null;
  /** The warnings of reading it. */
  readonly warnings: readonly string[];
};

/** Extracts a local document; throws `Failure` `no_content` and what the extractor throws. */
export async function articleFromDocument(
  document: LocalDocument,
  options: ExtractionOptions,
  { extractor, signal }: { readonly extractor: Pick<Extractor, "extract">; readonly signal?: AbortSignal },
): Promise<FetchedArticle> {
  const { kind, body, url } = document;
  const started = performance.now();
  const extraction = await extractor.extract({ kind, body, url, options }, signal);
  const article = requireArticle(extraction, document.name);
  return {
    url,
    finalUrl: url,
    canonicalUrl: extraction.canonical,
    statusCode: null,
    fetcher: "file",
    article,
    warnings: [...document.warnings, ...article.warnings],
    timings: { fetchMs: 0, extractionMs: performance.now() - started },
  };
}
