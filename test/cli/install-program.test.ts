import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BINARY, runBinary } from "../support/binary.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");
const PROGRAM = "bin/article-extractor";
const FILES = [
  PROGRAM,
  "share/bash-completion/completions/article-extractor",
  "share/fish/vendor_completions.d/article-extractor.fish",
  "share/man/man1/article-extractor.1",
  "share/zsh/site-functions/_article-extractor",
];

/** What `make install` and `make uninstall` run once the program is built. */
function runScript(action: string, prefix: string, home: string, path = "/usr/bin:/bin") {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "scripts/install-program.sh", action, prefix], {
    cwd: ROOT,
    env: { HOME: home, PATH: path },
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();

test("the program, its manual page and completions are installed, and nothing of them is left afterwards", async () => {
  using home = temporaryDirectory();
  for (const [typed, prefix] of [
    ["~/.local", join(home.path, ".local")],
    [join(home.path, "a place"), join(home.path, "a place")],
  ] as const) {
    const installed = runScript("install", typed, home.path);
    expect({ ...installed, stdout: "" }).toEqual({ stdout: "", stderr: "", exitCode: 0 });
    expect(installed.stdout).toMatch(/^installed article-extractor \d\S* as /);
    expect(installed.stdout).toContain(`export PATH="${prefix}/bin:$PATH"\n`);
    expect(filesIn(prefix)).toEqual(FILES);
    expect(statSync(join(prefix, PROGRAM)).mode & 0o777).toBe(0o755);
    for (const [at, words] of [
      [1, ["completions", "bash"]],
      [2, ["completions", "fish"]],
      [3, ["man"]],
      [4, ["completions", "zsh"]],
    ] as const)
      expect(readFileSync(join(prefix, FILES[at]!), "utf8")).toBe((await runBinary(words)).stdout);
    expect(runScript("uninstall", typed, home.path)).toMatchObject({ stderr: "", exitCode: 0 });
    expect(filesIn(prefix)).toEqual([]);
  }
});

test("a running program is replaced, and nothing is said of a PATH that is right", () => {
  using home = temporaryDirectory();
  const prefix = join(home.path, ".local");
  const path = `${prefix}/bin:/usr/bin:/bin`;
  expect(runScript("install", prefix, home.path, path).stdout).not.toContain("PATH");
  const running = Bun.spawn([join(prefix, PROGRAM), "-"], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
  });
  expect(runScript("install", prefix, home.path, path)).toMatchObject({ stderr: "", exitCode: 0 });
  running.kill();
  expect(statSync(join(prefix, PROGRAM)).size).toBe(statSync(BINARY).size);
});

test("a path that depends on where one stands is refused", () => {
  using home = temporaryDirectory();
  for (const prefix of ["", "local", "./x", "~other/x"])
    expect(runScript("install", prefix, home.path)).toEqual({
      stdout: "",
      stderr: `error: PREFIX is a path from the root or from ~, not '${prefix}'\n`,
      exitCode: 2,
    });
  expect(filesIn(home.path)).toEqual([]);
});
