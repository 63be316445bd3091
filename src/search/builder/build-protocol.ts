import type { FailureRecord } from "../../base/failure.ts";
import type { UnreadDocument } from "../reading/read-document.ts";
import type { AnalyzerProfile } from "../types.ts";
import type { BuildCounts } from "./build-segment.ts";

/** What a worker is asked to build. */
export type BuildTask = {
  /** The index file. What it holds already is carried over where it can be. */
  readonly path: string;
  readonly profile: AnalyzerProfile;
  /** Postings and their words in memory, in bytes. */
  readonly memoryBytes: number;
  /** Part of the name of the directory for temporary files. */
  readonly buildName: string;
  /** One number that the worker sets to that of the document it begins; the first is 1. */
  readonly place: Int32Array;
};

export type BuildRequest =
  | { readonly kind: "start"; readonly task: BuildTask }
  | { readonly kind: "documents"; readonly documents: readonly UnreadDocument[] }
  | { readonly kind: "end" };

/** What there is to say of one document. */
export type DocumentNotice = {
  /** Its address before it was read. */
  readonly url: string;
  readonly reason: string;
  /** Whether it is not in the index; else some of it is not as it was written. */
  readonly isLeftOut: boolean;
};

/** What the worker says; a failure crosses as a record, because a posted Error keeps only its message. */
export type BuildReply =
  | { readonly kind: "ready" }
  /** All documents of one message are in, or left out. */
  | { readonly kind: "taken"; readonly counts: BuildCounts }
  | { readonly kind: "notice"; readonly notice: DocumentNotice }
  | { readonly kind: "built"; readonly counts: BuildCounts }
  | { readonly kind: "failed"; readonly failure: FailureRecord };
