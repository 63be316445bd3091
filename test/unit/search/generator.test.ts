import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { slugStyleOfFolder } from "../../../src/search/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const styleIn = async (files: Readonly<Record<string, string>>, folder: string) => {
  using directory = temporaryDirectory();
  // Whatever stands above the temporary directory is not looked at.
  for (const [path, text] of Object.entries({ ".git/HEAD": "", [`${folder}/a.md`]: "# A\n", ...files })) {
    mkdirSync(dirname(join(directory.path, path)), { recursive: true });
    writeFileSync(join(directory.path, path), text);
  }
  return await slugStyleOfFolder(join(directory.path, folder));
};

test.each([
  ["mkdocs.yml", "mkdocs"],
  ["mkdocs.yaml", "mkdocs"],
  ["properdocs.yml", "mkdocs"],
  ["zensical.toml", "mkdocs"],
  [".vitepress/config.mts", "vitepress"],
  [".vuepress/config.js", "vitepress"],
  ["docusaurus.config.ts", "github"],
  ["book.toml", "github"],
  ["conf.py", "docutils"],
])("%s beside, above or below the documents means the rules of %s", async (file, style) => {
  expect(await styleIn({ [file]: "x" }, ".")).toBe(style as never);
  expect(await styleIn({ [file]: "x" }, "docs")).toBe(style as never);
  expect(await styleIn({ [file]: "x" }, "docs/en")).toBe(style as never);
  expect(await styleIn({ [`docs/${file}`]: "x" }, ".")).toBe(style as never);
  expect(await styleIn({ [`website/${file}`]: "x" }, ".")).toBe(style as never);
});

test("the nearest configuration counts, that of the documents' own folder first", async () => {
  const files = { "mkdocs.yml": "x", "docs/conf.py": "x" };
  expect(await styleIn(files, "docs")).toBe("docutils");
  expect(await styleIn(files, ".")).toBe("mkdocs");
});

test.each([
  ["none", {}, "docs"],
  ["one that is too far above", { "mkdocs.yml": "x" }, "a/b/c"],
  ["one above the repository", { "mkdocs.yml": "x", "docs/.git/HEAD": "" }, "docs"],
  ["one in another folder", { "other/mkdocs.yml": "x" }, "."],
  ["another name", { "my-mkdocs.yml": "x", "conf.pyc": "x" }, "."],
  ["one that names a function for anchors", { "mkdocs.yml": "toc: {slugify: my.own}" }, "docs"],
  ["a folder of the same kind", { ".vitepress/config.ts": "anchor: { slugify: own }" }, "."],
])("%s tells nothing", async (_, files, folder) => {
  expect(await styleIn(files, folder)).toBeUndefined();
});
