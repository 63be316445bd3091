/**
 * Builds the container image of scripts/deploy/Containerfile with podman or docker.
 *
 *   sh scripts/bun scripts/package/image.ts [--flavour slim | chromium] [--platforms amd64,arm64] [--base IMAGE]
 *
 * Without platforms it takes dist/article-extractor, of this machine; with them what `make release` built. Another
 * platform than this machine's needs the machine to run its programs (qemu-user-static), because apt runs in the image.
 */
import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import project from "../../project.json" with { type: "json" };

const ROOT = join(import.meta.dir, "../..");
/** All that the build is given. */
const CONTEXT = join(ROOT, "dist/image");
const FLAVOURS = ["slim", "chromium"];
/** The processors as images name them, and as our files do. */
const CPUS: Readonly<Record<string, string>> = { amd64: "x64", arm64: "arm64" };

/** Names the image: the one with a browser is what is meant when nothing is said. */
const tagsOf = (flavour: string): readonly string[] => {
  const isUsual = flavour === "chromium";
  const { image } = project;
  return [
    `${image}:${manifest.version}${isUsual ? "" : `-${flavour}`}`,
    `${image}:${isUsual ? "latest" : flavour}`,
  ];
};

async function prepareContext(platforms: readonly string[] | null): Promise<readonly string[]> {
  await rm(CONTEXT, { recursive: true, force: true });
  await mkdir(CONTEXT, { recursive: true });
  const here = Object.keys(CPUS).find((cpu) => CPUS[cpu] === process.arch);
  for (const cpu of platforms ?? [here ?? process.arch]) {
    if (CPUS[cpu] === undefined)
      throw new Error(`no image for ${cpu}, only for ${Object.keys(CPUS).join(", ")}`);
    const program =
      platforms === null ? "dist/article-extractor" : `dist/programs/linux-${CPUS[cpu]}/article-extractor`;
    if (!(await Bun.file(join(ROOT, program)).exists()))
      throw new Error(`${program} is missing: run make ${platforms === null ? "build" : "release"}`);
    await copyFile(join(ROOT, program), join(CONTEXT, `article-extractor-${cpu}`));
  }
  await copyFile(join(ROOT, "LICENSE"), join(CONTEXT, "LICENSE"));
  const bill = Bun.spawnSync([process.execPath, "scripts/release/sbom.ts"], { cwd: ROOT, stderr: "inherit" });
  if (bill.exitCode !== 0) throw new Error("the bill of materials could not be made");
  await Bun.write(join(CONTEXT, "bill-of-materials.json"), bill.stdout);
  return platforms ?? [here ?? process.arch];
}

function build(flavour: string, platforms: readonly string[], base: string | undefined): void {
  const engine = ["podman", "docker"].find(
    (name) => Bun.which(name) !== null && Bun.spawnSync([name, "info"]).exitCode === 0,
  );
  if (engine === undefined)
    throw new Error("neither podman nor docker works here: install podman, or start docker's daemon");
  const [first = "", ...others] = tagsOf(flavour);
  const isPodman = engine === "podman";
  const labels: Readonly<Record<string, string | null>> = {
    title: "article-extractor",
    description: manifest.description,
    version: manifest.version,
    licenses: manifest.license,
    url: project.homepage,
    source: project.repository,
  };
  const command = [
    ...[engine, "build", "--file", join(ROOT, "scripts/deploy/Containerfile"), "--target", flavour],
    // podman leaves the health check out of its own format.
    ...(isPodman ? ["--format", "docker"] : []),
    ...["--network", "host", "--platform", platforms.map((cpu) => `linux/${cpu}`).join(",")],
    ...(isPodman && platforms.length > 1 ? ["--manifest", first] : ["--tag", first]),
    ...(base === undefined ? [] : ["--build-arg", `BASE=${base}`]),
    ...Object.entries(labels).flatMap(([name, value]) =>
      value === null ? [] : ["--label", `org.opencontainers.image.${name}=${value}`],
    ),
    CONTEXT,
  ];
  for (const words of [command, ...others.map((tag) => [engine, "tag", first, tag])])
    if (Bun.spawnSync(words, { stdio: ["ignore", "inherit", "inherit"] }).exitCode !== 0)
      throw new Error(`${words.slice(0, 2).join(" ")} failed`);
  console.log(tagsOf(flavour).join("\n"));
}

const { values } = parseArgs({
  options: { flavour: { type: "string" }, platforms: { type: "string" }, base: { type: "string" } },
});
const flavours = values.flavour === undefined ? FLAVOURS : [values.flavour];
try {
  for (const flavour of flavours)
    if (!FLAVOURS.includes(flavour)) throw new Error(`no flavour ${flavour}, only ${FLAVOURS.join(" and ")}`);
  const platforms = await prepareContext(values.platforms?.split(",") ?? null);
  for (const flavour of flavours) build(flavour, platforms, values.base);
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
