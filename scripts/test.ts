/**
 * Runs the tests and ends with one line that every CI reads: `N passed, N failed, N skipped`.
 *
 *   sh scripts/bun scripts/test.ts [--all] [bun test arguments ...]
 *
 * Tests under test/long/ run only with --all. Everything else goes to `bun test` as it stands.
 * When a few tests fail, their files run a second time, alone: what passes then is counted as passed and named
 * as flaky, so that a stalled machine refuses no change and nobody overlooks a flake.
 * `bun test` has no such line itself, and where a test ends the process with `process.exit(0)` it
 * even exits 0 with half of the tests unrun; so the counts come from its JUnit report, which is only
 * written by a run that came to its end.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TEST_TIMEOUT_MS = 30_000;
const LONG_TESTS = "test/long/**";
/** More failures than this are no accident of a busy machine. */
const MOST_FLAKES = 3;

/** How many tests ended how. A test to do counts as skipped; so does one that `-t` filtered out. */
export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** What one run amounts to; `problem` says what else than tests went wrong. */
export type Verdict = {
  readonly counts: TestCounts;
  readonly exitCode: number;
  readonly problem: string | null;
};

/** A run's verdict and the files in which a test failed. */
export type Run = Verdict & { readonly failedFiles: readonly string[] };

/**
 * Counts the test cases of a JUnit report as Bun 1.4.5 writes it: suites nest as deep as `describe`
 * does, a passed case is an empty element, and `<`, `>` and `"` are escaped in all names and messages,
 * so that a tag in the text is a tag of the report.
 * @returns null for a report that is cut off or that is no JUnit report
 */
export function countTests(junit: string): TestCounts | null {
  if (!junit.includes("<testsuites") || !junit.trimEnd().endsWith("</testsuites>")) return null;
  const outcomes: ("passed" | "failed" | "skipped")[] = [];
  for (const [, tag] of junit.matchAll(/<(testcase|failure|error|skipped)[\s/>]/g)) {
    if (tag === "testcase") outcomes.push("passed");
    else if (outcomes.length > 0) outcomes[outcomes.length - 1] = tag === "skipped" ? "skipped" : "failed";
  }
  const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}

/** The files of a JUnit report with a test that failed, in its order, each once. */
export function filesThatFailed(junit: string): readonly string[] {
  const files = new Set<string>();
  let file: string | null = null;
  for (const [tag, kind] of junit.matchAll(/<(testcase|failure|error)(?=[\s/>])[^>]*>/g)) {
    if (kind === "testcase") file = / file="([^"]*)"/.exec(tag)?.[1] ?? null;
    else if (file !== null) files.add(file);
  }
  return [...files];
}

/**
 * What the run as a whole amounts to.
 * @param exitCode of `bun test`; null when a signal ended it
 * @param junit its report, or null when it wrote none
 */
export function judgeRun(exitCode: number | null, junit: string | null): Verdict {
  const ended = exitCode === null ? "was ended by a signal" : `ended with exit code ${exitCode}`;
  const none: TestCounts = { passed: 0, failed: 0, skipped: 0 };
  const counts = junit === null ? null : countTests(junit);
  if (counts === null) {
    // Without any matching file Bun also writes no report; the message above it says so.
    const fault = junit === null ? "wrote no report" : "left a report that is cut off";
    const problem = `bun test ${ended} and ${fault}: it crashed, a test ended the process, or no test file matched`;
    return { counts: { ...none, failed: 1 }, exitCode: exitCode || 1, problem };
  }
  if (counts.passed + counts.failed === 0) return { counts, exitCode: exitCode || 1, problem: "no test ran" };
  if (exitCode === 0 && counts.failed === 0) return { counts, exitCode: 0, problem: null };
  if (counts.failed > 0) return { counts, exitCode: exitCode || 1, problem: null };
  // A file that cannot be loaded, or an error between tests, is missing from the report.
  const problem = `bun test ${ended} although no test failed: an error outside of all tests, see above`;
  return { counts: { ...counts, failed: 1 }, exitCode: exitCode || 1, problem };
}

/** Runs `bun test` once with a report of its own, and judges it. */
async function runOnce(argv: readonly string[]): Promise<Run> {
  const directory = await mkdtemp(join(tmpdir(), "article-extractor-test-"));
  const report = join(directory, "junit.xml");
  const child = Bun.spawn({
    cmd: [
      process.execPath,
      "test",
      `--timeout=${TEST_TIMEOUT_MS}`,
      ...argv,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
    ],
    stdio: ["inherit", "inherit", "inherit"],
  });
  const stop = () => child.kill("SIGTERM");
  process.once("SIGTERM", stop);
  await child.exited;
  process.off("SIGTERM", stop);
  const file = Bun.file(report);
  const junit = (await file.exists()) ? await file.text() : null;
  await rm(directory, { recursive: true });
  return { ...judgeRun(child.exitCode, junit), failedFiles: junit === null ? [] : filesThatFailed(junit) };
}

/**
 * Whether what failed may have been the machine's doing: a run that came to its end with few failures, each
 * in a named file. Servers, browsers and processes are real in these tests, and a shared machine can stall any
 * of them; what is broken fails the second time too.
 */
export function mayBeFlaky(run: Run): boolean {
  const { failed } = run.counts;
  return run.problem === null && failed > 0 && failed <= MOST_FLAKES && run.failedFiles.length > 0;
}

async function runTests(argv: readonly string[]): Promise<number> {
  const all = argv.includes("--all");
  const others = argv.filter((argument) => argument !== "--all");
  const run = await runOnce([...(all ? [] : [`--path-ignore-patterns=${LONG_TESTS}`]), ...others]);
  if (run.problem !== null) console.error(`\nerror: ${run.problem}`);
  let { counts, exitCode } = run;
  if (mayBeFlaky(run)) {
    console.log(`\n${counts.failed} failed; their files once more, alone: ${run.failedFiles.join(" ")}`);
    const again = await runOnce([
      ...others.filter((argument) => argument.startsWith("--")),
      ...run.failedFiles.map((file) => `./${file}`),
    ]);
    if (again.exitCode === 0) {
      console.log(`flaky: ${counts.failed} in ${run.failedFiles.join(" ")} (failed above, passed alone)`);
      counts = { ...counts, passed: counts.passed + counts.failed, failed: 0 };
      exitCode = 0;
    }
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return exitCode;
}

if (import.meta.main) process.exitCode = await runTests(process.argv.slice(2));
