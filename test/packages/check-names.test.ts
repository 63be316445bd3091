import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { checkNames, exitCodeFor } from "../../scripts/check-names.ts";
import { npmPackages } from "../../scripts/package/npm.ts";
import { PLATFORMS } from "../../scripts/package/platforms.ts";
import type { Asset, Release } from "../../scripts/package/release.ts";
import { packWheel } from "../../scripts/package/wheel.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { freePort, outputOf, serveLocal } from "../support/local.ts";
import { RELEASE, serveFiles } from "../support/packages.ts";

const ROOT = join(import.meta.dir, "../..");
const OURS = "https://code.example/tides";
const project: Release["project"] = { ...RELEASE.project, published: null, repository: OURS };
const published = { ...project, published: RELEASE.version };
const NAMES = npmPackages(project);
const TWO = NAMES.slice(0, 2);
const disorder = serveLocal(() => new Response("<p>later", { status: 500 }));
forAllTests({ [Symbol.dispose]: () => void disorder.stop(true) });
const hasPip = Bun.which("pip") !== null;

/** A registry of npm that has these packages. */
const serveNpm = (packages: Readonly<Record<string, object>>) =>
  serveLocal(({ url }) => {
    const name = decodeURIComponent(new URL(url).pathname.slice(1));
    const found = packages[name];
    return found === undefined ? new Response("{}", { status: 404 }) : Response.json({ name, ...found });
  });

const npmPackage = (version: string, repository: string) => ({
  "dist-tags": { latest: version },
  versions: { [version]: { version, repository: { type: "git", url: repository }, dist: {} } },
});

async function wheelOf(repository: string): Promise<Asset> {
  const platform = PLATFORMS.find(({ os, cpu }) => os === process.platform && cpu === process.arch)!;
  const bytes = Buffer.from("\x7fELF\0GLIBC_2.5\0");
  return await packWheel({ platform, bytes }, { ...RELEASE, project: { ...published, repository } });
}

/** An index of Python that has these wheels. */
const serveIndex = (...wheels: readonly Asset[]) =>
  serveFiles({
    ...(wheels.length === 0
      ? {}
      : {
          [`simple/${project.pypi_package}/`]: `<!doctype html>${wheels.map(({ name }) => `<a href="/${name}">${name}</a>`).join("")}`,
        }),
    ...Object.fromEntries(wheels.map(({ name, bytes }) => [name, bytes])),
  });

const settingsFor = (npm: string, index: string) => ({
  ...process.env,
  npm_config_registry: npm,
  npm_config_update_notifier: "false",
  PIP_INDEX_URL: `${index}/simple/`,
  PIP_CONFIG_FILE: "/dev/null",
  PIP_FIND_LINKS: "",
  PIP_NO_CACHE_DIR: "1",
  NO_PROXY: "127.0.0.1",
});

/** What `make check-names` runs. */
async function runScript(npm: string, index: string) {
  const command = ["sh", "scripts/bun", "scripts/check-names.ts"];
  return await outputOf(
    Bun.spawn(command, { cwd: ROOT, env: settingsFor(npm, index), stdout: "pipe", stderr: "pipe" }),
  );
}

describe.skipIf(!hasPip || process.platform !== "linux")("the names of project.json", () => {
  test("are free where nobody has them", async () => {
    using npm = serveNpm({});
    using index = serveIndex();
    const verdicts = await checkNames(project, settingsFor(npm.url.origin, index.origin), TWO);
    expect(verdicts).toMatchObject([...TWO, project.pypi_package].map((name) => ({ name, state: "free" })));
    expect(exitCodeFor(verdicts)).toBe(0);
  });

  test("are somebody else's where they are there and we published nothing, even with our address", async () => {
    using npm = serveNpm({ [NAMES[3] ?? ""]: npmPackage("1.0.2", OURS) });
    using index = serveIndex(await wheelOf(OURS));
    const { stdout, exitCode } = await runScript(npm.url.origin, index.origin);
    expect(exitCode).toBe(1);
    expect(stdout.match(/ foreign: /g)?.length).toBe(2);
    expect(stdout.match(/ free$/gm)?.length).toBe(NAMES.length - 1);
    expect(stdout).toMatch(new RegExp(`^npm +${NAMES[3]} +foreign: 1\\.0\\.2 is there`, "m"));
    expect(stdout).toMatch(new RegExp(`^PyPI +${project.pypi_package} +foreign: `, "m"));
  });

  test.each([
    ["away", () => `http://127.0.0.1:${freePort()}`],
    ["in disorder", () => disorder.url.origin],
  ])("are not called free where a registry is %s", async (_, originOf) => {
    const origin = originOf();
    const verdicts = await checkNames(project, settingsFor(origin, origin), TWO);
    expect(verdicts.map(({ state, why }) => `${state}: ${why}`)).toEqual([
      ...TWO.map(() => expect.stringMatching(/^unknown: npm got no answer \(.+\)$/)),
      expect.stringMatching(/^unknown: pip got no answer \(.+\)$/),
    ]);
    expect(exitCodeFor(verdicts)).toBe(3);
    expect(exitCodeFor([...verdicts, { state: "foreign", why: "" }])).toBe(1);
  });

  const { version } = RELEASE;
  const without = `foreign: ${version} is there, and does not name our address`;
  test.each([
    [
      "are ours with the published version and our address",
      version,
      OURS,
      `ours: ${version}`,
      `ours: ${version}`,
    ],
    ["are somebody else's with another address", version, "https://code.example/other", without, without],
    [
      "are somebody else's with another version",
      "9.9.9",
      OURS,
      `foreign: 9.9.9 is there, and not our ${version}`,
      `ours: ${version}`,
    ],
  ])("%s", async (_, found, repository, fromNpm, fromPyPi) => {
    const packages = TWO.map((name) => [name, npmPackage(found, `git+${repository}.git`)]);
    using npm = serveNpm(Object.fromEntries(packages));
    using index = serveIndex(await wheelOf(repository));
    const verdicts = await checkNames(published, settingsFor(npm.url.origin, index.origin), TWO);
    const said = verdicts.map(({ registry, state, why }) => `${registry} ${state}: ${why}`);
    expect(new Set(said)).toEqual(new Set([`npm ${fromNpm}`, `PyPI ${fromPyPi}`]));
  });
});
