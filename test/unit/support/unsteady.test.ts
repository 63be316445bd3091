import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { countSaved, type Unsteady } from "../../../scripts/unsteady.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const LEDGER = "test/unsteady.json";
const SCRIPT = join(import.meta.dir, "../../../scripts/unsteady.ts");
const saved = (name: string) => ({ file: "test/a.test.ts", name, outcome: "failed" }) as const;

test("a test that a second run saves is counted, since the commit at which that was first so", () => {
  const first = countSaved([], [saved("x"), saved("y")], "c0ffee");
  expect(first.map(({ name, times, since }) => [name, times, since])).toEqual([
    ["x", 1, "c0ffee"],
    ["y", 1, "c0ffee"],
  ]);
  expect(countSaved(first, [saved("y")], "beef").map(({ times, since }) => [times, since])).toEqual([
    [1, "c0ffee"],
    [2, "c0ffee"],
  ]);
});

/** A history of so many commits after the first, in which the ledger names the first; what looking at it says. */
function lookIn(commits: number, { env = {}, since = "$(git rev-parse HEAD)", clone = "" } = {}) {
  using directory = temporaryDirectory();
  const script = `git init -q . && git config user.email a@b && git config user.name a && mkdir test
git commit -q --allow-empty -m 0
printf '[{"file":"test/a.test.ts","name":"x","times":2,"since":"%s"}]' "${since}" > ${LEDGER}
git add test && git commit -q -m 1 && tree=$(git rev-parse 'HEAD^{tree}'); at=$(git rev-parse HEAD)
for n in $(seq ${commits - 1}); do at=$(git commit-tree "$tree" -p "$at" -m "$n"); done; git reset -q --soft "$at"
${clone}
bun -e 'import { lookAtUnsteady } from "${SCRIPT}"; const saved = [{ file: "test/b.test.ts", name: "z", outcome: "failed" }];
console.log(JSON.stringify(await lookAtUnsteady(saved)))'
cat ${LEDGER}`;
  const { CI: _, ...inherited } = process.env;
  const path = `${join(process.execPath, "..")}:${process.env.PATH}`;
  const { stdout, stderr } = Bun.spawnSync(["sh", "-ec", script], {
    cwd: directory.path,
    env: { ...inherited, PATH: path, ...env },
  });
  return stdout.toString() + stderr.toString();
}

test("an entry fails when more than 150 commits have followed, and every entry is printed", () => {
  const young = lookIn(150);
  expect(young).toContain("unsteady: test/a.test.ts: x (2 times in 150 commits)\n");
  expect(young).toContain("unsteady now: test/b.test.ts: z (1 times in 0 commits)\n[]\n");
  expect(young).toContain("has counted what was unsteady: commit it");
  expect(lookIn(151)).toContain('"name":"x is older than 150 commits","outcome":"failed"');
});

test("a shallow clone cannot tell the age; without its commit an entry is as old as its line", () => {
  const clone = `git clone -q --depth 1 "file://$PWD" shallow; mkdir -p shallow/test; cp ${LEDGER} shallow/test; cd shallow`;
  const shallow = lookIn(3, { clone });
  expect(shallow).toContain(
    "unsteady: test/a.test.ts: x (2 times since a commit that is not in this clone)\n",
  );
  expect(shallow).toContain("\n[]\n");
  expect(lookIn(3, { since: "c0ffee" })).toContain("unsteady: test/a.test.ts: x (2 times in 2 commits)\n");
});

test("with CI set the ledger stays as it is", () => {
  const run = lookIn(1, { env: { CI: "true" } });
  expect(run).toContain("unsteady now: test/b.test.ts: z (1 times in 0 commits)\n");
  expect(run.slice(run.lastIndexOf("]\n") + 2)).not.toContain("test/b.test.ts");
});

test("the ledger names files that are there", async () => {
  const entries: readonly Unsteady[] = await Bun.file(LEDGER).json();
  expect(entries.filter(({ file }) => !existsSync(file))).toEqual([]);
});
