import { Failure } from "../failure.ts";
import { OutputClosed } from "./io.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a directory, not a file",
  ENOTDIR: "a part of the path is not a directory",
  ENAMETOOLONG: "the path is too long",
  ELOOP: "too many symbolic links",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EBADF: "it is closed",
};

/** Why the system refused, in words. */
export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return REASONS[code] ?? (code || "unknown error");
}

/** Whether the system refused for this reason. */
export const hasCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === code;

/** What an error of writing to stdout means to a command. */
export function stdoutFailure(cause: unknown): Error {
  // The reader has seen enough, as `head` does: nothing is wrong.
  if (hasCode(cause, "EPIPE")) return new OutputClosed();
  return new Failure("unwritable_output", `standard output cannot be written: ${reasonOf(cause)}`, { cause });
}
