import { decodeStream } from "./decode.ts";
import type { OpenSitemap } from "./open.ts";
import type { RecordReader, SitemapRecord } from "./record.ts";
import { createTextListReader } from "./text-list.ts";
import { createXmlReader } from "./xml.ts";

/**
 * The records of one open sitemap, piece by piece; XML or a text list by its first character.
 * @param name of the sitemap, for messages
 * @throws Failure `unsupported_content`, and what reading the bytes throws; what came before has been yielded
 */
export async function* readRecords(
  { bytes, charset }: OpenSitemap,
  name: string,
): AsyncGenerator<readonly SitemapRecord[]> {
  let reader: RecordReader | null = null;
  try {
    for await (const piece of decodeStream(bytes, charset)) {
      const text: string = reader === null ? piece.replace(/^[\ufeff\s]+/, "") : piece;
      if (text === "") continue;
      reader ??= text.startsWith("<") ? createXmlReader(name) : createTextListReader(name);
      reader.read(text);
      yield reader.take();
    }
    reader ??= createTextListReader(name);
    reader.finish();
  } catch (error) {
    yield reader?.take() ?? [];
    throw error;
  }
  yield reader.take();
}
