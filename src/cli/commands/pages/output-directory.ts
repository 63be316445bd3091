import { existsSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { Failure } from "../../../base/failure.ts";
import { hasRawBytes, pathBytes } from "../../path-bytes.ts";
import { attempt } from "./output.ts";

/** A directory for output, and a path of text that leads there for as long as it is open. */
export type OutputDirectory = AsyncDisposable & { readonly path: string };

/**
 * Opens a directory whose name may be no UTF-8. Such a name fits into no text, and most of what writes files takes
 * text for a path, so they go through the open directory's entry in /proc.
 * @throws Failure `unwritable_output`; `invalid_usage` where the system has no /proc
 */
export async function openOutputDirectory(directory: string): Promise<OutputDirectory> {
  if (!hasRawBytes(directory)) return { path: directory, [Symbol.asyncDispose]: async () => {} };
  if (!existsSync(DESCRIPTORS))
    throw new Failure("invalid_usage", "--output-dir is no UTF-8, which this system has no way to write to");
  const handle = await attempt(directory, async () => {
    await mkdir(pathBytes(directory), { recursive: true });
    return await open(pathBytes(directory), "r");
  });
  return { path: `${DESCRIPTORS}/${handle.fd}`, [Symbol.asyncDispose]: () => handle.close() };
}

const DESCRIPTORS = "/proc/self/fd";
