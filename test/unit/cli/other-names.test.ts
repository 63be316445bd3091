import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { OTHER_OPTIONS, sameWord } from "../../../src/base/other-names.ts";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { COMMAND_NAMES, COMMANDS } from "../../../src/cli/commands.ts";
import { hasOption, OTHER_NAMES, saidTo, wordsOf } from "../../support/other-names.ts";

const settings = await Bun.file(join(import.meta.dir, "../../../src/settings/environment.ts")).text();
const schema = await Bun.file(join(import.meta.dir, "../../../src/settings/deployment/schema.ts")).text();

describe("an option of another program", () => {
  test.each(OTHER_NAMES)("$command.name $typed is answered", (other) => {
    expect(() => parseArguments(wordsOf(other))).toThrow(saidTo(other));
  });

  test("is known by its name with underlines and in capitals, and with its value", () => {
    for (const typed of ["--max_urls", "--MAX-URLS", "--max-urls=3"])
      expect(() => parseArguments(["crawl", typed])).toThrow("did you mean --max-pages N?");
  });

  test.each([
    ["extract", "--markdown", "--output markdown"],
    ["crawl", "--precision", "--favor precision"],
    ["crawl", "--readability", "--engine readability"],
    ["index", "--code-friendly", "--profile code-friendly"],
    ["mcp", "--cursor", "--print-config cursor"],
    ["keys", "--extractor", "--service extractor"],
  ])("of %s that is a value here is answered with its option: %s", (command, typed, meant) => {
    expect(() => parseArguments([command, typed])).toThrow(`unknown option ${typed}; did you mean ${meant}?`);
  });

  test("stands in one line only of those of a command", () => {
    for (const [command, rows] of Object.entries(OTHER_OPTIONS)) {
      if (command === "every") continue;
      const names = Object.values(rows).flatMap((line) => line.split(" "));
      expect([command, names.filter((name, at) => names.indexOf(name) !== at)]).toEqual([command, []]);
    }
  });
});

describe("the answer", () => {
  test("that is an option is one of the command, with a value that it takes", () => {
    for (const { command, answer } of OTHER_NAMES) {
      if (!answer.startsWith("-")) continue;
      const [option = "", ...value] = answer.split(" ");
      const words = [command.name, option, ...(value.length > 0 ? [value.join(" ")] : [])];
      expect(() => parseArguments(words)).not.toThrow();
    }
  });

  test("for every command is an option of one with this placeholder or value", () => {
    for (const answer of Object.keys(OTHER_OPTIONS.every ?? {}))
      expect([answer, COMMANDS.some((command) => hasOption(command, answer))]).toEqual([answer, true]);
  });

  test("that is a sentence names options of the command, or of the command that it names before", () => {
    for (const { command, answer } of OTHER_NAMES) {
      const named = COMMANDS.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(answer));
      const flags = [command, ...named].flatMap((one) => one.flags);
      for (const [, option] of answer.matchAll(/--([\w-]+)/g))
        expect([answer, flags.map(({ name }) => name)]).toEqual([answer, expect.arrayContaining([option!])]);
      for (const [variable] of answer.matchAll(/\b(?:DOCS_SEARCH|ARTICLE_EXTRACTOR)_\w+/g))
        expect(settings).toContain(`"${variable}"`);
      for (const [field] of answer.matchAll(/\b(?:url|git)_\w+/g)) expect(schema).toContain(`${field}:`);
    }
  });
});

describe("a word that means the same", () => {
  test.each([
    ["scrape", COMMAND_NAMES, "extract"],
    ["spider", COMMAND_NAMES, "crawl"],
    ["rm", ["add", "list", "remove"], "remove"],
    ["query", ["q", "size"], "q"],
    ["limit", ["q", "size"], "size"],
    ["size", ["limit", "status"], "limit"],
    ["author", ["byline", "title"], "byline"],
    ["code", ["claude-code", "vscode"], "vscode"],
    ["size", ["size", "limit"], null],
    ["nothing", COMMAND_NAMES, null],
  ] as const)("%s of %j is %p", (word, candidates, meant) => {
    expect(sameWord(word, candidates)).toBe(meant);
  });
});
