import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import project from "../../project.json" with { type: "json" };

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
    ["registry", "npm install article-extractor-cli@1.2.3 --no-audit"],
    ["registry", "pipx run article-extractor URL"],
    ["registry", "uv tool install article_extractor_cli"],
    ["registry", "python3 -m pip install -U article-extractor"],
    ["registry", "run: npm install --global $" + "{npm}@$" + "{version}"],
    ["image", "docker pull article-extractor"],
    ["image", "podman run --rm -p 3000:3000 docker.io/us/article-extractor:slim"],
    ["image", "    image: article-extractor"],
    ["package manager", "brew install article-extractor"],
    ["package manager", "nix profile install nixpkgs#article-extractor"],
    ["script", 'curl -fsSL "$RELEASE/install.sh" | sh'],
    ["script", '| curl and a shell | `curl -fsSL "$RELEASE/install.sh" \\| sh` |'],
    ["address", "git clone https://code.net/us/article-extractor.git"],
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

/** What the project says of itself in project.json. */
type Names = { readonly [Name in keyof typeof project]: string | null };

/** What is wrong with a line: what it asks for does not exist, or is somebody else's. */
type Fault = "registry" | "image" | "package manager" | "script" | "address" | "upgrade" | "report";

const OURS = /article[-_]extractor/;
const RUN_FROM_NPM = String.raw`npx|bunx|pnpx|(?:npm|pnpm|yarn|bun|deno)\s+(?:global\s+)?(?:i|install|add|exec|x|dlx|ci|update|upgrade|view)`;
const RUN_FROM_PYPI = String.raw`uvx|pipx\s+\w+|(?:uv\s+)?pip3?\s+(?:install|download)|uv\s+(?:add|tool\s+\w+)`;
const REGISTRY = new RegExp(
  String.raw`(?<![\w-])(?:(${RUN_FROM_NPM})|(${RUN_FROM_PYPI}))\s+([^\n\`;&|)"]*)`,
  "g",
);
const MANAGER =
  /(?<![\w-])(?:brew|scoop|winget|choco|snap|flatpak|conda|mamba|nix(?:-env)?|port|pacman|dnf|yum|zypper|apk|cargo|gem|go|apt(?:-get)?)\s+(?:[\w-]+\s+)?(?:install|add|tap|upgrade|update|get|run|-\w+)\s+([^\n`;&|)"]*)/g;
const ENGINE =
  /(?<![\w-])(?:docker|podman|nerdctl|skopeo|crane)\s+(?:image\s+)?(?:run|pull|create|copy)\s+([^\n`;&|)"]*)/g;
const IMAGE_FIELD = /(?:^|\s)(?:FROM|image:|docker:\/\/)\s*([\w./:@-]+)/g;
const PIPED = /(?:curl|wget)\b[^\n`]*\|\s*(?:sudo\s+)?\w*sh\b/;
const ADDRESS =
  /(?:\b[a-z+]+:\/\/|\bgit@)[^\s"'`<>()|;,]+|\buses:\s*[^\s.][^\s]*|\b(?:github|gitlab|jsr|npm|gh):[\w./-]+/g;
/** Hosts that nobody has, and words that stand for one. */
const NOBODY = /^(?:[\w.-]+\.)?(?:example(?:\.(?:com|net|org))?|test|invalid|internal)$|^[\w-]*$|^[^a-z]*$/;
const MAIL = /[\w.+-]+@([\w-]+(?:\.[\w-]+)+)/g;
const TRACKER = /private vulnerability report|security advisor|(?:issue|bug) tracker|open an issue/i;

/**
 * Finds what a line offers although project.json does not say that it exists.
 * @param line with its continuations, as a page, a message or a template has it
 */
function faultsIn(line: string, names: Names): readonly Fault[] {
  const text = line.replaceAll("\\|", "|");
  const faults: Fault[] = [];
  for (const [, npm, , rest = ""] of text.matchAll(REGISTRY)) {
    const known = npm === undefined ? names.pypi_package : names.npm_package;
    if (packagesIn(rest).some((name) => names.published === null || !isPart(name, known)))
      faults.push("registry");
  }
  for (const [, rest = ""] of text.matchAll(MANAGER))
    if (packagesIn(rest).length > 0) faults.push("package manager");
  const images = [...text.matchAll(ENGINE)].map(([, rest = ""]) => packagesIn(rest)[0]);
  for (const image of [...images, ...[...text.matchAll(IMAGE_FIELD)].map(([, name]) => name)])
    if (image !== undefined && OURS.test(image) && !isImage(image, names)) faults.push("image");
  if (
    PIPED.test(text) &&
    /install\.sh|article-extractor|RELEASE|ADDRESS/.test(text) &&
    names.downloads === null
  )
    faults.push("script");
  if ([...text.matchAll(ADDRESS)].some(([address]) => OURS.test(address) && !isKnown(address, names)))
    faults.push("address");
  if (/article-extractor upgrade\b|upgrade --check/.test(text)) faults.push("upgrade");
  const isMail = [...text.matchAll(MAIL)].some(
    ([address, host = ""]) => !NOBODY.test(host) && !names.maintainer?.includes(address),
  );
  if (isMail || (TRACKER.test(text) && names.repository === null)) faults.push("report");
  return faults;
}

/** The words of a command that name a package of ours, or stand for its name, and no file. */
const packagesIn = (rest: string): readonly string[] =>
  rest.split(/\s+/).filter((word) => {
    if (/^-|^(?:\.{0,2}|~|dist)\/|\.(?:tgz|whl|deb|gz)$/.test(word)) return false;
    return OURS.test(word) || /^\$\{[\w.]*(?:name|npm|pypi|package)/.test(word);
  });

const isPart = (word: string, name: string | null): boolean =>
  name !== null && (word.replace(/(?:@|==).*/, "") === name || word.startsWith(`${name}-`));

const isImage = (image: string, { image: known, published }: Names): boolean =>
  /^(?:localhost|REGISTRY)\//.test(image) ||
  (published !== null && known !== null && image.startsWith(known));

function isKnown(address: string, { homepage, repository, downloads }: Names): boolean {
  const host = URL.parse(address)?.hostname ?? "";
  const places = [homepage, repository, downloads?.split("{version}")[0]].filter((place) => !!place);
  if (places.some((place) => address.replace(/^git\+/, "").startsWith(String(place)))) return true;
  return /^[a-z+]+:\/\//.test(address) && NOBODY.test(host);
}
