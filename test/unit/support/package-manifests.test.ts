import { describe, expect, test } from "bun:test";
import { packTarGz, packZip } from "../../../scripts/package/archive.ts";
import { type Archive, describeArchives, downloadsOf } from "../../../scripts/package/manifests.ts";
import { PLATFORMS } from "../../../scripts/package/platforms.ts";
import { RELEASE } from "../../support/packages.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const release = {
  ...RELEASE,
  description: 'Says "hello" for #{1} and \u0024{2}, it\'s \\ fine.',
  project: { ...RELEASE.project, homepage: "https://h.example/", downloads: "https://h.example/v{version}" },
};
const archives: readonly Archive[] = PLATFORMS.map((platform, n) => ({
  platform,
  url: `${downloadsOf(release.project.downloads, release.version)}/article-extractor-${platform.name}.tar.gz`,
  sha256: String(n).repeat(64),
}));
const texts = new Map(describeArchives(archives, release).map(({ name, bytes }) => [name, `${bytes}`]));
const sumsOf = (text = "") => [...text.matchAll(/[0-9]{64}/g)].map(([sum]) => sum[0]);

describe("the descriptions for package managers", () => {
  test("name each archive with its sum, and none for musl, which these managers do not know", () => {
    expect([...texts.keys()]).toEqual(["article-extractor.rb", "article-extractor.json", "flake.nix"]);
    expect(sumsOf(texts.get("article-extractor.rb"))).toEqual(["4", "5", "0", "1"]);
    expect(sumsOf(texts.get("article-extractor.json"))).toEqual(["6"]);
    expect(sumsOf(texts.get("flake.nix"))).toEqual(["0", "1", "4", "5"]);
    for (const text of texts.values())
      expect(text).toContain(`https://h.example/v${release.version}/article-extractor-`);
  });

  test("leave out what is not known, and what was not built", () => {
    const unnamed = { ...release, project: { ...release.project, homepage: null } };
    for (const { bytes } of describeArchives(archives, unnamed)) expect(bytes).not.toMatch(/homepage|null/);
    expect(describeArchives([], release)).toEqual([]);
    const [formula, ...none] = describeArchives(
      archives.filter(({ platform }) => platform.name === "darwin-x64"),
      release,
    ).filter(({ name }) => name !== "flake.nix");
    expect(`${formula?.bytes}`).not.toContain("on_linux");
    expect(none).toEqual([]);
  });

  test("Scoop's is JSON that can be renewed for a later version", () => {
    const scoop = JSON.parse(texts.get("article-extractor.json") ?? "");
    expect(scoop).toMatchObject({ version: release.version, bin: "article-extractor.exe", license: "MIT" });
    expect(scoop.architecture["64bit"].hash).toBe("6".repeat(64));
    expect(scoop.autoupdate.architecture["64bit"].url).toBe(
      "https://h.example/v$version/article-extractor-windows-x64.tar.gz",
    );
  });

  async function judge(command: readonly string[], name: string): Promise<void> {
    using place = temporaryDirectory();
    await Bun.write(`${place.path}/${name}`, texts.get(name) ?? "");
    const { stderr, exitCode } = Bun.spawnSync([...command, `${place.path}/${name}`], {
      env: { ...process.env, NIX_STATE_DIR: place.path, NIX_CONFIG: "build-users-group =" },
    });
    expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: "", exitCode: 0 });
  }

  test.skipIf(Bun.which("ruby") === null)("Homebrew's is Ruby", () =>
    judge(["ruby", "-wc"], "article-extractor.rb"),
  );
  test.skipIf(Bun.which("nix-instantiate") === null)("Nix's is Nix", () =>
    judge(["nix-instantiate", "--parse"], "flake.nix"),
  );
});

describe("archives", () => {
  const files = [
    { path: "bin/run", content: "#!/bin/sh\necho ran", isExecutable: true },
    { path: "bin/empty", content: "" },
    { path: `${"long/".repeat(30)}name`, content: new Uint8Array(100_000) },
  ];

  test.each([
    ["tar.gz", ["tar", "-xzf"]],
    ["zip", ["python3", "-m", "zipfile", "-e"]],
  ] as const)("%s is the same at every time and holds what it is given", async (kind, unpack) => {
    const pack = () =>
      kind === "zip" ? packZip(files, RELEASE.date) : packTarGz(files, { date: RELEASE.date, folders: true });
    const bytes = await pack();
    expect(Bun.deepEquals(await pack(), bytes)).toBe(true);
    if (Bun.which(unpack[0]) === null) return;
    using place = temporaryDirectory();
    await Bun.write(`${place.path}/packed`, bytes);
    const into = kind === "zip" ? ["."] : [];
    expect(Bun.spawnSync([...unpack, "packed", ...into], { cwd: place.path }).exitCode).toBe(0);
    for (const { path, content } of files)
      expect(Buffer.from(await Bun.file(`${place.path}/${path}`).bytes()).equals(Buffer.from(content))).toBe(
        true,
      );
  });
});
