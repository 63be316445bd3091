import { findBrowser } from "../src/fetching/browser/hosts.ts";
import type { TestCase } from "./test.ts";

/** Where the tests of a suite are, and which of these it leaves out. The slow tests are all that no other suite has. */
export const LONG = ["test/long/**", "test/scale/**"];
const FAST = ["test/*.test.ts", "test/{contract,end-to-end,integration,support,unit}/**"];
/** What needs PostgreSQL, a bucket or an SSH server there, which not everybody has. */
const NEEDS_SERVERS = ["**/*-{bucket,postgres,ssh}.test.ts", "test/integration/scale/**"];
const isIn = (patterns: readonly string[]) => (file: string) =>
  patterns.some((pattern) => new Bun.Glob(pattern).match(file));
const isFast = (file: string): boolean => isIn(FAST)(file) && !isIn(NEEDS_SERVERS)(file);
export const SUITES: Readonly<Record<string, (file: string) => boolean>> = {
  "--fast": isFast,
  "--slow": (file) => !isFast(file) && !isIn(LONG)(file),
  "--all": (file) => !isIn(["test/scale/**"])(file),
  "--scale": isIn(["test/scale/**"]),
  "": (file) => !isIn(LONG)(file),
};

/** Tests that this machine has no Chromium or no display for, by what they want. */
export async function findWants(): Promise<ReadonlyMap<string, RegExp>> {
  const written = Bun.file("test/wants.json");
  const names: Readonly<Record<string, readonly string[]>> = (await written.exists())
    ? await written.json()
    : {};
  const { platform, env } = process;
  const explicit = env.ARTICLE_EXTRACTOR_BROWSER_PATH || null;
  const find = { explicit, searchPath: env.PATH ?? "", platform, home: env.HOME ?? "/" };
  const hasDisplay = platform === "darwin" || Boolean(Bun.which("Xvfb"));
  // A window is a browser's, too.
  const lacking = findBrowser(find) === null ? Object.keys(names) : hasDisplay ? [] : ["a display"];
  const patterns = lacking.map((want): [string, RegExp] => {
    const parts = (names[want] ?? []).map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return [want, new RegExp(parts.join("|") || "(?!)")];
  });
  return new Map(patterns);
}

/** How many tests were left out for each want, for the end of the last line. */
export function countWants(cases: readonly TestCase[], wants: ReadonlyMap<string, RegExp>): string {
  const skipped = cases.filter(({ outcome }) => outcome === "skipped");
  const counts = [...wants].flatMap(([want, names]) => {
    const count = skipped.filter(({ name }) => names.test(name)).length;
    return count === 0 ? [] : [`${count} for want of ${want}`];
  });
  return counts.length === 0 ? "" : ` (${counts.join(", ")})`;
}
