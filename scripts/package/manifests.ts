import type { Platform } from "./platforms.ts";
import type { Asset, Release } from "./release.ts";

/** An archive with the program of one platform, as it can be downloaded. */
export type Archive = { readonly platform: Platform; readonly url: string; readonly sha256: string };

/** Where the files of a version are. */
export const downloadsOf = (downloads: string, version: string): string =>
  downloads.replaceAll("{version}", version);

/** Writes the descriptions with which package managers download the archives: Homebrew, Scoop, Nix. */
export function describeArchives(archives: readonly Archive[], release: Release): readonly Asset[] {
  const find = (...names: readonly string[]) =>
    archives.filter(({ platform }) => names.includes(platform.name));
  const forUnix = find("darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64");
  return [
    ...(forUnix.length === 0 ? [] : [{ name: "article-extractor.rb", bytes: formula(forUnix, release) }]),
    ...find("windows-x64").map((archive) => ({
      name: "article-extractor.json",
      bytes: scoop(archive, release),
    })),
    ...(forUnix.length === 0 ? [] : [{ name: "flake.nix", bytes: flake(forUnix, release) }]),
  ];
}

// A description has no character that Ruby or Nix would read as anything else.
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll("#{", "\\#{").replaceAll("${", "\\${");
const summary = ({ description }: Release): string => description.replace(/\.$/, "");
const optional = (value: string | null, line: (value: string) => string): readonly string[] =>
  value === null ? [] : [line(value)];

function formula(archives: readonly Archive[], release: Release): string {
  const onSystem = (os: Platform["os"]): readonly string[] => {
    const here = archives.filter(({ platform }) => platform.os === os);
    const cpus = here.flatMap(({ platform, url, sha256 }) => [
      `    on_${platform.cpu === "arm64" ? "arm" : "intel"} do`,
      `      url ${quoted(url)}`,
      `      sha256 ${quoted(sha256)}`,
      "    end",
    ]);
    return here.length === 0 ? [] : [`  on_${os === "darwin" ? "macos" : "linux"} do`, ...cpus, "  end", ""];
  };
  return `${[
    "class ArticleExtractor < Formula",
    `  desc ${quoted(summary(release))}`,
    ...optional(release.project.homepage, (page) => `  homepage ${quoted(page)}`),
    `  version ${quoted(release.version)}`,
    `  license ${quoted(release.license)}`,
    "",
    ...onSystem("darwin"),
    ...onSystem("linux"),
    "  def install",
    '    bin.install "article-extractor"',
    '    generate_completions_from_executable(bin/"article-extractor", "completions")',
    '    (man1/"article-extractor.1").write Utils.safe_popen_read(bin/"article-extractor", "man")',
    "  end",
    "",
    "  test do",
    '    (testpath/"page.html").write "<p>The sea rises twice a day."',
    '    assert_match "The sea rises", shell_output("#{bin}/article-extractor --file page.html --output text")',
    "  end",
    "end",
  ].join("\n")}\n`;
}

function scoop({ url, sha256 }: Archive, release: Release): string {
  const { homepage, downloads } = release.project;
  const manifest = {
    version: release.version,
    description: summary(release),
    ...(homepage === null ? {} : { homepage }),
    license: release.license,
    architecture: { "64bit": { url, hash: sha256 } },
    bin: "article-extractor.exe",
    ...(downloads === null
      ? {}
      : { autoupdate: { architecture: { "64bit": { url: url.replaceAll(release.version, "$version") } } } }),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function flake(archives: readonly Archive[], release: Release): string {
  const systems = archives.map(({ platform, url, sha256 }) => {
    const system = `${platform.cpu === "arm64" ? "aarch64" : "x86_64"}-${platform.os}`;
    return `        ${quoted(system)} = { url = ${quoted(url)}; sha256 = ${quoted(sha256)}; };`;
  });
  return `{
  description = ${quoted(summary(release))};

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      archives = {
${systems.join("\n")}
      };
      package = system:
        let pkgs = nixpkgs.legacyPackages.\${system};
        in pkgs.stdenv.mkDerivation {
          pname = "article-extractor";
          version = ${quoted(release.version)};
          src = pkgs.fetchurl archives.\${system};
          sourceRoot = ".";
          nativeBuildInputs = [ pkgs.installShellFiles ]
            ++ pkgs.lib.optionals pkgs.stdenv.isLinux [ pkgs.autoPatchelfHook ];
          # The program's own code stands behind the sections that strip knows.
          dontStrip = true;
          installPhase = "install -Dm755 article-extractor $out/bin/article-extractor";
          postFixup = ''
            for shell in bash zsh fish; do
              $out/bin/article-extractor completions $shell > article-extractor.$shell
            done
            $out/bin/article-extractor man > article-extractor.1
            installShellCompletion article-extractor.{bash,zsh,fish}
            installManPage article-extractor.1
          '';
          meta = {
            description = ${quoted(summary(release))};
${optional(release.project.homepage, (page) => `            homepage = ${quoted(page)};\n`).join("")}            license = pkgs.lib.licenses.${release.license.toLowerCase()};
            mainProgram = "article-extractor";
            platforms = builtins.attrNames archives;
          };
        };
    in {
      packages = builtins.mapAttrs (system: _: rec {
        article-extractor = package system;
        default = article-extractor;
      }) archives;
    };
}
`;
}
