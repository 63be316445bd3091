import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Failure } from "../../src/base/failure.ts";
import { createExtractor } from "../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION, EXTRACTION_LIMITS } from "../../src/settings/index.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { HOSTILE_PAGES } from "../support/hostile-pages.ts";

// The product's own limits: work that grows with the square of these pages passes them.
const extractor = forAllTests(
  createExtractor({
    workers: 1,
    workerUrl: join(import.meta.dir, "../../bin/extraction-worker.ts"),
    ...EXTRACTION_LIMITS,
  }),
);

describe.each([
  ["text alone", []],
  ["all renderings", ["content", "markdown"]],
] as const)("a page made to cost much, %s:", (_, renderings) => {
  const options = { ...DEFAULT_EXTRACTION, renderings };
  test.each(HOSTILE_PAGES)(
    "$name",
    async ({ build, parts, holdsArticle }) => {
      const work = extractor.extract({ kind: "html", body: build(parts), url: null, options });
      const { text, failure } = await work.then(
        ({ article }) => ({ text: article?.text ?? "", failure: null }),
        (error: unknown) => ({ text: "", failure: error }),
      );
      if (failure !== null) {
        expect(failure).toBeInstanceOf(Failure);
        expect(["too_large", "too_complex"]).toContain((failure as Failure).code);
      } else if (holdsArticle) expect(text).toContain("the miller has opened the sluice");
    },
    2 * EXTRACTION_LIMITS.timeLimitMs,
  );
});
