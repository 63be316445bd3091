import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { link, rename, rm } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makePrivateDirectory } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import { isRecord, parseJson } from "../base/json.ts";
import { isMissing, systemCode, systemFailure } from "../base/system-error.ts";
import { ownerOfIndex } from "../search/index.ts";
import type { TenantSettings } from "./settings.ts";
import { isSameSource, realPathOf, sourceOf } from "./source/identity.ts";
import { writeState } from "./state-file.ts";

/** The deployment that a process works for. */
export type DeploymentId = {
  /** The name that the file declares; null if it declares none. */
  readonly name: string | null;
  /** The real path of the file, so that links lead to one deployment. */
  readonly file: string;
};

/** The owner of some state. It is kept as `owner.json` beside the state, and in the index itself. */
type Owner = {
  /** The deployment's name; null without one. */
  readonly deployment: string | null;
  /** The deployment's file, relative to state below its folder, so that both may be moved together. */
  readonly file: string;
  readonly codename: string;
  /** The kind of the source, and its folder, repository or sites. */
  readonly source: readonly string[];
};

export type PlaceOptions = { readonly deployment: DeploymentId; readonly stateDirectory: string };

/** The place of a tenant's index and state, with the check that they are its own. */
export class Place {
  readonly directory: string;
  readonly indexPath: string;
  /** The tenant's name among those of all deployments that share a state directory or a database. */
  readonly key: string;
  readonly #owner: Owner;

  constructor(settings: TenantSettings, { deployment, stateDirectory }: PlaceOptions) {
    const { codename, rootDir } = settings;
    const source = sourceOf(settings);
    this.key = `${codename}@${deploymentKey(deployment)}-${hashOf(source)}`;
    const isBeside = settings.source !== "filesystem" && isWritable(rootDir);
    const beside = join(realPathOf(rootDir), STATE_FOLDER);
    this.directory = isBeside ? beside : join(stateDirectory, this.key);
    this.indexPath = join(this.directory, INDEX);
    const folder = dirname(deployment.file);
    const isMovedAlong = beside.startsWith(folder.endsWith(sep) ? folder : folder + sep);
    const file = isBeside && isMovedAlong ? relative(beside, deployment.file) : deployment.file;
    this.#owner = { deployment: deployment.name, file, codename, source };
  }

  /** Its owner as the index has it. */
  get owner(): string {
    return JSON.stringify(this.#owner);
  }

  /** Why its state must neither be used nor overwritten; null when nothing speaks against it. */
  refusal(): Failure | null {
    const written = readText(this.#ownerPath);
    const owner = parseOwner(written);
    return owner !== null && relationOf(owner, this.#owner) === "other" ? this.#foreign(written) : null;
  }

  /** Why an index with this owner must not be searched; null when it may. */
  refusalOf(written: string | null): Failure | null {
    if (written === null) return null;
    const owner = parseOwner(written);
    const relation = owner === null ? "other" : relationOf(owner, this.#owner);
    if (relation === "other") return this.#foreign(written);
    // A renamed tenant keeps its index for the next search, without waiting for the next sync.
    const isRenamed = owner !== null && isSameSource(owner.source, this.#owner.source);
    if (relation === "own" || isRenamed) return null;
    return new Failure("index_missing", `${this.indexPath} was built for ${whose(written, this.directory)}`);
  }

  /** Makes the place the tenant's before anything is written. @throws Failure `foreign_state` that names who has it */
  async claim(): Promise<void> {
    makePrivateDirectory(this.directory);
    for (;;) {
      const index = this.refusalOf(ownerOfIndex(this.indexPath));
      const refusal = this.refusal() ?? (index?.code === "foreign_state" ? index : null);
      if (refusal) throw refusal;
      const written = readText(this.#ownerPath);
      if (written === this.owner || (await this.#writeOwner(written !== null))) return;
    }
  }

  /**
   * Takes over what the tenant had under its former codename, in place of what an earlier tenant of this one left.
   * @returns whether it has an index now
   * @throws Failure `foreign_state`, `unwritable_output`
   */
  async adopt(former: Place): Promise<boolean> {
    const refusal = former.refusal() ?? this.refusal();
    if (refusal) throw refusal;
    if (former.directory !== this.directory && existsSync(former.directory)) {
      try {
        await rm(this.directory, { recursive: true, force: true });
        await rename(former.directory, this.directory);
      } catch (error) {
        throw systemFailure(error, "unwritable_output", `could not move ${former.directory}`);
      }
    }
    if (!existsSync(this.indexPath)) return false;
    await this.claim();
    return true;
  }

  get #ownerPath(): string {
    return join(this.directory, OWNER);
  }

  /** @returns false when somebody else was faster */
  async #writeOwner(replaces: boolean): Promise<boolean> {
    const aside = `${this.#ownerPath}.${crypto.randomUUID()}.tmp`;
    try {
      await writeState(aside, this.#owner);
      // Of two deployments that link at once, one fails.
      await (replaces ? rename : link)(aside, this.#ownerPath);
      return true;
    } catch (error) {
      if (systemCode(error) === "EEXIST") return false;
      // Some disks have no links.
      if (!replaces && /^(?:EPERM|ENOTSUP|ENOSYS)$/.test(systemCode(error) ?? ""))
        return await this.#writeOwner(true);
      throw systemFailure(error, "unwritable_output", `could not write ${this.#ownerPath}`);
    } finally {
      await rm(aside, { force: true });
    }
  }

  #foreign(written: string | null): Failure {
    const { codename } = this.#owner;
    return new Failure(
      "foreign_state",
      `Tenant '${codename}' cannot use ${this.directory}, which belongs to ${whose(written, this.directory)}; name another docs_root_dir, or remove that directory if nobody needs it`,
    );
  }
}

/** The owner of the index that `index --dir` builds; index and folder may be moved together. */
export const folderOwner = (folder: string, indexFile: string): string =>
  JSON.stringify({ folder: relative(realPathOf(dirname(indexFile)), realPathOf(folder)) });

/**
 * Refuses an index that does not belong to a folder.
 * @param written the owner that the index names; null when it names none, or there is no index
 * @throws Failure `foreign_state` that names who has it
 */
export function requireFolderIndex(
  written: string | null,
  { folder, indexFile }: { readonly folder: string; readonly indexFile: string },
): void {
  const directory = dirname(indexFile);
  const beside = readText(join(directory, OWNER));
  const isOwn = written === null ? beside === null : written === folderOwner(folder, indexFile);
  if (!isOwn)
    throw new Failure(
      "foreign_state",
      `${indexFile} belongs to ${whose(written ?? beside, directory)}, and not to ${folder}; name another file with --index-file`,
    );
}

const STATE_FOLDER = ".article-extractor";
const INDEX = "search.index";
const OWNER = "owner.json";

/** The common part of names of a deployment's state; the deployment's name identifies it, else its file. */
export const deploymentKey = ({ name, file }: DeploymentId): string =>
  hashOf(name === null ? ["file", file] : ["name", name]);

const hashOf = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);

/**
 * Tells whether state is a tenant's own, is its own from before its deployment gave it another source or codename, or is
 * somebody else's. A deployment that has been given a name keeps what it had without one.
 */
function relationOf(found: Owner, own: Owner): "own" | "former" | "other" {
  const isSameFile = found.file === own.file;
  const isSource = isSameFile
    ? isSameSource(found.source, own.source)
    : isDeepStrictEqual(found.source, own.source);
  const isSame = found.codename === own.codename && isSource;
  const isSameDeployment = found.deployment === null ? isSameFile : found.deployment === own.deployment;
  if (!isSameDeployment || !(isSame || isSameFile)) return "other";
  return isSame ? "own" : "former";
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function parseOwner(text: string | null): Owner | null {
  const owner = text === null ? null : parseJson(text);
  if (!isRecord(owner) || typeof owner.file !== "string" || typeof owner.codename !== "string") return null;
  const { deployment, file, codename, source } = owner;
  const isSource = Array.isArray(source) && source.every((part) => typeof part === "string");
  const isName = deployment === null || typeof deployment === "string";
  return isSource && isName ? { deployment, file, codename, source } : null;
}

/** Says who state belongs to. */
function whose(written: string | null, directory: string): string {
  const owner = parseOwner(written);
  const folder = written === null ? null : parseJson(written);
  if (isRecord(folder) && typeof folder.folder === "string")
    return `the folder ${resolve(directory, folder.folder)} (index --dir)`;
  if (owner === null) return "somebody else";
  const name = owner.deployment === null ? "" : `'${owner.deployment}', `;
  return `tenant '${owner.codename}' (${owner.source.join(" ")}) of the deployment ${name}${resolve(directory, owner.file)}`;
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch (error) {
    // The first sync creates a missing directory.
    return isMissing(error);
  }
}
