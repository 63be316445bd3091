import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createExtractor, type Extractor } from "../../src/extraction/index.ts";
import type { ExtractorOptions } from "../../src/extraction/pool.ts";
import { EXTRACTION_LIMITS } from "../../src/settings/index.ts";
import { untilTrue } from "../support/until.ts";
import { WORKER_URL } from "../support/workers.ts";
import { extractionTask, failureOf, SENTENCE } from "./extractor.contract.ts";

const FAULTY_URL = new URL("../fixtures/extraction/faulty-worker.ts", import.meta.url);
const SLOW_URL = new URL("../fixtures/extraction/slow-worker.ts", import.meta.url);
const STUCK_URL = new URL("../fixtures/extraction/stuck-worker.ts", import.meta.url);

const openPool = (
  workers: number,
  workerUrl: string | URL = FAULTY_URL,
  limits: Partial<ExtractorOptions> = {},
): Extractor => createExtractor({ ...EXTRACTION_LIMITS, ...limits, workers, workerUrl });

/** Other systems do not tell a thread's CPU time. */
const isLinux = process.platform === "linux";
const ofCpuTime = isLinux ? " of CPU time" : "";

const PAGE = extractionTask(`<p>${SENTENCE}</p>`);
const HANGING = extractionTask("hang");

/** How each of the promises ended: a title, or the code of its failure. */
async function outcomesOf(promises: readonly Promise<unknown>[]): Promise<string[]> {
  return Promise.all(
    promises.map((promise) =>
      promise.then(
        () => "extracted",
        async () => (await failureOf(promise)).code,
      ),
    ),
  );
}

describe("a pool of extraction workers", () => {
  test("takes more pages than it has workers", async () => {
    await using pool = openPool(2, WORKER_URL);
    const texts = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { article } = await pool.extract(extractionTask(`<p>Page number ${index}: ${SENTENCE}</p>`));
        return article?.text;
      }),
    );
    expect(texts).toEqual(
      Array.from({ length: 40 }, (_, index) => `Page number ${index}: ${SENTENCE}`.trim()),
    );
  });

  test("gives turns round among clients: many pages of one keep nobody else waiting", async () => {
    await using pool = openPool(1, WORKER_URL);
    const order: string[] = [];
    const ask = (client: string): Promise<unknown> =>
      pool.extract(PAGE, undefined, client).then(() => order.push(client));
    await Promise.all([...Array.from({ length: 20 }, () => ask("many")), ask("one"), ask("other")]);
    expect(order.indexOf("one")).toBeLessThan(3);
    expect(order.indexOf("other")).toBeLessThan(4);
  });

  test("has small pages done while large ones hold all workers", async () => {
    await using pool = openPool(1, FAULTY_URL, { timeLimitMs: 60_000 });
    const leaving = new AbortController();
    const large = extractionTask(`hang${" ".repeat(300_000)}`);
    const held = [large, large].map((task) => pool.extract(task, leaving.signal).catch(() => "left"));
    for (let page = 0; page < 5; page++)
      expect((await pool.extract(PAGE)).article?.text).toBe(SENTENCE.trim());
    leaving.abort();
    expect(await Promise.all(held)).toEqual(["left", "left"]);
    expect((await pool.extract(PAGE)).article).not.toBeNull();
    expect(pool.workers).toBe(1);
  });

  test("has no thread more than its workers for small pages alone", async () => {
    await using pool = openPool(1, FAULTY_URL, { timeLimitMs: 60_000 });
    const leaving = new AbortController();
    const held = pool.extract(HANGING, leaving.signal).catch(() => "left");
    const next = pool.extract(PAGE).then(() => "extracted");
    expect(await Promise.race([next, Bun.sleep(300).then(() => "waits")])).toBe("waits");
    leaving.abort();
    expect(await held).toBe("left");
    expect(await next).toBe("extracted");
  });

  test("has at least one worker", () => {
    expect(openPool(0).workers).toBe(1);
    expect(openPool(3).workers).toBe(3);
  });

  test("fails every page beyond the time limit with too_complex", async () => {
    await using pool = openPool(2, FAULTY_URL, { timeLimitMs: 300 });
    const pages = [HANGING, HANGING, HANGING].map((task) => pool.extract(task));
    expect(await outcomesOf(pages)).toEqual(["too_complex", "too_complex", "too_complex"]);
    const failure = await failureOf(pages[1] as Promise<unknown>);
    expect(failure.message).toBe(`extracting https://site.test/dir/page took longer than 300 ms${ofCpuTime}`);
  });

  test.skipIf(!isLinux)("charges a page for no time in which its thread has no processor", async () => {
    await using pool = openPool(1, FAULTY_URL, { timeLimitMs: 300 });
    expect(await outcomesOf([pool.extract(extractionTask("sleep 1000")), pool.extract(PAGE)])).toEqual([
      "extracted",
      "extracted",
    ]);
    // Ten times the limit ends a thread that waits for something that never comes.
    const failure = await failureOf(pool.extract(extractionTask("sleep 60000")));
    expect([failure.code, failure.message]).toEqual([
      "too_complex",
      "extracting https://site.test/dir/page took longer than 3000 ms",
    ]);
  });

  test("fails no other page when one passes the time limit", async () => {
    // A hundred times what a worker needs for its first page: other work on the machine may take most of it.
    await using pool = openPool(2, FAULTY_URL, { timeLimitMs: 6000 });
    const pages = [PAGE, HANGING, PAGE, PAGE, HANGING, PAGE].map((task) => pool.extract(task));
    const outcomes = ["extracted", "too_complex", "extracted", "extracted", "too_complex", "extracted"];
    expect(await outcomesOf(pages)).toEqual(outcomes);
  });

  test("stops a real page that costs too much, and goes on to the next", async () => {
    await using pool = openPool(1, WORKER_URL, { timeLimitMs: 500 });
    const costly = extractionTask(`<p>${"<span>word</span> ".repeat(400_000)}</p>`, {
      renderings: ["markdown"],
    });
    // Two of them, because no wall clock is sure to be long enough for a page that costs little.
    const pages = [costly, costly].map((task) => pool.extract(task));
    expect(await outcomesOf(pages)).toEqual(["too_complex", "too_complex"]);
  });

  test("counts the loading of a worker against no page", async () => {
    await using pool = openPool(1, SLOW_URL, { timeLimitMs: 300 });
    const startedAt = performance.now();
    expect(await outcomesOf([pool.extract(HANGING)])).toEqual(["too_complex"]);
    // It loads for 1000 ms; a timer may be a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThan(1298);
  });

  test("gives up on a worker that never loads, with the page that waits for it", async () => {
    await using pool = openPool(1, STUCK_URL, { startLimitMs: 300 });
    const pages = [PAGE, PAGE].map((task) => pool.extract(task));
    expect(await outcomesOf(pages)).toEqual(["internal", "internal"]);
    const failure = await failureOf(pages[0] as Promise<unknown>);
    expect(failure.message).toBe(`the extraction worker ${STUCK_URL} did not start within 300 ms`);
  });

  for (const fault of ["exit", "throw"]) {
    test(`loses the one page whose worker crashes by ${fault}`, async () => {
      await using pool = openPool(1);
      const crash = extractionTask(fault);
      const pages = [PAGE, crash, PAGE, crash, PAGE].map((task) => pool.extract(task));
      expect(await outcomesOf(pages)).toEqual("extracted internal extracted internal extracted".split(" "));
    });
  }

  test("loses no page to a worker that crashed while it had none", async () => {
    await using pool = openPool(1);
    for (let round = 0; round < 5; round++) {
      const before = threads();
      await pool.extract(extractionTask(`<p>This one fails after its answer.</p>`));
      // Now the thread lives, or has just died, or is known to be dead.
      if (round % 2) await untilTrue(() => threads() <= before);
      expect((await pool.extract(PAGE)).article?.text).toBe(SENTENCE.trim());
    }
  });

  test("names the worker that cannot start, once for each page, and starts no other for it", async () => {
    const missing = new URL("no-such-worker.ts", import.meta.url);
    await using pool = openPool(2, missing);
    const pages = [1, 2, 3, 4, 5].map(() => pool.extract(PAGE));
    expect(await outcomesOf(pages)).toEqual(pages.map(() => "internal"));
    expect((await failureOf(pages[0] as Promise<unknown>)).message).toStartWith(
      `the extraction worker ${missing} did not start: `,
    );
    const before = threads();
    await Bun.sleep(200);
    expect(threads()).toBeLessThanOrEqual(before);
  });
});

describe("calling a page off", () => {
  test("that waits fails it at once and leaves the running one alone", async () => {
    await using pool = openPool(1, WORKER_URL);
    const running = pool.extract(PAGE);
    const controller = new AbortController();
    const waiting = pool.extract(PAGE, controller.signal);
    controller.abort();
    const failure = await failureOf(waiting);
    expect([failure.code, failure.message]).toEqual([
      "cancelled",
      "extracting https://site.test/dir/page was cancelled",
    ]);
    expect((await running).article).not.toBeNull();
  });

  test("that waits spares the workers its cost", async () => {
    await using pool = openPool(1);
    const controller = new AbortController();
    const pages = [pool.extract(PAGE), pool.extract(HANGING, controller.signal), pool.extract(PAGE)];
    controller.abort();
    expect(await outcomesOf(pages)).toEqual(["extracted", "cancelled", "extracted"]);
  });

  test("that runs ends it, and the next page is taken", async () => {
    await using pool = openPool(1);
    const controller = new AbortController();
    const running = pool.extract(HANGING, controller.signal);
    const next = pool.extract(PAGE);
    setTimeout(() => controller.abort(), 200);
    expect(await outcomesOf([running, next])).toEqual(["cancelled", "extracted"]);
  });

  test("before it is handed in starts nothing", async () => {
    await using pool = openPool(1, new URL("no-such-worker.ts", import.meta.url));
    expect((await failureOf(pool.extract(PAGE, AbortSignal.abort()))).code).toBe("cancelled");
  });

  test("after its result changes nothing", async () => {
    await using pool = openPool(1);
    const controller = new AbortController();
    const { article } = await pool.extract(PAGE, controller.signal);
    controller.abort();
    expect(article).not.toBeNull();
    expect((await pool.extract(PAGE)).article).not.toBeNull();
  });
});

describe("disposing the pool", () => {
  test("rejects what runs and what waits, and every later page", async () => {
    const pool = openPool(1);
    const pages = [HANGING, PAGE, PAGE].map((task) => pool.extract(task));
    const outcomes = outcomesOf(pages);
    await Bun.sleep(100);
    await pool[Symbol.asyncDispose]();
    expect(await outcomes).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect((await failureOf(pool.extract(PAGE))).code).toBe("cancelled");
    await pool[Symbol.asyncDispose]();
  });

  test("leaves no thread behind", async () => {
    const before = threads();
    const pool = openPool(3);
    const hanging = failureOf(pool.extract(HANGING));
    await Promise.all([pool.extract(PAGE), pool.extract(PAGE)]);
    expect(threads()).toBeGreaterThan(before);
    await pool[Symbol.asyncDispose]();
    expect((await hanging).code).toBe("cancelled");
    await untilTrue(() => threads() <= before);
  });

  test("lets the process end by itself", async () => {
    const script = `
      import { createExtractor } from "./src/extraction/index.ts";
      const limits = ${JSON.stringify(EXTRACTION_LIMITS)};
      const pool = createExtractor({ ...limits, workers: 2, workerUrl: ${JSON.stringify(WORKER_URL)} });
      const task = ${JSON.stringify(PAGE)};
      await Promise.all([pool.extract(task), pool.extract(task), pool.extract(task)]);
      await pool[Symbol.asyncDispose]();
      console.log("disposed");`;
    const root = new URL("../../", import.meta.url).pathname;
    const command = [process.execPath, "-e", script];
    const child = Bun.spawn(command, { cwd: root, stdout: "pipe", stderr: "inherit", timeout: 100_000 });
    expect(await new Response(child.stdout).text()).toBe("disposed\n");
    expect(await child.exited).toBe(0);
  });
});

/** Threads of this process; other systems are trusted to be like Linux. */
function threads(): number {
  if (process.platform !== "linux") return 0;
  return readdirSync("/proc/self/task").length;
}
