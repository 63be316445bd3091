import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentUrl } from "../urls/index.ts";
import { fileNameKey, pageFileName } from "./file-name.ts";
import { listNames, nullIfMissing, readPage, readPages, removeStaleFiles, type StoredPage } from "./files.ts";

/**
 * Which file of a directory holds which URL; read from the files on first need. Of a page it keeps two numbers
 * (236 bytes instead of 730 of the resident set), for most have the name that their URL gives. Two texts of one number
 * are unlikely and harmless: a name gets a hash that it would not need, and what is overwritten is asked of the
 * file itself.
 */
export class Catalog {
  readonly #directory: string;
  /** Numbers of the URLs that have their plain name. */
  readonly #plain = new Set<number>();
  /** Names of the others. */
  readonly #renamed = new Map<DocumentUrl, string>();
  // Numbers of the keys of every entry in the directory, and of names that are promised to puts in progress.
  readonly #takenKeys = new Set<number>();
  #loading: Promise<void> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The name to write a URL's page to: the one that it has, or a free one, which is its own from now on. */
  async claim(url: DocumentUrl): Promise<string> {
    await this.#load();
    for (;;) {
      // No await between looking and reserving: overlapping puts never get one name for two URLs.
      const name = this.#nameOf(url) ?? this.#reserve(url);
      if (!(await this.#holdsAnother(name, url))) return name;
      // Somebody put a file there since the directory was read. Its name stays taken.
      if (this.#nameOf(url) === name) this.#forget(url);
    }
  }

  async find(url: DocumentUrl): Promise<StoredPage | null> {
    // The usual names first: they need no reading of the whole directory, and show what another process
    // has stored since.
    const plain = plainName(url);
    const withHash = pageFileName(url, (name) => name === plain);
    for (const name of new Set([this.#nameOf(url) ?? plain, plain, withHash])) {
      const found = await this.#readIfHolds(name, url);
      if (found) return found;
    }
    await this.#load();
    const name = this.#nameOf(url);
    return name === undefined ? null : this.#readIfHolds(name, url);
  }

  /** Forgets a page whose file is gone. */
  release(url: DocumentUrl, name: string): void {
    this.#takenKeys.delete(numberOf(fileNameKey(name)));
    if (this.#nameOf(url) === name) this.#forget(url);
  }

  #nameOf(url: DocumentUrl): string | undefined {
    return this.#renamed.get(url) ?? (this.#plain.has(numberOf(url)) ? plainName(url) : undefined);
  }

  #remember(url: DocumentUrl, name: string): void {
    if (name === plainName(url)) this.#plain.add(numberOf(url));
    else this.#renamed.set(url, name);
  }

  #forget(url: DocumentUrl): void {
    if (!this.#renamed.delete(url)) this.#plain.delete(numberOf(url));
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
    for (const name of await listNames(this.#directory)) this.#takenKeys.add(numberOf(fileNameKey(name)));
    for await (const { name, page } of readPages(this.#directory, "head")) {
      if (this.#nameOf(page.url) === undefined) this.#remember(page.url, name);
    }
  }

  #reserve(url: DocumentUrl): string {
    const name = pageFileName(url, (candidate) => this.#takenKeys.has(numberOf(fileNameKey(candidate))));
    this.#remember(url, name);
    this.#takenKeys.add(numberOf(fileNameKey(name)));
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

const plainName = (url: DocumentUrl): string => pageFileName(url, () => false);

/** 48 bits of a digest: a number that takes no memory of its own in a set. */
const numberOf = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, 6);
