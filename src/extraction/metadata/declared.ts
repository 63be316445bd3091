import { isRecord } from "../../base/json.ts";
import type { PageFacts } from "../page/page-model.ts";
import { visibleLine } from "../text.ts";
import type { MetadataSource } from "../types.ts";

/** A value, and where it was found. */
export type Sourced = { readonly value: string; readonly source: MetadataSource };

/**
 * The contents of a page's `<meta>` elements by lower-case name, property, itemprop or http-equiv. The first element
 * of a name counts.
 */
export type MetaTags = ReadonlyMap<string, string>;

export function readMetaTags(facts: PageFacts): MetaTags {
  const tags = new Map<string, string>();
  for (const [name, content] of facts.meta) {
    const value = visibleLine(content);
    if (value !== "") tags.set(name, value);
  }
  return tags;
}

/** Returns the value of the first of these names that has one. */
export function firstOf(meta: MetaTags, names: readonly string[]): string | null {
  for (const name of names) {
    const value = meta.get(name);
    if (value) return value;
  }
  return null;
}

/** One object of a page's JSON-LD; its properties are named as in schema.org. */
export type JsonLdObject = Readonly<Record<string, unknown>>;

// Some pages embed whole catalogues; the article's own object stands near the front.
const MAX_OBJECTS = 200;
const MAX_VISITED = 10_000;
const ARTICLE_TYPES =
  /^(?:.*Article|BlogPosting|Report|LiveBlogPosting|SocialMediaPosting|DiscussionForumPosting|Recipe|Product|QAPage|WebPage|VideoObject|.*Posting)$/;

/**
 * Reads the JSON-LD objects that describe the page's main content, the most specific first. Broken blocks are
 * ignored, as search engines do.
 */
export function readJsonLd(facts: PageFacts): JsonLdObject[] {
  const objects: JsonLdObject[] = [];
  for (const script of facts.jsonLd) collectObjects(parseLeniently(script), objects);
  const named = new Map(objects.flatMap((object) => (hasNameAndId(object) ? [[object["@id"], object]] : [])));
  const described = objects
    .filter((object) => typesOf(object).some((type) => ARTICLE_TYPES.test(type)))
    .map((object) => withPeople(object, named));
  // A WebPage describes the page, an Article describes its content.
  return described.sort((a, b) => Number(isWebPage(a)) - Number(isWebPage(b)));
}

const hasNameAndId = (object: JsonLdObject): boolean =>
  typeof object["@id"] === "string" && typeof object.name === "string";

const PEOPLE = ["author", "creator", "publisher"] as const;

/** Returns the object with the people filled in that it only refers to by `@id`. */
function withPeople(object: JsonLdObject, named: ReadonlyMap<unknown, JsonLdObject>): JsonLdObject {
  const resolve = (value: unknown): unknown =>
    isRecord(value) && value.name === undefined ? (named.get(value["@id"]) ?? value) : value;
  const people = PEOPLE.flatMap((property) => {
    const value = object[property];
    if (value === undefined) return [];
    return [[property, Array.isArray(value) ? value.map(resolve) : resolve(value)]];
  });
  return people.length === 0 ? object : { ...object, ...Object.fromEntries(people) };
}

/** Reads a property as text: a string, or the names of a person, an organisation or a list of them. */
export const textOf = (value: unknown): string | null => nestedText(value, 0);

// A list of people has two levels; anything nested deeper is not a name.
const MAX_TEXT_DEPTH = 8;

function nestedText(value: unknown, depth: number): string | null {
  if (typeof value === "string") return value.trim() || null;
  if (depth > MAX_TEXT_DEPTH) return null;
  if (Array.isArray(value)) {
    const names = value.map((item) => nestedText(item, depth + 1)).filter((name) => name !== null);
    return names.length > 0 ? [...new Set(names)].join(", ") : null;
  }
  if (isRecord(value)) return nestedText(value.name, depth + 1) ?? nestedText(value.url, depth + 1);
  return null;
}

function collectObjects(value: unknown, into: JsonLdObject[]): void {
  const queue: unknown[] = [value];
  for (let next = 0; next < queue.length && next < MAX_VISITED && into.length < MAX_OBJECTS; next++) {
    const item = queue[next];
    if (Array.isArray(item)) queue.push(...item.slice(0, MAX_OBJECTS));
    else if (isRecord(item)) {
      into.push(item);
      queue.push(item["@graph"] ?? [], item.mainEntity ?? [], item.mainEntityOfPage ?? []);
    }
  }
}

/** Measures how deeply lists and objects are nested in a JSON text. */
export function nestingOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [sign] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[[{]|[\]}]/gs)) {
    if (sign === "[" || sign === "{") deepest = Math.max(deepest, ++depth);
    else if (sign === "]" || sign === "}") depth--;
  }
  return deepest;
}

/**
 * Parses a script that should hold JSON, and repairs the mistakes that pages commonly make; returns null when that
 * does not help.
 */
export function parseLeniently(text: string): unknown {
  const json = text
    .trim()
    .replace(/^<!--|-->$/g, "")
    .replace(/^\/\*.*?\*\/|^\/\/<!\[CDATA\[|\/\/\]\]>$/gs, "");
  try {
    return JSON.parse(json);
  } catch {
    // Raw line breaks inside strings are the most common mistake.
    try {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what breaks the JSON
      return JSON.parse(json.replace(/[\u0000-\u001f]+/g, " "));
    } catch {
      return null;
    }
  }
}

/** Returns the types of an object, as schema.org names them. */
export const typesOf = (object: JsonLdObject): string[] =>
  [object["@type"]].flat().filter((type) => typeof type === "string");

const isWebPage = (object: JsonLdObject): boolean => typesOf(object).every((type) => type === "WebPage");
