import { findAddresses } from "./inline.ts";
import { cellsOf, scanBlocks } from "./scan.ts";

/** An address in Markdown, as a range of UTF-16 code units. */
type FoundAddress = { readonly address: string; readonly start: number; readonly end: number };

/** A text with phrases: its lines, each with its start and end in the Markdown. */
type Phrases = (readonly [start: number, end: number])[];

/**
 * The addresses of the pictures in Markdown, in the order of their places; also those of links around a picture that
 * lead to its file. What looks like a picture in code is text. Pictures that are written as HTML are left out.
 */
export const pictureAddresses = (markdown: string): readonly FoundAddress[] => find(markdown, "![", true);

/** The same of all links and pictures. */
export const addressesIn = (markdown: string): readonly FoundAddress[] => find(markdown, "[", false);

/** @param sign what a text without an address lacks */
function find(markdown: string, sign: string, onlyPictures: boolean): readonly FoundAddress[] {
  const { texts, references, definitions } = readPhrases(markdown);
  const found = new Map<number, FoundAddress>();
  const add = (address: string, [start, end]: readonly [start: number, end: number]): void => {
    found.set(start, { address, start, end });
  };
  for (const lines of texts) {
    const text = lines.map(([start, end]) => markdown.slice(start, end)).join("\n");
    if (!text.includes(sign)) continue;
    findAddresses(text, { references }, (address, place, isPicture) => {
      if (onlyPictures && !isPicture) return;
      if (typeof place !== "string") return add(address, placeIn(lines, place));
      const definition = definitions.get(place);
      if (definition) add(address, definition);
    });
  }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

function readPhrases(markdown: string) {
  const texts: Phrases[] = [];
  const references = new Map<string, string>();
  const definitions = new Map<string, readonly [start: number, end: number]>();
  let kind = "paragraph";
  let lines: Phrases = [];
  scanBlocks(markdown, {
    begin: (leaf) => {
      kind = leaf.kind;
      lines = [];
    },
    line: (start, end) => {
      lines.push([start, end]);
    },
    end: () => {
      if (kind === "table") for (const [start, end] of lines) addCells(start, end);
      else if (kind !== "code" && kind !== "math") texts.push(lines);
    },
    reference: (label, address, start) => {
      const key = label.trim().toLowerCase();
      if (references.has(key)) return;
      const from = markdown.indexOf(address, start + label.length + "[]:".length);
      references.set(key, address);
      definitions.set(key, [from, from + address.length]);
    },
  });
  function addCells(start: number, end: number): void {
    for (const cell of cellsOf(markdown, start, end)) texts.push([cell]);
  }
  return { texts, references, definitions };
}

/** The place in the Markdown of a range in joined lines; an address never goes beyond its line. */
function placeIn(lines: Phrases, [start, end]: readonly [start: number, end: number]) {
  let before = 0;
  for (const [lineStart, lineEnd] of lines) {
    const length = lineEnd - lineStart;
    if (start <= before + length) return [lineStart + start - before, lineStart + end - before] as const;
    before += length + 1;
  }
  throw new RangeError("a place behind the last line");
}
