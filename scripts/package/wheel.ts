import { type PackedFile, packZip } from "./archive.ts";
import { neededSystem } from "./needs.ts";
import { type Platform, programName } from "./platforms.ts";
import type { Asset, Program, Release } from "./release.ts";

/** Packs a wheel that holds the program as a script, and no Python. */
export async function packWheel(program: Program, release: Release): Promise<Asset> {
  const name = release.project.pypi_package.replaceAll("-", "_");
  const version = pythonVersion(release.version);
  const tag = `py3-none-${platformTag(program)}`;
  const info = `${name}-${version}.dist-info`;
  const files: readonly PackedFile[] = [
    {
      path: `${name}-${version}.data/scripts/${programName(program.platform)}`,
      content: program.bytes,
      isExecutable: true,
    },
    { path: `${info}/licenses/LICENSE`, content: release.licenseText },
    { path: `${info}/METADATA`, content: metadata(release, version) },
    {
      path: `${info}/WHEEL`,
      content: `Wheel-Version: 1.0\nGenerator: article-extractor\nRoot-Is-Purelib: false\nTag: ${tag}\n`,
    },
  ];
  const record = [
    ...files.map(({ path, content }) => `${path},${recordOf(content)}\n`),
    `${info}/RECORD,,\n`,
  ].join("");
  const bytes = await packZip([...files, { path: `${info}/RECORD`, content: record }], release.date);
  return { name: `${name}-${version}-${tag}.whl`, bytes };
}

/** The tag of the platform (PEP 600, PEP 656): the oldest system on which the program starts. */
export function platformTag({ platform, bytes }: Program): string {
  const { os, libc } = platform;
  if (os === "windows") return "win_amd64";
  if (os === "darwin") {
    const [major] = neededSystem(bytes) ?? [];
    return `macosx_${major}_0_${platform.cpu === "arm64" ? "arm64" : "x86_64"}`;
  }
  // The first version of musl of which wheels are known.
  const needed = libc === "musl" ? [1, 2] : neededSystem(bytes);
  if (needed === null) throw new Error(`the program for ${platform.name} does not say which glibc it needs`);
  return `${libc === "musl" ? "musllinux" : "manylinux"}_${needed.join("_")}_${machineOf(platform)}`;
}

const machineOf = ({ cpu }: Platform): string => (cpu === "arm64" ? "aarch64" : "x86_64");

/** A version of ours in Python's spelling (PEP 440): 1.2.0-rc.1 is 1.2.0rc1. */
export const pythonVersion = (version: string): string =>
  version.replace(
    /-(alpha|beta|rc)\.(\d+)$/,
    (_, kind: string, number: string) => `${kind === "rc" ? kind : kind[0]}${number}`,
  );

function recordOf(content: Uint8Array | string): string {
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("base64url");
  return `sha256=${hash},${typeof content === "string" ? Buffer.byteLength(content) : content.length}`;
}

function metadata({ project, description, license, readme }: Release, version: string): string {
  const { homepage, repository, maintainer } = project;
  const [, person, address] = /^(.*) <(.*)>$/.exec(maintainer ?? "") ?? [];
  const fields: readonly (readonly [string, string | null | undefined])[] = [
    ["Metadata-Version", "2.4"],
    ["Name", project.pypi_package],
    ["Version", version],
    ["Summary", description],
    ["Author", person],
    ["Author-email", address],
    ["License-Expression", license],
    ["License-File", "LICENSE"],
    ["Project-URL", homepage === null ? null : `Homepage, ${homepage}`],
    ["Project-URL", repository === null ? null : `Repository, ${repository}`],
    ["Requires-Python", ">=3.8"],
    ["Description-Content-Type", "text/markdown"],
  ];
  const head = fields.flatMap(([name, value]) => (value ? [`${name}: ${value}\n`] : [])).join("");
  return `${head}\n${readme}`;
}
