import type { AttributeTable } from "../types.ts";
import { type DocumentAttributes, KINDS } from "./attributes.ts";

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
 * @returns null when the columns are not those of so many documents
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
