/**
 * Runs the tests and ends with the names of those that failed and with one line that every CI reads:
 * `N passed, N failed, N skipped`.
 *
 *   sh scripts/bun scripts/test.ts [--fast | --slow | --all | --scale] [bun test arguments ...]
 *
 * All other arguments are passed to `bun test`, which prints no such line itself, and which names the failed tests only
 * in the midst of all others. Both come from its JUnit report, which only a complete run writes.
 *
 * Files in which tests failed run once more with nothing beside them, and the second run counts. A test that passes
 * then is named as unsteady, and counted in test/unsteady.json.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { countWants, findWants, LONG, SUITES } from "./suites.ts";
import { lookAtUnsteady } from "./unsteady.ts";

const TEST_TIMEOUT_MS = 120_000;
// Many tests wait for what other processes or timers do, so one more file than there are cores is under way.
const WORKERS = availableParallelism() + 1;

/** The numbers of tests by outcome. A test to do counts as skipped, and so does one that `-t` filtered out. */
type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** A test of a report; its name is `describe > test`. */
export type TestCase = {
  readonly file: string;
  readonly name: string;
  readonly outcome: keyof TestCounts;
};

/** What came out of a run; the problem is one outside of all tests. */
type Verdict = {
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

/** What stands for the tests of a file that the report lacks. */
const NOT_LOADED = "(the file was not loaded)";

/**
 * Judges the run as a whole.
 * @param exitCode the exit code of `bun test`; null when a signal ended it
 * @param junit its report, or null when it wrote none
 * @param files those of the run: one that the report lacks could not be loaded, and counts as a failed test
 */
export function judgeRun(
  exitCode: number | null,
  junit: string | null,
  files: readonly string[] = [],
): Verdict {
  const ended = exitCode === null ? "was ended by a signal" : `ended with exit code ${exitCode}`;
  const reported = junit === null ? null : readReport(junit);
  if (reported === null) {
    // When no file matches, Bun also writes no report, but it prints a message about that.
    const fault = junit === null ? "wrote no report" : "left a report that is cut off";
    const problem = `bun test ${ended} and ${fault}: it crashed, a test ended the process, or no test file matched`;
    return { cases: [], counts: { passed: 0, failed: 1, skipped: 0 }, exitCode: exitCode || 1, problem };
  }
  const loaded = new Set(reported.map(({ file }) => file));
  const missing = exitCode ? files.filter((file) => !loaded.has(file)) : [];
  const asFailed = (file: string): TestCase => ({ file, name: NOT_LOADED, outcome: "failed" });
  const cases = [...reported, ...missing.map(asFailed)];
  const counts = countCases(cases);
  if (counts.passed + counts.failed === 0)
    return { cases, counts, exitCode: exitCode || 1, problem: "no test ran" };
  if (exitCode !== null && (exitCode === 0 || counts.failed > 0))
    return { cases, counts, exitCode: exitCode || Math.sign(counts.failed), problem: null };
  const although =
    exitCode === null ? "" : " although no test failed: an error outside of all tests, see above";
  const problem = `bun test ${ended}${although}`;
  return { cases, counts: { ...counts, failed: counts.failed || 1 }, exitCode: exitCode || 1, problem };
}

const isFailed = ({ outcome }: TestCase): boolean => outcome === "failed";

/** The files that run once more: none where the run was ended or left no report. */
export const filesToRepeat = ({ cases, problem }: Verdict): string[] =>
  problem === null ? [...new Set(cases.filter(isFailed).map(({ file }) => file))] : [];

/**
 * Puts the second run of a file in the place of its first one.
 * @returns the whole, and the tests that failed only in the first run
 */
export function judgeAgain(
  first: Verdict,
  file: string,
  second: Verdict,
): { readonly verdict: Verdict; readonly unsteady: readonly TestCase[] } {
  const others = first.cases.filter((one) => one.file !== file);
  // One that crashed or was ended says nothing of its tests.
  const cases = second.cases.length === 0 ? first.cases : [...others, ...second.cases];
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

async function bunTest(files: readonly string[], ...argv: string[]): Promise<Verdict> {
  const directory = await mkdtemp(join(tmpdir(), "article-extractor-test-"));
  const report = join(directory, "junit.xml");
  const child = Bun.spawn({
    cmd: [
      process.execPath,
      "test",
      `--timeout=${TEST_TIMEOUT_MS}`,
      ...argv,
      ...files.map((file) => `./${file}`),
      "--reporter=junit",
      `--reporter-outfile=${report}`,
    ],
    stdio: ["inherit", "inherit", "inherit"],
  });
  const stop = () => child.kill("SIGTERM");
  process.once("SIGTERM", stop);
  await child.exited;
  process.off("SIGTERM", stop);
  const junit = await Bun.file(report)
    .text()
    .catch(() => null);
  const verdict = judgeRun(child.exitCode, junit, files);
  await rm(directory, { recursive: true });
  return verdict;
}

async function runTests(argv: readonly string[]): Promise<number> {
  const suite = argv.find((argument) => argument in SUITES) ?? "";
  const others = argv.filter((argument) => !(argument in SUITES));
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync()]
    .filter((file) => SUITES[suite]?.(file))
    .sort();
  const wants = await findWants();
  const without = [...wants.values()].map(({ source }) => source).join("|");
  const filter = without === "" ? [] : ["-t", `^(?![^]*(?:${without}))`];
  const words = [...(suite === "--scale" ? [] : [`--parallel=${WORKERS}`]), ...filter];
  // Whoever names tests looks at them.
  const isNamed = others.length > 0;
  const ignored = LONG.map((pattern) => `--path-ignore-patterns=${pattern}`);
  let verdict = isNamed ? await bunTest([], ...words, ...ignored, ...others) : await bunTest(files, ...words);
  const unsteady: TestCase[] = [];
  for (const file of isNamed || suite === "--scale" ? [] : filesToRepeat(verdict)) {
    console.log(`\n${file} failed beside the others; once more, alone:`);
    const again = judgeAgain(verdict, file, await bunTest([file], ...filter));
    verdict = again.verdict;
    unsteady.push(...again.unsteady);
  }
  const old = isNamed ? [] : await lookAtUnsteady(unsteady);
  for (const { file, name } of [...verdict.cases.filter(isFailed), ...old])
    console.log(`failed: ${file}: ${name}`);
  if (verdict.problem !== null) console.error(`\nerror: ${verdict.problem}`);
  const { passed, failed, skipped } = verdict.counts;
  const why = countWants(verdict.cases, wants);
  console.log(`${passed} passed, ${failed + old.length} failed, ${skipped} skipped${why}`);
  return verdict.exitCode + old.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await runTests(process.argv.slice(2));
