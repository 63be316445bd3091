import { Failure } from "../../base/failure.ts";
import { MAX_LOC_LENGTH, type RecordReader, type SitemapRecord } from "./types.ts";

/**
 * Reads a plain text sitemap: one URL a line (sitemaps.org, "Text file"). Blank lines and lines that start
 * with `#` are passed over.
 * @param name of the sitemap, for messages
 */
export function createTextListReader(name: string): RecordReader {
  let records: SitemapRecord[] = [];
  let carry = "";
  let isSkipping = false;
  let hasUrl = false;

  const readLine = (line: string): void => {
    const loc = line.trim();
    if (loc === "" || loc.startsWith("#")) return;
    hasUrl ||= /^https?:\/\//i.test(loc);
    records.push({ names: "page", loc, mayBeRelative: false, lastModified: null });
  };

  return {
    read(piece) {
      const lines = (carry + piece).split(/\r\n|\r|\n/);
      carry = lines.pop() ?? "";
      if (isSkipping && lines.length > 0) {
        lines.shift();
        isSkipping = false;
      }
      for (const line of lines) readLine(line);
      if (isSkipping || carry.length > MAX_LOC_LENGTH) {
        isSkipping = true;
        carry = "";
      }
    },
    finish() {
      if (!isSkipping) readLine(carry);
      if (hasUrl) return;
      records = [];
      throw new Failure(
        "unsupported_content",
        `sitemap ${name} is neither XML nor a list of URLs, one a line`,
      );
    },
    take() {
      const taken = records;
      records = [];
      return taken;
    },
  };
}
