import { bytesOf, type PackedFile, packTarGz } from "./archive.ts";
import { neededSystem } from "./needs.ts";
import type { Asset, Program, Release } from "./release.ts";

/** What a system has beside the program. */
export type SystemFiles = {
  readonly manual: string;
  /** The completions by the name of their shell. */
  readonly completions: Readonly<Record<"bash" | "zsh" | "fish", string>>;
  /** Units of systemd by their file names. */
  readonly units: Readonly<Record<string, string>>;
  readonly changelog: string;
};

/**
 * Packs a Debian package. It has no scripts of its own, so it starts and enables no service: which user, port and limits a
 * server has is for whoever runs one to decide.
 */
export async function packDeb(program: Program, release: Release, system: SystemFiles): Promise<Asset> {
  const { version, date, project } = release;
  const files = packagedFiles(program, release, system);
  const [major, minor] = neededSystem(program.bytes) ?? [];
  const debianVersion = version.replace("-", "~");
  const architecture = program.platform.cpu === "arm64" ? "arm64" : "amd64";
  const size = files.reduce((sum, { content }) => sum + bytesOf(content).length, 0);
  const control = [
    "Package: article-extractor",
    `Version: ${debianVersion}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${project.maintainer ?? "the article-extractor project"}`,
    `Installed-Size: ${Math.ceil(size / 1024)}`,
    `Depends: libc6 (>= ${major}.${minor})`,
    "Suggests: chromium, git, openssh-client",
    "Section: web",
    "Priority: optional",
    ...(project.homepage === null ? [] : [`Homepage: ${project.homepage}`]),
    "Description: clean text out of web pages, sites and documentation",
    ` ${release.description}`,
  ].join("\n");
  const sums = files.map(
    ({ path, content }) => `${new Bun.CryptoHasher("md5").update(content).digest("hex")}  ${path}\n`,
  );
  const members: readonly (readonly [string, Uint8Array])[] = [
    ["debian-binary", bytesOf("2.0\n")],
    [
      "control.tar.gz",
      await packTarGz(
        [
          { path: "control", content: `${control}\n` },
          { path: "md5sums", content: sums.join("") },
        ],
        { date, top: "./" },
      ),
    ],
    ["data.tar.gz", await packTarGz(files, { date, top: "./", folders: true })],
  ];
  return { name: `article-extractor_${debianVersion}_${architecture}.deb`, bytes: packAr(members, date) };
}

function packagedFiles({ bytes }: Program, release: Release, system: SystemFiles): readonly PackedFile[] {
  const compressed = (text: string) => Bun.gzipSync(text, { library: "libdeflate", level: 9 });
  const docs = "usr/share/doc/article-extractor";
  return [
    { path: "usr/bin/article-extractor", content: bytes, isExecutable: true },
    { path: "usr/share/man/man1/article-extractor.1.gz", content: compressed(system.manual) },
    { path: "usr/share/bash-completion/completions/article-extractor", content: system.completions.bash },
    { path: "usr/share/zsh/vendor-completions/_article-extractor", content: system.completions.zsh },
    { path: "usr/share/fish/vendor_completions.d/article-extractor.fish", content: system.completions.fish },
    { path: `${docs}/copyright`, content: release.licenseText },
    { path: `${docs}/CHANGELOG.md.gz`, content: compressed(system.changelog) },
    ...Object.entries(system.units).map(([name, text]) => ({
      path: `usr/lib/systemd/system/${name}`,
      content: text.replaceAll("/usr/local/bin/", "/usr/bin/"),
    })),
  ];
}

/** Packs members in the archive format of ar(5), which is what a Debian package is (deb(5)). */
function packAr(members: readonly (readonly [string, Uint8Array])[], date: Date): Uint8Array {
  const seconds = String(Math.floor(date.getTime() / 1000));
  const parts = members.flatMap(([name, bytes]) => [
    bytesOf(
      `${name.padEnd(16)}${seconds.padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"100644".padEnd(8)}${String(bytes.length).padEnd(10)}\`\n`,
    ),
    bytes,
    bytesOf(bytes.length % 2 === 0 ? "" : "\n"),
  ]);
  return Buffer.concat([bytesOf("!<arch>\n"), ...parts]);
}
