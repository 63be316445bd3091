import type { FailureRecord } from "../../base/failure.ts";
import type { LeftOutReason } from "../folder/left-out.ts";
import type { UnreadDocument } from "../reading/read-document.ts";
import type { AnalyzerProfile, Language } from "../types.ts";
import type { BuildCounts, BuildOptions } from "./build-segment.ts";

/** The order to a worker. Unchanged documents are carried over from the index file at `path`. */
export type BuildTask = Pick<BuildOptions, "path" | "memoryBytes" | "slugStyle" | "owner"> & {
  readonly profile: AnalyzerProfile;
  /** The documents' language; by default their text tells. */
  readonly language?: Language | undefined;
  /** Part of the name of the directory for temporary files. */
  readonly buildName: string;
  /** A shared number that the worker sets to that of the document it begins; the first is 1. */
  readonly place: Int32Array;
};

export type BuildRequest =
  | { readonly kind: "start"; readonly task: BuildTask }
  | { readonly kind: "documents"; readonly documents: readonly UnreadDocument[] }
  | { readonly kind: "end" };

/** A message about one document. */
export type DocumentNotice = {
  /** The path of its file; without one, its address. */
  readonly path: string;
  readonly detail: string;
  /** Why it is missing from the index; null when only part of it was changed or cut. */
  readonly reason: LeftOutReason | null;
};

/** The worker's answers. A failure is sent as a record, because a posted Error keeps only its message. */
export type BuildReply =
  /** All documents of one message are indexed or left out. */
  | { readonly kind: "taken"; readonly counts: BuildCounts }
  | { readonly kind: "notice"; readonly notice: DocumentNotice }
  | { readonly kind: "built"; readonly counts: BuildCounts }
  | { readonly kind: "failed"; readonly failure: FailureRecord };
