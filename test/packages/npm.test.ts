import { describe, expect, test } from "bun:test";
import { readdir, readlink, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { packNpm, packNpmPlatform } from "../../scripts/package/npm.ts";
import { PLATFORMS } from "../../scripts/package/platforms.ts";
import type { Release } from "../../scripts/package/release.ts";
import { BINARY } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { LIBRARY, RUNTIMES } from "../support/library-project.ts";
import { freePort, outputOf } from "../support/local.ts";
import {
  bareMachine,
  builtPackage,
  documentedLine,
  RELEASE,
  SENTENCE,
  serveFiles,
  serveNpm,
} from "../support/packages.ts";
import { until, untilTrue } from "../support/until.ts";

const { version } = RELEASE;
const OURS = RELEASE.project.npm_package;
const asset = async (path: string) => ({ name: basename(path), bytes: await Bun.file(path).bytes() });
const HERE = new RegExp(`^${OURS}-(?:linux|darwin)-.*\\.tgz$`);
const MAIN = new RegExp(`^${OURS}-\\d.*\\.tgz$`);
const here = await asset(builtPackage(HERE));
const hereName = here.name.slice(0, -`-${version}.tgz`.length);

describe("before anything is published", () => {
  const main = builtPackage(MAIN);
  // Whoever asks a registry, or anybody else, gets no answer.
  const alone = bareMachine(["node", "npm", "sh", "env"]);
  const nowhere = {
    ...{ npm_config_registry: "http://127.0.0.1:9", npm_config_fetch_retries: "0" },
    // It asks the registry for known faults of packages, wherever these come from.
    ...{ npm_config_audit: "false", npm_config_update_notifier: "false" },
  };
  forAllTests(alone);

  test("the files are installed for the user, and removed, with one line each", async () => {
    const settings = { ...nowhere, npm_config_prefix: join(alone.home, ".npm-global") };
    const path = { PATH: `${settings.npm_config_prefix}/bin:${alone.env.PATH}` };
    const { stderr, exitCode } = await alone.run(documentedLine("npm install --global"), settings);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.not.stringContaining("error"), exitCode: 0 });
    const said = await alone.run("article-extractor --version", path);
    expect(said).toEqual({ stdout: `article-extractor ${version}\n`, stderr: "", exitCode: 0 });
    const removed = await alone.run(
      documentedLine("npm uninstall").replace(`${OURS}-linux-x64`, hereName),
      settings,
    );
    expect(removed.exitCode).toBe(0);
    expect(await readdir(join(settings.npm_config_prefix, "lib/node_modules"))).toEqual([]);
  });

  test("without the program the launcher names the file, and asks nobody", async () => {
    const folder = join(alone.home, "library-only");
    await Bun.write(join(folder, "package.json"), "{}");
    expect((await alone.run(`cd library-only && npm install ${main}`, nowhere)).exitCode).toBe(0);
    const started = await alone.run("library-only/node_modules/.bin/article-extractor --version");
    expect(started.exitCode).toBe(127);
    expect(started.stderr).toContain(`npm install ./${OURS}-${version}.tgz ./${here.name}\n`);
    expect(started.stderr).not.toContain("optional");
  });
});

// What is made once `published` of project.json says so.
const published: Release = { ...RELEASE, project: { ...RELEASE.project, published: version } };
const others = PLATFORMS.filter(({ name }) => `${OURS}-${name}` !== hereName);
const hollow = others.map((platform) =>
  packNpmPlatform({ platform, bytes: Buffer.from("not for here") }, published),
);
const registry = forAllTests(
  await serveNpm([await packNpm(LIBRARY, published), here, ...(await Promise.all(hollow))]),
);
const site = forAllTests(serveFiles({}));
const machine = forAllTests(bareMachine(["node", "npm", "npx", "sh", "env"]));
const settings = { npm_config_registry: registry.url, npm_config_update_notifier: "false" };
describe("with nothing but npm", () => {
  test("one line extracts a page", async () => {
    const { stdout, stderr, exitCode } = await machine.run(
      `npx --yes ${OURS} ${site.page} --output text`,
      settings,
    );
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: expect.stringContaining(SENTENCE),
      stderr: expect.any(String),
      exitCode: 0,
    });
  });

  test("an installation has the program of this platform and nothing else", async () => {
    const { stderr, exitCode } = await machine.run(`npm install ${OURS} --no-audit --no-fund`, settings);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.any(String), exitCode: 0 });
    const installed = await readdir(join(machine.home, "node_modules"));
    expect(installed.filter((name) => !name.startsWith(".")).sort()).toEqual([OURS, hereName]);
  });
});

const installed = join(machine.home, "node_modules");
const launcher = join(installed, ".bin/article-extractor");

/** Starts the program through its launcher. */
const launch = (words: readonly string[], stdin: "ignore" | Blob = "ignore") =>
  Bun.spawn([launcher, ...words], {
    cwd: machine.home,
    env: machine.env,
    stdin,
    stdout: "pipe",
    stderr: "pipe",
  });

describe("the launcher", () => {
  test("hands over words, standard input, output and the exit code", async () => {
    const page = new Blob([`<title>a</title><p>${SENTENCE}</p>`]);
    const read = await outputOf(
      launch(["-", "--output", "text", "--url", "http://h.example/a b?c='d'&e=\"*"], page),
    );
    expect(read).toEqual({ stdout: `a\n\n${SENTENCE}\n`, stderr: expect.any(String), exitCode: 0 });
    for (const words of [["--no-such-option"], ["--file", "no such file"], ["", ""]]) {
      const direct = Bun.spawnSync([BINARY, ...words], { cwd: machine.home, env: machine.env });
      expect(await outputOf(launch(words))).toEqual({
        stdout: direct.stdout.toString(),
        stderr: direct.stderr.toString(),
        exitCode: direct.exitCode,
      });
      expect(direct.exitCode).not.toBe(0);
    }
  });

  test("passes a signal on, and ends as the program ends", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const port = freePort();
      const server = launch(["serve", "extractor", "--host", "127.0.0.1", "--port", `${port}`]);
      const isServing = () =>
        fetch(`http://127.0.0.1:${port}/health`).then(
          ({ ok }) => ok,
          () => false,
        );
      await untilTrue(isServing);
      server.kill(signal);
      expect((await outputOf(server)).exitCode).toBe(0);
      expect(await isServing()).toBe(false);
    }
  });

  test.skipIf(process.platform !== "linux")("dies of the signal that the program dies of", async () => {
    const server = launch(["serve", "extractor", "--host", "127.0.0.1", "--port", `${freePort()}`]);
    const children = Bun.file(`/proc/${server.pid}/task/${server.pid}/children`);
    const isProgram = async () => (await readlink(`/proc/${server.pid}/exe`)).endsWith("/article-extractor");
    const find = async () =>
      Number((await children.text()).split(" ")[0]) || ((await isProgram()) ? server.pid : 0);
    process.kill(await until(find, (pid) => pid > 0), "SIGKILL");
    await server.exited;
    expect(server.signalCode).toBe("SIGKILL");
  });
});

describe.each(RUNTIMES.filter(({ isMissing }) => !isMissing))("the library on $name", ({ executable }) => {
  test("is imported by the package's name", async () => {
    await writeFile(
      join(machine.home, "use.mjs"),
      `import { extractArticle } from "${OURS}"; console.log((await extractArticle("<p>${SENTENCE}")).text);`,
    );
    const { stdout, exitCode } = await machine.run(`"${executable}" use.mjs`);
    expect({ stdout, exitCode }).toEqual({ stdout: `${SENTENCE}\n`, exitCode: 0 });
  });
});

test("installed by Bun, which may install both C libraries, it starts the program that runs here", async () => {
  const folder = join(machine.home, "with-bun");
  await Bun.write(join(folder, "package.json"), "{}");
  const added = await machine.run(`cd with-bun && "${process.execPath}" add ${OURS}`, settings);
  expect({ exitCode: added.exitCode, stderr: added.stderr }).toEqual({
    exitCode: 0,
    stderr: expect.any(String),
  });
  const { stdout } = await machine.run("with-bun/node_modules/.bin/article-extractor --version");
  expect(stdout).toBe(`article-extractor ${version}\n`);
});

test("without the program it says what was looked for and how to get it, and the library works on", async () => {
  await rm(join(installed, hereName), { recursive: true });
  const { stdout, stderr, exitCode } = await outputOf(launch(["--version"]));
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 127 });
  expect(stderr).toContain(`none of ${hereName}`);
  expect(stderr).toContain(`npm install --include=optional ${OURS}@${version}\n`);
  expect(stderr).not.toContain("    at ");
  expect((await machine.run("node use.mjs")).stdout).toBe(`${SENTENCE}\n`);
});

test("on a platform that it is not made for it names the others", async () => {
  const path = join(installed, OURS, "package.json");
  await Bun.write(
    path,
    (await Bun.file(path).text()).replaceAll(`-${process.platform}-${process.arch}`, "-plan9-mips"),
  );
  const { stderr, exitCode } = await outputOf(launch(["--version"]));
  expect({ stderr, exitCode }).toEqual({
    stderr: expect.stringContaining(`for ${process.platform} on ${process.arch}, only for plan9-mips`),
    exitCode: 127,
  });
});
