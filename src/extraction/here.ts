import { Failure } from "../base/failure.ts";
import type { Extractor } from "./pool.ts";
import type { ExtractHtml, Extraction, ExtractionTask } from "./types.ts";

// The engine is loaded with the first page. A program that extracts on workers does not need it on its own thread,
// where loading it took a tenth of the CPU time of a whole page.
const engine = () => import("./extract.ts");

/** Extracts a body of any kind on the calling thread; throws as `extractHtml`. */
export const extractBody = async (task: ExtractionTask): Promise<Extraction> =>
  (await engine()).extractBody(task);

/**
 * Extracts one page on the calling thread. One pass over the page yields the article, the links, the robots
 * directives and the canonical URL.
 * @param url the page's final URL, which relative references resolve against; null leaves them relative
 * @throws Failure `invalid_usage` for a wrong selector, `too_large` for trees nested too deeply for one,
 * `too_complex` for too many elements,
 * `internal` for a page that the libraries cannot take
 */
export const extractHtml: ExtractHtml = async (html, url, options) =>
  (await engine()).extractHtml(html, url, options);

/**
 * Extracts bodies of at most `maxChars` characters on the calling thread, and all others on the workers of `pool`.
 * This suits a program that extracts one page: starting a worker costs more than extracting a small page, and a small
 * page cannot block the thread for long. Pages for the engine `readability` always go to the pool, because 500 kB of
 * nested frames keep it busy for 15 s.
 */
export const withSmallPagesHere = (pool: Extractor, maxChars: number): Extractor => ({
  workers: pool.workers,
  extract: async (task, signal) => {
    const isQuick = task.body.length <= maxChars && task.options.engine === "article-extractor";
    if (!isQuick) return pool.extract(task, signal);
    if (signal?.aborted) throw new Failure("cancelled", "the extraction was cancelled before it began");
    return extractBody(task);
  },
  [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
});
