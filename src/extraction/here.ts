import { Failure } from "../base/failure.ts";
import type { Extractor } from "./pool.ts";
import type { ExtractHtml, Extraction, ExtractionTask } from "./types.ts";

// The engine is loaded for the first page. A program that extracts on workers has no use for it on its own thread,
// and loading it took a tenth of the CPU time of a whole page there.
const engine = () => import("./extract.ts");

/** Extracts a body of any kind on the calling thread; throws as `extractHtml`. */
export const extractBody = async (task: ExtractionTask): Promise<Extraction> =>
  (await engine()).extractBody(task);

/**
 * Extracts one page on the calling thread: one pass over it yields the article, the links, the robots directives
 * and the canonical URL.
 * @param url the page's final URL, which relative references resolve against; null leaves them relative
 * @throws Failure `invalid_usage` for a wrong selector, `too_large` for trees nested too deeply for one,
 * `too_complex` for too many elements,
 * `internal` for a page that the libraries cannot take
 */
export const extractHtml: ExtractHtml = async (html, url, options) =>
  (await engine()).extractHtml(html, url, options);

/**
 * Extracts bodies of at most `maxChars` characters on the calling thread, all others on the workers of `pool`. For a
 * program that extracts one page: starting a worker costs it more than a small page does, and a page that small
 * cannot keep the thread for long. The engine readability can: 500 kB of nested frames take it 15 s.
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
