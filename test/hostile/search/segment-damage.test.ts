import { describe, expect, test } from "bun:test";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../src/base/failure.ts";
import { Segment } from "../../../src/search/segment/segment.ts";
import { readMuch } from "../../support/search/damaged-segment.ts";
import { manyDocuments, openFixture } from "../../support/search/segment-fixture.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

/**
 * Expects the answer of the intact file, or a `Failure` that reports the damage.
 * @returns whether the damage was noticed
 */
function expectHonest(path: string, turn: number, right: unknown): boolean {
  let segment: Segment | null = null;
  try {
    segment = Segment.open(path);
    expect(readMuch(segment, turn)).toEqual(right);
    return false;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.code).toBe("index_corrupt");
    return true;
  } finally {
    segment?.[Symbol.dispose]();
  }
}

const SEEDS = { flips: 7, cuts: 8 };

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("a damaged file", () => {
  test("with a flipped bit never gives another answer, 1000 times", async () => {
    await using fixture = await openFixture(manyDocuments(400));
    using directory = temporaryDirectory();
    const whole = await Bun.file(fixture.path).bytes();
    const path = join(directory.path, "flipped");
    const random = createRandom(SEEDS.flips);
    let noticed = 0;
    for (let turn = 0; turn < 1000; turn++) {
      const bytes = whole.slice();
      // A tenth of the damage hits the table of contents at the start of the file.
      const at = turn % 10 === 0 ? random(512) : random(bytes.length);
      bytes[at]! ^= 1 << random(8);
      writeFileSync(path, bytes);
      if (expectHonest(path, turn, readMuch(fixture.segment, turn))) noticed++;
    }
    expect(noticed).toBeGreaterThan(200);
  });

  test("that was truncated or extended is refused", async () => {
    await using fixture = await openFixture(manyDocuments(100));
    using directory = temporaryDirectory();
    const whole = await Bun.file(fixture.path).bytes();
    const path = join(directory.path, "cut");
    const random = createRandom(SEEDS.cuts);
    for (let turn = 0; turn < 200; turn++) {
      const length = turn < 5 ? turn : random(whole.length);
      writeFileSync(path, whole.subarray(0, length));
      expect(expectHonest(path, turn, null)).toBe(true);
    }
    writeFileSync(path, Buffer.concat([whole, new Uint8Array(5)]));
    expect(expectHonest(path, 0, null)).toBe(true);
  });

  test("that is truncated while it is open is noticed before it is read", async () => {
    await using fixture = await openFixture(manyDocuments(100));
    truncateSync(fixture.path, 5000);
    expect(() => readMuch(fixture.segment, 0)).toThrow("damaged (cut from");
  });
});

describe("opening", () => {
  test("says that there is no index", () => {
    expect(openFailure("/nonexistent/index")).toMatchObject({ code: "index_missing" });
  });

  test("refuses a file that is no index", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "text");
    writeFileSync(path, "# No index\n".repeat(1000));
    expect(openFailure(path)).toMatchObject({ code: "index_corrupt" });
    writeFileSync(path, "");
    expect(openFailure(path)).toMatchObject({ code: "index_corrupt" });
    expect(openFailure(directory.path)).toMatchObject({ code: "unreadable_input" });
  });

  test("refuses another version's format, and says so", async () => {
    await using fixture = await openFixture(manyDocuments(3));
    const bytes = await Bun.file(fixture.path).bytes();
    const view = new DataView(bytes.buffer);
    view.setUint32(8, 99, true);
    view.setUint32(4092, Bun.hash.crc32(bytes.subarray(0, 4092)), true);
    writeFileSync(`${fixture.path}.other`, bytes);
    expect(openFailure(`${fixture.path}.other`)).toMatchObject({
      code: "index_outdated",
      message: expect.stringContaining("format 99"),
    });
  });
});

function openFailure(path: string): unknown {
  try {
    return Segment.open(path);
  } catch (error) {
    return error;
  }
}
