import { parse } from "yaml";

/** A scalar of the block. A timestamp is written without quotes, so that YAML readers see its type. */
export type FrontMatterValue = string | number | boolean | null | { readonly timestamp: string };

/** A document's parsed metadata block, and the text after it. */
export type FrontMatter = { readonly fields: Readonly<Record<string, unknown>>; readonly body: string };

// Parsing hostile YAML takes more than linear time in places; at this size the worst known text takes 0.2 s.
const MAX_FRONT_MATTER_LENGTH = 32 * 1024;

/**
 * Writes a YAML front matter block with both `---` lines and the last newline. Strings are always quoted, so
 * that `no`, `1.0` or `- x` as a title stays a string for every YAML reader. Lone surrogates become U+FFFD.
 * @param fields in the order to write them; keys are our own plain identifiers
 */
export function formatFrontMatter(fields: Readonly<Record<string, FrontMatterValue>>): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${formatScalar(value)}\n`);
  return `---\n${lines.join("")}---\n`;
}

/**
 * Splits a document that begins with a YAML mapping between `---` lines (YAML 1.2 core schema, so dates stay
 * strings). Documents are hostile, so aliases and blocks over 32 768 characters are refused.
 * @returns null when there is no such block, so that a document which opens with a thematic break, or whose
 * block is broken, keeps all its text as body
 */
export function parseFrontMatter(text: string): FrontMatter | null {
  const block = findBlock(text);
  if (!block) return null;
  const fields = parseMapping(text.slice(block.start, block.end));
  return fields && { fields, body: text.slice(block.bodyStart) };
}

function formatScalar(value: FrontMatterValue): string {
  if (typeof value === "string") return quote(value);
  return value !== null && typeof value === "object" ? value.timestamp : String(value);
}

// A JSON string is also a double-quoted YAML string, except for characters that YAML regards as unprintable
// or as line breaks.
const quote = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

type Block = { readonly start: number; readonly end: number; readonly bodyStart: number };

function findBlock(text: string): Block | null {
  const opening = /^\ufeff?---[ \t]*\r?\n/.exec(text.slice(0, 200));
  if (!opening) return null;
  const start = opening[0].length;
  for (let end = start; end <= start + MAX_FRONT_MATTER_LENGTH; ) {
    const newline = text.indexOf("\n", end);
    const lineEnd = newline < 0 ? text.length : newline;
    // Only a line that can be a marker is trimmed, because a body may be one line of megabytes.
    const isMarker = text.startsWith("---", end) && text.slice(end, lineEnd).trimEnd() === "---";
    if (isMarker) return { start, end, bodyStart: Math.min(lineEnd + 1, text.length) };
    if (newline < 0) return null;
    end = newline + 1;
  }
  return null;
}

function parseMapping(yaml: string): Readonly<Record<string, unknown>> | null {
  let value: unknown;
  try {
    value = parse(yaml, {
      schema: "core",
      maxAliasCount: 0,
      // The library's check is quadratic in the number of keys; without it the last one wins.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
  } catch {
    // Whatever the library's complaint, this is no block that we can read.
    return null;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  return value as Readonly<Record<string, unknown>>; // the core schema makes plain objects of mappings
}
