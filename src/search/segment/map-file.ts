import { readFileSync } from "node:fs";

/**
 * A file's bytes, mapped into memory where the system can: only bytes that are used are read. Writing to the
 * array does not change the file. An empty file cannot be mapped.
 * @throws the system's error
 */
export function mapFile(path: string): Uint8Array<ArrayBuffer> {
  // Bun 1.4 cannot map files on Windows.
  return process.platform === "win32"
    ? new Uint8Array(readFileSync(path))
    : Bun.mmap(path, { shared: false });
}
