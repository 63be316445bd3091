import { Failure } from "../../base/failure.ts";
import { systemCode, systemFailure } from "../../base/system-error.ts";
/**
 * A segment file, all numbers little-endian:
 *
 * ```
 *  0                 4096                                        tableStart
 *  ┌────────┬─────────┬──────────┬──────────┬─────┬──────────┬──────────┐
 *  │ header │ section │ section  │ section  │ ... │ section  │ CRC-32   │
 *  │        │ (each begins at a multiple of 8 bytes)        │ of chunks│
 *  └────────┴─────────┴──────────┴──────────┴─────┴──────────┴──────────┘
 * ```
 *
 * The header has a checksum of its own and one of the table; the table has one for each chunk of 16 KiB (the
 * first chunk without the header). Opening reads header and table; a chunk is checked when its first byte is
 * asked for, so that opening costs the same for every size.
 */
export const MAGIC = "AXSEARCH";

/** Raise this with every change of what the sections hold; files of other versions are refused. */
export const FORMAT_VERSION = 4;

export const HEADER_BYTES = 4096;
export const CHUNK_BYTES = 16 * 1024;

/** The sections in the order in which the header lists them. */
export const SECTIONS = [
  "meta",
  "stored",
  "storedOffsets",
  "urls",
  "urlBlocks",
  "hashes",
  "layouts",
  "layoutOffsets",
  "lengths",
  "signatures",
  "postings",
  "terms",
  "termBlocks",
  "attributes",
  "attributeNames",
  "termEnds",
  "termEndBlocks",
] as const;

export type SectionName = (typeof SECTIONS)[number];

/** Byte offsets in the file, `end` exclusive. */
export type SectionRange = { readonly start: number; readonly end: number };

/** The offsets of the header's fields. */
export const HEADER = {
  version: 8,
  fileLength: 16,
  tableStart: 24,
  chunkCount: 32,
  tableChecksum: 36,
  sections: 64,
  checksum: HEADER_BYTES - 4,
} as const;

/**
 * Translates an error of writing; an error that does not come from the system is a bug and is returned
 * unchanged.
 */
export const asWriteFailure = (error: unknown, path: string): unknown =>
  systemFailure(error, "unwritable_output", `the search index ${path} could not be written`);

/** Translates an error of opening. */
export function asReadFailure(error: unknown, path: string): unknown {
  const reason = systemCode(error);
  if (reason === "ENOENT" || reason === "ENOTDIR") {
    return new Failure("index_missing", `there is no search index at ${path}; it has to be built first`, {
      cause: error,
    });
  }
  return systemFailure(error, "unreadable_input", `the search index ${path} could not be read`);
}

/** The Failure for a file that is not what was written. */
export const corrupt = (path: string, what: string): Failure =>
  new Failure("index_corrupt", `the search index ${path} is damaged (${what}); build it again`);
