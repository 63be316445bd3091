import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { GitTenant } from "../settings.ts";
import { type GitAccess, openAccess } from "./access.ts";
import { openRepository } from "./repository.ts";
import { chooseFiles } from "./working-copy.ts";

/** What a repository has to be read. */
export type FoundRepository = {
  readonly revision: string;
  /** Where its documentation is: a folder for it and the introduction at the top, else `.` for all of it. */
  readonly subpaths: readonly string[];
  /** Paths of the documents below the subpaths, which are at least one. */
  readonly documents: readonly string[];
};

/** The folders in which projects keep their documentation, the likeliest first. */
const FOLDERS = ["docs", "doc", "documentation", "website/docs", "site/docs", "docs-site", "guide", "guides"];

/** A project with a larger tree is added by hand. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_FILES = 100_000;

/**
 * Looks at the files of a repository's default branch, without their contents where the server can leave them out.
 * @throws Failure of `openAccess` and of git; `unreadable_input` for a repository without documents
 */
export async function lookAtRepository(
  tenant: GitTenant,
  { access, signal }: { readonly access: GitAccess; readonly signal: AbortSignal },
): Promise<FoundRepository> {
  const directory = await mkdtemp(join(tmpdir(), "article-extractor-git-"));
  try {
    const home = join(directory, "home");
    await using opened = await openAccess(access, { tenant, home });
    const repository = openRepository({
      ...opened.git,
      directory: join(directory, "git"),
      home,
      url: tenant.repositoryUrl,
      maxBytes: MAX_BYTES,
      signal,
    });
    const revision = (await repository.defaultBranch()) ?? tenant.revision;
    const tip = await repository.resolve(revision);
    await repository.fetchCommit(tip);
    const entries = await repository.list(tip.commit);
    const chosenFrom = (subpaths: readonly string[]): readonly string[] =>
      chooseFiles(entries, {
        subpaths,
        stripPrefix: null,
        rules: tenant.rules,
        maxFiles: MAX_FILES,
      }).files.map(({ from }) => from);
    const all = chosenFrom(["."]);
    if (all.length === 0)
      throw new Failure(
        "unreadable_input",
        `${tenant.repositoryUrl} has no documents in the branch ${revision}`,
      );
    const folder = FOLDERS.find((one) => all.some((path) => path.startsWith(`${one}/`)));
    const introductions = all.filter((path) => /^readme\.[a-z]{1,10}$/i.test(path));
    const subpaths = folder === undefined ? ["."] : [folder, ...introductions];
    return { revision, subpaths, documents: chosenFrom(subpaths) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
