import type { Attributes } from "./inline.ts";

export const FENCE = /^```([\w+#-]{0,40})/;
export const BLOCK_LINE = /^\[(?:[^\]\n]|\](?=.)){0,1000}\]$/;
export const ITEM = /^[ \t]*(\*{1,10}|-|\.{1,10}|\d{1,9}\.|<(?:\d{1,3}|\.)>)[ \t]+(?=\S)/;

/** What the lines before a block say about it. */
export type Metadata = { readonly attributes: string; readonly title: string; readonly id: string };

export const NO_METADATA: Metadata = { attributes: "", title: "", id: "" };

/** Adds what a line says about the next block; null for any other line. */
export function noted(line: string, metadata: Metadata): Metadata | null {
  if (/^\[\[[^\]\n]{1,200}\]\]$/.test(line)) return { ...metadata, id: line.slice(2, -2).split(",")[0]! };
  if (/^\.[^\s.]/.test(line) && !ITEM.test(line)) return { ...metadata, title: line.slice(1) };
  if (!BLOCK_LINE.test(line)) return null;
  const attributes = line.slice(1, -1);
  const id = /^[^,]{0,60}#([\w.:-]{1,100})/.exec(attributes)?.[1] ?? metadata.id;
  return {
    ...metadata,
    id,
    attributes: metadata.attributes === "" ? attributes : `${metadata.attributes},${attributes}`,
  };
}

/** The language of code by its fence, its attributes or that of the document. */
export function languageOf(line: string, { attributes }: Metadata, { values }: Attributes): string {
  const [style = "", second = ""] = attributes.split(",").map((one) => one.trim());
  const named = FENCE.exec(line)?.[1] || /language="?([\w+#-]{1,40})/.exec(attributes)?.[1];
  if (named) return named;
  if (/^(?:source(?:%[\w%]{1,60})?|%[\w%]{1,60})?$/.test(style) && !second.includes("="))
    return second || (style === "source" ? (values.get("source-language") ?? "") : "");
  return "";
}
