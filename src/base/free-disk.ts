import { statfs } from "node:fs/promises";

/** Below this, crawls and `doctor` warn. */
export const LOW_DISK_BYTES = 100_000_000;

/** Returns the bytes that this user may still write; infinitely many where the file system does not tell. */
export async function freeBytesIn(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return Number(bavail) * Number(bsize);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
