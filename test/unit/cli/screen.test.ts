import { describe, expect, test } from "bun:test";
import type { Io } from "../../../src/cli/index.ts";
import { openScreen } from "../../../src/cli/terminal/screen.ts";

/** A stderr that keeps what is written, as a terminal shows it: lines, the last one being open. */
function openTerminal() {
  let written = "";
  const stderr = {
    isTerminal: true,
    columns: 40,
    identity: null,
    write: (text: string) => {
      written += text;
    },
  };
  const lines = (): string[] =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence is what a terminal acts on
    written.split("\n").map((line) => line.replace(/^[\s\S]*\r\u001b\[K/, ""));
  // The screen uses only the stderr of an `Io`.
  return { io: { stderr } as unknown as Io, lines, written: () => written };
}

describe("the screen", () => {
  test("writes its line anew, below whatever else is written", () => {
    const terminal = openTerminal();
    const screen = openScreen(terminal.io, { isLive: true });
    screen.show("1/10");
    screen.show("2/10");
    screen.io.stderr.write("warning: something\n");
    expect(terminal.lines()).toEqual(["warning: something", "2/10"]);
    screen[Symbol.dispose]();
    expect(terminal.lines()).toEqual(["warning: something", ""]);
  });

  test("does not write a line that is there already", () => {
    const terminal = openTerminal();
    const screen = openScreen(terminal.io, { isLive: true });
    screen.show("1/10");
    const before = terminal.written();
    screen.show("1/10");
    expect(terminal.written()).toBe(before);
  });

  test("leaves the last column free", () => {
    expect(openScreen(openTerminal().io, { isLive: true }).columns).toBe(39);
  });

  test("shows nothing, and erases nothing, where it is not live", () => {
    const terminal = openTerminal();
    const screen = openScreen(terminal.io, { isLive: false });
    screen.show("1/10");
    screen.io.stderr.write("warning: something\n");
    screen[Symbol.dispose]();
    expect(terminal.written()).toBe("warning: something\n");
  });
});
