import { expect, test } from "bun:test";
import { faultOf, mutated } from "../support/fuzz.ts";
import { FUZZED_PARSERS } from "../support/fuzzed-parsers.ts";

/** An hour in all. */
const MS_EACH = 3_600_000 / Object.keys(FUZZED_PARSERS).length;

// A find is kept with `mutated(parser, seed)` in test/fixtures/finds, where `make test` tries it on every parser.
for (const [name, parser] of Object.entries(FUZZED_PARSERS))
  test(
    `${name}: texts of seeds that no run has had give a result or a Failure`,
    async () => {
      const faults: string[] = [];
      const first = Date.now() % 1_000_000_000;
      const end = performance.now() + MS_EACH;
      for (let seed = first; performance.now() < end && faults.length < 10; seed++) {
        const fault = await faultOf(parser, mutated(parser, seed));
        if (fault) faults.push(`seed ${seed}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
    2 * MS_EACH,
  );
