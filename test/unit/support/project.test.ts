import { expect, test } from "bun:test";
import { join } from "node:path";
import project from "../../../project.json" with { type: "json" };

const ROOT = join(import.meta.dir, "../../..");
const ADDRESS = /^https:\/\/[^\s"<>\\]+$/;
const VERSION = /^\d+\.\d+\.\d+(?:-[\da-z.]+)?$/;
const FORMS: Readonly<Record<keyof typeof project, RegExp>> = {
  published: VERSION,
  homepage: ADDRESS,
  repository: ADDRESS,
  maintainer: /^[^<>\n"\\]+ <[^\s<>"\\]+@[^\s<>"\\]+>$/,
  downloads: /^https:\/\/[^\s"<>\\]*\{version\}[^\s"<>\\]*[^/]$/,
  signing_key: /^RW[A-Za-z0-9+/]{54}$/,
  npm_package: /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
  pypi_package: /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
  // With a registry, or an engine would look for it where anybody may have the name.
  image: /^[a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9._-]+)+$/,
};
const MAY_BE_UNKNOWN = ["published", "homepage", "repository", "maintainer", "downloads", "signing_key"];

test("names and addresses have the forms that the packages need, or null where the owner may not have one", () => {
  const values: Readonly<Record<string, string | null>> = project;
  expect(Object.keys(values).sort()).toEqual(Object.keys(FORMS).sort());
  for (const [name, form] of Object.entries(FORMS)) {
    const value = values[name] ?? null;
    if (value === null) expect(MAY_BE_UNKNOWN).toContain(name);
    else expect({ [name]: value }).toEqual({ [name]: expect.stringMatching(form) });
  }
});

test("no other file holds an address of the project, or a word in its place", async () => {
  const addresses = [project.homepage, project.repository, project.downloads].filter(
    (address) => address !== null,
  );
  const listed = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: ROOT }).stdout.toString();
  const files = listed
    .split("\0")
    .filter((path) => /\.(?:json|md|sh|ts|yaml|yml|html|service|conf)$|file$/.test(path));
  expect(files).toContain("README.md");
  const holders: string[] = [];
  for (const path of files) {
    const file = Bun.file(join(ROOT, path));
    if (path === "project.json" || path === "test/unit/support/project.test.ts" || !(await file.exists()))
      continue;
    const text = await file.text();
    if (PLACEHOLDER.test(text) || addresses.some((address) => text.includes(address))) holders.push(path);
  }
  expect(holders).toEqual([]);
});

const PLACEHOLDER = /article-extractor\.example|\b(?:OWNER|USER|ORG)\/(?:REPO|article-extractor)\b/;
