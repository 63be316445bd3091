import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { EXTRACT_FLAGS } from "../../../src/cli/flags/pages.ts";

describe("parseArguments", () => {
  test("takes values as they were typed, numbers and a lone - included", () => {
    const typed = parseArguments(["--file", "007", "--select", "-", "--url=1e3"]);
    expect([typed.one("file"), typed.one("select"), typed.one("url")]).toEqual(["007", "-", "1e3"]);
  });

  test("takes any text as a value, whatever it looks like", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(parseArguments([`--select=${value}`]).one("select")).toBe(value);
      }),
    );
  });

  test("takes any word after -- as an argument", () => {
    expect(parseArguments(["--", "--help", "-"]).positionals).toEqual(["--help", "-"]);
    expect(parseArguments(["--", "--help"]).has("help")).toBeFalse();
  });

  test("gives the values of a repeatable option in their order, and the last one of another", () => {
    const typed = parseArguments(["--exclude", "nav", "--exclude=footer", "--select", "a", "--select", "b"]);
    expect(typed.many("exclude")).toEqual(["nav", "footer"]);
    expect(typed.one("select")).toBe("b");
  });

  test("reads short options: alone, with a value attached or after them, bundled", () => {
    expect(parseArguments(["-o", "a"]).one("output-file")).toBe("a");
    expect(parseArguments(["-oqv"]).one("output-file")).toBe("qv");
    expect(parseArguments(["-o=a"]).one("output-file")).toBe("a");
    const bundled = parseArguments(["-qv"]);
    expect([bundled.has("quiet"), bundled.has("verbose"), bundled.has("version")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("leaves switches off that were not typed", () => {
    const typed = parseArguments([]);
    for (const { name } of EXTRACT_FLAGS) expect([name, typed.has(name)]).toEqual([name, false]);
  });

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

  test("lets the last one of --follow-links and --no-follow-links count", () => {
    for (const words of [
      ["--no-follow-links", "--follow-links"],
      ["--follow-links", "--no-follow-links"],
    ]) {
      const typed = parseArguments(["crawl", ...words]);
      const last = words.at(-1)?.slice(2) ?? "";
      expect(["follow-links", "no-follow-links"].filter(typed.has)).toEqual([last]);
    }
  });

  const REFUSED: readonly (readonly [words: readonly string[], message: string])[] = [
    [["--ouput", "json"], "unknown option --ouput; did you mean --output?"],
    [["--banana"], "unknown option --banana"],
    [["-x"], "unknown option -x"],
    [["-qx"], "unknown option -x"],
    [["-output", "json"], "unknown option -output; did you mean --output?"],
    [["-help"], "unknown option -help; did you mean --help?"],
    [["-output=json"], "unknown option -output; did you mean --output?"],
    [["-quiet"], "unknown option -quiet; did you mean --quiet?"],
    [["-oa", "-x=secret"], "unknown option -x"],
    [["--quiet=yes"], "--quiet takes no value"],
    [["--select"], "--select needs a value: --select CSS"],
    [["--select", "--", "a"], "--select needs a value: --select CSS"],
    [["-q=1"], "-q takes no value"],
    [["-qo"], "--output-file needs a value: --output-file FILE"],
    [["--quiet", "crwal"], 'unknown command "crwal"; did you mean crawl?'],
    [["--select", "--quiet"], "--select needs a value: --select CSS"],
    [["-o"], "--output-file needs a value: --output-file FILE"],
    [["licenses", "--select", "a"], "unknown option --select; it belongs to the command extract"],
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
