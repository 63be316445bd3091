// HFS+ ignores these characters in names, so that `.g\u200cit` means `.git` there.
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 200;

/** Whether a path that somebody else chose stays below a folder, on every disk, and touches nothing hidden. */
export function isSafePath(path: string): boolean {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES || path.includes("\ufffd")) return false;
  return path.split("/").every((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES && isSafeName(name));
}

function isSafeName(name: string): boolean {
  const plain = name.replace(IGNORED, "");
  if (plain === "" || plain.startsWith(".") || /^git~\d/i.test(plain)) return false;
  // On Windows a colon opens a stream of a file (`.git::$INDEX_ALLOCATION`).
  if (/[\\\p{Cc}]/u.test(name) || /[. ]$/.test(name)) return false;
  return process.platform !== "win32" || !(/[:*?"<>|]/.test(name) || WINDOWS_DEVICE.test(name));
}

/** Equal for paths that are the same file on some disks. */
export const pathKey = (path: string): string => path.normalize("NFKC").toLowerCase();
