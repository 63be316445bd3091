import { posix } from "node:path";
import { type FolderLook, type SlugStyle, slugStyleOf } from "../../search/index.ts";
import type { Repository, TreeEntry } from "./repository.ts";
import { normalSubpath } from "./working-copy.ts";

/** A larger file is no configuration that a person wrote. */
const MAX_CONFIGURATION_BYTES = 1024 * 1024;

/** Tells how the generator of a commit's documents makes anchors, by its configuration around the subpaths. */
export async function slugStyleOfTree(
  entries: readonly TreeEntry[],
  subpaths: readonly string[],
  repository: Pick<Repository, "fetchBlobs" | "sizes" | "read">,
): Promise<SlugStyle | undefined> {
  const look = lookAt(entries, repository);
  for (const subpath of subpaths) {
    const style = await slugStyleOf(normalSubpath(subpath) || ".", look);
    if (style) return style;
  }
  return undefined;
}

function lookAt(
  entries: readonly TreeEntry[],
  repository: Pick<Repository, "fetchBlobs" | "sizes" | "read">,
): FolderLook {
  const names = new Map<string, Set<string>>();
  const oids = new Map<string, string>();
  for (const { mode, oid, path } of entries) {
    if (mode.startsWith("100")) oids.set(path, oid);
    for (let at = path; at !== "."; at = posix.dirname(at)) {
      const folder = posix.dirname(at);
      const inside = names.get(folder) ?? new Set();
      names.set(folder, inside.add(posix.basename(at)));
    }
  }
  return {
    namesIn: async (folder) => [...(names.get(posix.normalize(folder)) ?? [])],
    async textOf(path) {
      const oid = oids.get(posix.normalize(path));
      if (oid === undefined) return "";
      await repository.fetchBlobs([oid]);
      const size = (await repository.sizes()).get(oid) ?? Number.POSITIVE_INFINITY;
      if (size > MAX_CONFIGURATION_BYTES) return "";
      for await (const bytes of repository.read([{ oid, size }])) return new TextDecoder().decode(bytes);
      return "";
    },
    parentOf: (folder) => (folder === "." ? null : posix.dirname(folder)),
  };
}
