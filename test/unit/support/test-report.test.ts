import { describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filesToRepeat, judgeAgain, judgeRun, readReport } from "../../../scripts/test.ts";
import { outputOf } from "../../support/local.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const SCRIPT = join(import.meta.dir, "..", "..", "..", "scripts", "test.ts");

/** Runs the test script in a project that holds only these files. */
async function runIn(files: Readonly<Record<string, string>>, ...argv: string[]) {
  using project = temporaryDirectory();
  for (const [name, body] of Object.entries(files)) {
    await mkdir(dirname(join(project.path, name)), { recursive: true });
    const head = name.endsWith(".ts") ? `import { test, describe, expect } from "bun:test";\n` : "";
    await Bun.write(join(project.path, name), head + body);
  }
  const child = Bun.spawn({
    cmd: [process.execPath, SCRIPT, ...argv],
    cwd: project.path,
    env: { ...process.env, ARTICLE_EXTRACTOR_BROWSER_PATH: "none" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { stdout, stderr } = await outputOf(child);
  await child.exited;
  return { exitCode: child.exitCode, stdout, lastLine: stdout.trimEnd().split("\n").at(-1), stderr };
}

const PASS = `test("passes", () => {});`;
const FAIL = `test("fails", () => { throw new Error("no"); });`;
const FAILS_ONCE = `test("fails once", async () => {
  const met = Bun.file(import.meta.path + ".met");
  const isMet = await met.exists();
  await Bun.write(met, "");
  expect(isMet).toBe(true);
});`;

describe("the test command's last line", () => {
  test("counts passed and skipped tests, tests to do included", async () => {
    const body = `${PASS} describe("a <b> & \\"c\\"", () => { describe("in", () => { ${PASS} test.skip("s", () => {}); test.todo("t"); }); });`;
    const run = await runIn({ "test/a.test.ts": body });
    expect(run).toMatchObject({ exitCode: 0, lastLine: "2 passed, 0 failed, 2 skipped" });
  });

  test("counts failed tests, whatever their messages hold, behind their names, and keeps the exit code", async () => {
    const failing = `describe("a <b> & \\"c\\"", () => { test("in", () => { throw new Error('<testcase name="x"/> ]]> <skipped/>'); }); });`;
    const run = await runIn({ "test/a.test.ts": PASS + failing, "test/b.test.ts": PASS });
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toEndWith(
      '\nfailed: test/a.test.ts: a <b> & "c" > in\n2 passed, 1 failed, 0 skipped\n',
    );
  });

  test("counts a test as passed that fails once and passes alone, and names it as unsteady", async () => {
    const run = await runIn({ "test/a.test.ts": PASS + FAILS_ONCE, "test/b.test.ts": PASS });
    expect(run).toMatchObject({ exitCode: 0, lastLine: "3 passed, 0 failed, 0 skipped" });
    expect(run.stdout).toContain("\ntest/a.test.ts failed beside the others; once more, alone:\n");
    expect(run.stdout).toEndWith(
      "\nunsteady now: test/a.test.ts: fails once (1 times since a commit that is not in this clone)\n3 passed, 0 failed, 0 skipped\n",
    );
    // What went wrong the first time is there to be read.
    expect(run.stderr).toMatch(/\(fail\) fails once[\s\S]*\(pass\) fails once/);
  });

  test.each([
    ["another one of its file", { "test/a.test.ts": `${FAILS_ONCE} ${FAIL}` }, "1 passed, 1 failed"],
    ["a file", { "test/a.test.ts": FAILS_ONCE, "test/b.test.ts": "undefinedName();" }, "1 passed, 1 failed"],
    [
      "a test that ends its process",
      { "test/a.test.ts": FAILS_ONCE, "test/b.test.ts": `test("leaves", () => { process.exit(0); });` },
      "1 passed, 1 failed",
    ],
  ])("counts a test as passed that fails once, and %s as failed again", async (_, files, counts) => {
    const run = await runIn(files);
    expect(run).toMatchObject({ exitCode: 1, lastLine: `${counts}, 0 skipped` });
    expect(run.stdout).toContain("unsteady now: test/a.test.ts: fails once (");
  });

  test("counts tests as passed that fail once in however many files, worker and loading included", async () => {
    const once = (what: string) => `const met = Bun.file(import.meta.path + ".met");
if (!(await met.exists())) { await Bun.write(met, ""); ${what} }`;
    const files = Object.fromEntries([1, 2, 3, 4].map((number) => [`test/${number}.test.ts`, FAILS_ONCE]));
    const run = await runIn({
      ...files,
      "test/5.test.ts": `${once("undefinedName();")} ${PASS}`,
      "test/6.test.ts": `test("leaves", async () => { ${once("process.exit(3);")} });`,
    });
    expect(run).toMatchObject({ exitCode: 0, lastLine: "6 passed, 0 failed, 0 skipped" });
    expect(run.stdout.match(/^unsteady now: /gm)).toHaveLength(6);
  });

  test("counts a test as failed that fails once in a run of named files", async () => {
    const run = await runIn({ "test/a.test.ts": FAILS_ONCE }, "test/a");
    expect(run).toMatchObject({ exitCode: 1, lastLine: "0 passed, 1 failed, 0 skipped" });
  });

  test.each(["process.exit(0)", "process.exit(3)", 'process.kill(process.pid, "SIGKILL")'])(
    "counts a file as failed whose test does %s, and runs the others",
    async (ending) => {
      const run = await runIn({
        "test/a.test.ts": `${PASS} test("leaves", () => { ${ending}; });`,
        "test/b.test.ts": PASS,
        "test/c.test.ts": PASS,
      });
      expect(run).toMatchObject({ exitCode: 1, lastLine: "3 passed, 1 failed, 0 skipped" });
      expect(run.stdout).toContain("\nfailed: test/a.test.ts: (worker crashed)\n");
    },
  );

  test("is a failure when a signal ends the run", async () => {
    const run = await runIn({
      "test/a.test.ts": `test("ends its run", async () => { process.kill(process.ppid, "SIGKILL"); });`,
      "test/b.test.ts": PASS,
    });
    expect(run).toMatchObject({ exitCode: 1, lastLine: "0 passed, 1 failed, 0 skipped" });
    expect(run.stderr).toContain("bun test was ended by a signal and wrote no report");
  });

  test("is a failure when a file cannot be loaded", async () => {
    const run = await runIn({ "test/a.test.ts": PASS, "test/b.test.ts": `${PASS} undefinedName();` });
    expect(run).toMatchObject({ exitCode: 1, lastLine: "1 passed, 1 failed, 0 skipped" });
    expect(run.stdout).toContain("\nfailed: test/b.test.ts: (the file was not loaded)\n");
  });

  test("is a failure when no test file matches", async () => {
    const run = await runIn({ "test/a.test.ts": PASS }, "no-such-file");
    expect(run).toMatchObject({ exitCode: 1, lastLine: "0 passed, 1 failed, 0 skipped" });
    expect(run.stderr).toContain("no test file matched");
  });

  test("is a failure when every test is skipped", async () => {
    const run = await runIn({ "test/a.test.ts": `test.skip("s", () => {});` });
    expect(run).toMatchObject({ exitCode: 1, lastLine: "0 passed, 0 failed, 1 skipped" });
    expect(run.stderr).toContain("no test ran");
  });

  test.each([
    ["--fast", 2],
    ["--slow", 3],
    ["--all", 6],
    ["--scale", 1],
  ])("counts the tests of its suite alone: %s", async (suite, count) => {
    const paths = ["unit/a", "contract/a", "contract/a-postgres", "integration/scale/a", "cli/a"];
    const all = [...paths, "long/a", "scale/a"].map((path) => [`test/${path}.test.ts`, PASS]);
    const run = await runIn(Object.fromEntries(all), suite);
    expect(run.lastLine).toBe(`${count} passed, 0 failed, 0 skipped`);
  });

  test("tells how many tests were left out for want of something, and runs the others", async () => {
    const body = `${PASS} describe("in", () => { test("shows it (a|b)", () => {}); test.skip("s", () => {}); });`;
    const wants = JSON.stringify({ Chromium: ["it (a|b)"], "a display": ["no test"] });
    const files = { "test/a.test.ts": body, "test/wants.json": wants };
    const run = await runIn(files, "--all");
    expect(run.lastLine).toBe("1 passed, 0 failed, 2 skipped (1 for want of Chromium)");
  });

  test("hands other arguments to bun test", async () => {
    const slow = `test("waits", () => Bun.sleep(2000));`;
    const run = await runIn({ "test/a.test.ts": PASS, "test/b.test.ts": slow }, "--timeout=20", "test/b");
    expect(run).toMatchObject({ exitCode: 1, lastLine: "0 passed, 1 failed, 0 skipped" });
  });
});

/** A report of these tests: `file name outcome`, each in words. */
function reportOf(...tests: string[]): string {
  const cases = tests.map((words) => {
    const [file, name, outcome] = words.split(" ");
    const inner = {
      passed: "",
      failed: `<failure type="Error" message="no">no</failure>`,
      skipped: "<skipped />",
    };
    return `<testcase name="${name}" classname="" file="${file}" line="1">${inner[outcome as keyof typeof inner]}</testcase>`;
  });
  return `<?xml version="1.0"?>\n<testsuites>${cases.join("\n")}</testsuites>\n`;
}

describe("files run once more", () => {
  const FILES = ["a", "b", "c", "d"];
  const judged = (...tests: string[]) => judgeRun(1, reportOf(...tests));

  test("are all that failed, each once, in their order; none when the run was ended", () => {
    const tests = FILES.flatMap((file) => [`${file} x failed`, `${file} y failed`, `${file} z passed`]);
    expect(filesToRepeat(judgeRun(1, reportOf(...tests, "e x passed"), [...FILES, "f"]))).toEqual([
      ...FILES,
      "f",
    ]);
    expect(filesToRepeat(judgeRun(0, reportOf("a x passed"), ["a", "b"]))).toEqual([]);
    expect(filesToRepeat(judgeRun(null, reportOf("a x failed"), ["a", "b"]))).toEqual([]);
    expect(filesToRepeat(judgeRun(1, null, ["a"]))).toEqual([]);
  });

  test("take the place of their first run", () => {
    const first = judged("a x failed", "a y passed", "b x failed", "b y failed", "c x skipped");
    const a = judgeAgain(first, "a", judgeRun(0, reportOf("a x passed", "a y passed")));
    expect(a.unsteady).toEqual([{ file: "a", name: "x", outcome: "failed" }]);
    // The file b has not run again yet.
    expect(a.verdict).toMatchObject({ exitCode: 1, counts: { passed: 2, failed: 2, skipped: 1 } });
    const b = judgeAgain(a.verdict, "b", judgeRun(0, reportOf("b x passed", "b y skipped")));
    expect(b.verdict).toMatchObject({ exitCode: 0, counts: { passed: 3, failed: 0, skipped: 2 } });
    const red = judgeAgain(a.verdict, "b", judgeRun(1, reportOf("b x failed", "b y passed")));
    expect(red.verdict).toMatchObject({ exitCode: 1, counts: { passed: 3, failed: 1, skipped: 1 } });
    expect(red.unsteady.map(({ name }) => name)).toEqual(["y"]);
  });

  test.each([
    ["crashes", null, null],
    ["is ended", null, reportOf("a x passed")],
    ["runs nothing", 0, reportOf("a x skipped")],
    ["has an error outside of its tests", 1, reportOf("a x passed")],
  ])("are red when the second run %s", (_, exitCode, junit) => {
    const first = judged("a x failed", "b y failed");
    const again = judgeAgain(first, "a", judgeRun(exitCode, junit));
    expect(again.unsteady).toEqual([]);
    const { verdict } = judgeAgain(again.verdict, "b", judgeRun(0, reportOf("b y passed")));
    expect(verdict.exitCode).toBe(1);
    expect(verdict.counts.failed).toBe(1);
    expect(verdict.problem).not.toBeNull();
  });
});

test("a report that is cut off or of another kind is not read", () => {
  const report = reportOf("a x passed");
  expect(readReport(report)).toEqual([{ file: "a", name: "x", outcome: "passed" }]);
  for (let length = 0; length < report.trimEnd().length; length++)
    expect(readReport(report.slice(0, length))).toBeNull();
  expect(readReport("<html></html>")).toBeNull();
});
