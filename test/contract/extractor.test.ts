import { expect, test } from "bun:test";
import { Glob } from "bun";
import { createExtractor, extractBody } from "../../src/extraction/index.ts";
import { EXTRACTION_LIMITS } from "../../src/settings/index.ts";
import { describeExtractor, extractionTask } from "./extractor.contract.ts";

const WORKER_URL = new URL("../../bin/extraction-worker.ts", import.meta.url);
const openPool = (workers: number) =>
  createExtractor({ ...EXTRACTION_LIMITS, workers, workerUrl: WORKER_URL });

describeExtractor("on the calling thread", () => ({
  extract: extractBody,
  [Symbol.asyncDispose]: async () => {},
}));
describeExtractor("of one worker", () => openPool(1));
describeExtractor("of two workers", () => openPool(2));

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
}, 120_000);
