import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { documentedBlocks, documentedPages } from "../support/documented.ts";
import { SAMPLE_PORTS } from "../support/sample-site.ts";
import { fileOf, isTyped, Typist, typedText } from "../support/typed-examples.ts";

const ROOT = join(import.meta.dir, "../..");

/** Hosts that are nobody's, or that not every reader reaches. */
const FOREIGN_ADDRESS = /https?:\/\/(?!localhost[:/]|127\.0\.0\.1[:/])[^\s'"`]+/g;
const SAMPLE_SITE = new RegExp(`localhost:(?:${Object.values(SAMPLE_PORTS).join("|")})`);
const SAYS_HOW_TO_SERVE_IT = /make sample-site|start\.md#a-site-to-try-it-on/;

const typist = await Typist.open();
const pages = await Promise.all(
  (await documentedPages()).map(async (page) => ({ page, blocks: await documentedBlocks(page) })),
);

/** The examples that cannot run in this test, and are run by no other: there are no more of them than these. */
const NOT_RUN_ANYWHERE = 9;

test("commands that do not run here name the test that runs them, or one of few reasons", () => {
  const reasons = pages.flatMap(({ page, blocks }) =>
    blocks.flatMap(({ whyNotRun }) => (whyNotRun === null ? [] : [`${page}: ${whyNotRun}`])),
  );
  const elsewhere = reasons.filter((why) => /: (?:test\/|make test)/.test(why));
  const missing = elsewhere.filter((why) => {
    const path = /: (test\/[\w./-]+)/.exec(why)?.[1]?.replace(/\.$/, "");
    return path !== undefined && !existsSync(join(ROOT, path));
  });
  expect(missing).toEqual([]);
  const others = reasons.filter((why) => !elsewhere.includes(why));
  expect(others.length > NOT_RUN_ANYWHERE ? others : []).toEqual([]);
});

test("examples ask only for what every reader has: the sample site, and where it comes from stands above them", () => {
  const faults = pages.flatMap(({ page, blocks }) =>
    blocks.flatMap((block) => {
      if (!isTyped(block) && fileOf(block) === null) return [];
      const typed = typedText(block);
      const foreign = typed.match(FOREIGN_ADDRESS) ?? [];
      const isUnexplained = SAMPLE_SITE.test(typed) && !SAYS_HOW_TO_SERVE_IT.test(block.above);
      return [
        ...foreign.map((address) => `${page} asks ${address}`),
        ...(isUnexplained ? [`${page} does not say how to serve the sample site`] : []),
      ];
    }),
  );
  expect(faults).toEqual([]);
});

/** The commands in the tables of a page, but for those in the first column, which names what somebody comes from. */
async function tabledCommands(page: string): Promise<readonly string[]> {
  const rows = (await Bun.file(join(ROOT, page)).text()).match(/^\|.*\|$/gm) ?? [];
  const commands = rows.flatMap((row) => {
    const others = row.replace(/^\|(?:\\\||[^|])*\|/, "");
    return others.match(/(?<=`)article-extractor [^`]*--[^`]*(?=`)/g) ?? [];
  });
  return [...new Set(commands)];
}

// The blocks of a page are typed in their order; a page's tables come after them. test/end-to-end has README's.
for (const { page, blocks } of pages) if (page !== "README.md") typist.describeExamples(page, blocks);

describe("the commands in the tables of docs/migration.md", async () => {
  const terminal = typist.openTerminal("docs/migration.md tables");
  const commands = await tabledCommands("docs/migration.md");
  const prepared = (await documentedBlocks("docs/migration.md")).filter(isTyped).map(typedText).join("\n");
  test("are there", () => expect(commands.length).toBeGreaterThan(20));
  test("need only what the page makes above them", async () => {
    const { output, exitCode } = await typist.type(terminal, `set -e\n${prepared}`);
    expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
    expect(commands.flatMap((command) => command.match(FOREIGN_ADDRESS) ?? [])).toEqual([]);
  });
  test.each(commands)("%s succeeds", async (command) => {
    const { output, exitCode } = await typist.type(terminal, command);
    expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
  });
});
