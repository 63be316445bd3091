import type { ObjectOptions, ObjectStore } from "../base/objects.ts";
import { formatPage, hashedPageFileName, type Page, type PageStore, parsePage } from "../pages/index.ts";
import type { DocumentUrl } from "../urls/index.ts";

/** This many pages are read at once while a store is listed. */
const READ_AHEAD = 16;

/**
 * Makes a store with one object per page. Its name follows from the URL alone, so nothing has to be listed before a
 * page is written, and any number of processes may write. Objects that this program did not write are ignored.
 * @param options.folder where the pages are below the store; empty for the store itself
 * @param options the remaining options apply to each call to the store
 */
export function createObjectPageStore(
  store: ObjectStore,
  { folder = "", ...asking }: ObjectOptions & { readonly folder?: string } = {},
): PageStore & {
  /** Like `put` of `PageStore`. @param options.signal cancels this call, in place of the store's signal */
  put(page: Page, options?: { readonly signal?: AbortSignal }): Promise<string>;
  /** The page's name without reading it; null when there is none. */
  nameOf(url: DocumentUrl): Promise<string | null>;
} {
  const keyOf = (url: DocumentUrl): string => folder + hashedPageFileName(url);
  const read = async (key: string): Promise<Page | null> => {
    const bytes = await store.read(key, asking);
    return bytes && parsePage(new TextDecoder().decode(bytes));
  };
  return {
    async put(page: Page, own: { readonly signal?: AbortSignal } = {}) {
      await store.put(keyOf(page.url), formatPage(page), {
        ...asking,
        ...own,
        contentType: "text/markdown; charset=utf-8",
      });
      return hashedPageFileName(page.url);
    },
    async get(url) {
      const page = await read(keyOf(url));
      return page?.url === url ? page : null;
    },
    nameOf: async (url) => (await store.head(keyOf(url), asking)) && hashedPageFileName(url),
    async *list() {
      for await (const keys of pageKeys(store, folder, asking)) {
        for (const [at, page] of (await Promise.all(keys.map(read))).entries())
          if (page && keys[at] === keyOf(page.url)) yield page;
      }
    },
    delete: (url) => store.delete(keyOf(url), asking),
  };
}

/** Yields the keys of possible pages, in order and in batches, without the keys in subfolders. */
async function* pageKeys(
  store: ObjectStore,
  folder: string,
  asking: ObjectOptions,
): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  for await (const { key } of store.list(folder, asking)) {
    const name = key.slice(folder.length);
    if (name.endsWith(".md") && !name.includes("/")) batch.push(key);
    if (batch.length < READ_AHEAD) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}
