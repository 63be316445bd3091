/**
 * The CHANGELOG as the source of versions. `make version VERSION=1.2.3` gives what is unreleased a version, in CHANGELOG.md
 * and in package.json; the maintainer reads and commits both.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

const UNRELEASED = "Unreleased";
const VERSION_FORM = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\dA-Za-z.-]{1,64})?$/;

/**
 * Returns what the CHANGELOG says of a version, without its heading.
 * @throws Error when there is no such section, or nothing in it
 */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## (.+)$/m);
  const at = sections.indexOf(version);
  if (at < 1) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  const notes = sections[at + 1]?.trim() ?? "";
  if (notes.replaceAll(/^#.*$/gm, "").trim() === "")
    throw new Error(`CHANGELOG.md says nothing below "## ${version}"`);
  return `${notes}\n`;
}

/**
 * Gives what is unreleased a version; the CHANGELOG keeps an empty section for what comes next.
 * @param current the version before
 * @throws Error when nothing is unreleased, or the version is no version or not greater
 */
export function cutVersion(changelog: string, current: string, version: string): string {
  if (!VERSION_FORM.test(version)) throw new Error(`${version} is no version such as 1.2.3`);
  if (Bun.semver.order(version, current) <= 0)
    throw new Error(`${version} is not greater than ${current}, the version before`);
  notesOf(changelog, UNRELEASED);
  return changelog.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version}`);
}

/**
 * Returns the notes of the version that is to be released.
 * @param isTrial whether what is unreleased counts as its notes
 * @throws Error when entries still wait for a version
 */
export function notesForRelease(changelog: string, version: string, isTrial: boolean): string {
  if (isTrial) return notesOf(changelog, UNRELEASED);
  const hasUnreleased = /^## Unreleased\n+(?!## )\S/m.test(changelog);
  if (hasUnreleased)
    throw new Error('CHANGELOG.md has entries below "## Unreleased": run make version VERSION=… and commit');
  return notesOf(changelog, version);
}

/** @throws Error when files are changed or not committed */
export function requireCleanTree(root: string): void {
  const status = Bun.spawnSync(["git", "status", "--porcelain"], { cwd: root });
  if (!status.success) throw new Error(`git cannot tell whether ${root} is clean: ${status.stderr}`);
  const changed = status.stdout.toString().trim();
  if (changed !== "") throw new Error(`files are not committed:\n${changed}`);
}

/** Writes the version into CHANGELOG.md and package.json. */
export async function changeVersion(root: string, version: string): Promise<void> {
  requireCleanTree(root);
  const changelog = join(root, "CHANGELOG.md");
  const manifest = join(root, "package.json");
  const text = await Bun.file(manifest).text();
  const current: string = JSON.parse(text).version;
  const cut = cutVersion(await Bun.file(changelog).text(), current, version);
  await writeFile(changelog, cut);
  await writeFile(manifest, text.replace(`"version": "${current}"`, `"version": "${version}"`));
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { version: { type: "string" } } });
  try {
    if (values.version === undefined) throw new Error("name the version: make version VERSION=1.2.3");
    await changeVersion(join(import.meta.dir, "../.."), values.version);
  } catch (error) {
    console.error(`error: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
