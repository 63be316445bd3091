import { Failure } from "./failure.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EFBIG: "the file is too large",
  EISDIR: "it is a directory, not a file",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "there is a file of that name",
  ENAMETOOLONG: "the path is too long",
  ELOOP: "too many symbolic links",
  EMFILE: "too many files are open",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EBADF: "it is closed",
};

/** The code of an error that the system or a library gave one (`ENOENT`, `SQLITE_BUSY`); null for any other. */
export const systemCode = (error: unknown): string | null =>
  error instanceof Error && !(error instanceof Failure) && "code" in error ? String(error.code) : null;

/** Whether an error means that the file does not exist. */
export const isMissing = (error: unknown): boolean => systemCode(error) === "ENOENT";

/** Why the system refused, in words where they are known, else as its code. @param kind what was looked for */
export function systemReason(error: unknown, kind: "file" | "folder" = "file"): string {
  const code = systemCode(error) ?? "";
  if (code === "ENOENT") return `there is no such ${kind}`;
  if (code === "ENOTDIR" && kind === "folder") return "it is not a folder";
  return REASONS[code] ?? (code || String(error));
}

/** Turns an error of the system into a `Failure` that says why it refused. Any other error is a bug and is returned unchanged. */
export const systemFailure = (
  error: unknown,
  code: "unreadable_input" | "unwritable_output",
  message: string,
): unknown =>
  systemCode(error) === null
    ? error
    : new Failure(code, `${message}: ${systemReason(error)}`, { cause: error });
