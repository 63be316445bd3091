import { describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { countTests } from "../../../scripts/test.ts";
import { outputOf } from "../../support/local.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const SCRIPT = join(import.meta.dir, "..", "..", "..", "scripts", "test.ts");

/** Runs the test script in a project that holds only these files. */
async function runIn(files: Readonly<Record<string, string>>, ...argv: string[]) {
  using project = temporaryDirectory();
  for (const [name, body] of Object.entries(files)) {
    await mkdir(dirname(join(project.path, name)), { recursive: true });
    await Bun.write(join(project.path, name), `import { test, describe, expect } from "bun:test";\n${body}`);
  }
  const child = Bun.spawn({
    cmd: [process.execPath, SCRIPT, ...argv],
    cwd: project.path,
    stdout: "pipe",
    stderr: "pipe",
  });
  const { stdout, stderr } = await outputOf(child);
  await child.exited;
  return { exitCode: child.exitCode, stdout, lastLine: stdout.trimEnd().split("\n").at(-1), stderr };
}

const PASS = `test("passes", () => {});`;

describe("the test command's last line", () => {
  test("counts passed and skipped tests, tests to do included", async () => {
    const body = `${PASS} describe("a <b> & \\"c\\"", () => { describe("in", () => { ${PASS} test.skip("s", () => {}); test.todo("t"); }); });`;
    const run = await runIn({ "test/a.test.ts": body });
    expect(run).toMatchObject({ exitCode: 0, lastLine: "2 passed, 0 failed, 2 skipped" });
  });

  test("counts failed tests, whatever their messages hold, and keeps the exit code", async () => {
    const failing = `test("fails", () => { throw new Error('<testcase name="x"/> ]]> <skipped/>'); });`;
    const run = await runIn({ "test/a.test.ts": PASS + failing, "test/b.test.ts": PASS });
    expect(run).toMatchObject({ exitCode: 1, lastLine: "2 passed, 1 failed, 0 skipped" });
  });

  test("counts a test as failed that would pass a second time", async () => {
    const flaky = `import { existsSync, writeFileSync } from "node:fs";
      test("fails once", () => { const met = existsSync("met"); writeFileSync("met", ""); expect(met).toBe(true); });`;
    const run = await runIn({ "test/a.test.ts": PASS + flaky, "test/b.test.ts": PASS });
    expect(run).toMatchObject({ exitCode: 1, lastLine: "2 passed, 1 failed, 0 skipped" });
  });

  test("comes behind the names of the tests that failed", async () => {
    const failing = `describe("a <b> & \\"c\\"", () => { test("in", () => { throw new Error("no"); }); });`;
    const run = await runIn({ "test/a.test.ts": PASS + failing, "test/b.test.ts": PASS });
    expect(run.stdout).toContain(
      '\nfailed: test/a.test.ts: a <b> & "c" > in\n2 passed, 1 failed, 0 skipped\n',
    );
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
    expect(run.stderr).toContain("an error outside of all tests");
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

  test("leaves the long tests to --all", async () => {
    const files = { "test/a.test.ts": PASS, "test/long/b.test.ts": PASS };
    expect((await runIn(files)).lastLine).toBe("1 passed, 0 failed, 0 skipped");
    expect((await runIn(files, "--all")).lastLine).toBe("2 passed, 0 failed, 0 skipped");
  });

  test("hands other arguments to bun test", async () => {
    const slow = `test("waits", () => Bun.sleep(2000));`;
    const run = await runIn({ "test/a.test.ts": PASS, "test/b.test.ts": slow }, "--timeout=20", "test/b");
    expect(run).toMatchObject({ exitCode: 1, lastLine: "0 passed, 1 failed, 0 skipped" });
  });
});

test("a report that is cut off or of another kind is not counted", () => {
  const report = `<?xml version="1.0"?>\n<testsuites><testsuite name="a"><testcase name="x" /></testsuite></testsuites>\n`;
  expect(countTests(report)).toEqual({ passed: 1, failed: 0, skipped: 0 });
  for (let length = 0; length < report.trimEnd().length; length++)
    expect(countTests(report.slice(0, length))).toBeNull();
  expect(countTests("<html></html>")).toBeNull();
});
