import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runBinary, runShell } from "../support/binary.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Runs a command with a terminal on all three streams; what it writes to either comes on stdout. */
async function onTerminal(
  command: string,
  {
    columns = 80,
    env = {},
  }: { readonly columns?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  using directory = temporaryDirectory();
  await writeFile(join(directory.path, "run.sh"), `stty cols ${columns} rows 24\n${command}\n`);
  const run = await runShell("script -qec 'sh run.sh' /dev/null < /dev/null", {
    cwd: directory.path,
    env: { TERM: "xterm", ...env },
  });
  return run.stdout.replaceAll("\r\n", "\n");
}

describe.skipIf(Bun.which("script") === null)("on a terminal (needs script, of util-linux)", () => {
  const isUncolored = (text: string): boolean => !text.includes("\u001b");

  test.each([120, 80, 40, 20])("no argument at all prints one screen at %d columns", async (columns) => {
    const screen = await onTerminal("article-extractor; echo code=$?", { columns, env: { NO_COLOR: "1" } });
    expect(screen).toStartWith("Usage: article-extractor URL [options]\n");
    expect(screen.replaceAll(/\s+/g, " ")).toEndWith("or article-extractor COMMAND --help code=0 ");
    const rows = screen.split("\n").map((line) => Math.max(1, Math.ceil(line.length / columns)));
    expect(rows.reduce((sum, row) => sum + row, 0)).toBeLessThanOrEqual(24);
  });

  test("the help keeps to 40 columns, save for the examples' commands and long option names", async () => {
    const help = await onTerminal("article-extractor --help", { columns: 40, env: { NO_COLOR: "1" } });
    const long = help.split("\n").filter((line) => line.length > 40);
    for (const line of long) expect(line).toMatch(/^(?: {2}.*article-extractor .*|Usage: .*)$/);
    expect(help).toContain(
      "\n      --random-user-agent\n      Send a current desktop browser's\n      user agent\n",
    );
  });

  test("the help is at most 100 columns wide, and usable where the width is not known", async () => {
    const lines = (await onTerminal("article-extractor --help", { columns: 300 })).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110); // colours included
    const unknown = await onTerminal("article-extractor --help", { columns: 0, env: { NO_COLOR: "1" } });
    expect(unknown).toBe((await runBinary(["--help"])).stdout);
  });

  test("errors and headings are coloured", async () => {
    expect(await onTerminal("article-extractor --file missing")).toStartWith(
      "\u001b[31merror:\u001b[0m missing",
    );
    expect(await onTerminal("article-extractor --help")).toStartWith("\u001b[1mUsage:\u001b[0m");
  });

  test("nothing is coloured with NO_COLOR, --no-color or a dumb terminal", async () => {
    const command = "article-extractor --file missing; article-extractor --help";
    expect(isUncolored(await onTerminal(command, { env: { NO_COLOR: "1" } }))).toBeTrue();
    expect(isUncolored(await onTerminal(command, { env: { TERM: "dumb" } }))).toBeTrue();
    expect(isUncolored(await onTerminal(command.replaceAll(/(missing|help)/g, "$1 --no-color")))).toBeTrue();
    // An empty one counts as not set (no-color.org).
    expect(isUncolored(await onTerminal(command, { env: { NO_COLOR: "" } }))).toBeFalse();
  });

  test("a stream that is no terminal is not coloured, though the other one is", async () => {
    const help = await onTerminal(
      "article-extractor --help | cat; article-extractor --file missing 2>&1 | cat",
    );
    expect(isUncolored(help)).toBeTrue();
  });

  test("reading the page from the keyboard is announced, until the end of input", async () => {
    const text = await onTerminal("article-extractor - --output text; echo code=$?", {
      env: { NO_COLOR: "1" },
    });
    expect(text).toContain("warning: reading the page from the terminal");
    expect(text).toContain("error: standard input is empty\ncode=1\n");
  });

  test("the configuration of an MCP client names the skill, on stderr", async () => {
    const command = "article-extractor mcp --print-config codex";
    expect(await onTerminal(command)).toContain('"article-extractor skill" prints a skill for agents');
    expect(await onTerminal(`${command} 2>/dev/null`)).not.toContain("skill");
  });
});
