import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../../src/base/silent-log.ts";
import { changeDeployment } from "../../../src/cli/commands/tenants/change-file.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { testProgram } from "../../support/program.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const { path: root } = forAllTests(temporaryDirectory());
const options = {
  program: testProgram({ DOCS_SEARCH_STATE_DIR: join(root, "state") }),
  log: silentLog,
  signal: new AbortController().signal,
};

test("what an editor saves while a file is changed is changed instead", async () => {
  const path = join(root, "deployment.json");
  writeFileSync(path, "old");
  let saves = 2;
  await changeDeployment(path, options, (text) => {
    if (saves-- > 0) writeFileSync(path, `${text}, saved`);
    return `${text}, changed`;
  });
  expect(readFileSync(path, "utf8")).toBe("old, saved, saved, changed");
  expect(readdirSync(root).sort()).toEqual(["deployment.json", "state"]);
});

test("an editor that saves without end makes it fail, and the last save stays", async () => {
  const path = join(root, "busy.json");
  writeFileSync(path, "old");
  let saves = 0;
  const change = changeDeployment(path, options, (text) => {
    saves++;
    writeFileSync(path, `saved ${saves}`);
    return `${text}, changed`;
  });
  await expect(change).rejects.toThrow("busy.json is saved by another program again and again");
  expect(readFileSync(path, "utf8")).toBe(`saved ${saves}`);
});

test("what the change throws leaves the file, and the next change is not kept waiting", async () => {
  const path = join(root, "kept.json");
  writeFileSync(path, "old");
  const refuse = (): string => {
    throw new Error("no");
  };
  await expect(changeDeployment(path, options, refuse)).rejects.toThrow("no");
  expect(readFileSync(path, "utf8")).toBe("old");
  await changeDeployment(path, options, (text) => `${text}, changed`);
  expect(readFileSync(path, "utf8")).toBe("old, changed");
});
