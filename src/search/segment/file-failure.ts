import { Failure } from "../../base/failure.ts";
import { systemCode, systemFailure } from "../../base/system-error.ts";

/**
 * Translates an error of writing; an error that does not come from the system is a bug and is returned
 * unchanged.
 */
export const asWriteFailure = (error: unknown, path: string): unknown =>
  systemFailure(error, "unwritable_output", `the search index ${path} could not be written`);

/** Translates an error of opening. */
export function asReadFailure(error: unknown, path: string): unknown {
  const reason = systemCode(error);
  if (reason === "ENOENT" || reason === "ENOTDIR") {
    return new Failure("index_missing", `there is no search index at ${path}; it has to be built first`, {
      cause: error,
    });
  }
  return systemFailure(error, "unreadable_input", `the search index ${path} could not be read`);
}

/** The Failure for a file that is not what was written. */
export const corrupt = (path: string, what: string): Failure =>
  new Failure("index_corrupt", `the search index ${path} is damaged (${what}); build it again`);
