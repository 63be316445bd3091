import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-reason.ts";

const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined;

/**
 * Translates an error of writing; an error that does not come from the system is a bug and is returned
 * unchanged.
 */
export function asWriteFailure(error: unknown, path: string): unknown {
  const reason = systemCode(error);
  if (error instanceof Failure || reason === undefined) return error;
  return new Failure(
    "unwritable_output",
    `the search index ${path} could not be written: ${systemReason(error)}`,
    {
      cause: error,
    },
  );
}

/** Translates an error of opening. */
export function asReadFailure(error: unknown, path: string): unknown {
  const reason = systemCode(error);
  if (error instanceof Failure || reason === undefined) return error;
  if (reason === "ENOENT" || reason === "ENOTDIR") {
    return new Failure("index_missing", `there is no search index at ${path}; it has to be built first`, {
      cause: error,
    });
  }
  return new Failure(
    "unreadable_input",
    `the search index ${path} could not be read: ${systemReason(error)}`,
    {
      cause: error,
    },
  );
}

/** The Failure for a file that is not what was written. */
export const corrupt = (path: string, what: string): Failure =>
  new Failure("index_corrupt", `the search index ${path} is damaged (${what}); build it again`);
