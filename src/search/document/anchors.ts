import { decodeLoosely } from "../../base/text.ts";
import { fragmentHash } from "./slugs.ts";

// `{#id}`, `{ #id .class }`, `{: #id }` and `{/*id*/}` at the end of a heading.
const HEADING_ID =
  /(?<!\s)\s*(?:\{:?\s{0,3}#([^\s{}#]{1,200})(?:\s[^{}]{0,200})?\}|\{\/\*\s{0,3}([^\s{}*]{1,200})\s{0,3}\*\/\})\s{0,3}$/;
const MAX_ID_TAIL = 460;

const TAG_ID =
  /<(?:a\s[^<>]{0,300}?\bname|[a-z][\w-]{0,30}\s(?:[^<>]{0,300}?\s)?id)\s{0,3}=\s{0,3}(?:"([^"\s<>]{1,200})"|'([^'\s<>]{1,200})'|([^"'\s<>]{1,200}))/gi;

const LESS = 0x3c;
const CLOSING_BRACE = 0x7d;

/**
 * The id that a heading gives itself.
 * @returns where the heading's text ends, and the id; null for none
 */
export function writtenId(
  markdown: string,
  start: number,
  end: number,
): { readonly end: number; readonly id: string | null } {
  let last = end - 1;
  while (last > start && markdown[last] === " ") last--;
  if (markdown.charCodeAt(last) !== CLOSING_BRACE) return { end, id: null };
  const from = Math.max(start, end - MAX_ID_TAIL);
  const match = HEADING_ID.exec(markdown.slice(from, end));
  return match ? { end: from + match.index, id: match[1] ?? match[2] ?? null } : { end, id: null };
}

/** Only a page that a program wrote on one line has more ids there. */
const MAX_LINE_IDS = 1000;

/** The ids and names of the tags in a line. */
export function idsOfTags(markdown: string, start: number, end: number): readonly string[] {
  if (!hasTag(markdown, start, end)) return [];
  const ids: string[] = [];
  for (const [, double, single, bare] of markdown.slice(start, end).matchAll(TAG_ID)) {
    if (ids.push(double ?? single ?? bare ?? "") === MAX_LINE_IDS) break;
  }
  return ids;
}

function hasTag(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === LESS) return true;
  return false;
}

/** Whether a line has no words besides its tags, so that its ids belong to what follows. */
export const isOnlyTags = (line: string): boolean => /^(?:\s*<[^<>]{1,400}>)+\s*$/.test(line);

const LINKED_FRAGMENT = /\]\((?!\w{1,10}:|\/\/)[^()\s#]{0,300}#([^()\s]{1,200})\)/g;
const MAX_FRAGMENTS = 500;

/** Hashes of the fragments in a document's links within its own site, each once, ascending. */
export function linkedFragments(markdown: string): Uint32Array {
  const hashes = new Set<number>();
  for (const { 1: fragment = "" } of markdown.matchAll(LINKED_FRAGMENT)) {
    hashes.add(fragmentHash(decodeLoosely(fragment)));
    if (hashes.size === MAX_FRAGMENTS) break;
  }
  return Uint32Array.from(hashes).sort();
}
