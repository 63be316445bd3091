import { collapseSpace, removeInvisible } from "./text.ts";
import type { MetadataSource } from "./types.ts";

/** A value with the place where it was found. */
export type Sourced = { readonly value: string; readonly source: MetadataSource };

/** The contents of a page's `<meta>` elements by lower-case name, property, itemprop or http-equiv; the first one counts. */
export type MetaTags = ReadonlyMap<string, string>;

const MAX_VALUE_LENGTH = 1000;

export function readMetaTags(document: Document): MetaTags {
  const tags = new Map<string, string>();
  for (const element of document.querySelectorAll("meta[content]")) {
    const content = tidyValue(element.getAttribute("content") ?? "");
    if (content === "") continue;
    for (const attribute of ["property", "name", "itemprop", "http-equiv"]) {
      const name = element.getAttribute(attribute)?.trim().toLowerCase();
      if (name && !tags.has(name)) tags.set(name, content);
    }
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

/** A value as one visible line of at most 1000 characters. */
export const tidyValue = (text: string): string =>
  cut(collapseSpace(removeInvisible(text)), MAX_VALUE_LENGTH);

/** The first characters of a text, no more than `length` UTF-16 units and none of them torn. */
export const cut = (text: string, length: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text.charAt(length - 1)) ? length - 1 : length);
