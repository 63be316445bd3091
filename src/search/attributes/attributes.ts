import { decodeLoosely } from "../../base/text.ts";
import type { DocumentUrl } from "../../urls/index.ts";
import type { AttributeTable, SourceDocument } from "../types.ts";

/** The kinds of documents. What is none of the others is a guide. */
export const KINDS = ["guide", "reference", "changelog", "blog", "archive"] as const;

export type DocumentKind = (typeof KINDS)[number];

/** What filters and ranking know of a document besides its text. */
export type DocumentAttributes = {
  readonly kind: DocumentKind;
  /** A BCP 47 tag in lower case; empty when it is not known. */
  readonly language: string;
  /** Such as `4.2` or `latest`; empty when the address has none. */
  readonly version: string;
  /** Days since 1970; 0 when it is not known. */
  readonly date: number;
  /** A hash of the address without language and version, which all variants of a page share. */
  readonly page: number;
};

/** The path of a document below its site or tenant, decoded, beginning with `/`. */
export function pathOf(url: DocumentUrl): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.startsWith("docs:") ? -1 : url.indexOf("?", start);
  return start < 0 ? "/" : decodeLoosely(url.slice(start, end < 0 ? undefined : end));
}

/** Learns the attributes of a document from its address, its title and what it declares. */
export function attributesOf({ url, title, declared }: SourceDocument): DocumentAttributes {
  const path = pathOf(url).split("/").slice(1);
  const name = (path.pop() ?? "").replace(/\.[a-z]{1,8}$/i, "");
  const folders = path.map((folder) => folder.toLowerCase());
  const versionAt = folders.findIndex((folder, place) => isVersion(folder, folders[place - 1] ?? ""));
  const languageAt = folders.findIndex((folder, place) => place < LANGUAGE_WITHIN && isLanguage(folder));
  const date = dateOf(declared?.date) || dateOf(`${folders.join("-")}-${name}`);
  const rest = folders.filter((_, place) => place !== versionAt && place !== languageAt);
  const site = url.slice(0, url.indexOf("/", url.indexOf("://") + 3));
  return {
    kind: declared?.isReference
      ? "reference"
      : kindOf(rest, name, title, path.some(isYear) || DATED_NAME.test(name)),
    language: (declared?.language ?? folders[languageAt] ?? "")
      .toLowerCase()
      .replaceAll("_", "-")
      .slice(0, 35),
    version: (folders[versionAt] ?? "").replace(VERSION_MARK, ""),
    date,
    page: Bun.hash.crc32(`${site}/${rest.map((folder) => PLACES[folder] ?? folder).join("/")}/${name}`),
  };
}

/** Where generators keep the pages of released versions, and where those of the next one. */
const PLACES: Readonly<Record<string, string>> = { versioned_docs: "docs" };

const VERSION_MARK = /^(?:version-|release-|v)(?=\d)/;
const VERSION =
  /^(?:(?:version-|release-|v)\d{1,4}|(?:version-|release-|v)?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)(?:\.x)?$/;
// Elsewhere a bare number is a chapter, a year or an identifier.
const BARE_VERSION = /^\d{1,2}$/;
const ABOVE_BARE: ReadonlySet<string> = new Set("docs doc documentation manual version versions".split(" "));
const LATEST: ReadonlySet<string> = new Set(["latest", "stable", "current"]);

const isVersion = (folder: string, above: string): boolean =>
  LATEST.has(folder) ||
  VERSION.test(folder) ||
  (BARE_VERSION.test(folder) && (ABOVE_BARE.has(above) || isLanguage(above)));

/** Versions as numbers that compare as they do; those without numbers come last. */
export function versionRank(version: string): number {
  if (version === "" || LATEST.has(version)) return Number.POSITIVE_INFINITY;
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number(part) || 0);
  return (major * 1e4 + minor) * 1e4 + patch;
}

/** Sites and repositories put the language near the top; deeper down `cs` and `id` mean something else. */
const LANGUAGE_WITHIN = 3;
const LANGUAGES: ReadonlySet<string> = new Set(
  `ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nb nl pl pt ro ru sk sr sv th tr uk vi
  zh`.split(/\s+/),
);

const isLanguage = (folder: string): boolean =>
  /^[a-z]{2}(?:[-_](?:[a-z]{2}|hans|hant|\d{3}))?$/.test(folder) && LANGUAGES.has(folder.slice(0, 2));

const YEAR = /^(?:19|20)\d\d$/;
const isYear = (folder: string): boolean => YEAR.test(folder);
const DATED_NAME = /^(?:19|20)\d\d-[01]\d-[0-3]\d(?:\D|$)/;
const MILLISECONDS_A_DAY = 86_400_000;
const MAX_DAYS = 0xffff;

function dateOf(text: string | undefined): number {
  const found = /(?:^|\D)((?:19|20)\d\d)-([01]\d)-([0-3]\d)(?:\D|$)/.exec(text?.slice(0, 2000) ?? "");
  const [, year, month, day] = found ?? [];
  const days = Math.floor(Date.parse(`${year}-${month}-${day}`) / MILLISECONDS_A_DAY);
  return days > 0 && days <= MAX_DAYS ? days : 0;
}

const CHANGELOGS: ReadonlySet<string> = new Set(
  "changelog changelogs change-log release-notes release_notes releasenotes releases whatsnew whats-new".split(
    " ",
  ),
);
const BLOGS: ReadonlySet<string> = new Set("blog blogs news posts announcements".split(" "));
const ARCHIVES: ReadonlySet<string> = new Set("archive archives archived attic obsolete legacy".split(" "));
const REFERENCES: ReadonlySet<string> = new Set(
  "reference references ref api apis api-reference apidocs api-docs man manpages".split(" "),
);

const CHANGELOG_TITLE =
  /^(?:change ?log|release notes?|(?:what['\u2019]?s )new (?:in|for|since)|.{1,60} release notes?$)/i;
// Files such as `CHANGES` and `NEWS` are in capitals; `history.html` tells a story.
const CHANGELOG_NAME = /^(?:CHANGES|HISTORY|NEWS|(?:release|version)[-_]?v?\d+(?:[-_.]\d+)*)$/i;
const CAPITALS = /^[A-Z]+$/;
const ANNOUNCEMENT = /^announcing[-_ ]/i;

function kindOf(folders: readonly string[], name: string, title: string, isDated: boolean): DocumentKind {
  const stem = name.toLowerCase();
  if (folders.some((folder) => ARCHIVES.has(folder))) return "archive";
  if (folders.some((folder) => BLOGS.has(folder)) || isDated) return "blog";
  if (ANNOUNCEMENT.test(name) || ANNOUNCEMENT.test(title)) return "blog";
  if (folders.some((folder) => CHANGELOGS.has(folder)) || CHANGELOGS.has(stem)) return "changelog";
  if (CHANGELOG_NAME.test(name) && (CAPITALS.test(name) || /\d/.test(name))) return "changelog";
  if (CHANGELOG_TITLE.test(title)) return "changelog";
  return REFERENCES.has(stem) || folders.some((folder) => REFERENCES.has(folder)) ? "reference" : "guide";
}

type Names = Pick<AttributeTable, "languageNames" | "versionNames">;

/** More names than this are not kept apart from unknown ones. */
const MAX_NAMES = 0xffff;

const BYTES_PER_DOCUMENT = 4 + 4 * 2;

/** Makes the table of some documents, in the order of the index. */
export function attributeTable(documents: readonly DocumentAttributes[]): AttributeTable {
  const languages = numbered(documents, "language");
  const versions = numbered(documents, "version");
  return {
    pages: Uint32Array.from(documents, ({ page }) => page),
    kinds: Uint16Array.from(documents, ({ kind }) => KINDS.indexOf(kind)),
    languages: languages.numbers,
    versions: versions.numbers,
    dates: Uint16Array.from(documents, ({ date }) => date),
    languageNames: languages.names,
    versionNames: versions.names,
  };
}

function numbered(documents: readonly DocumentAttributes[], attribute: "language" | "version") {
  const all = new Set(documents.map((document) => document[attribute]));
  all.delete("");
  const names = ["", ...[...all].sort().slice(0, MAX_NAMES)];
  const numberOf = new Map(names.map((name, number) => [name, number]));
  const numbers = Uint16Array.from(documents, (document) => numberOf.get(document[attribute]) ?? 0);
  return { names, numbers };
}

/** The two sections that hold a table: columns one after another, and the names. */
export function encodeAttributes(table: AttributeTable): { columns: Uint8Array; names: Uint8Array } {
  const { pages, kinds, languages, versions, dates, languageNames, versionNames } = table;
  const columns = new Uint8Array(pages.length * BYTES_PER_DOCUMENT);
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of [pages, kinds, languages, versions, dates]) {
    columns.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  const names: Names = { languageNames, versionNames };
  return { columns, names: new TextEncoder().encode(JSON.stringify(names)) };
}

/**
 * Opens the columns in place.
 * @param columns at a multiple of 4
 * @returns null when the columns are not those of so many documents
 */
export function openAttributes(
  columns: Uint8Array<ArrayBuffer>,
  names: Uint8Array,
  documentCount: number,
): AttributeTable | null {
  if (columns.length !== documentCount * BYTES_PER_DOCUMENT) return null;
  const column = (index: number): Uint16Array =>
    new Uint16Array(columns.buffer, columns.byteOffset + documentCount * (4 + 2 * index), documentCount);
  return {
    pages: new Uint32Array(columns.buffer, columns.byteOffset, documentCount),
    kinds: column(0),
    languages: column(1),
    versions: column(2),
    dates: column(3),
    ...(JSON.parse(new TextDecoder().decode(names)) as Names), // as `encodeAttributes` wrote them
  };
}
