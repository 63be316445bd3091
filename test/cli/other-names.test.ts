import { expect, test } from "bun:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runBinary } from "../support/binary.ts";
import { OTHER_NAMES, saidTo, wordsOf } from "../support/other-names.ts";

/** The unit tests type all of them; here two of each command show that the built program answers with the same. */
const SOME = COMMANDS.flatMap(({ name }) => {
  const ofCommand = OTHER_NAMES.filter(({ command }) => command.name === name);
  return ofCommand.length < 3 ? ofCommand : [ofCommand[0]!, ofCommand.at(-1)!];
});

test("options of other programs are answered by the built program with what they are here", async () => {
  expect(SOME.length).toBeGreaterThan(20);
  for (const other of SOME)
    expect([wordsOf(other), await runBinary([...wordsOf(other)])]).toEqual([
      wordsOf(other),
      { exitCode: 2, stdout: "", stderr: `error: ${saidTo(other)}\n` },
    ]);
});
