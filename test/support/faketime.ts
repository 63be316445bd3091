import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

/** Debian's place of the library that shows programs another time; see scripts/ensure.sh. */
const LIBRARY = [...new Glob("/usr/lib/*/faketime/libfaketimeMT.so.1").scanSync()][0];

/** A clock that a test sets while programs run by it, as somebody sets that of a machine. */
export type SettableClock = ReturnType<typeof settableClock>;

/** @param directory a directory of the test's own */
export function settableClock(directory: string) {
  if (LIBRARY === undefined) throw new Error("faketime is missing: run sh scripts/ensure.sh slow");
  const file = join(directory, "faketime");
  const set = (offset: string): void => writeFileSync(file, `${offset}\n`);
  set("+0s");
  return {
    /** Sets the clock this far from the true time: `-1h`, `+3d`. */
    set,
    /** The environment of a program that runs by it; what counts steadily (CLOCK_MONOTONIC) stays true. */
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
  };
}
