import { type Dirent, existsSync, lstatSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { docsUrl } from "../../urls/index.ts";
import { mayBeDocument } from "../reading/kinds.ts";
import type { UnreadDocument } from "../reading/read-document.ts";
import {
  type DocumentExtractor,
  type LeftOut,
  type LeftOutReason,
  type Refusal,
  readFiles,
  tooLarge,
} from "./read-files.ts";

type WalkOptions = {
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

/** This program's own files beside documents, which do not belong to the folder. */
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

/** Patterns that choose among the files of a folder or repository; `docs/tenants.md` explains them. */
export type PathRules = {
  /** If not empty, a file or a folder above it must match one of these patterns. */
  readonly include: readonly string[];
  /** Patterns to leave out, unless a later pattern that begins with `!` readmits the file. */
  readonly exclude: readonly string[];
};

/** Patterns that apply before a tenant's own: other people's files, and copies that tools make. */
export const DEFAULT_EXCLUDED: readonly string[] = [
  "node_modules/",
  "bower_components/",
  "jspm_packages/",
  "vendor/",
  "third_party/",
  "site-packages/",
  "venv/",
  "__pycache__/",
  // Sphinx copies the sources of its pages there.
  "_sources/",
];

/** Decides about paths; those above a path are decided about before. */
export interface PathFilter {
  /** Why a file or folder is left out; null when it is not. */
  refuse(path: string, isFolder: boolean): "hidden" | "excluded" | "not_included" | null;
}

/**
 * Compiles the rules. A pattern without a slash matches a name at any depth, one that ends in a slash only
 * folders. Matching takes time linear in the path.
 * @param rules null leaves out hidden names only
 */
export function compilePathRules(rules: PathRules | null): PathFilter {
  const exclude = rules === null ? [] : [...DEFAULT_EXCLUDED, ...rules.exclude].map(compile);
  const include = (rules?.include ?? []).map(compile);
  return {
    refuse(path, isFolder) {
      if (isHidden(path.slice(path.lastIndexOf("/") + 1))) return "hidden";
      const plain = path.normalize("NFC");
      if (exclude.findLast((pattern) => pattern.matches(plain, isFolder))?.isNegated === false)
        return "excluded";
      if (isFolder || include.length === 0) return null;
      return include.some((pattern) => matchesAbove(pattern, plain)) ? null : "not_included";
    },
  };
}

/** `.` and `..` are never names on a disk; only a hostile repository has them. */
const isHidden = (name: string): boolean => name.startsWith(".") && name !== "." && name !== "..";

type Pattern = { readonly isNegated: boolean; matches(path: string, isFolder: boolean): boolean };

function compile(written: string): Pattern {
  const isNegated = written.startsWith("!");
  const bare = written.slice(isNegated ? 1 : 0).normalize("NFC");
  const inner = bare.replace(/^\/|\/$/g, "");
  const isAnchored = inner.includes("/") || bare.startsWith("/");
  const glob = new Bun.Glob(isAnchored ? inner : `**/${inner}`);
  const wantsFolder = bare.endsWith("/");
  return { isNegated, matches: (path, isFolder) => (isFolder || !wantsFolder) && glob.match(path) };
}

/** Whether a pattern matches a file, or a folder that it is in. */
function matchesAbove(pattern: Pattern, path: string): boolean {
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1))
    if (pattern.matches(path.slice(0, end), true)) return true;
  return pattern.matches(path, false);
}

type FolderOptions = {
  /** The name that replaces the folder in `docs://` addresses; by default its own name. */
  readonly codename?: string;
  /** Without them it leaves out what every tenant does: hidden names, `node_modules` and their like. */
  readonly rules?: PathRules;
  /** Reads HTML files; without it they are ignored. */
  readonly extractHtml?: DocumentExtractor;
  /** Called with each file that is left out. */
  readonly onLeftOut: (file: LeftOut) => void;
};

const NO_RULES: PathRules = { include: [], exclude: [] };

/**
 * Reads the documents of a folder and its subfolders, in the order of their paths (see `readFiles`): the
 * pages of a crawl, or any other documentation. A document's address is the `url` of its front matter, else
 * `docs://<folder>/<path>`; its title is that of the front matter, else its first heading, else the file's name.
 * @throws Failure `unreadable_input` when the folder cannot be read
 */
export async function* readDocumentFolder(
  folder: string,
  { codename = codenameOf(folder), rules = NO_RULES, extractHtml, onLeftOut }: FolderOptions,
): AsyncGenerator<UnreadDocument> {
  const paths: string[] = [];
  for await (const path of listDocuments(folder, { rules, onLeftOut })) paths.push(path);
  yield* readFiles(paths, {
    read: (path) => readBytes(join(folder, path)),
    sizeOf: (path) => sizeOf(join(folder, path)),
    addressOf: (path) => docsUrl(codename, path),
    mayNameItself: true,
    extractHtml,
    onLeftOut,
  });
}

/** The size of a file; 0 when it cannot be read. */
export function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}

async function readBytes(path: string): Promise<Uint8Array | Refusal> {
  try {
    const found = lstatSync(path);
    // Another file may have taken the place of the one that was listed; opening a pipe would wait for ever.
    if (!found.isFile()) return { reason: found.isSymbolicLink() ? "link" : "special" };
    return tooLarge(path, found.size) ?? (await readFile(path));
  } catch (error) {
    return { reason: "unreadable", detail: systemReason(error) };
  }
}

/** Turns the folder's name into a valid codename. */
function codenameOf(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 64);
  return name.length < 2 ? "docs" : name;
}
