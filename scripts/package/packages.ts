/**
 * Makes what installers install, from programs that are built already. `sh scripts/bun scripts/package/packages.ts` makes
 * dist/packages for this machine out of dist/article-extractor and dist/lib.
 */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import owner from "../../project.json" with { type: "json" };
import { formatCompletions } from "../../src/cli/completions.ts";
import { formatManual } from "../../src/cli/manual.ts";
import { formatSums, sumsOf } from "../release/statements.ts";
import { packTarGz, packZip } from "./archive.ts";
import { packDeb, type SystemFiles } from "./deb.ts";
import { packNpm, packNpmPlatform } from "./npm.ts";
import { PLATFORMS, type Platform, programName } from "./platforms.ts";
import type { Asset, Program, Release } from "./release.ts";
import { packWheel } from "./wheel.ts";

const ROOT = join(import.meta.dir, "../..");

/** The date of files in packages when SOURCE_DATE_EPOCH names none: the first that all formats can write. */
const FIRST_DATE_S = 315_532_800;

/**
 * Packs programs for every installer; equal programs give equal packages.
 * @param options.programs the files of the programs; packages are made for their platforms only
 * @param options.out the folder for the packages
 * @param options.project names and addresses, by default those of project.json
 * @returns the names of the files
 */
export async function makePackages(options: {
  readonly programs: readonly { readonly platform: Platform; readonly path: string }[];
  readonly out: string;
  readonly project?: Release["project"];
}): Promise<readonly string[]> {
  const { out, project = owner } = options;
  const release = await readRelease(project);
  const system = await readSystemFiles();
  const names: string[] = [];
  const write = async (...assets: readonly Asset[]): Promise<void> => {
    for (const { name, bytes } of assets) {
      await Bun.write(join(out, name), bytes);
      names.push(name);
    }
  };
  await mkdir(out, { recursive: true });
  await write(await packNpm(join(ROOT, "dist/lib"), release), await writeInstaller(release));
  for (const { platform, path } of options.programs) {
    const program: Program = { platform, bytes: await Bun.file(path).bytes() };
    await write(await packArchive(program, release));
    await write(await packNpmPlatform(program, release), await packWheel(program, release));
    if (platform.libc === "glibc") await write(await packDeb(program, release, system));
  }
  return names;
}

async function packArchive(program: Program, { date, licenseText }: Release): Promise<Asset> {
  const { platform, bytes } = program;
  const files = [
    { path: programName(platform), content: bytes, isExecutable: true },
    { path: "LICENSE", content: licenseText },
  ];
  const name = `article-extractor-${platform.name}`;
  return platform.os === "windows"
    ? { name: `${name}.zip`, bytes: await packZip(files, date) }
    : { name: `${name}.tar.gz`, bytes: await packTarGz(files, { date }) };
}

async function writeInstaller({ version, project }: Release): Promise<Asset> {
  const values = { VERSION: version, DOWNLOADS: project.downloads ?? "", KEY: project.signing_key ?? "" };
  const text = await Bun.file(join(import.meta.dir, "install.sh")).text();
  // The forms of these values have no quotation mark (test/unit/support/project.test.ts).
  const filled = text.replace(/=@([A-Z]+)@$/gm, (_, name: keyof typeof values) => `='${values[name]}'`);
  return { name: "install.sh", bytes: filled };
}

async function readRelease(project: Release["project"]): Promise<Release> {
  const { version, description, license } = manifest;
  const [readme, licenseText] = await Promise.all(
    ["README.md", "LICENSE"].map((path) => Bun.file(join(ROOT, path)).text()),
  );
  const date = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? FIRST_DATE_S) * 1000);
  return {
    version,
    description,
    license,
    project,
    date,
    readme: readme ?? "",
    licenseText: licenseText ?? "",
  };
}

async function readSystemFiles(): Promise<SystemFiles> {
  const deploy = join(ROOT, "scripts/deploy");
  const units = (await Array.fromAsync(new Bun.Glob("*.service").scan(deploy))).sort();
  const texts = units.map(async (name) => [name, await Bun.file(join(deploy, name)).text()] as const);
  return {
    manual: formatManual(),
    completions: {
      bash: formatCompletions("bash"),
      zsh: formatCompletions("zsh"),
      fish: formatCompletions("fish"),
    },
    units: Object.fromEntries(await Promise.all(texts)),
    changelog: await Bun.file(join(ROOT, "CHANGELOG.md")).text(),
  };
}

/** The platform of this machine, whose program `make build` makes. */
function platformHere(): Platform {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const isMusl =
    os === "linux" &&
    existsSync(`/lib/ld-musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`) &&
    !existsSync("/lib64/ld-linux-x86-64.so.2");
  const name = `${os}-${process.arch}${isMusl ? "-musl" : ""}`;
  const platform = PLATFORMS.find((known) => known.name === name);
  if (platform === undefined) throw new Error(`no packages are made for ${name}`);
  return platform;
}

if (import.meta.main) {
  const out = join(ROOT, "dist/packages");
  await rm(out, { recursive: true, force: true });
  const programs = [{ platform: platformHere(), path: join(ROOT, "dist/article-extractor") }];
  const names = await makePackages({ programs, out });
  await Bun.write(join(out, "SHA256SUMS"), formatSums(await sumsOf(out)));
  for (const name of [...names, "SHA256SUMS"]) console.log(`dist/packages/${name}`);
}
