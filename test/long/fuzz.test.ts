import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import fc from "fast-check";
import { Failure } from "../../src/base/failure.ts";
import { createExtractor } from "../../src/extraction/index.ts";
import { extractHtml } from "../../src/extraction/pool.ts";
import { DEFAULT_EXTRACTION, EXTRACTION_LIMITS } from "../../src/settings/index.ts";
import { damagePage, seededRandom } from "../support/damage-pages.ts";

const SITE = join(import.meta.dir, "../site");
const names = await Array.fromAsync(new Glob("**/*.html").scan({ cwd: SITE }));
const pages = await Promise.all(names.sort().map((name) => Bun.file(join(SITE, name)).text()));
const PIECES = [
  "<",
  ">",
  '"',
  "</div>",
  "<table>",
  "<!--",
  "<script>",
  "<svg>",
  "&#0;",
  "\ud800",
  "<pre>",
  "</p>",
];

/** Cuts, repeats and inserts at places of a page. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(2000),
  times: fc.nat(3),
  insert: fc.constantFrom(...PIECES),
});

test("a damaged page gives a result or a Failure that is no fault of ours", async () => {
  const damaged = fc.tuple(fc.constantFrom(...pages), fc.array(edit, { minLength: 1, maxLength: 20 }));
  const extractsOrFails = fc.asyncProperty(damaged, async ([page, edits]) => {
    const html = edits.reduce((text, { at, length, times, insert }) => {
      const start = Math.floor(at * text.length);
      return (
        text.slice(0, start) +
        insert +
        text.slice(start, start + length).repeat(times) +
        text.slice(start + length)
      );
    }, page);
    const work = extractHtml(html, null, { ...DEFAULT_EXTRACTION, renderings: ["content", "markdown"] });
    const failure = await work.then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) return;
    expect(failure).toBeInstanceOf(Failure);
    expect(["too_large", "too_complex"]).toContain((failure as Failure).code);
  });
  await fc.assert(extractsOrFails, { numRuns: 1500 });
}, 300_000);

const SEEDS = 1200;

test("pages damaged in the ways that networks, editors and templates know end in a worker with a result or too_large", async () => {
  await using extractor = createExtractor({
    workers: 2,
    workerUrl: join(import.meta.dir, "../../bin/extraction-worker.ts"),
    ...EXTRACTION_LIMITS,
  });
  const options = { ...DEFAULT_EXTRACTION, renderings: ["content", "markdown"] as const };
  const faults: string[] = [];
  const work = async (firstSeed: number): Promise<void> => {
    for (let seed = firstSeed; seed < SEEDS; seed += 2) {
      const { html, damages } = damagePage(pages, seededRandom(seed));
      const error: unknown = await extractor.extract({ kind: "html", body: html, url: null, options }).then(
        () => null,
        (failure: unknown) => failure,
      );
      const isExpected =
        error === null || (error instanceof Failure && ["too_large", "too_complex"].includes(error.code));
      if (!isExpected) faults.push(`seed ${seed} (${damages.join(", ")}): ${error}`);
    }
  };
  await Promise.all([work(0), work(1)]);
  expect(faults).toEqual([]);
}, 900_000);
