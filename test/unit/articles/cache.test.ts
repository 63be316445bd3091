import { describe, expect, test } from "bun:test";
import { createArticleCache, type FetchedArticle } from "../../../src/articles/index.ts";
import { Failure } from "../../../src/base/failure.ts";

// The cache counts an article's texts and looks at nothing else.
const article = (name: string): FetchedArticle => ({ url: name }) as FetchedArticle;

/** Makes work that ends when the test says so. */
function controlled() {
  const { promise, resolve, reject } = Promise.withResolvers<FetchedArticle>();
  let seen: AbortSignal | null = null;
  let starts = 0;
  const load = (signal: AbortSignal): Promise<FetchedArticle> => {
    starts++;
    seen = signal;
    return promise;
  };
  return { load, resolve, reject, starts: () => starts, isAborted: () => seen?.aborted ?? false };
}

describe("the article cache", () => {
  test("gives a kept article without loading it again", async () => {
    const cache = createArticleCache({ maxSize: 2, maxBytes: 1_000_000 });
    const work = controlled();
    work.resolve(article("a"));
    expect(await cache.take("a", work.load)).toEqual({ fetched: article("a"), origin: "miss" });
    expect(await cache.take("a", work.load)).toEqual({ fetched: article("a"), origin: "hit" });
    expect(work.starts()).toBe(1);
  });

  test("drops the least recently used article when it is full", async () => {
    const cache = createArticleCache({ maxSize: 2, maxBytes: 1_000_000 });
    const take = (key: string) => cache.take(key, async () => article(key));
    await take("a");
    await take("b");
    await take("a");
    await take("c");
    expect(cache.size).toBe(2);
    expect((await take("a")).origin).toBe("hit");
    expect((await take("b")).origin).toBe("miss");
  });

  test("drops the least recently used articles when their text is over its limit, and keeps no larger one", async () => {
    const cache = createArticleCache({ maxSize: 1000, maxBytes: 10_000 });
    const starts: string[] = [];
    const take = (key: string, length: number) =>
      cache.take(key, async () => {
        starts.push(key);
        return { ...article(key), article: { text: "x".repeat(length) } } as FetchedArticle;
      });
    for (const key of ["a", "b", "c"]) await take(key, 4000);
    await take("huge", 10_000);
    for (const key of ["c", "b", "a", "huge"]) await take(key, 4000);
    expect(starts).toEqual(["a", "b", "c", "huge", "a", "huge"]);
    expect(cache.size).toBe(2);
  });

  test("keeps nothing at size 0, but still shares extractions under way", async () => {
    const cache = createArticleCache({ maxSize: 0, maxBytes: 1_000_000 });
    const work = controlled();
    const both = Promise.all([cache.take("a", work.load), cache.take("a", work.load)]);
    work.resolve(article("a"));
    expect((await both).map(({ origin }) => origin)).toEqual(["miss", "shared"]);
    expect(work.starts()).toBe(1);
    expect((await cache.take("a", work.load)).origin).toBe("miss");
    expect(cache.size).toBe(0);
  });

  test("gives a failure to everybody who waits, but does not keep it", async () => {
    const cache = createArticleCache({ maxSize: 2, maxBytes: 1_000_000 });
    const work = controlled();
    const both = Promise.allSettled([cache.take("a", work.load), cache.take("a", work.load)]);
    work.reject(new Failure("network", "gone"));
    expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect((await cache.take("a", async () => article("a"))).origin).toBe("miss");
  });

  test("continues for the others when one caller leaves", async () => {
    const cache = createArticleCache({ maxSize: 2, maxBytes: 1_000_000 });
    const work = controlled();
    const leaver = new AbortController();
    const left = cache.take("a", work.load, leaver.signal);
    const stays = cache.take("a", work.load, new AbortController().signal);
    leaver.abort();
    await expect(left).rejects.toMatchObject({ code: "cancelled" });
    expect(work.isAborted()).toBe(false);
    work.resolve(article("a"));
    expect((await stays).fetched).toEqual(article("a"));
  });

  test("cancels the work when everybody has left, and starts again for the next caller", async () => {
    const cache = createArticleCache({ maxSize: 2, maxBytes: 1_000_000 });
    const work = controlled();
    const callers = [new AbortController(), new AbortController()];
    const all = callers.map(({ signal }) => cache.take("a", work.load, signal));
    const settled = Promise.allSettled(all);
    for (const caller of callers) caller.abort();
    const outcomes = await settled;
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.code)).toEqual([
      "cancelled",
      "cancelled",
    ]);
    expect(work.isAborted()).toBe(true);
    expect((await cache.take("a", async () => article("new"))).fetched).toEqual(article("new"));
    work.reject(new Failure("cancelled", "called off"));
    expect((await cache.take("a", work.load)).origin).toBe("hit");
  });

  test("starts nothing for a caller who has already left", async () => {
    const cache = createArticleCache({ maxSize: 2, maxBytes: 1_000_000 });
    const work = controlled();
    const taken = cache.take("a", work.load, AbortSignal.abort());
    await expect(taken).rejects.toMatchObject({ code: "cancelled" });
    expect(work.starts()).toBe(0);
  });
});
