import type { FailureRecord } from "../../failure.ts";
import type { AnalyzerProfile, SourceDocument } from "../types.ts";
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
};

export type BuildRequest =
  | { readonly kind: "start"; readonly task: BuildTask }
  | { readonly kind: "documents"; readonly documents: readonly SourceDocument[] }
  | { readonly kind: "end" };

/** What the worker says; a failure crosses as a record, because a posted Error keeps only its message. */
export type BuildReply =
  | { readonly kind: "ready" }
  /** All documents of one message are in. */
  | { readonly kind: "taken"; readonly counts: BuildCounts }
  | { readonly kind: "built"; readonly counts: BuildCounts }
  | { readonly kind: "failed"; readonly failure: FailureRecord };
