import { describe, expect, test } from "bun:test";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { formatHelp, formatOverview } from "../../../src/cli/help.ts";
import { formatManual } from "../../../src/cli/manual.ts";
import { createPaint } from "../../../src/cli/terminal/notices.ts";
import { VARIABLES } from "../../../src/settings/index.ts";
import { outputOf } from "../../support/local.ts";

const plain = createPaint(false);
const WIDTHS = [10, 20, 24, 33, 40, 52, 60, 72, 79, 80, 81, 100];

/** Rows on a terminal that breaks long lines. */
const rowsOf = (text: string, width: number): number =>
  text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / width)), 0);

describe("the overview", () => {
  test.each(WIDTHS)("leaves room for the prompt on a screen of 24 lines and %d columns", (width) => {
    const text = formatOverview({ width, paint: plain });
    expect(rowsOf(text, width)).toBeLessThanOrEqual(24);
    expect(text.replaceAll(/\s+/g, " ")).toContain("article-extractor COMMAND --help");
  });

  test("names every command from 33 columns on, and says what is in colour", () => {
    for (const width of WIDTHS.filter((columns) => columns >= 33)) {
      const text = formatOverview({ width, paint: plain });
      for (const { name } of COMMANDS)
        expect([width, text]).toEqual([width, expect.stringMatching(new RegExp(`\\b${name}\\b`))]);
      const coloured = formatOverview({ width, paint: createPaint(true) });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what colours are
      expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(text);
    }
  });

  test("says what the commands are for where there is room", () => {
    const text = formatOverview({ width: 80, paint: plain });
    for (const { brief } of COMMANDS) expect(text).toContain(brief ?? "");
    expect(rowsOf(text, 80)).toBe(text.split("\n").length);
  });
});

describe("the help", () => {
  test.each(COMMANDS.map(({ name }) => name))("of %s has something below each heading", (name) => {
    const command = COMMANDS.find((one) => one.name === name) ?? COMMANDS[0];
    if (!command) throw new Error("no commands");
    for (const width of WIDTHS) {
      const sections = formatHelp(command, { width, paint: plain }).trimEnd().split("\n\n").slice(1);
      expect(sections.length).toBeGreaterThan(1);
      for (const section of sections) expect(section).toMatch(/^[A-Z][a-z]+:\n {2}\s*\S/);
    }
  });
});

const manual = formatManual();

describe("the manual", () => {
  test("has every command, option, example and variable", () => {
    const text = manual.replaceAll("\\-", "-");
    for (const { name, flags } of COMMANDS) {
      const section = text.split(`.SS ${name}\n`)[1]?.split(/^\.S[HS]/m)[0] ?? "";
      const rest = text.split(".SH GENERAL OPTIONS\n")[1] ?? "";
      for (const flag of flags) {
        const where = flag.group === "General" ? rest : section;
        expect([name, flag.name, where]).toEqual([
          name,
          flag.name,
          expect.stringContaining(`--${flag.name}`),
        ]);
      }
      expect([name, section]).toEqual([name, expect.stringContaining("\\fBarticle-extractor ")]);
    }
    for (const { variable } of Object.values(VARIABLES)) expect(text).toContain(`\\fB${variable}\\fR`);
  });

  test("has no line that could be taken for a request by mistake", () => {
    for (const line of manual.trimEnd().split("\n")) {
      expect(line).toMatch(/^[\x20-\x7e]+$/);
      if (/^[.']/.test(line)) expect(line).toMatch(/^\.(?:TH .*|S[HS] .*|TP|PP|br)$/);
    }
  });

  test.skipIf(Bun.which("mandoc") === null)("is flawless for mandoc (needs mandoc)", async () => {
    const { stdout } = await format(["mandoc", "-Tlint", "-Wwarning"]);
    // Without a date, the same source gives the same page.
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([]);
  });

  test.skipIf(Bun.which("groff") === null)("is shown letter for letter by groff (needs groff)", async () => {
    const { stdout, stderr } = await format(["groff", "-man", "-ww", "-Tascii", "-rLL=200n"]);
    expect(stderr).toBe("");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: groff prints a bold letter twice, or in colour
    const text = stdout.replaceAll(/.\u0008|\u001b\[\d*m/g, "");
    expect(text).toContain('--header "NAME: VALUE" ...\n');
    expect(text).toContain("search --dir docs '\"access token\" expired' --size 3\n");
    expect(text).toContain("~/.local/share/man/man1/article-extractor.1\n");
  });
});

async function format(command: readonly string[]) {
  const child = Bun.spawn([...command], { stdin: new Blob([manual]), stdout: "pipe", stderr: "pipe" });
  const { stdout, stderr } = await outputOf(child);
  return { stdout, stderr };
}
