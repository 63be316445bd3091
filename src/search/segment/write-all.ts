import type { FileHandle } from "node:fs/promises";

/** Writes all the bytes, since one system call may write fewer than it is given. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const rest = await file.write(bytes, written, bytes.length - written, position + written);
    written += rest.bytesWritten;
  }
}
