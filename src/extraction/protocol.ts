import type { FailureRecord } from "../base/failure.ts";
import type { PageUrl } from "../urls/index.ts";
import type { Extraction, ExtractionOptions } from "./types.ts";

/** What a body is written in; it decides how it is read. XHTML differs from HTML in its empty elements. */
export type BodyKind = "html" | "xhtml" | "markdown" | "plain";

/** One page to extract. */
export type ExtractionTask = {
  readonly kind: BodyKind;
  readonly body: string;
  /** The page's final URL, which relative references resolve against; null leaves them relative. */
  readonly url: PageUrl | null;
  readonly options: ExtractionOptions;
};

/**
 * What a worker says: that it can take its first page, or the outcome of the page that it was given.
 * A failure crosses as a record, because a posted Error keeps only its message.
 */
export type WorkerReply =
  | { readonly kind: "extracted"; readonly extraction: Extraction }
  | { readonly kind: "failed"; readonly failure: FailureRecord };
