import { renameSync } from "node:fs";
import { readdir } from "node:fs/promises";

/** A damaged file that was put aside: its path, its new one, and what is wrong with it. */
export type Damage = { readonly path: string; readonly as: string; readonly error: string };

/** Between the name of a file that was put aside and the time when it was. */
const PUT_ASIDE = ".damaged-";

/** Renames a file that cannot be used, so that a new one can take its place and somebody can still look at it. */
export function putAside(path: string, error: string): Damage {
  const as = `${path}${PUT_ASIDE}${new Date().toISOString().replace(/[:.]/g, "-")}`;
  renameSync(path, as);
  return { path, as, error };
}

/** Returns the names of the files of a directory that were put aside there, at most ten. */
export async function filesPutAside(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.filter((name) => name.includes(PUT_ASIDE)).slice(0, 10);
}
