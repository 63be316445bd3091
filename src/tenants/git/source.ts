import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { makePrivateDirectory } from "../../base/database/index.ts";
import { Failure } from "../../base/failure.ts";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import {
  DEFAULT_EXCLUDED,
  DOCUMENT_ENDINGS,
  type DocumentExtractor,
  type FolderLook,
  type LeftOut,
  readFiles,
  type SlugStyle,
  sizeOf,
  slugStyleOf,
  tooLarge,
  type UnreadDocument,
} from "../../search/index.ts";
import { type DocumentUrl, docsUrl, parsePageUrl } from "../../urls/index.ts";
import { forgeTree } from "../describe.ts";
import { countByReason, countTroubles, describeReasons } from "../left-out.ts";
import type { GitTenant } from "../settings.ts";
import type { Source, SyncContext, SyncCounts } from "../source/source.ts";
import { readState, writeState } from "../state-file.ts";
import { type GitAccess, openAccess } from "./access.ts";
import { type Blob, openRepository, type Repository, type Tip, type TreeEntry } from "./repository.ts";
import {
  type Choice,
  type ChosenFile,
  chooseFiles,
  foldersAbove,
  normalSubpath,
  WorkingCopy,
} from "./working-copy.ts";

type GitSourceOptions = {
  readonly access: GitAccess;
  /** An absolute path; the directory holds the clone and the source's memory. */
  readonly stateDirectory: string;
  readonly extractHtml: DocumentExtractor;
  readonly log: Log;
};

const MAX_FILES = 100_000;
/** The most disk space that the clone may take. */
const MAX_CLONE_BYTES = 4 * 1024 * 1024 * 1024;
const PROGRESS_EVERY = 100;

/** The state after the last complete sync. It defines the documents, whatever a later, interrupted sync began. */
type GitState = {
  readonly version: 2;
  /** The settings that chose the files; other settings mean other files. */
  readonly wish: string;
  readonly commit: string;
  readonly files: readonly ChosenFile[];
  /** How the documents' generator makes anchors, where its configuration tells. */
  readonly slugStyle?: SlugStyle | undefined;
  readonly leftOut: readonly LeftOut[];
  /** Subpaths that the commit does not have. */
  readonly emptySubpaths: readonly string[];
  /** Copies of earlier syncs that still have to be removed. */
  readonly garbage: readonly string[];
};

/**
 * Documents of a git repository. Of a commit only the blobs of documents below the subpaths are fetched, and
 * copied into the tenant's directory. Nothing is checked out, so nothing in the repository is run, followed
 * or converted.
 */
export function gitSource(tenant: GitTenant, options: GitSourceOptions): Source {
  const statePath = join(options.stateDirectory, "git.json");
  const copy = new WorkingCopy(tenant.rootDir);
  const parts: GitParts = { tenant, options, statePath, copy };
  return {
    sync: (context) => syncRepository(parts, context),
    documents: (onLeftOut) => readDocuments(parts, onLeftOut),
    slugStyle: async () => (await readState(statePath, isGitState))?.slugStyle,
    watch: () => null,
  };
}

type GitParts = {
  readonly tenant: GitTenant;
  readonly options: GitSourceOptions;
  readonly statePath: string;
  readonly copy: WorkingCopy;
};

const repositoryOptions = ({ options, tenant }: GitParts) => ({
  directory: join(options.stateDirectory, "git"),
  home: join(options.stateDirectory, "git-home"),
  url: tenant.repositoryUrl,
  maxBytes: MAX_CLONE_BYTES,
});

async function syncRepository(parts: GitParts, context: SyncContext): Promise<SyncCounts> {
  const { tenant, options, statePath } = parts;
  makePrivateDirectory(options.stateDirectory);
  const places = repositoryOptions(parts);
  await using opened = await openAccess(options.access, tenant, places.home);
  const open = (directory: string): Repository =>
    openRepository({ ...places, directory, reach: opened.git, signal: context.signal });
  const before = await readState(statePath, isGitState);
  const tip = await open(places.directory).resolve(tenant.revision);
  const wish = wishOf(tenant);
  if (before?.commit === tip.commit && before.wish === wish && (await hasAllCopies(parts, before))) {
    await removeGarbage(parts, before);
    const failed = countTroubles(before.leftOut);
    return { fetched: 0, unchanged: before.files.length, removed: 0, failed, ...notesOf(before) };
  }
  return await withCloneOrNewOne(parts, async (directory) => {
    const repository = open(directory);
    const { choice, slugStyle } = await fetchTree(parts, repository, tip);
    const { commit } = tip;
    return await takeOver(parts, { before, wish, commit, choice, slugStyle, repository, context });
  });
}

/** Messages of git for failures of the server or the network. */
const NOT_THE_CLONE =
  /unable to access|RPC failed|early EOF|hung up|Authentication failed|could not read|HTTP [45]|not our ref/i;

/**
 * Repeats the work with a new clone when the existing one is damaged. After a crash (a stale lock, half a
 * pack) a clone would fail for ever. The new clone is made beside the old one and replaces it when the sync
 * has succeeded; until then the old one may hold texts that are needed.
 */
async function withCloneOrNewOne<T>(parts: GitParts, work: (directory: string) => Promise<T>): Promise<T> {
  const { directory } = repositoryOptions(parts);
  const isNew = !existsSync(directory);
  try {
    return await work(directory);
  } catch (error) {
    const isDamage =
      error instanceof Failure && error.code === "network" && !NOT_THE_CLONE.test(error.message);
    if (isNew || !isDamage) throw error;
    parts.options.log.warning("clone is made anew", { error: error.message });
    const beside = `${directory}.new`;
    await rm(beside, { recursive: true, force: true });
    const result = await work(beside).catch(async (again) => {
      await rm(beside, { recursive: true, force: true });
      throw again instanceof Failure && again.code === "cancelled" ? again : error;
    });
    await rm(directory, { recursive: true, force: true });
    await rename(beside, directory);
    return result;
  }
}

async function fetchTree(
  { tenant, options }: GitParts,
  repository: Repository,
  tip: Tip,
): Promise<Pick<TakeOver, "choice" | "slugStyle">> {
  await repository.tidy();
  await repository.fetchCommit(tip);
  const entries = await repository.list(tip.commit);
  const choice = chooseFiles(entries, {
    subpaths: tenant.subpaths,
    rules: tenant.rules,
    stripPrefix: tenant.stripPrefix,
    maxFiles: MAX_FILES,
  });
  for (const subpath of choice.emptySubpaths)
    options.log.warning("subpath without files", { subpath, commit: tip.commit });
  if (choice.files.length > 0)
    return { choice, slugStyle: await slugStyleOfTree(entries, tenant.subpaths, repository) };
  const reasons = describeReasons(countByReason(choice.leftOut));
  throw new Failure(
    "unreadable_input",
    `${tenant.repositoryUrl} has no documents below ${tenant.subpaths.join(", ")} at ${tip.commit.slice(0, 12)}${reasons === "" ? "" : `; left out: ${reasons}`}`,
  );
}

type TakeOver = {
  readonly before: GitState | null;
  readonly wish: string;
  readonly commit: string;
  readonly choice: Choice;
  readonly slugStyle: SlugStyle | undefined;
  readonly repository: Repository;
  readonly context: SyncContext;
};

/** Copies the new files, then makes the commit the current one, then removes the old files. */
async function takeOver(parts: GitParts, step: TakeOver): Promise<SyncCounts> {
  const { copy, statePath, options } = parts;
  const { before, choice, context } = step;
  const oldFiles = before?.files ?? [];
  const oldByFrom = new Map(oldFiles.map((file) => [file.from, file]));
  const { blobs, left, leftOut } = await fetchStale(parts, step);
  const files = choice.files.filter((file) => !left.has(file));
  const isChanged = (file: ChosenFile): boolean => oldByFrom.get(file.from)?.oid !== file.oid;
  const now = new Set(files.map(({ from }) => from));
  const counts = {
    fetched: 0,
    unchanged: files.filter((file) => !isChanged(file)).length,
    removed: oldFiles.filter(({ from }) => !now.has(from)).length,
    failed: countTroubles(leftOut),
  };
  // Some old files may be below a path that is a file now; until the end their text is read from the clone.
  const targets = new Set(blobs.map(({ file }) => file.path));
  const oldPaths = oldFiles.map(({ path }) => path);
  await copy.remove(oldPaths.filter((path) => foldersAbove(path).some((folder) => targets.has(folder))));
  let index = 0;
  for await (const bytes of step.repository.read(blobs)) {
    const { file } = blobs[index++]!; // both lists have the same length
    await copy.write(file.path, bytes);
    if (isChanged(file)) counts.fetched++;
    if (index % PROGRESS_EVERY === 0) context.onProgress({ ...counts });
    if (context.signal.aborted) throw new Failure("cancelled", "the sync was cancelled");
  }
  counts.fetched = files.filter(isChanged).length;
  const paths = new Set(files.map(({ path }) => path));
  const garbage = [...(before?.garbage ?? []), ...oldPaths].filter((path) => !paths.has(path));
  const { wish, commit, slugStyle } = step;
  const { emptySubpaths } = choice;
  const state: GitState = { version: 2, wish, commit, slugStyle, files, leftOut, emptySubpaths, garbage };
  await writeState(statePath, state);
  await removeGarbage(parts, state);
  options.log.info("repository synced", { commit: step.commit, ...counts });
  return { ...counts, ...notesOf(state) };
}

const notesOf = ({ emptySubpaths, commit }: GitState): Pick<SyncCounts, "notes"> =>
  emptySubpaths.length === 0
    ? {}
    : { notes: [`warning: no ${emptySubpaths.join(", no ")} at ${commit.slice(0, 12)}`] };

/** Fetches the files whose copies differ; files that are too large, or were not sent, are skipped. */
async function fetchStale({ copy }: GitParts, { choice, repository }: TakeOver) {
  const stale: ChosenFile[] = [];
  for (const file of choice.files) if ((await copy.read(file)) === null) stale.push(file);
  await repository.fetchBlobs([...new Set(stale.map(({ oid }) => oid))]);
  const sizes = await repository.sizes();
  const leftOut = [...choice.leftOut];
  const left = new Set<ChosenFile>();
  const blobs: (Blob & { readonly file: ChosenFile })[] = [];
  for (const file of stale) {
    const size = sizes.get(file.oid);
    const refusal = size === undefined ? NOT_SENT : tooLarge(file.path, size);
    if (size === undefined || refusal !== null) {
      leftOut.push({ path: file.from, ...(refusal ?? NOT_SENT) });
      left.add(file);
    } else blobs.push({ oid: file.oid, size, file });
  }
  return { blobs, left, leftOut };
}

const NOT_SENT: Omit<LeftOut, "path"> = { reason: "unreadable", detail: "the server did not send it" };

async function removeGarbage({ copy, statePath }: GitParts, state: GitState): Promise<void> {
  if (state.garbage.length === 0) return;
  await copy.remove(state.garbage);
  await writeState(statePath, { ...state, garbage: [] });
}

async function hasAllCopies({ copy }: GitParts, { files }: GitState): Promise<boolean> {
  for (const file of files) if ((await copy.read(file)) === null) return false;
  return true;
}

async function* readDocuments(
  parts: GitParts,
  onLeftOut: (file: LeftOut) => void,
): AsyncGenerator<UnreadDocument> {
  const { tenant, options, statePath, copy } = parts;
  const state = await readState(statePath, isGitState);
  const unsynced = `Tenant '${tenant.codename}' was not synced yet: there are no documents`;
  if (!state) throw new Failure("unreadable_input", unsynced);
  const repository = openRepository({
    ...repositoryOptions(parts),
    reach: { ...OFFLINE, environment: options.access.environment },
    signal: new AbortController().signal,
  });
  for (const file of state.leftOut) onLeftOut(file);
  let sizes: Promise<ReadonlyMap<string, number>> | null = null;
  const readCopy = async (file: ChosenFile): Promise<Uint8Array | null> => {
    const bytes = await copy.read(file);
    if (bytes !== null) return bytes;
    // The copy may be from a later, interrupted sync, or edited by somebody; the clone still has the original.
    sizes ??= repository.sizes();
    return await readBlob(repository, file.oid, (await sizes).get(file.oid) ?? null);
  };
  const files = new Map(state.files.map((file) => [file.from, file]));
  yield* readFiles([...files.keys()], {
    read: async (path) => (await readCopy(files.get(path)!)) ?? DAMAGED,
    sizeOf: (path) => sizeOf(join(tenant.rootDir, files.get(path)!.path)),
    addressOf: (path) => addressOf(tenant, files.get(path)!),
    mayNameItself: false,
    extractHtml: options.extractHtml,
    onLeftOut,
  });
}

const DAMAGED: Omit<LeftOut, "path"> = {
  reason: "unreadable",
  detail: "its copy is damaged; the next sync makes it again",
};

async function readBlob(from: Repository, oid: string, size: number | null): Promise<Uint8Array | null> {
  if (size === null) return null;
  for await (const bytes of from.read([{ oid, size }])) return bytes;
  return null;
}

const OFFLINE = {
  protocols: [],
  proxyUrl: null,
  credentials: null,
  ssh: null,
  certificateFile: null,
  silenceLimitMs: 60_000,
} as const;

/** The forge's address of a document, or a `docs://` address when the forge is unknown. */
function addressOf(tenant: GitTenant, { from, path }: ChosenFile): DocumentUrl {
  const tree = forgeTree(tenant.repositoryUrl, tenant.revision);
  const shown =
    tree === null ? null : parsePageUrl(`${tree}${from.split("/").map(encodeURIComponent).join("/")}`);
  return shown ?? docsUrl(tenant.codename, path);
}

// A newer version of the program may read more kinds of files of the same commit.
const wishOf = ({ repositoryUrl, revision, subpaths, stripPrefix, rules }: GitTenant): string =>
  JSON.stringify([
    [repositoryUrl, revision, subpaths, stripPrefix],
    [rules.include, DEFAULT_EXCLUDED, rules.exclude, DOCUMENT_ENDINGS],
  ]);

const isGitState = (value: unknown): value is GitState => isRecord(value) && value.version === 2;

/** A larger file is no configuration that a person wrote. */
const MAX_CONFIGURATION_BYTES = 1024 * 1024;

/** Tells how the generator of a commit's documents makes anchors, by its configuration around the subpaths. */
async function slugStyleOfTree(
  entries: readonly TreeEntry[],
  subpaths: readonly string[],
  repository: Repository,
): Promise<SlugStyle | undefined> {
  const look = lookAt(entries, repository);
  for (const subpath of subpaths) {
    const style = await slugStyleOf(normalSubpath(subpath) || ".", look);
    if (style) return style;
  }
  return undefined;
}

function lookAt(entries: readonly TreeEntry[], repository: Repository): FolderLook {
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
      const bytes = size > MAX_CONFIGURATION_BYTES ? null : await readBlob(repository, oid, size);
      return bytes === null ? "" : new TextDecoder().decode(bytes);
    },
    parentOf: (folder) => (folder === "." ? null : posix.dirname(folder)),
  };
}
