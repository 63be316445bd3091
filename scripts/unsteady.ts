import type { TestCase } from "./test.ts";

const LEDGER = "test/unsteady.json";
/** An unsteady test is a fault: it is mended before so many commits have followed. */
const MAX_COMMITS = 150;

/** A test that failed beside the others and passed alone, how many times, and since which commit it is known. */
export type Unsteady = {
  readonly file: string;
  readonly name: string;
  readonly times: number;
  readonly since: string;
};

function git(...words: readonly string[]): string | null {
  const { success, stdout } = Bun.spawnSync(["git", ...words], { stdout: "pipe", stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}

/** How many commits came after the one that is named; null where there is not all of the history. */
function ageOf(since: string): number | null {
  if (git("rev-parse", "--is-shallow-repository") !== "false") return null;
  const isPast = git("merge-base", "--is-ancestor", since, "HEAD") !== null;
  // A commit that was rebased has another name now: then the entry is as old as its line in the ledger.
  const start = isPast
    ? since
    : git("log", "--reverse", "--format=%H", `-S${since}`, "--", LEDGER)?.split("\n")[0];
  return Number(git("rev-list", "--count", `${start || "HEAD"}..HEAD`));
}

/**
 * Counts tests that a second run has saved in the ledger, and prints all of it. With `CI` set the file stays as it is.
 * @returns the entries that are too old, as failed tests
 */
export async function lookAtUnsteady(saved: readonly TestCase[]): Promise<TestCase[]> {
  const file = Bun.file(LEDGER);
  const known: Unsteady[] = (await file.exists()) ? await file.json() : [];
  const head = git("rev-parse", "--short=12", "HEAD") ?? "";
  const entries = countSaved(known, saved, head);
  if (saved.length > 0 && (process.env.CI ?? "") === "" && head !== "") {
    await Bun.write(LEDGER, `${JSON.stringify(entries, null, 2)}\n`);
    console.log(`${LEDGER} has counted what was unsteady: commit it`);
  }
  const failed: TestCase[] = [];
  for (const { file, name, times, since } of entries) {
    const age = ageOf(since);
    const commits = age === null ? "since a commit that is not in this clone" : `in ${age} commits`;
    const isNow = saved.some((one) => one.file === file && one.name === name);
    console.log(`unsteady${isNow ? " now" : ""}: ${file}: ${name} (${times} times ${commits})`);
    if (age !== null && age > MAX_COMMITS)
      failed.push({ file: LEDGER, name: `${name} is older than ${MAX_COMMITS} commits`, outcome: "failed" });
  }
  return failed;
}

/** The ledger with what was saved now. */
export function countSaved(
  known: readonly Unsteady[],
  saved: readonly TestCase[],
  head: string,
): readonly Unsteady[] {
  const entries = new Map(known.map((entry) => [`${entry.file}: ${entry.name}`, entry]));
  for (const { file, name } of saved) {
    const key = `${file}: ${name}`;
    const { times, since } = entries.get(key) ?? { times: 0, since: head };
    entries.set(key, { file, name, times: times + 1, since });
  }
  return [...entries.values()];
}
