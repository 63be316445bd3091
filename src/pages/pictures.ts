import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { asideOf, replaceFile } from "../base/atomic-file.ts";
import { keepNewest } from "../base/bounded-map.ts";
import { Away, Failure } from "../base/failure.ts";
import { systemFailure } from "../base/system-error.ts";
import { pictureAddresses } from "../markdown/index.ts";
import { type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { Page } from "./page.ts";

/** Loads a picture. @returns its bytes, or why there are none, in words. @throws Failure */
type LoadPicture = (url: PageUrl) => Promise<Uint8Array | string>;

type PageText = Pick<Page, "markdown" | "anchors">;
type WrittenPage = Pick<Page, "markdown"> & { readonly anchors?: Page["anchors"] | null };

/** Keeps pictures below the place of their pages, in `PICTURES_FOLDER`. */
export type PicturePlace = {
  /** The name of the picture that was saved from an address, while it is there; null for none. */
  nameOf(url: PageUrl): Promise<string | null>;
  /**
   * Saves a picture, and remembers its address; null for a picture that was in the address itself.
   * @throws Failure `unwritable_output`, and what else writing a page there throws
   */
  put(name: string, bytes: Uint8Array, url: PageUrl | null): Promise<void>;
};

type PictureFolderOptions = {
  readonly place: PicturePlace;
  /** The largest picture. */
  readonly maxBytes: number;
  /** How many pictures of a page are loaded at the same time. */
  readonly atOnce: number;
};

/** The folder of pictures, below that of their pages. */
export const PICTURES_FOLDER = "images";
/** Makes sure that what names a picture leads nowhere else. */
export const isPictureName = (text: string): boolean => /^[\da-f]{16}\.[a-z]{3,4}$/.test(text);

/** A hundred, each of them in several places. */
const MAX_MENTIONS = 1000;

/** The paths of the pictures that the bytes of a page may lead to. */
export function picturePathsIn(page: Uint8Array): readonly string[] {
  const paths = Buffer.from(page)
    .toString("latin1")
    .matchAll(/\bimages\/[\da-f]{16}\.[a-z]{3,4}\b/g);
  return [...new Set(paths.take(MAX_MENTIONS).map(([path]) => path))];
}

const MAX_PER_PAGE = 100;
const MAX_RUN_GB = 10;
/** An address that is forgotten is loaded again, for the same file. */
const MAX_KNOWN = 200_000;
/** Remembers the file of each address for the next run, a line of JSON each. */
const INDEX_NAME = "index.jsonl";

/** The name of the file that holds a picture, or why there is none. */
type Saved = { readonly name: string } | { readonly reason: string };

/**
 * The pictures of pages as files of a directory, which is made for the first one.
 * @param options.isFresh whether those of earlier runs are loaded again
 */
export function picturesIn(
  pages: string,
  { isFresh = false }: { readonly isFresh?: boolean } = {},
): PicturePlace {
  const directory = join(pages, PICTURES_FOLDER);
  let earlier: Promise<ReadonlyMap<string, string>> | null = null;
  return {
    nameOf: async (url) => {
      earlier ??= isFresh ? Promise.resolve(new Map()) : readIndex(join(directory, INDEX_NAME));
      const name = (await earlier).get(url);
      return name !== undefined && existsSync(join(directory, name)) ? name : null;
    },
    put: async (name, bytes, url) => {
      const file = join(directory, name);
      try {
        mkdirSync(directory, { recursive: true });
        if (!existsSync(file)) await replaceFile(file, bytes, { aside: asideOf(file, "picture") });
        // After the file: what the index names is there.
        if (url !== null) await appendFile(join(directory, INDEX_NAME), `${JSON.stringify([url, name])}\n`);
      } catch (error) {
        throw systemFailure(error, "unwritable_output", `could not write a picture to ${directory}`);
      }
    },
  };
}

/** The pictures of pages in their place, each once, named by its content. */
export class PictureFolder {
  readonly #options: PictureFolderOptions;
  readonly #known = new Map<string, Promise<Saved>>();
  #runBytes = 0;

  constructor(options: PictureFolderOptions) {
    this.#options = options;
  }

  /**
   * Saves the pictures of a page, and leads its Markdown to them.
   * @returns what has changed of the page; a warning counts the pictures that are not saved, whose addresses stay
   * @throws Failure `cancelled`, and as the place
   */
  async save(
    page: WrittenPage,
    load: LoadPicture,
  ): Promise<PageText & { readonly warnings: readonly string[] }> {
    const { atOnce } = this.#options;
    const places = pictureAddresses(page.markdown);
    const addresses = [...new Set(places.map(({ address }) => address))];
    const files = new Map<string, string>();
    const reasons = addresses.slice(MAX_PER_PAGE).map(() => `beyond ${MAX_PER_PAGE} of a page`);
    const left = addresses.slice(0, MAX_PER_PAGE).values();
    const saveOthers = async (): Promise<void> => {
      // All who save take from what is left.
      for (const address of left) {
        const saved = await this.#save(withoutEntities(address), load);
        if ("name" in saved) files.set(address, `${PICTURES_FOLDER}/${saved.name}`);
        else reasons.push(saved.reason);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, saveOthers));
    return { ...rewrite(page, places, files), warnings: warningsOf(reasons, addresses.length) };
  }

  async #save(address: string, load: LoadPicture): Promise<Saved> {
    if (/^data:/i.test(address)) return await this.#store(null, bytesOfDataUrl(address));
    const url = /^https?:/i.test(address) ? parsePageUrl(address) : null;
    if (url === null) return { reason: "without a web address" };
    const known = this.#known.get(url);
    if (known) return await known;
    const saving = this.#load(url, load);
    keepNewest(this.#known, url, saving, MAX_KNOWN);
    saving.catch(() => this.#known.delete(url));
    return await saving;
  }

  async #load(url: PageUrl, load: LoadPicture): Promise<Saved> {
    const name = await this.#options.place.nameOf(url);
    if (name !== null) return { name };
    if (this.#runBytes >= MAX_RUN_GB * 1024 ** 3) return { reason: `beyond ${MAX_RUN_GB} GB of a run` };
    const bytes = await load(url).catch(reasonOf);
    if (typeof bytes === "string") return { reason: bytes };
    this.#runBytes += bytes.length;
    return await this.#store(url, bytes);
  }

  async #store(url: PageUrl | null, bytes: Uint8Array): Promise<Saved> {
    const { place, maxBytes } = this.#options;
    const extension = pictureType(bytes);
    if (extension === null) return { reason: "no picture" };
    if (bytes.length > maxBytes) return { reason: "too large" };
    const name = `${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.${extension}`;
    await place.put(name, bytes, url);
    return { name };
  }
}

/** Puts files in the place of addresses; everything else stays as it is, and the anchors move with their lines. */
function rewrite(
  { markdown, anchors }: WrittenPage,
  places: ReturnType<typeof pictureAddresses>,
  files: ReadonlyMap<string, string>,
): PageText {
  const changed = places.flatMap(({ address, start, end }) => {
    const file = files.get(address);
    return file === undefined ? [] : [{ file, start, end }];
  });
  let text = "";
  let at = 0;
  for (const { file, start, end } of changed) {
    text += markdown.slice(at, start) + file;
    at = end;
  }
  text += markdown.slice(at);
  if (!anchors) return { markdown: text };
  let next = 0;
  let moved = 0;
  const inOrder = anchors.toSorted((a, b) => a.start - b.start);
  const newStarts = new Map(
    inOrder.map(({ start }) => {
      for (; next < changed.length && changed[next]!.end <= start; next++)
        moved += changed[next]!.file.length - (changed[next]!.end - changed[next]!.start);
      return [start, start < 0 ? start : start + moved];
    }),
  );
  return { markdown: text, anchors: anchors.map(({ id, start }) => ({ id, start: newStarts.get(start)! })) };
}

function warningsOf(reasons: readonly string[], all: number): readonly string[] {
  if (reasons.length === 0) return [];
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const shown = [...counts].map(([reason, count]) => `${count} ${reason}`).join(", ");
  return [`images: ${reasons.length} of ${all} not saved: ${shown}`];
}

/** Why a picture could not be loaded. @throws what is no failure of the picture */
function reasonOf(error: unknown): string {
  if (!(error instanceof Failure) || error instanceof Away || error.code === "cancelled") throw error;
  return error.code.replaceAll("_", " ");
}

async function readIndex(file: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const text = await readFile(file, "utf8").catch(() => "");
  for (const line of text.split("\n")) {
    // A line that a crash has cut means only that a picture is loaded again.
    const [, address, name = ""] = /^\["([^"\\]+)","([^"\\]+)"\]$/.exec(line) ?? [];
    if (address !== undefined && isPictureName(name)) keepNewest(names, address, name, MAX_KNOWN);
  }
  return names;
}

/** Our Markdown writes an address that seems to have an entity with `&amp;`. */
const withoutEntities = (address: string): string => address.replace(/&amp;(?=#?\w{1,40};)/g, "&");

/** The bytes of a `data:` URL (RFC 2397), whatever type it names. */
function bytesOfDataUrl(address: string): Uint8Array {
  const comma = address.indexOf(",");
  const head = address.slice(0, Math.max(0, comma));
  const bytes = Buffer.from(address.slice(comma + 1)).toString("latin1");
  const decoded = bytes.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, /;\s*base64\s*$/i.test(head) ? "base64" : "latin1");
}

const SVG = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE\s+svg\b[^>[]*(?:\[[^\]]*\]\s*)?>\s*)?<(?:svg:)?svg[\s>/]/i;

/** How the files of each type begin, in Latin-1. */
const TYPES: Readonly<Record<string, (head: string) => boolean>> = {
  png: (head) => head.startsWith("\x89PNG\r\n\x1a\n"),
  jpg: (head) => head.startsWith("\xff\xd8\xff"),
  gif: (head) => /^GIF8[79]a/.test(head),
  webp: (head) => head.startsWith("RIFF") && head.startsWith("WEBP", 8),
  // The brand is the first, or one of those that are compatible.
  avif: (head) => head.startsWith("ftyp", 4) && /^(?:.{4}){0,15}?avi[fs]/s.test(head.slice(8)),
  // Another program may have put its comments before the root.
  svg: (head) => SVG.test(withoutComments(head.replace(/^\xef\xbb\xbf/, ""))),
};
const HEAD_BYTES = 8192;

const withoutComments = (text: string): string => {
  const [before = "", ...rest] = text.split("<!--");
  const inside = rest.map((piece) => (piece.includes("-->") ? piece.slice(piece.indexOf("-->") + 3) : ""));
  return before + inside.join("");
};

/** The extension for a picture by its first bytes; null for anything else, whatever its type says. */
export function pictureType(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1");
  return Object.entries(TYPES).find(([, begins]) => begins(head))?.[0] ?? null;
}
