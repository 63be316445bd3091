import type { PageFacts } from "./page/page-model.ts";
import { collapseSpace, removeInvisible } from "./text.ts";
import type { MetadataSource } from "./types.ts";

/** A value, and where it was found. */
export type Sourced = { readonly value: string; readonly source: MetadataSource };

/**
 * The contents of a page's `<meta>` elements by lower-case name, property, itemprop or http-equiv. The first element
 * of a name counts.
 */
export type MetaTags = ReadonlyMap<string, string>;

const MAX_VALUE_LENGTH = 1000;

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

/**
 * Reduces a value to one visible line of at most 1000 characters. The result may share memory with the page.
 */
export const visibleLine = (text: string): string =>
  cut(collapseSpace(removeInvisible(text)), MAX_VALUE_LENGTH);

/** Does the same and returns a copy that shares no memory with the page. */
export const tidyValue = (text: string): string => detached(visibleLine(text));

/** Copies a text: a substring of a page keeps the whole page in memory as long as it lives. */
export const detached = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** Copies many texts, much faster than one by one. */
export const detachedAll = (texts: readonly string[]): string[] =>
  JSON.parse(JSON.stringify(texts)) as string[];

/** Returns at most the first `length` UTF-16 units of a text, without splitting a surrogate pair. */
export const cut = (text: string, length: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text.charAt(length - 1)) ? length - 1 : length);
