import { lstat, mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { Failure } from "../../../base/failure.ts";
import { systemReason } from "../../../base/system-error.ts";
import { isInStateDirectory, STATE_DIRECTORY } from "../../../crawler/index.ts";
import { ProblemError } from "../../middleware/problem.ts";

/** The rules for paths in requests. */
export type PathRules = {
  /** Paths start in this directory and stay in it once links are resolved. It is made for the first path. */
  readonly root: string;
  /** Whether the work is done on other machines too, which have no files of this one. */
  readonly runsElsewhere?: boolean;
};

/**
 * Returns the real path that an output directory has or will have.
 * @throws ProblemError 403 for a directory outside the root, 422 for a path that is no directory or has a
 * foreign manifest
 */
export async function confineDirectory(written: string, rules: PathRules): Promise<string> {
  const { existing, rest } = await realPathOf(written, rules);
  const stats = await lstat(existing);
  if (!stats.isDirectory()) throw invalidPath("output_dir", `${JSON.stringify(written)} is not a directory`);
  const path = join(existing, ...rest);
  if (rest.length === 0) await refuseForeignManifest(path, written);
  return path;
}

/** Returns the real path of a file to read. @throws ProblemError 403 outside the root, 422 when there is no file */
export async function confineFile(written: string, field: string, rules: PathRules): Promise<string> {
  refuseElsewhere(field, rules);
  const { existing, rest } = await realPathOf(written, rules);
  if (rest.length > 0 || !(await lstat(existing)).isFile())
    throw invalidPath(field, `there is no file ${JSON.stringify(written)}`);
  return existing;
}

/**
 * Returns the real path of a file to write. It need not exist, but its directory must.
 * @throws ProblemError 403 outside the root, 422 when no file can be there
 */
export async function confineNewFile(written: string, field: string, rules: PathRules): Promise<string> {
  refuseElsewhere(field, rules);
  const { existing, rest } = await realPathOf(written, rules);
  const stats = await lstat(existing);
  if (rest.length === 0 ? !stats.isFile() : rest.length > 1 || !stats.isDirectory())
    throw invalidPath(field, `there is no file ${JSON.stringify(written)}, and none can be made there`);
  return join(existing, ...rest);
}

/**
 * Creates the directory of a job that is about to run, and checks it again, because somebody may have put a
 * link in its place since the job was accepted.
 * @param path the result of `confineDirectory`
 * @throws Failure `unwritable_output`
 */
export async function openConfinedDirectory(path: string): Promise<void> {
  try {
    let existing = path;
    while ((await lstat(existing).catch(() => null)) === null) existing = dirname(existing);
    // The check comes before directories are created; otherwise they would be created behind the link.
    if ((await realpath(existing)) === existing) {
      await mkdir(path, { recursive: true });
      const isPlain = await isAbsentOr("isDirectory", join(path, STATE_DIRECTORY));
      if ((await realpath(path)) === path && isPlain) return;
    }
  } catch (cause) {
    const why = systemReason(cause);
    throw new Failure("unwritable_output", `could not make the output directory: ${why}`, { cause });
  }
  throw new Failure("unwritable_output", "the output directory has become a link to another place");
}

/** @throws Failure `unreadable_input` when the path no longer names the accepted file */
export async function requireSameFile(path: string): Promise<void> {
  const now = await realpath(path).catch(() => null);
  if (now !== path)
    throw new Failure("unreadable_input", `the sitemap file ${basename(path)} is no longer what it was`);
}

/**
 * Checks a storage state, which is read and written.
 * @throws Failure `unreadable_input` when a link has replaced it or its queue since the job was accepted
 */
export async function requireNoLink(path: string): Promise<void> {
  const directory = await realpath(dirname(path)).catch(() => null);
  const isPlain = await isAbsentOr("isFile", path);
  const hasPlainQueue = await isAbsentOr("isDirectory", `${path}.changes`);
  if (directory !== dirname(path) || !isPlain || !hasPlainQueue)
    throw new Failure("unreadable_input", `the storage state ${basename(path)} is no longer what it was`);
}

function refuseElsewhere(field: string, { runsElsewhere = false }: PathRules): void {
  if (!runsElsewhere) return;
  throw refusedPath(`${field}: crawls run on other machines too, which have no files of this one`);
}

async function isAbsentOr(kind: "isFile" | "isDirectory", path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats === null || stats[kind]();
}

type RealPath = {
  /** The existing part, with links resolved. */
  readonly existing: string;
  /** The names below it that do not exist yet. */
  readonly rest: readonly string[];
};

async function realPathOf(written: string, rules: PathRules): Promise<RealPath> {
  if (written.includes("\0")) throw refusedPath("a path holds no NUL");
  const root = await openOwnDirectory(rules.root);
  const found = await resolveExisting(resolve(root, written));
  if (found.existing !== root && !found.existing.startsWith(root.endsWith(sep) ? root : `${root}${sep}`))
    throw refusedPath(
      `${JSON.stringify(written.slice(0, 200))} leads out of the output root: name a path relative to it; ARTICLE_EXTRACTOR_OUTPUT_ROOT of the server says where it is`,
    );
  if (isInStateDirectory(relative(root, join(found.existing, ...found.rest))))
    throw refusedPath(
      `${JSON.stringify(written.slice(0, 200))} leads to where state is kept (${STATE_DIRECTORY})`,
    );
  return found;
}

/** Makes a directory for crawls, which only this user may read, where there is none; gives its real path. */
export async function openOwnDirectory(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return await realpath(path);
  } catch (cause) {
    const why = systemReason(cause);
    throw new Failure("unwritable_output", `no directory for crawls could be made: ${why}`, { cause });
  }
}

async function resolveExisting(path: string): Promise<RealPath> {
  const rest: string[] = [];
  for (let current = path; ; current = dirname(current)) {
    const stats = await lstat(current).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw refusedPath(`the path cannot be looked at: ${error.code}`);
    });
    if (stats) {
      const existing = await realpath(current).catch(() => null);
      // A link to nothing may point anywhere tomorrow.
      if (existing === null) throw refusedPath("a part of the path is a link to nothing");
      return { existing, rest };
    }
    rest.unshift(basename(current));
  }
}

async function refuseForeignManifest(path: string, written: string): Promise<void> {
  const [state, manifest] = await Promise.all(
    [STATE_DIRECTORY, "manifest.json"].map((name) => lstat(join(path, name)).catch(() => null)),
  );
  if (manifest && !state)
    throw invalidPath(
      "output_dir",
      `${JSON.stringify(written)} holds a manifest.json that no crawl of this program wrote`,
    );
}

export const refusedPath = (detail: string): ProblemError => new ProblemError(403, "path_refused", detail);

export const invalidPath = (path: string, message: string): ProblemError =>
  new ProblemError(422, "invalid_request", message, { errors: [{ path, message }] });
