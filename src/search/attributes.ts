import { Failure } from "../base/failure.ts";
import { didYouMean } from "../base/nearest.ts";
import { decodeLoosely } from "../base/text.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { compileGlob } from "../urls/index.ts";
import { checkDeadline } from "./deadline.ts";
import type { AttributeTable, IndexReader, SourceDocument } from "./types.ts";

/** The kinds of documents. A document of no other kind is a guide. */
export const KINDS = ["guide", "reference", "changelog", "blog", "archive"] as const;

export type DocumentKind = (typeof KINDS)[number];

/** Attributes of a document, besides its text, that filters and ranking use. */
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
  const path = pathOf(url);
  const nameStart = path.lastIndexOf("/") + 1;
  const above = path.slice(1, Math.max(1, nameStart - 1));
  if (lastFolder?.above !== above) lastFolder = folderOf(above);
  const { rest, restPath, joined, language, version, isInYear } = lastFolder;
  const name = path.slice(nameStart).replace(/\.[a-z]{1,8}$/i, "");
  const site = url.slice(0, url.indexOf("/", url.indexOf("://") + 3));
  return {
    kind: declared?.isReference ? "reference" : kindOf(rest, name, title, isInYear || DATED_NAME.test(name)),
    language: (declared?.language ?? language).toLowerCase().replaceAll("_", "-").slice(0, 35),
    version,
    date: dateOf(declared?.date) || dateOf(`${joined}-${name}`),
    page: Bun.hash.crc32(`${site}/${restPath}/${name}`),
  };
}

/** Reads the attributes that a document's folders state; neighbours in a build mostly share them. @param above their path */
function folderOf(above: string) {
  const path = above === "" ? [] : above.split("/");
  const folders = path.map((folder) => folder.toLowerCase());
  const versionAt = folders.findIndex((folder, place) => isVersion(folder, folders[place - 1] ?? ""));
  const languageAt = folders.findIndex((folder, place) => place < LANGUAGE_WITHIN && isLanguage(folder));
  const rest = folders.filter((_, place) => place !== versionAt && place !== languageAt);
  return {
    above,
    rest,
    restPath: rest.map((folder) => PLACES[folder] ?? folder).join("/"),
    joined: folders.join("-"),
    language: folders[languageAt] ?? "",
    version: (folders[versionAt] ?? "").replace(VERSION_MARK, ""),
    isInYear: path.some((folder) => YEAR.test(folder)),
  };
}

let lastFolder: ReturnType<typeof folderOf> | null = null;

/** Folders of generators for pages of released versions, each with the folder for the next version. */
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
 * @returns null when the columns do not fit the number of documents
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

/** Filters of a search; `group` is a group of tenants, the others are attributes of documents. */
const FILTER_NAMES = ["kind", "path", "version", "language", "group"] as const;

type FilterName = (typeof FILTER_NAMES)[number];

/** The allowed values of each name; one of them must be met. Names without values allow everything. */
export type SearchFilter = Readonly<Record<FilterName, readonly string[]>>;

export const NO_FILTER: SearchFilter = { kind: [], path: [], version: [], language: [], group: [] };

const MAX_FILTER_LENGTH = 1000;
const MAX_VALUES = 32;
const FORM = "write filters as name:value, such as kind:reference path:guide/** language:ja,en";

/**
 * Reads a filter: names with values, separated by blanks (`kind:guide,reference path:"my docs/"`). Values of
 * one name are alternatives; all names must be met.
 * @throws Failure `invalid_usage` that names what is allowed
 */
export function parseFilter(text: string): SearchFilter {
  if (text.length > MAX_FILTER_LENGTH) throw refused(`a filter has at most ${MAX_FILTER_LENGTH} characters`);
  const found = new Map<FilterName, string[]>();
  for (const word of wordsOf(text)) {
    const colon = word.indexOf(":");
    const name = FILTER_NAMES.find((one) => one === word.slice(0, Math.max(0, colon)).toLowerCase());
    if (name === undefined) {
      const typed = colon < 0 ? word : word.slice(0, colon);
      throw refused(
        colon < 0
          ? `${JSON.stringify(typed)} has no name; ${FORM}`
          : `${JSON.stringify(typed)} is none of ${FILTER_NAMES.join(", ")}${didYouMean(typed, FILTER_NAMES)}`,
      );
    }
    const values = valuesOf(word.slice(colon + 1));
    if (values.length === 0) throw refused(`${name} has no value; ${FORM}`);
    found.set(name, [...(found.get(name) ?? []), ...values]);
  }
  const filter = { ...NO_FILTER, ...Object.fromEntries(found) };
  requireAllowed(filter);
  return filter;
}

function requireAllowed(filter: SearchFilter): void {
  for (const name of FILTER_NAMES)
    if (filter[name].length > MAX_VALUES) throw refused(`${name} has more than ${MAX_VALUES} values`);
  for (const kind of filter.kind)
    if (!KINDS.includes(kind as DocumentKind))
      throw refused(`kind:${kind} is none of ${KINDS.join(", ")}${didYouMean(kind, KINDS)}`);
  for (const path of filter.path)
    if (path.length > MAX_GLOB) throw refused(`a path has at most ${MAX_GLOB} characters`);
}

const refused = (reason: string): Failure => new Failure("invalid_usage", `filter: ${reason}`);

/** The words of a text; blanks in double quotes separate none. */
function wordsOf(text: string): string[] {
  if (text.split('"').length % 2 === 0) throw refused("a quote is not closed");
  return text.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
}

function valuesOf(text: string): string[] {
  const values: string[] = [];
  for (const [place, part] of text.split('"').entries()) {
    // Every other part is quoted, and its commas are part of the value.
    if (place % 2 === 1) values.push(`${values.pop() ?? ""}${part}`);
    else {
      const [first = "", ...others] = part.split(",");
      values.push(`${values.pop() ?? ""}${first}`, ...others);
    }
  }
  return values.map((value) => value.trim()).filter((value) => value !== "");
}

/** Attributes from a tenant's settings, for documents that do not declare their own; empty if not set. */
export type AssumedAttributes = { readonly language: string; readonly version: string };

/** Attributes of the documents of an index. */
type Known = { readonly attributes: AttributeTable; readonly assumed: AssumedAttributes };

/**
 * Refuses a language or version that no document of the indexes has, because it is mistyped.
 * @throws Failure `invalid_usage` that names the existing values
 */
export function requireKnownValues(indexes: readonly Known[], filter: SearchFilter): void {
  for (const name of ["language", "version"] as const)
    requireValues(name, filter, () =>
      indexes.flatMap(({ attributes, assumed }) => [...attributes[`${name}Names` as const], assumed[name]]),
    );
}

/** @throws Failure `invalid_usage` */
export function requireValues(
  name: "language" | "version" | "group",
  filter: SearchFilter,
  knownValues: () => readonly string[],
): void {
  if (filter[name].length === 0) return;
  const known = [...new Set(knownValues())].filter((value) => value !== "").sort();
  const separator = name === "version" ? "." : "-";
  for (const value of filter[name]) {
    if (known.some((one) => (name === "group" ? one === value : isWithin(value, one, separator)))) continue;
    const shown = known.slice(0, MAX_SHOWN).join(", ");
    const more = known.length > MAX_SHOWN ? `, and ${known.length - MAX_SHOWN} more` : "";
    const there = known.length === 0 ? `nothing searched has a ${name}` : `there are ${shown}${more}`;
    throw refused(`no document has ${name}:${value}; ${there}${didYouMean(value, known)}`);
  }
}

const MAX_SHOWN = 20;

/** A bit for each document. */
export type DocumentBits = Uint32Array;

export const hasBit = (bits: DocumentBits, document: number): boolean =>
  ((bits[document >>> 5]! >>> (document & 31)) & 1) === 1;

/** The documents that meet each name of a filter; names that all meet are left out. */
export type AppliedFilter = ReadonlyMap<FilterName, DocumentBits>;

/** Applies a filter to an index. @throws Failure `timeout` */
export function applyFilter(
  reader: IndexReader,
  filter: SearchFilter,
  { assumed, deadline }: { readonly assumed: AssumedAttributes; readonly deadline: number },
): AppliedFilter {
  const { kinds, languages, versions, languageNames, versionNames } = reader.attributes;
  const isWithinOne = (name: "language" | "version", value: string, separator: "-" | "."): boolean =>
    filter[name].some((one) => isWithin(one, value || assumed[name], separator));
  const applied = new Map<FilterName, DocumentBits>();
  const add = (name: FilterName, numbers: Uint16Array, isMet: (number: number) => boolean, count: number) => {
    if (filter[name].length === 0) return;
    const met = Uint8Array.from({ length: count }, (_, number) => (isMet(number) ? 1 : 0));
    applied.set(
      name,
      bitsWhere(reader.documentCount, deadline, (document) => met[numbers[document]!] === 1),
    );
  };
  add("kind", kinds, (number) => filter.kind.includes(KINDS[number]!), KINDS.length);
  const isLanguage = (number: number): boolean => isWithinOne("language", languageNames[number]!, "-");
  const isVersion = (number: number): boolean => isWithinOne("version", versionNames[number]!, ".");
  add("language", languages, isLanguage, languageNames.length);
  add("version", versions, isVersion, versionNames.length);
  if (filter.path.length > 0) applied.set("path", pathBits(reader, filter.path, deadline));
  return applied;
}

/** Whether a value is what was asked for, or a part of it: `pt-br` is within `pt`, `4.2.1` within `4.2`. */
export function isWithin(asked: string, value: string, separator: "-" | "."): boolean {
  const wanted = asked
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^v(?=\d)/, "");
  const own = value.toLowerCase().replace(/^v(?=\d)/, "");
  return own === wanted || (wanted !== "" && own.startsWith(wanted + separator));
}

// Reading 100 000 addresses takes 50 ms, and the pages of one search have one filter. They go with their index.
const PATHS = new WeakMap<AttributeTable, ReadonlyMap<string, DocumentBits>>();
const MAX_KEPT = 8;

function pathBits(reader: IndexReader, patterns: readonly string[], deadline: number): DocumentBits {
  const before = PATHS.get(reader.attributes) ?? new Map<string, DocumentBits>();
  const key = JSON.stringify(patterns);
  const bits = before.get(key) ?? readPaths(reader, patterns, deadline);
  const others = [...before].filter(([other]) => other !== key).slice(0, MAX_KEPT - 1);
  PATHS.set(reader.attributes, new Map([[key, bits], ...others]));
  return bits;
}

function readPaths(reader: IndexReader, patterns: readonly string[], deadline: number): DocumentBits {
  const tests = patterns.map((pattern) => ({
    isWhole: pattern.includes("://"),
    isMet: compileGlob(pattern),
  }));
  return bitsWhere(reader.documentCount, deadline, (document) => {
    const url = reader.url(document);
    const path = pathOf(url);
    return tests.some(({ isWhole, isMet }) => isMet(isWhole ? url : path));
  });
}

function bitsWhere(count: number, deadline: number, isMet: (document: number) => boolean): DocumentBits {
  const bits = new Uint32Array(Math.ceil(count / 32));
  for (let document = 0; document < count; document++) {
    if ((document & 0x3ff) === 0) checkDeadline(deadline);
    if (isMet(document)) bits[document >>> 5]! |= 1 << (document & 31);
  }
  return bits;
}

/** The documents that meet all names, or all but one; null for every document. */
export function allowedBits(applied: AppliedFilter, but: FilterName | null = null): DocumentBits | null {
  let all: DocumentBits | null = null;
  for (const [name, bits] of applied) {
    if (name === but) continue;
    all = all === null ? bits : all.map((word, index) => word & bits[index]!);
  }
  return all;
}

/** The most characters of a pattern. */
const MAX_GLOB = 200;
