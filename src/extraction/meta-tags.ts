import type { PageFacts } from "./page/page-model.ts";
import { collapseSpace, removeInvisible } from "./text.ts";
import type { MetadataSource } from "./types.ts";

/** A value with the place where it was found. */
export type Sourced = { readonly value: string; readonly source: MetadataSource };

/** The contents of a page's `<meta>` elements by lower-case name, property, itemprop or http-equiv; the first one counts. */
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

/** The first of these names that the page gives a value. */
export function firstOf(meta: MetaTags, names: readonly string[]): string | null {
  for (const name of names) {
    const value = meta.get(name);
    if (value) return value;
  }
  return null;
}

/** A value as one visible line of at most 1000 characters; it may be a cut-out of the page. */
export const visibleLine = (text: string): string =>
  cut(collapseSpace(removeInvisible(text)), MAX_VALUE_LENGTH);

/** The same as a copy of its own. */
export const tidyValue = (text: string): string => detached(visibleLine(text));

/** A copy of its own: a cut-out of a page keeps the whole page in memory for as long as it lives. */
export const detached = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** The same for many texts, at a fraction of what one by one takes. */
export const detachedAll = (texts: readonly string[]): string[] =>
  JSON.parse(JSON.stringify(texts)) as string[];

/** The first characters of a text, no more than `length` UTF-16 units and none of them torn. */
export const cut = (text: string, length: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text.charAt(length - 1)) ? length - 1 : length);
