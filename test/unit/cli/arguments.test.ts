import { describe, expect, test } from "bun:test";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { EXTRACT_FLAGS } from "../../../src/cli/flags/pages.ts";

describe("parseArguments", () => {
  test("finds the command in the first argument only, before which options may stand", () => {
    expect(parseArguments(["licenses"]).command.name).toBe("licenses");
    expect(parseArguments(["extract", "licenses"]).positionals).toEqual(["licenses"]);
    expect(parseArguments(["--quiet", "-h", "licenses"]).command.name).toBe("licenses");
    expect(parseArguments(["--output-dir", "crawl", "crawl"]).one("output-dir")).toBe("crawl");
    expect(parseArguments(["--", "licenses"])).toMatchObject({
      command: { name: "extract" },
      positionals: ["licenses"],
    });
  });

  const REFUSED: readonly (readonly [words: readonly string[], message: string])[] = [
    [["-qZ"], "unknown option -Z"],
    [["-output", "json"], "unknown option -output; did you mean --output?"],
    [["-help"], "unknown option -help; did you mean --help?"],
    [["-output=json"], "unknown option -output; did you mean --output?"],
    [["-quiet"], "unknown option -quiet; did you mean --quiet?"],
    [["-oa", "-Z=secret"], "unknown option -Z"],
    [["--quiet=yes"], "--quiet takes no value"],
    [["--save-images=pictures", "a"], "--save-images takes no value"],
    [["--select", "--", "a"], "--select needs a value: --select CSS"],
    [["-q=1"], "-q takes no value"],
    [["-qo"], "--output-file needs a value: --output-file FILE"],
    [["--quiet", "crwal"], 'unknown command "crwal"; did you mean crawl?'],
    [["--format", "text", "https://example.org/"], "unknown option --format; did you mean --output FORMAT?"],
    [["--file", "page.html", "--format", "text"], "unknown option --format; did you mean --output FORMAT?"],
    [["--select", "--quiet"], "--select needs a value: --select CSS"],
    [["-o"], "--output-file needs a value: --output-file FILE"],
    [["--__proto__", "x"], "unknown option --__proto__"],
    [["--constructor", "x"], "unknown option --constructor"],
  ];
  for (const [words, message] of REFUSED) {
    test(`refuses ${words.join(" ")}`, () => {
      expect(() => parseArguments(words)).toThrow(new Error(message));
    });
  }
});

describe("the flag table", () => {
  test("names every option once in a command, and every letter once", () => {
    for (const { flags } of COMMANDS) {
      const spellings = flags.flatMap(({ name, short }) => [name, ...(short ? [short] : [])]);
      expect(new Set(spellings).size).toBe(spellings.length);
    }
  });

  test("keeps help texts to one sentence without a full stop", () => {
    for (const { help } of EXTRACT_FLAGS) expect(help).toMatch(/^\S.*[^.\s]$/);
  });
});
