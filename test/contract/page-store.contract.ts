import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Page, PageStore } from "../../src/pages/index.ts";
import { type DocumentUrl, parseDocumentUrl } from "../../src/urls/index.ts";

/** One empty place for pages, and stores on it. */
export type PageStorePlace = AsyncDisposable & {
  /** Another store on the same place, as after a restart. */
  open(): PageStore;
};

/** What every page store does, whatever it is made of. */
export function describePageStore(kind: string, makePlace: () => Promise<PageStorePlace>): void {
  describe(`the page store of ${kind}`, () => {
    let place: PageStorePlace;
    let store: PageStore;
    beforeEach(async () => {
      place = await makePlace();
      store = place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    describeOnePage(() => store);
    describeManyPages(() => store);
    describeRestart(
      () => store,
      () => place.open(),
    );
  });
}

function describeOnePage(store: () => PageStore): void {
  test("gives back the page that was put", async () => {
    await store().put(page("https://h.test/a", { markdown: "Text with é, 漢字 and 🙂.\n\n- list" }));
    expect(await store().get(url("https://h.test/a"))).toEqual(
      page("https://h.test/a", { markdown: "Text with é, 漢字 and 🙂.\n\n- list" }),
    );
  });

  test("has no page that was never put", async () => {
    await store().put(page("https://h.test/a"));
    expect(await store().get(url("https://h.test/b"))).toBeNull();
  });

  test("replaces the page of the same URL and keeps its file name", async () => {
    const first = await store().put(page("https://h.test/a", { title: "Old" }));
    expect(await store().put(page("https://h.test/a", { title: "New" }))).toBe(first);
    expect(await titles(store())).toEqual(["New"]);
  });

  test("replaces a long page by a short one completely", async () => {
    await store().put(page("https://h.test/a", { markdown: "long ".repeat(40_000) }));
    await store().put(page("https://h.test/a", { markdown: "short" }));
    expect((await store().get(url("https://h.test/a")))?.markdown).toBe("short");
  });

  test("keeps a page of several megabytes whole", async () => {
    const markdown = `${"words and more words ".repeat(200_000)}the end`;
    await store().put(page("https://h.test/a", { markdown }));
    expect((await store().get(url("https://h.test/a")))?.markdown === markdown).toBe(true);
    expect((await collect(store()))[0]?.markdown === markdown).toBe(true);
  });

  test("forgets a deleted page", async () => {
    await store().put(page("https://h.test/a"));
    await store().put(page("https://h.test/b"));
    await store().delete(url("https://h.test/a"));
    expect(await store().get(url("https://h.test/a"))).toBeNull();
    expect(await urls(store())).toEqual(["https://h.test/b"]);
  });

  test("deletes a page that is not there without complaint", async () => {
    await store().delete(url("https://h.test/a"));
    expect(await urls(store())).toEqual([]);
  });

  test("stores a page again after its deletion", async () => {
    await store().put(page("https://h.test/a", { title: "First" }));
    await store().delete(url("https://h.test/a"));
    await store().put(page("https://h.test/a", { title: "Second" }));
    expect(await titles(store())).toEqual(["Second"]);
  });
}

function describeManyPages(store: () => PageStore): void {
  test("lists nothing while it is empty", async () => {
    expect(await urls(store())).toEqual([]);
  });

  test("lists every page once", async () => {
    const all = Array.from({ length: 50 }, (_, number) => `https://h.test/p/${number}`);
    for (const address of all) await store().put(page(address));
    expect((await urls(store())).sort()).toEqual(all.sort());
  });

  test("keeps pages apart whose URLs differ only by scheme, case, slash, escapes or separators", async () => {
    for (const address of CONFUSABLE_URLS) await store().put(page(address, { title: address }));
    expect((await urls(store())).sort()).toEqual([...CONFUSABLE_URLS].sort());
    for (const address of CONFUSABLE_URLS) {
      expect((await store().get(url(address)))?.title).toBe(address);
    }
  });

  test("gives overlapping puts of confusable URLs different names", async () => {
    const names = await Promise.all(CONFUSABLE_URLS.map((address) => store().put(page(address))));
    const folded = new Set(names.map((name) => name.normalize("NFD").toLowerCase()));
    expect(folded.size).toBe(CONFUSABLE_URLS.length);
    expect((await urls(store())).sort()).toEqual([...CONFUSABLE_URLS].sort());
  });

  test("leaves one whole page after overlapping puts of one URL", async () => {
    const versions = Array.from({ length: 20 }, (_, number) => `version ${number} `.repeat(5000).trim());
    const names = await Promise.all(
      versions.map((markdown) => store().put(page("https://h.test/a", { markdown }))),
    );
    expect(new Set(names).size).toBe(1);
    const [only, ...others] = await collect(store());
    expect(others).toEqual([]);
    expect(versions.includes(only?.markdown ?? "")).toBe(true);
  });

  test("shows a reader whole pages only while they are being replaced", async () => {
    const markdownOf = (letter: string): string => letter.repeat(300_000);
    await store().put(page("https://h.test/a", { markdown: markdownOf("a") }));
    const writing = (async () => {
      for (const letter of "bcdefghij") {
        await store().put(page("https://h.test/a", { markdown: markdownOf(letter) }));
      }
    })();
    for (let round = 0; round < 20; round++) {
      const markdown = (await store().get(url("https://h.test/a")))?.markdown ?? "";
      expect(markdown === markdownOf(markdown[0] ?? "?")).toBe(true);
    }
    await writing;
  });

  test("lets a listing be left in the middle", async () => {
    for (const address of CONFUSABLE_URLS) await store().put(page(address));
    for await (const _ of store().list()) break;
    expect((await urls(store())).length).toBe(CONFUSABLE_URLS.length);
  });
}

function describeRestart(store: () => PageStore, reopen: () => PageStore): void {
  test("keeps pages and file names over a restart", async () => {
    const names = [];
    for (const address of CONFUSABLE_URLS) names.push(await store().put(page(address)));
    const later = reopen();
    // In another order than at first, so that names made anew would differ.
    const again = new Map<string, string>();
    for (const address of [...CONFUSABLE_URLS].reverse()) again.set(address, await later.put(page(address)));
    expect(CONFUSABLE_URLS.map((address) => again.get(address) ?? "")).toEqual(names);
    expect((await urls(later)).sort()).toEqual([...CONFUSABLE_URLS].sort());
  });

  test("deletes a page that was put before a restart", async () => {
    for (const address of CONFUSABLE_URLS) await store().put(page(address));
    const later = reopen();
    for (const address of CONFUSABLE_URLS) await later.delete(url(address));
    expect(await urls(later)).toEqual([]);
  });

  test("shows a second store what the first puts later", async () => {
    const reader = reopen();
    expect(await urls(reader)).toEqual([]);
    await store().put(page("https://h.test/a", { title: "Later" }));
    expect((await reader.get(url("https://h.test/a")))?.title).toBe("Later");
    expect(await titles(reader)).toEqual(["Later"]);
  });
}

const CONFUSABLE_URLS = [
  "https://h.test/",
  "http://h.test/",
  "https://h.test:8080/",
  "https://h.test_8080/",
  "https://h.test/a/b",
  "https://h.test/a/b/",
  "https://h.test/a//b",
  "https://h.test/a__b",
  "https://h.test/A/b",
  "https://h.test/a_/b",
  "https://h.test/a/_b",
  "https://h.test/a?b",
  "https://h.test/a_q_b",
  "https://h.test/caf%C3%A9",
  "https://h.test/cafe%CC%81",
  "https://h.test/CAF%C3%89",
  "https://h.test/stra%C3%9Fe",
  "https://h.test/strasse",
  "https://h.test/a%2Fb",
  "https://h.test/a%2fb",
  "https://h.test/a|b",
  "https://h.test/a:b",
  "docs://docs/a/b.md",
];

function url(text: string): DocumentUrl {
  const parsed = parseDocumentUrl(text);
  if (!parsed) throw new Error(`the test's own URL is wrong: ${text}`);
  return parsed;
}

const page = (address: string, fields: Partial<Page> = {}): Page => ({
  url: url(address),
  title: "A page",
  extractedAt: "2026-11-05T09:30:00.000Z",
  wordCount: 3,
  markdown: "Some body text.",
  ...fields,
});

async function collect(store: PageStore): Promise<Page[]> {
  const pages = [];
  for await (const one of store.list()) pages.push(one);
  return pages;
}

const urls = async (store: PageStore): Promise<string[]> => (await collect(store)).map((one) => one.url);
const titles = async (store: PageStore): Promise<string[]> => (await collect(store)).map((one) => one.title);
