/**
 * Runs the tests and ends with the names of those that failed and with one line that every CI reads:
 * `N passed, N failed, N skipped`.
 *
 *   sh scripts/bun scripts/test.ts [--all | --scale] [bun test arguments ...]
 *
 * Tests under test/long/ run only with --all. With --scale those under test/scale/ run, one after another, and no
 * others. All other arguments are passed to `bun test`, which prints no such line itself, and which names the failed
 * tests only in the midst of all others. Both come from its JUnit report, which only a complete run writes.
 *
 * Where few files failed in a run of all tests, these run once more with nothing beside them, and the second run
 * counts. A test that passes then is named as unsteady.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

const TEST_TIMEOUT_MS = 120_000;
const LONG_TESTS = "test/long/**";
const SCALE_TESTS = "test/scale/**";
// Many tests wait for what other processes or timers do, so one more file than there are cores is under way.
const WORKERS = availableParallelism() + 1;
/** More files than these do not fail because the machine was busy. */
const MAX_FILES_AGAIN = 3;

/** The numbers of tests by outcome. A test to do counts as skipped, and so does one that `-t` filtered out. */
export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** A test of a report; its name is `describe > test`. */
export type TestCase = {
  readonly file: string;
  readonly name: string;
  readonly outcome: keyof TestCounts;
};

/** What came out of a run; the problem is one outside of all tests. */
export type Verdict = {
  readonly cases: readonly TestCase[];
  readonly counts: TestCounts;
  readonly exitCode: number;
  readonly problem: string | null;
};

/**
 * Reads a JUnit report as Bun 1.4.5 writes it: suites nest as deep as `describe` does, a passed case is an empty
 * element, and `<`, `>` and `"` are escaped in all names and messages, so that every tag in the text belongs to the
 * report.
 * @returns null for a report that is cut off or that is no JUnit report
 */
export function readReport(junit: string): TestCase[] | null {
  if (!junit.includes("<testsuites") || !junit.trimEnd().endsWith("</testsuites>")) return null;
  const cases: TestCase[] = [];
  for (const [, tag, attributes = ""] of junit.matchAll(/<(testcase|failure|error|skipped)([\s/][^>]*)?>/g)) {
    if (tag === "testcase") {
      const names = [attribute(attributes, "classname"), attribute(attributes, "name")];
      const name = names.filter((one) => one !== "").join(" > ");
      cases.push({ file: attribute(attributes, "file"), name, outcome: "passed" });
    } else {
      const last = cases.pop();
      if (last) cases.push({ ...last, outcome: tag === "skipped" ? "skipped" : "failed" });
    }
  }
  return cases;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function attribute(written: string, name: string): string {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(written)?.[1] ?? "";
  return value.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity] ?? "");
}

function countCases(cases: readonly TestCase[]): TestCounts {
  const count = (wanted: keyof TestCounts) => cases.filter(({ outcome }) => outcome === wanted).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}

/**
 * Judges the run as a whole.
 * @param exitCode the exit code of `bun test`; null when a signal ended it
 * @param junit its report, or null when it wrote none
 */
export function judgeRun(exitCode: number | null, junit: string | null): Verdict {
  const ended = exitCode === null ? "was ended by a signal" : `ended with exit code ${exitCode}`;
  const cases = junit === null ? null : readReport(junit);
  if (cases === null) {
    // When no file matches, Bun also writes no report, but it prints a message about that.
    const fault = junit === null ? "wrote no report" : "left a report that is cut off";
    const problem = `bun test ${ended} and ${fault}: it crashed, a test ended the process, or no test file matched`;
    return { cases: [], counts: { passed: 0, failed: 1, skipped: 0 }, exitCode: exitCode || 1, problem };
  }
  const counts = countCases(cases);
  if (counts.passed + counts.failed === 0)
    return { cases, counts, exitCode: exitCode || 1, problem: "no test ran" };
  if (exitCode === 0 && counts.failed === 0) return { cases, counts, exitCode: 0, problem: null };
  if (exitCode !== null && counts.failed > 0)
    return { cases, counts, exitCode: exitCode || 1, problem: null };
  // A file that cannot be loaded, or an error between tests, is missing from the report.
  const problem =
    exitCode === null
      ? `bun test ${ended}`
      : `bun test ${ended} although no test failed: an error outside of all tests, see above`;
  return { cases, counts: { ...counts, failed: counts.failed || 1 }, exitCode: exitCode || 1, problem };
}

/**
 * The files that run once more.
 * @param files all files of the run; one that the report lacks could not be loaded
 * @returns none where more than a few failed, a file is missing, or a test ended its process
 */
export function filesToRepeat({ cases, problem }: Verdict, files: readonly string[]): string[] {
  const failed = cases.filter(({ outcome }) => outcome === "failed");
  const ran = new Set(cases.map(({ file }) => file));
  const isWhole = problem === null && files.every((file) => ran.has(file));
  const again = [...new Set(failed.map(({ file }) => file))];
  const isCrash = failed.some(({ name }) => name === "(worker crashed)");
  return isWhole && !isCrash && again.length <= MAX_FILES_AGAIN ? again : [];
}

/**
 * Puts the second run of a file in the place of its first one.
 * @returns the whole, and the tests that failed only in the first run
 */
export function judgeAgain(
  first: Verdict,
  file: string,
  second: Verdict,
): { readonly verdict: Verdict; readonly unsteady: readonly TestCase[] } {
  const cases = [...first.cases.filter((one) => one.file !== file), ...second.cases];
  const isFailed = ({ outcome }: TestCase): boolean => outcome === "failed";
  const failedAgain = new Set(second.cases.filter(isFailed).map(({ name }) => name));
  const inFile = first.cases.filter((one) => one.file === file && isFailed(one));
  const counts = countCases(cases);
  const isRed = counts.failed > 0 || second.exitCode !== 0 || first.problem !== null;
  return {
    verdict: {
      cases,
      // What went wrong outside of all tests counts as one that failed.
      counts: { ...counts, failed: counts.failed || (isRed ? 1 : 0) },
      exitCode: isRed ? second.exitCode || first.exitCode : 0,
      problem: first.problem ?? second.problem,
    },
    unsteady: second.problem === null ? inFile.filter(({ name }) => !failedAgain.has(name)) : [],
  };
}

async function bunTest(...argv: string[]): Promise<Verdict> {
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
  const verdict = judgeRun(child.exitCode, (await file.exists()) ? await file.text() : null);
  await rm(directory, { recursive: true });
  return verdict;
}

async function runTests(argv: readonly string[]): Promise<number> {
  const isScale = argv.includes("--scale");
  const ignored = isScale ? [] : argv.includes("--all") ? [SCALE_TESTS] : [SCALE_TESTS, LONG_TESTS];
  const others = argv.filter((argument) => argument !== "--all" && argument !== "--scale");
  let verdict = await bunTest(
    ...(isScale ? ["test/scale/"] : [`--parallel=${WORKERS}`]),
    ...ignored.map((pattern) => `--path-ignore-patterns=${pattern}`),
    ...others,
  );
  const unsteady: TestCase[] = [];
  // Whoever names tests looks at them.
  if (!isScale && others.length === 0) {
    const isIgnored = (file: string) => ignored.some((pattern) => new Bun.Glob(pattern).match(file));
    const files = [...new Bun.Glob("test/**/*.test.ts").scanSync()].filter((file) => !isIgnored(file));
    for (const file of filesToRepeat(verdict, files)) {
      console.log(`\n${file} failed beside the others; once more, alone:`);
      const again = judgeAgain(verdict, file, await bunTest(`./${file}`));
      verdict = again.verdict;
      unsteady.push(...again.unsteady);
    }
  }
  for (const { file, name } of unsteady)
    console.log(`unsteady: ${file}: ${name} failed beside the others and passed alone`);
  for (const { file, name, outcome } of verdict.cases)
    if (outcome === "failed") console.log(`failed: ${file}: ${name}`);
  if (verdict.problem !== null) console.error(`\nerror: ${verdict.problem}`);
  const { passed, failed, skipped } = verdict.counts;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return verdict.exitCode;
}

if (import.meta.main) process.exitCode = await runTests(process.argv.slice(2));
