import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asWriteFailure } from "../segment/file-failure.ts";

// A directory that has not changed for this long belongs to a killed build; a younger one may be in use.
const STALE_AFTER_MS = 60 * 60 * 1000;

const prefixOf = (path: string): string => `.${basename(path)}-build-`;

/** The directory for the temporary files of the build with this name. */
export const buildDirectory = (path: string, buildName: string): string =>
  join(dirname(path), prefixOf(path) + buildName);

/**
 * Creates a directory for a build's temporary files beside the index, from where the finished file can be
 * renamed, and removes those of killed builds of the same index.
 * @throws Failure `unwritable_output`
 */
export async function makeBuildDirectory(path: string, buildName: string): Promise<string> {
  const parent = dirname(path);
  const directory = buildDirectory(path, buildName);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(parent)) {
      if (name.startsWith(prefixOf(path))) await removeIfStale(join(parent, name));
    }
  } catch (error) {
    throw asWriteFailure(error, path);
  }
  return directory;
}

async function removeIfStale(directory: string): Promise<void> {
  const files = await readdir(directory).catch(() => []); // another process may be removing it too
  const times = await Promise.all(
    [directory, ...files.map((file) => join(directory, file))].map(async (path) => {
      const stats = await stat(path).catch(() => null);
      return stats?.mtimeMs ?? 0;
    }),
  );
  if (Date.now() - Math.max(...times) > STALE_AFTER_MS) await rm(directory, { recursive: true, force: true });
}
