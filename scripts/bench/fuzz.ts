/**
 * Damages real pages and extracts them in a worker, as `make test-all` does with the repository's own pages.
 *
 *   sh scripts/bun scripts/bench/fuzz.ts --pages DIR [--count N] [--seed N] [--save DIR]
 *
 * DIR contains `html/*.html`. Each page has to give a result or the Failure `too_large` within the limit of the
 * worker; anything else is printed with its seed, kept in --save, and makes the run exit 1.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { Failure } from "../../src/base/failure.ts";
import { createExtractor } from "../../src/extraction/index.ts";
import { RENDERINGS } from "../../src/extraction/types.ts";
import { DEFAULT_EXTRACTION, EXTRACTION_LIMITS } from "../../src/settings/index.ts";
import { damagePage, seededRandom } from "./damage-pages.ts";
import { parseCount } from "./options.ts";

/** How many pages may be combined with each other. */
const PAGES_AT_ONCE = 40;

const { values } = parseArgs({
  options: {
    pages: { type: "string" },
    count: { type: "string" },
    seed: { type: "string" },
    save: { type: "string" },
  },
});
if (!values.pages) throw new Error("--pages DIR is needed");
const directory = join(resolve(values.pages), "html");
const names = (await Array.fromAsync(new Glob("*.html").scan({ cwd: directory }))).sort();
const count = parseCount("--count", values.count) ?? 1000;
const firstSeed = Number(values.seed ?? 1);
await using extractor = createExtractor({
  workers: 1,
  workerUrl: join(import.meta.dir, "../../bin/extraction-worker.ts"),
  ...EXTRACTION_LIMITS,
});
const options = { ...DEFAULT_EXTRACTION, renderings: RENDERINGS };
const outcomes = new Map<string, number>();
let slowestMs = 0;
let faults = 0;
let pages: readonly string[] = [];
for (let index = 0; index < count; index++) {
  const seed = firstSeed + index;
  if (index % PAGES_AT_ONCE === 0) {
    const first = Math.floor((index / count) * names.length);
    const batch = names.slice(first, first + PAGES_AT_ONCE);
    pages = await Promise.all(batch.map((name) => Bun.file(join(directory, name)).text()));
  }
  const { html, damages } = damagePage(pages, seededRandom(seed));
  const start = performance.now();
  const outcome = await extractor.extract({ kind: "html", body: html, url: null, options }).then(
    (extraction) => (extraction.article ? "article" : "no content"),
    (error: unknown) => (error instanceof Failure ? `${error.code}: ${error.message}` : `bug: ${error}`),
  );
  const ms = performance.now() - start;
  slowestMs = Math.max(slowestMs, ms);
  const kind = outcome.split(":")[0] ?? "";
  outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
  const isFault = !["article", "no content", "too_large", "too_complex"].includes(kind);
  if (isFault || ms > EXTRACTION_LIMITS.timeLimitMs / 10) {
    console.log(
      `seed ${seed}: ${outcome}, ${Math.round(ms)} ms, ${html.length} characters, ${damages.join(" ")}`,
    );
    if (values.save) await Bun.write(join(values.save, `${seed}.html`), html);
  }
  if (isFault) faults++;
}
console.log(
  `${count} pages from seed ${firstSeed}: ${JSON.stringify(Object.fromEntries(outcomes))}, slowest ${Math.round(slowestMs)} ms`,
);
process.exitCode = faults > 0 ? 1 : 0;
