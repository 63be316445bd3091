import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import project from "../../project.json" with { type: "json" };
import { faultsIn, type Names } from "../support/install-lines.ts";

const ROOT = join(import.meta.dir, "../..");
const names: Names = project;
/** The tests' own lines ask for what is not there, bench runs say what was measured once. */
const LEFT_OUT = /^test\/|^scripts\/bench\/runs\/|^project\.json$|(?:^|\/)(?:package-lock\.json|bun\.lock)$/;
/** Its message after a publication names a package; test/packages/npm.test.ts reads both of its messages. */
const LAUNCHER = "scripts/package/launcher.js";
const TEXTS = /\.(?:md|ts|js|py|sh|ya?ml|json|html|service|conf|toml|css)$|(?:^|\/)(?:\w+file(?:-\w+)?|bun)$/;

/** What a page, a source or a template offers; of the CHANGELOG only what is not released. */
async function linesOf(path: string): Promise<readonly string[]> {
  const text = await Bun.file(join(ROOT, path)).text();
  const current = path === "CHANGELOG.md" ? text.slice(0, text.search(/^## \d/m)) : text;
  return current.replaceAll(/\\\n\s*/g, " ").split("\n");
}

test("no line of the repository leads to what project.json does not say exists", async () => {
  const listed = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: ROOT }).stdout.toString().split("\0");
  const paths = listed.filter(
    (path) => TEXTS.test(path) && !LEFT_OUT.test(path) && existsSync(join(ROOT, path)),
  );
  for (const path of [
    "README.md",
    "action.yml",
    "scripts/ci/gitlab.yml",
    "scripts/deploy/Containerfile",
    "Makefile",
  ])
    expect(paths).toContain(path);
  const found = await Promise.all(
    paths.map(async (path) =>
      (await linesOf(path)).flatMap((line) =>
        faultsIn(line, names)
          .filter((fault) => path !== LAUNCHER || fault !== "registry")
          .map((fault) => `${path}: ${fault}: ${line.trim().slice(0, 160)}`),
      ),
    ),
  );
  expect(found.flat()).toEqual([]);
});

test.each(["README.md", "docs/install.md"])("%s says whether a version is published", async (page) => {
  const text = await Bun.file(join(ROOT, page)).text();
  expect(text.includes("No version is published yet")).toBe(names.published === null);
});

const NOTHING: Names = {
  ...project,
  ...{ published: null, homepage: null, repository: null, maintainer: null, downloads: null },
};
const PUBLISHED: Names = {
  ...NOTHING,
  published: "1.2.3",
  repository: "https://code.test.net/we/article-extractor",
  downloads: "https://code.test.net/files/v{version}",
  maintainer: "Ann Quay <ann@quay.net>",
  image: "registry.quay.net/article-extractor",
};

describe("before anything is published", () => {
  test.each([
    ["registry", "`npx article-extractor URL`"],
    ["registry", "npm install -g article-extractor"],
    ["registry", "npm install article-extractor-cli@1.2.3 --no-audit"],
    ["registry", "bunx article-extractor-cli https://example.org/"],
    ["registry", "bun add --dev article-extractor"],
    ["registry", "pipx run article-extractor URL"],
    ["registry", "uvx article-extractor-cli"],
    ["registry", "uv tool install article_extractor_cli"],
    ["registry", "python3 -m pip install -U article-extractor"],
    ["registry", "run: npm install --global $" + "{npm}@$" + "{version}"],
    ["image", "docker pull article-extractor"],
    ["image", "podman run --rm -p 3000:3000 docker.io/us/article-extractor:slim"],
    ["image", "    image: article-extractor"],
    ["image", "FROM ghcr.io/us/article-extractor:1.2.3"],
    ["package manager", "brew install article-extractor"],
    ["package manager", "brew install us/tap/article-extractor"],
    ["package manager", "scoop install article-extractor"],
    ["package manager", "nix profile install nixpkgs#article-extractor"],
    ["package manager", "sudo apt install article-extractor"],
    ["script", 'curl -fsSL "$RELEASE/install.sh" | sh'],
    ["script", "wget -qO- https://example.org/article-extractor | sudo bash"],
    ["script", '| curl and a shell | `curl -fsSL "$RELEASE/install.sh" \\| sh` |'],
    ["address", "git clone https://code.net/us/article-extractor.git"],
    ["address", "git clone git@code.net:us/article-extractor.git"],
    ["address", "[the site](https://article-extractor.dev/)"],
    ["address", "  - uses: us/article-extractor@v1"],
    ["address", "nix run github:us/article-extractor"],
    ["upgrade", "`article-extractor upgrade --check` says whether there is a newer version"],
    ["report", "Write to security@article.net."],
    ["report", "with a private vulnerability report of the repository"],
  ] as const)("a line has the fault %s: %s", (fault, line) => {
    expect(faultsIn(line, NOTHING)).toContain(fault);
  });

  test.each([
    "npm install --global ./dist/packages/*.tgz",
    "pip install ./dist/packages/*.whl",
    "sudo apt install ./dist/packages/*.deb",
    "npm install ../article-extractor/dist/lib",
    "npm uninstall --global article-extractor-cli",
    "sudo apt remove article-extractor",
    "podman run --rm localhost/article-extractor:slim https://example.org/",
    "uses: ./tools/article-extractor",
    "curl -s 127.0.0.1:3000/article-extractor",
    "claude mcp add --transport http article-extractor http://127.0.0.1:3000/mcp",
    "git clone https://code.example/team/article-extractor.git",
    "rsync user@host.example:/srv .",
  ])("a line is right: %s", (line) => {
    expect(faultsIn(line, NOTHING)).toEqual([]);
  });
});

describe("once a version is published", () => {
  test.each([
    "npx article-extractor-cli URL",
    "npm install article-extractor-cli-linux-x64@1.2.3",
    "pipx run article-extractor-cli==1.2.3",
    "docker pull registry.quay.net/article-extractor:1.2.3",
    "curl -fsSL https://code.test.net/files/v1.2.3/install.sh | sh",
    "git clone https://code.test.net/we/article-extractor",
    "Write to ann@quay.net.",
  ])("a line is right: %s", (line) => {
    expect(faultsIn(line, PUBLISHED)).toEqual([]);
  });

  test.each([
    ["registry", "npx article-extractor URL"],
    ["registry", "pip install article-extractor"],
    ["image", "docker pull article-extractor"],
    ["package manager", "brew install article-extractor-cli"],
    ["address", "https://code.test.net/other/article-extractor"],
    ["report", "Write to bob@quay.net."],
  ] as const)("a line still has the fault %s: %s", (fault, line) => {
    expect(faultsIn(line, PUBLISHED)).toContain(fault);
  });
});
