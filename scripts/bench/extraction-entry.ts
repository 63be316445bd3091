/** Runs the product's extraction on one thread; the bench compiles it as the product is compiled. */

import { chooseCompilers } from "../../bin/compilers.ts";
import { Failure } from "../../src/base/failure.ts";
import { extractHtml } from "../../src/extraction/pool.ts";
import { RENDERINGS } from "../../src/extraction/types.ts";
import { createGarbageWatch } from "../../src/extraction/worker.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { parsePageUrl } from "../../src/urls/index.ts";
import { measurePages, readJob } from "./measure-pages.ts";

// As the product does for a list of pages.
chooseCompilers("long");

const job = readJob(process.argv.slice(2));
const options = {
  ...DEFAULT_EXTRACTION,
  renderings: RENDERINGS.filter((rendering) => job.renderings.includes(rendering)),
};

await measurePages(job, {
  extract: async (html, url) => {
    const { article } = await extractHtml(html, parsePageUrl(url ?? ""), options);
    return {
      text: article?.text ?? "",
      title: article?.title ?? null,
      author: article?.byline ?? null,
      date: article?.publishedDate ?? null,
    };
  },
  afterPage: createGarbageWatch(() => Bun.gc(true)),
  codeOf: (error) => (error instanceof Failure ? error.code : null),
});
