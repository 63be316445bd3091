const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
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

/**
 * Why the system refused, in words where they are known, else as its code.
 * @param kind what was looked for
 */
export function systemReason(error: unknown, kind: "file" | "folder" = "file"): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return `there is no such ${kind}`;
  if (code === "ENOTDIR" && kind === "folder") return "it is not a folder";
  return REASONS[code] ?? (code || String(error));
}
