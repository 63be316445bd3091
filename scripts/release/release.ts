/**
 * Makes everything that is published of the committed version, into dist/release: the program for every platform, its
 * packages, the bill of materials, the provenance, the notes, the sums, and with a key the signature of the sums.
 *
 *   make release [PLATFORMS=linux-x64,darwin-arm64] [KEY=minisign.key] [BUILDER=https://…] [TRIAL=yes]
 *
 * A password of the key is read from MINISIGN_PASSWORD. TRIAL=yes makes the files of a tree that is not ready: with
 * uncommitted files, and what is unreleased for notes.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import project from "../../project.json" with { type: "json" };
import { buildProgram } from "../build.ts";
import { makePackages } from "../package/packages.ts";
import { PLATFORMS, type Platform, programName } from "../package/platforms.ts";
import { notesForRelease, requireCleanTree } from "./notes.ts";
import { billOfMaterials, sourceDate } from "./sbom.ts";
import { formatSums, provenanceOf, sign, sumsOf } from "./statements.ts";

const ROOT = join(import.meta.dir, "../..");
const OUT = join(ROOT, "dist/release");
/** The programs themselves are not published: every package and archive holds one. */
const PROGRAMS = join(ROOT, "dist/programs");

const git = (...words: readonly string[]): string =>
  Bun.spawnSync(["git", ...words], { cwd: ROOT })
    .stdout.toString()
    .trim();

async function release(): Promise<void> {
  const { values } = parseArgs({
    options: {
      platforms: { type: "string" },
      key: { type: "string" },
      builder: { type: "string" },
      trial: { type: "string" },
    },
  });
  const isTrial = values.trial !== undefined;
  const platforms = chosenPlatforms(values.platforms);
  if (!isTrial) requireCleanTree(ROOT);
  const { version }: { version: string } = await Bun.file(join(ROOT, "package.json")).json();
  const notes = notesForRelease(await Bun.file(join(ROOT, "CHANGELOG.md")).text(), version, isTrial);
  await rm(OUT, { recursive: true, force: true });
  await mkdir(OUT, { recursive: true });
  const date = sourceDate(ROOT);
  // What packages give their files for a date.
  process.env.SOURCE_DATE_EPOCH = String(Date.parse(date) / 1000);
  const programs = [];
  for (const platform of platforms) {
    console.log(`building for ${platform.name} ...`);
    const path = join(PROGRAMS, platform.name, programName(platform));
    await buildProgram(path, `bun-${platform.name}` as Bun.Build.CompileTarget);
    programs.push({ platform, path });
  }
  await makePackages({ programs, out: OUT });
  const save = (name: string, text: string) => writeFile(join(OUT, name), text);
  const saveJson = (name: string, value: object) => save(name, `${JSON.stringify(value, null, 2)}\n`);
  await saveJson("article-extractor.cdx.json", await billOfMaterials(ROOT, date));
  await save("release-notes.md", notes);
  const lock = await Bun.file(join(ROOT, "bun.lock")).bytes();
  const provenance = provenanceOf(await sumsOf(OUT), {
    version,
    platforms: platforms.map(({ name }) => name),
    commit: git("rev-parse", "HEAD"),
    isClean: git("status", "--porcelain") === "",
    repository: project.repository,
    lockSha256: new Bun.CryptoHasher("sha256").update(lock).digest("hex"),
    builder: values.builder ?? null,
  });
  await saveJson("article-extractor.provenance.json", provenance);
  await save("SHA256SUMS", formatSums(await sumsOf(OUT)));
  if (values.key === undefined) return console.log("no KEY was given: SHA256SUMS is not signed");
  const comment = `article-extractor ${version}`;
  const password = process.env.MINISIGN_PASSWORD ?? null;
  await sign(join(OUT, "SHA256SUMS"), { key: values.key, password, comment });
}

function chosenPlatforms(list: string | undefined): readonly Platform[] {
  if (list === undefined) return PLATFORMS;
  return list.split(",").map((typed) => {
    const platform = PLATFORMS.find(({ name }) => name === typed.trim());
    if (platform !== undefined) return platform;
    throw new Error(`unknown platform ${typed}: ${PLATFORMS.map(({ name }) => name).join(", ")}`);
  });
}

try {
  await release();
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  process.exitCode = 1;
}
