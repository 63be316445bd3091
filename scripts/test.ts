/**
 * Runs the tests and ends with the names of those that failed and with one line that every CI reads:
 * `N passed, N failed, N skipped`.
 *
 *   sh scripts/bun scripts/test.ts [--all | --scale] [bun test arguments ...]
 *
 * Tests under test/long/ run only with --all. With --scale those under test/scale/ run, one after another, and no others. All other arguments are passed to `bun test`, which prints no
 * such line itself, and which names the failed tests only in the midst of all others. Both come from its JUnit
 * report, which only a complete run writes.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

const TEST_TIMEOUT_MS = 120_000;
const LONG_TESTS = "test/long/**";
const SCALE_TESTS = "test/scale/**";
// Many tests wait for what other processes or timers do, so one more file than there are cores is under way.
const WORKERS = availableParallelism() + 1;

/** The numbers of tests by outcome. A test to do counts as skipped, and so does one that `-t` filtered out. */
export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number };

/**
 * Counts the test cases of a JUnit report as Bun 1.4.5 writes it: suites nest as deep as `describe` does, a
 * passed case is an empty element, and `<`, `>` and `"` are escaped in all names and messages, so that every
 * tag in the text belongs to the report.
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

/** The failed tests of a whole report, each as `file: describe > test`. */
export function failedTests(junit: string): string[] {
  return [...junit.matchAll(/<testcase ([^>]*[^/])>\s*<(?:failure|error)[\s/>]/g)].map(
    ([, attributes = ""]) => {
      const read = (name: string): string => {
        const written = new RegExp(` ${name}="([^"]*)"`).exec(` ${attributes}`)?.[1] ?? "";
        return written.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity] ?? "");
      };
      const names = [read("classname"), read("name")].filter((name) => name !== "");
      return `${read("file")}: ${names.join(" > ")}`;
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/**
 * Judges the run as a whole.
 * @param exitCode the exit code of `bun test`; null when a signal ended it
 * @param junit its report, or null when it wrote none
 */
export function judgeRun(
  exitCode: number | null,
  junit: string | null,
): { readonly counts: TestCounts; readonly exitCode: number; readonly problem: string | null } {
  const ended = exitCode === null ? "was ended by a signal" : `ended with exit code ${exitCode}`;
  const none: TestCounts = { passed: 0, failed: 0, skipped: 0 };
  const counts = junit === null ? null : countTests(junit);
  if (counts === null) {
    // When no file matches, Bun also writes no report, but it prints a message about that.
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

async function runTests(argv: readonly string[]): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "article-extractor-test-"));
  const report = join(directory, "junit.xml");
  const isScale = argv.includes("--scale");
  const ignored = isScale ? [] : argv.includes("--all") ? [SCALE_TESTS] : [SCALE_TESTS, LONG_TESTS];
  const child = Bun.spawn({
    cmd: [
      process.execPath,
      "test",
      `--timeout=${TEST_TIMEOUT_MS}`,
      ...(isScale ? ["test/scale/"] : [`--parallel=${WORKERS}`]),
      ...ignored.map((pattern) => `--path-ignore-patterns=${pattern}`),
      ...argv.filter((argument) => argument !== "--all" && argument !== "--scale"),
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
  const verdict = judgeRun(child.exitCode, junit);
  await rm(directory, { recursive: true });
  for (const name of failedTests(junit ?? "")) console.log(`failed: ${name}`);
  if (verdict.problem !== null) console.error(`\nerror: ${verdict.problem}`);
  console.log(
    `${verdict.counts.passed} passed, ${verdict.counts.failed} failed, ${verdict.counts.skipped} skipped`,
  );
  return verdict.exitCode;
}

if (import.meta.main) process.exitCode = await runTests(process.argv.slice(2));
