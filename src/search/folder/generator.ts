import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { SlugStyle } from "../document/sections.ts";

type Generator = {
  /** Matches the name of its configuration, a file or a folder. */
  readonly name: RegExp;
  readonly style: SlugStyle;
  /** Files that may name another function for anchors: of the folder of that name, or the file itself. */
  readonly mayNameSlugify: boolean;
};

const GENERATORS: readonly Generator[] = [
  { name: /^(?:(?:mkdocs|properdocs)\.ya?ml|zensical\.toml)$/, style: "mkdocs", mayNameSlugify: true },
  { name: /^\.(?:vitepress|vuepress)$/, style: "vitepress", mayNameSlugify: true },
  { name: /^(?:docusaurus\.config\.[cm]?[jt]s|book\.toml)$/, style: "github", mayNameSlugify: false },
  { name: /^conf\.py$/, style: "docutils", mayNameSlugify: false },
];

const CONFIG_FILE = /^config\.[cm]?[jt]s$/;

/** Usual folders of documentation below the top of a repository. */
const USUAL_FOLDERS: readonly string[] = ["docs", "doc", "website", "documentation"];

/** How many folders above the documents are looked at. */
const LEVELS_ABOVE = 2;

/** A way to look at folders, whose paths use `/`. */
export type FolderLook = {
  /** The names of what a folder holds; none when there is no such folder. */
  namesIn(folder: string): Promise<readonly string[]>;
  /** The text of a file; empty when it cannot be read. */
  textOf(path: string): Promise<string>;
  /** The folder that holds it; null at the top of what may be looked at. */
  parentOf(folder: string): string | null;
};

/**
 * Tells how the generator of some documents makes anchors, by its configuration: in their folder, in one where
 * repositories keep documentation, or above. Undefined without one, or when it names a function of its own.
 */
export async function slugStyleOf(folder: string, look: FolderLook): Promise<SlugStyle | undefined> {
  const names = await look.namesIn(folder);
  const folders = [
    folder,
    ...USUAL_FOLDERS.filter((one) => names.includes(one)).map((one) => `${folder}/${one}`),
  ];
  let above = look.parentOf(folder);
  for (let level = 0; above !== null && level < LEVELS_ABOVE; level++) {
    folders.push(above);
    above = look.parentOf(above);
  }
  for (const one of folders) {
    const inside = await look.namesIn(one);
    for (const generator of GENERATORS) {
      const name = inside.find((each) => generator.name.test(each));
      if (name === undefined) continue;
      const isOwn = generator.mayNameSlugify && (await namesSlugify(`${one}/${name}`, look));
      return isOwn ? undefined : generator.style;
    }
  }
  return undefined;
}

async function namesSlugify(path: string, look: FolderLook): Promise<boolean> {
  const inside = (await look.namesIn(path)).find((name) => CONFIG_FILE.test(name));
  return (await look.textOf(inside === undefined ? path : `${path}/${inside}`)).includes("slugify");
}

/** Does the same for a folder of the disk. It looks no higher than the top of the folder's repository. */
export const slugStyleOfFolder = (folder: string): Promise<SlugStyle | undefined> =>
  slugStyleOf(resolve(folder), {
    namesIn: (path) => readdir(path).catch(() => []),
    textOf: (path) => readFile(path, "utf8").catch(() => ""),
    parentOf: (path) => (existsSync(join(path, ".git")) || dirname(path) === path ? null : dirname(path)),
  });
