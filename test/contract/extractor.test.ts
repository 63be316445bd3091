import { expect, test } from "bun:test";
import { Glob } from "bun";
import { createExtractor, extractBody, withSmallPagesHere } from "../../src/extraction/index.ts";
import { EXTRACTION_LIMITS } from "../../src/settings/index.ts";
import { WORKER_URL } from "../support/workers.ts";
import { describeExtractor, extractionTask } from "./extractor.contract.ts";

const openPool = (workers: number) =>
  createExtractor({ ...EXTRACTION_LIMITS, workers, workerUrl: WORKER_URL });

describeExtractor("on the calling thread", () => ({
  extract: extractBody,
  [Symbol.asyncDispose]: async () => {},
}));
describeExtractor("of one worker", () => openPool(1));
describeExtractor("of two workers", () => openPool(2));
describeExtractor("of small pages on the calling thread", () => withSmallPagesHere(openPool(1), 2000));

test("small pages need no worker, and larger ones get one", async () => {
  const workerUrl = new URL("../fixtures/extraction/stuck-worker.ts", import.meta.url);
  await using pool = createExtractor({ workers: 1, workerUrl, timeLimitMs: 1000, startLimitMs: 50 });
  const extractor = withSmallPagesHere(pool, 100);
  expect((await extractor.extract(extractionTask("<p>small</p>"))).article?.text).toBe("small");
  const large = extractor.extract(extractionTask(`<p>${"large ".repeat(100)}</p>`));
  // This worker never starts.
  expect(await large.catch((error) => error.code)).toBe("internal");
  const signal = AbortSignal.abort();
  expect(extractor.extract(extractionTask("<p>small</p>"), signal)).rejects.toMatchObject({
    code: "cancelled",
  });
});

test("every page has the same result from any number of workers and from none", async () => {
  const tasks = [extractionTask("# Markdown\n\nA *body*.", { renderings: ["content"] }, "markdown")];
  const site = new URL("../site/", import.meta.url).pathname;
  for await (const name of new Glob("**/*.html").scan(site)) {
    const html = await Bun.file(site + name).text();
    tasks.push(extractionTask(html, { minWordCount: 150, renderings: ["content", "markdown"] }));
  }
  expect(tasks.length).toBeGreaterThan(10);
  const expected = await Promise.all(tasks.map((task) => extractBody(task)));
  for (const workers of [1, 2, 4]) {
    await using pool = openPool(workers);
    const results = await Promise.all([...tasks, ...tasks].map((task) => pool.extract(task)));
    expect(results).toEqual([...expected, ...expected]);
  }
});
