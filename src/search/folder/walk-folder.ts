import { type Dirent, existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { mayBeDocument } from "../reading/kinds.ts";
import type { LeftOut, LeftOutReason } from "./left-out.ts";
import { compilePathRules, type PathFilter, type PathRules } from "./path-rules.ts";

export type WalkOptions = {
  /** Null leaves out hidden names only. */
  readonly rules: PathRules | null;
  /** Called with each file that is left out, and once for a folder that is. */
  readonly onLeftOut?: (file: LeftOut) => void;
};

/**
 * Lists the files that may be documents by their names, as paths below the folder in the order of their
 * names. Symbolic links are not followed.
 * @throws Failure `unreadable_input` when the folder itself cannot be read
 */
export async function* listDocuments(
  folder: string,
  { rules, onLeftOut }: WalkOptions,
): AsyncGenerator<string> {
  let entries: Dirent[];
  try {
    entries = await entriesOf(folder);
  } catch (cause) {
    const reason = systemReason(cause, "folder");
    throw new Failure("unreadable_input", `the folder ${folder} could not be read: ${reason}`, { cause });
  }
  yield* walk(entries, "", { folder, filter: compilePathRules(rules), onLeftOut: onLeftOut ?? (() => {}) });
}

/** What this program keeps beside documents is none of the folder's files. */
const STATE_FOLDER = ".article-extractor";

type Walk = {
  readonly folder: string;
  readonly filter: PathFilter;
  readonly onLeftOut: (file: LeftOut) => void;
};

async function* walk(entries: readonly Dirent[], below: string, options: Walk): AsyncGenerator<string> {
  const { folder, filter, onLeftOut } = options;
  for (const entry of entries) {
    if (entry.name === STATE_FOLDER) continue;
    const path = `${below}${entry.name}`;
    const isFolder = entry.isDirectory();
    const reason = filter.refuse(path, isFolder) ?? refusalOf(entry, join(folder, path));
    if (reason !== null) onLeftOut({ path: isFolder ? `${path}/` : path, reason });
    else if (!isFolder) yield path;
    else {
      const inside = await entriesOf(join(folder, path)).catch((cause: unknown) => {
        onLeftOut({ path: `${path}/`, reason: "unreadable", detail: systemReason(cause, "folder") });
        return [];
      });
      yield* walk(inside, `${path}/`, options);
    }
  }
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function refusalOf(entry: Dirent, path: string): LeftOutReason | null {
  // Bytes of a name that are not UTF-8 have become U+FFFD, and nothing has the name that this makes.
  if (entry.name.includes("\ufffd") && !existsSync(path)) return "bad_name";
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return null;
  if (!entry.isFile()) return "special";
  return mayBeDocument(entry.name) ? null : "unknown_kind";
}
