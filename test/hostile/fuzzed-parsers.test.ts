import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { faultOf, mutated } from "../support/fuzz.ts";
import { FUZZED_PARSERS } from "../support/fuzzed-parsers.ts";

// Texts that were once too much for some parser; test/long/fuzzed-parsers.test.ts looks for more.
const FINDS = join(import.meta.dir, "../fixtures/finds");
const finds = await Promise.all(
  [...new Glob("*").scanSync({ cwd: FINDS })].sort().map((name) => Bun.file(join(FINDS, name)).bytes()),
);
const TEXTS = 300;

describe("a parser of foreign bytes gives a result or a Failure, and soon:", () => {
  for (const [name, parser] of Object.entries(FUZZED_PARSERS))
    test(name, async () => {
      const faults: string[] = [];
      for (const [number, bytes] of finds.entries()) {
        const fault = await faultOf(parser, bytes);
        if (fault) faults.push(`find ${number}: ${fault}`);
      }
      for (let seed = 0; seed < TEXTS; seed++) {
        const fault = await faultOf(parser, mutated(parser, seed));
        if (fault) faults.push(`seed ${seed}: ${fault}`);
      }
      expect(faults).toEqual([]);
    });
});
