import { expect, test } from "bun:test";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { readCrawlCommand } from "../../../src/cli/commands/pages/crawl.ts";
import { isWithin } from "../../../src/cli/commands/pages/crawl-report.ts";
import { testProgram } from "../../support/program.ts";

const { settings } = testProgram();

test.each([
  [[], 0, true],
  [[], 1, false],
  [["--max-failures", "1"], 2, false],
  [["--max-failures", "2"], 2, true],
  [["--max-failures", "66%"], 2, false],
  [["--max-failures", "66.7%"], 2, true],
  [["--max-failures", "0%"], 1, false],
  [["--max-failures", "100%"], 3, true],
])("%j with %d failed pages of 3 is a success: %p", (words, failed, isSuccess) => {
  const typed = parseArguments(["crawl", "https://h.example/", "--output-dir", "out", ...words]);
  const { allowance } = readCrawlCommand(typed, settings, { directory: "/", hasPerson: () => false });
  expect(isWithin(allowance, failed, 3)).toBe(isSuccess);
});
