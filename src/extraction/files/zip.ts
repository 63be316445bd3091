import { unzipSync } from "fflate";
import { Failure } from "../../base/failure.ts";

/** The most entries of an archive; a long book has some hundred. */
const MAX_ENTRIES = 20_000;
/** The most bytes that the texts of a document may unpack to; a long novel has 2 MB. */
const MAX_UNPACKED_BYTES = 100 * 1024 * 1024;

/** The texts of an archive by their names. */
export type Entries = ReadonlyMap<string, string>;

/**
 * Unpacks the texts of an archive, and nothing else.
 * @throws Failure `too_large` beyond the limits, `damaged_document`
 */
export function unzipTexts(bytes: Uint8Array): Entries {
  let [entries, total] = [0, 0];
  const filter = ({ name, originalSize }: { name: string; originalSize: number }): boolean => {
    if (++entries > MAX_ENTRIES) throw tooLarge(`holds more than ${MAX_ENTRIES} files`);
    if (!TEXTS.test(name)) return false;
    // An entry that unpacks to more than it says is cut there, so the sum of what they say is the limit.
    total += originalSize;
    if (total > MAX_UNPACKED_BYTES) throw tooLarge(`unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
    return true;
  };
  const decoder = new TextDecoder();
  try {
    const files = Object.entries(unzipSync(bytes, { filter }));
    return new Map(files.map(([name, content]) => [name, decodeXml(content, decoder)]));
  } catch (error) {
    if (error instanceof Failure) throw error;
    const reason = error instanceof Error ? error.message : "";
    throw new Failure("damaged_document", `the document's archive is damaged: ${reason}`, { cause: error });
  }
}

const TEXTS = /(?:\.(?:xml|rels|opf|x?html?)|^mimetype)$/i;

/** XML is UTF-8, or UTF-16 with a mark. */
function decodeXml(bytes: Uint8Array, utf8: TextDecoder): string {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  return a === 0xfe && b === 0xff ? new TextDecoder("utf-16be").decode(bytes) : utf8.decode(bytes);
}

const tooLarge = (what: string): Failure => new Failure("too_large", `the document ${what}`);
