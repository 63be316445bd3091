// biome-ignore-all lint/suspicious/noTemplateCurlyInString: strings here are source text
import { describe, expect, test } from "bun:test";
import { scanSource } from "./architecture-scan.ts";

describe("the scanner", () => {
  const specifiersOf = (...lines: string[]): (string | null)[] =>
    scanSource({ path: "src/x.ts", text: lines.join("\n") }).references.map(({ specifier }) => specifier);

  test.each([
    ['import a from "m";', "m"],
    ["import a, { b as c } from 'm'", "m"],
    ['import * as a from "m" with { type: "text" };', "m"],
    ['import type A from "m";', "m"],
    ['import { type A, b } from "m";', "m"],
    ['export * as a from "m";', "m"],
    ['export type { A } from "m";', "m"],
    ['import "m";', "m"],
    ['import/* why */"m";', "m"],
    ['import {\n  a, // "x"\n  b,\n} from\n  "m";', "m"],
    ['const a = await import("m");', "m"],
    ["const a = await import(/* why */ `m`);", "m"],
    ['type A = import("m").B;', "m"],
    ['const a = require("m"), b = 1;', "m"],
    ['const a = require.resolve("m");', "m"],
    ['const a = new URL("./m.ts", import.meta.url);', "./m.ts"],
    ["const a = import(m);", null],
  ])("finds the module in %j", (line, specifier) => {
    expect(specifiersOf(line)).toEqual([specifier]);
  });

  test.each([
    ['// import "m"'],
    ['/* import a from "m"; */'],
    ["const a = \"import('m')\";"],
    ["const a = 'it\\'s import \"m\"';"],
    ['const a = `import "m"`;'],
    ['const a = /["/]import "m"/;'],
    ['if (/`/.test(a)) b = / import "m"/;'],
    ['const a = new URL("./m.ts", base);'],
    ["export const from = 1;"],
    ['export { a }; const from = "m";'],
    ["const a = import.meta.url;"],
  ])("finds none in %j", (line) => {
    expect(specifiersOf(line)).toEqual([]);
  });

  test("finds the import after whatever precedes it", () => {
    for (const before of [
      "a = b / c; // '",
      "a = `${`}` + '`'}`;",
      "a = [/[/'\"]/g];",
      "a = 1 / 2 / 3;",
      "}",
      "'\\\\';",
    ]) {
      expect(specifiersOf(before, 'import a from "m";')).toEqual(["m"]);
    }
    expect(specifiersOf("export { a }", 'import { b } from "m"', 'export { c } from "n"')).toEqual([
      "m",
      "n",
    ]);
  });

  test("sees code within templates, and the template go on behind it", () => {
    expect(specifiersOf('a = `import "x" ${b({ c: `${import("m")}` })} import "y"`;')).toEqual(["m"]);
  });
});
