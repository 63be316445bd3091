import { expect, test } from "bun:test";
import { runBinary } from "../support/binary.ts";
import { OTHER_NAMES, saidTo, wordsOf } from "../support/other-names.ts";

/** So many are typed at once. */
const AT_ONCE = 4;

test("each option of another program is answered by the built program with what it is here", async () => {
  expect(OTHER_NAMES.length).toBeGreaterThan(500);
  const waiting = OTHER_NAMES.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const other of waiting)
        expect([wordsOf(other), await runBinary([...wordsOf(other)])]).toEqual([
          wordsOf(other),
          { exitCode: 2, stdout: "", stderr: `error: ${saidTo(other)}\n` },
        ]);
    }),
  );
}, 300_000);
