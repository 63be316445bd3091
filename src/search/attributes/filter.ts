import { Failure } from "../../base/failure.ts";
import { didYouMean } from "../../base/nearest.ts";
import { checkDeadline } from "../deadline.ts";
import type { AttributeTable, IndexReader } from "../types.ts";
import { type DocumentKind, KINDS, pathOf } from "./attributes.ts";

/** What a search can be narrowed to; `group` is one of tenants, the others are attributes of documents. */
export const FILTER_NAMES = ["kind", "path", "version", "language", "group"] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

/** The allowed values of each name; one of them must be met. Names without values allow everything. */
export type SearchFilter = Readonly<Record<FilterName, readonly string[]>>;

export const NO_FILTER: SearchFilter = { kind: [], path: [], version: [], language: [], group: [] };

const MAX_LENGTH = 1000;
const MAX_VALUES = 32;
const FORM = "write filters as name:value, such as kind:reference path:guide/** language:ja,en";

/**
 * Reads a filter: names with values, separated by blanks (`kind:guide,reference path:"my docs/"`). Values of
 * one name are alternatives; all names must be met.
 * @throws Failure `invalid_usage` that names what is allowed
 */
export function parseFilter(text: string): SearchFilter {
  if (text.length > MAX_LENGTH) throw refused(`a filter has at most ${MAX_LENGTH} characters`);
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

/** What a tenant's settings say of documents that do not say it themselves; empty where they do not. */
export type AssumedAttributes = { readonly language: string; readonly version: string };

/** What is known of the documents of an index. */
type Known = { readonly attributes: AttributeTable; readonly assumed: AssumedAttributes };

/**
 * Refuses a language or version that no document of some indexes has: it is mistyped.
 * @throws Failure `invalid_usage` that names those that there are
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

/**
 * Applies a filter to an index.
 * @throws Failure `timeout`
 */
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

/**
 * A test of paths, which begin with `/`. A pattern without `*`, `?`, `[` and `{` is the beginning of a path;
 * others match whole paths, as globs with `**`, and without a slash a name in any folder. Takes time linear in
 * the path.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const isAnchored = pattern.startsWith("/") || pattern.includes("://");
  if (!/[*?[{]/.test(pattern)) {
    const start = isAnchored ? pattern : `/${pattern}`;
    return (path) => path.startsWith(start);
  }
  const glob = new Bun.Glob(isAnchored ? pattern : pattern.includes("/") ? `/${pattern}` : `/**/${pattern}`);
  return (path) => glob.match(path);
}
