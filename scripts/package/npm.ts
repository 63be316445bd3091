import { join } from "node:path";
import { type PackedFile, packTarGz } from "./archive.ts";
import { PLATFORMS, type Platform, programName } from "./platforms.ts";
import type { Asset, Program, Release } from "./release.ts";

/** Packs the program of one platform; npm installs it only there. */
export async function packNpmPlatform({ platform, bytes }: Program, release: Release): Promise<Asset> {
  const { os, cpu, libc } = platform;
  const manifest = {
    name: platformPackage(release.project, platform),
    ...described(release, `${release.description} The program for ${platform.name}.`),
    os: [os === "windows" ? "win32" : os],
    cpu: [cpu],
    ...(libc === null ? {} : { libc: [libc] }),
    // A program inside an archive cannot be started.
    preferUnplugged: true,
  };
  return await pack(manifest, release, [
    { path: programName(platform), content: bytes, isExecutable: true },
    { path: "LICENSE", content: release.licenseText },
  ]);
}

/**
 * Packs the library with its types, and the launcher that starts the program of the platform at hand.
 * @param library the folder of the built library
 */
export async function packNpm(library: string, release: Release): Promise<Asset> {
  const paths = (await Array.fromAsync(new Bun.Glob("**/*").scan(library))).sort();
  const files = await Promise.all(
    paths
      .filter((path) => path !== "package.json")
      .map(async (path) => ({ path, content: await Bun.file(join(library, path)).bytes() })),
  );
  const [, ...programs] = npmPackages(release.project);
  const manifest = {
    ...(await Bun.file(join(library, "package.json")).json()),
    ...described(release, release.description),
    bin: { "article-extractor": "launcher.js" },
    programs,
    // Names that nobody has yet are asked for nowhere: somebody else may take them.
    ...(release.project.published === null
      ? {}
      : { optionalDependencies: Object.fromEntries(programs.map((name) => [name, release.version])) }),
  };
  const launcher = await Bun.file(join(import.meta.dir, "launcher.js")).text();
  return await pack(manifest, release, [
    { path: "launcher.js", content: launcher, isExecutable: true },
    { path: "README.md", content: release.readme },
    ...files,
  ]);
}

/** All packages of npm that a release has: the one with the library and the launcher, and the program of each platform. */
export const npmPackages = (project: { readonly npm_package: string }): readonly string[] => [
  project.npm_package,
  ...PLATFORMS.map((platform) => platformPackage(project, platform)),
];

const platformPackage = (project: { readonly npm_package: string }, { name }: Platform): string =>
  `${project.npm_package}-${name}`;

const described = ({ version, license, project }: Release, description: string) => ({
  ...{ version, description, license },
  ...(project.homepage === null ? {} : { homepage: project.homepage }),
  ...(project.repository === null ? {} : { repository: { type: "git", url: `git+${project.repository}` } }),
  ...(project.maintainer === null ? {} : { author: project.maintainer }),
});

async function pack(
  manifest: { readonly name: string },
  { version, date }: Release,
  files: readonly PackedFile[],
): Promise<Asset> {
  const description = { path: "package.json", content: `${JSON.stringify(manifest, null, 2)}\n` };
  const name = `${manifest.name}-${version}.tgz`;
  return { name, bytes: await packTarGz([description, ...files], { date, top: "package/" }) };
}
