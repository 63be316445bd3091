import { mkdirSync } from "node:fs";
import { readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { asideOf, replaceFile } from "../base/atomic-file.ts";
import { isMissing, systemFailure } from "../base/system-error.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { Catalog, readPages } from "./catalog.ts";
import { formatPage, type Page } from "./page.ts";

/** A store whose pages can be copied out of it. */
type FileStore = PageStore & {
  /**
   * Copies a page's file unchanged to another directory, which is created if needed.
   * Repeating the call after a crash is safe.
   * @returns its name there, null when neither directory has the page
   * @throws Failure `unwritable_output`
   */
  copyTo(other: string, url: DocumentUrl): Promise<string | null>;
};

/**
 * Makes a store with one Markdown file per page, flat in a directory that is created by the first put. Each
 * write goes to a hidden temporary file, is flushed and then renamed. The front matter of each file names its URL,
 * so files may be renamed by hand; if two files have one URL, the first by name counts. Symbolic links, and files
 * that this program did not write, are neither listed nor overwritten. Several processes may read; two processes
 * that store new pages must not share a directory.
 * @param directory absolute, or relative to the process's directory at each call
 */
export function createFileStore(directory: string): FileStore {
  const catalogs = new Map<string, Catalog>();
  const catalog = new Catalog(directory);
  return {
    async put(page) {
      const text = formatPage(page);
      try {
        return await write(directory, catalog, page.url, text);
      } catch (error) {
        throw systemFailure(
          error,
          "unwritable_output",
          `could not write the page ${page.url} to ${directory}`,
        );
      }
    },
    async get(url) {
      return (await catalog.find(url))?.page ?? null;
    },
    async *list() {
      const seen = new Set<DocumentUrl>();
      for await (const { page } of readPages(directory, "whole")) {
        if (seen.has(page.url)) continue;
        seen.add(page.url);
        yield page;
      }
    },
    async copyTo(other, url) {
      const there = catalogs.get(other) ?? new Catalog(other);
      catalogs.set(other, there);
      const found = await catalog.find(url);
      if (!found) return (await there.find(url))?.name ?? null;
      try {
        return await write(other, there, url, await readFile(join(directory, found.name)));
      } catch (error) {
        throw systemFailure(error, "unwritable_output", `could not copy the page ${url} to ${other}`);
      }
    },
    async delete(url) {
      // A second round is needed only when a copy made by hand holds the same URL.
      for (let found = await catalog.find(url); found; found = await catalog.find(url)) {
        const path = join(directory, found.name);
        try {
          await unlink(path);
        } catch (error) {
          if (!isMissing(error)) throw systemFailure(error, "unwritable_output", `could not delete ${path}`);
        }
        catalog.release(url, found.name);
      }
    },
  };
}

/** @returns the name of the page's file in the directory */
async function write(
  directory: string,
  catalog: Catalog,
  url: DocumentUrl,
  content: string | Buffer,
): Promise<string> {
  // On this thread, as in the catalog.
  mkdirSync(directory, { recursive: true });
  const name = await catalog.claim(url);
  const path = join(directory, name);
  await replaceFile(path, content, { aside: asideOf(path, "page") });
  return name;
}

/**
 * Stores pages, one per URL. A reader never sees half a page. Calls may overlap; of two puts of one URL the
 * last to finish wins. Pages come back as `formatPage` normalises them.
 */
export type PageStore = {
  /**
   * Stores the page, replacing the one with the same URL.
   * @returns its flat file name, which stays the same for as long as the page is stored
   * @throws Failure `unwritable_output`
   */
  put(page: Page): Promise<string>;
  /** @throws Failure `unreadable_input` when the page exists but cannot be read */
  get(url: DocumentUrl): Promise<Page | null>;
  /** Yields every page once, by file name; pages stored or deleted meanwhile may be missing. */
  list(): AsyncIterable<Page>;
  /**
   * Deletes a page; does nothing when there is none.
   * @throws Failure `unwritable_output`
   */
  delete(url: DocumentUrl): Promise<void>;
};
