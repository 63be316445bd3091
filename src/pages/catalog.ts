import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentUrl } from "../urls/index.ts";
import { fileNameKey, pageFileName } from "./file-name.ts";
import { listNames, nullIfMissing, readPage, readPages, removeStaleFiles, type StoredPage } from "./files.ts";

/** Which file of a directory holds which URL; read from the files on first need. */
export class Catalog {
  readonly #directory: string;
  readonly #names = new Map<DocumentUrl, string>();
  // Of every entry in the directory, and of names that are promised to puts in progress.
  readonly #takenKeys = new Set<string>();
  #loading: Promise<void> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The name to write a URL's page to: the one that it has, or a free one, which is its own from now on. */
  async claim(url: DocumentUrl): Promise<string> {
    await this.#load();
    for (;;) {
      // No await between looking and reserving: overlapping puts never get one name for two URLs.
      const name = this.#names.get(url) ?? this.#reserve(url);
      if (!(await this.#holdsAnother(name, url))) return name;
      // Somebody put a file there since the directory was read. Its name stays taken.
      if (this.#names.get(url) === name) this.#names.delete(url);
    }
  }

  async find(url: DocumentUrl): Promise<StoredPage | null> {
    // The usual names first: they need no reading of the whole directory, and show what another process
    // has stored since.
    const plain = pageFileName(url, () => false);
    const withHash = pageFileName(url, (name) => name === plain);
    for (const name of new Set([this.#names.get(url) ?? plain, plain, withHash])) {
      const found = await this.#readIfHolds(name, url);
      if (found) return found;
    }
    await this.#load();
    const name = this.#names.get(url);
    return name === undefined ? null : this.#readIfHolds(name, url);
  }

  /** Forgets a page whose file is gone. */
  release(url: DocumentUrl, name: string): void {
    this.#takenKeys.delete(fileNameKey(name));
    if (this.#names.get(url) === name) this.#names.delete(url);
  }

  #load(): Promise<void> {
    this.#loading ??= this.#readDirectory().catch((error) => {
      this.#loading = undefined; // the next call may find the disk readable again
      throw error;
    });
    return this.#loading;
  }

  async #readDirectory(): Promise<void> {
    await removeStaleFiles(this.#directory);
    for (const name of await listNames(this.#directory)) this.#takenKeys.add(fileNameKey(name));
    for await (const { name, page } of readPages(this.#directory, "head")) {
      if (!this.#names.has(page.url)) this.#names.set(page.url, name);
    }
  }

  #reserve(url: DocumentUrl): string {
    const name = pageFileName(url, (candidate) => this.#takenKeys.has(fileNameKey(candidate)));
    this.#names.set(url, name);
    this.#takenKeys.add(fileNameKey(name));
    return name;
  }

  async #readIfHolds(name: string, url: DocumentUrl): Promise<StoredPage | null> {
    const page = await readPage(join(this.#directory, name), "whole");
    return page?.url === url ? { name, page } : null;
  }

  async #holdsAnother(name: string, url: DocumentUrl): Promise<boolean> {
    const path = join(this.#directory, name);
    if (!(await lstat(path).catch(nullIfMissing))) return false;
    return (await readPage(path, "head"))?.url !== url;
  }
}
