import sax from "sax";
import { SitemapElements } from "./elements.ts";
import type { RecordReader } from "./types.ts";

const MAX_ATTRIBUTES = 200;

/**
 * Reads a sitemap, a sitemap index, RSS or Atom. Mistakes that can be got over are: bare ampersands, wrong
 * case, missing namespaces. Entities that the document declares itself are refused, and nothing outside of
 * it is ever loaded.
 * @param name of the sitemap, for messages
 */
export function createXmlReader(name: string): RecordReader {
  const elements = new SitemapElements(name);
  const parser = openParser(elements);
  return {
    read: (piece) => void parser.write(piece),
    finish: () => {
      parser.close();
      elements.finish();
    },
    take: () => elements.take(),
  };
}

// Known to the package, not to its types: only the entities of XML itself.
const OPTIONS = { lowercase: true, noscript: true, strictEntities: true };

// Not strict: sitemaps are written by templates, and a bare "&" in one URL must not cost the others.
// `position` stays on: without it the parser does not look after the length of its own buffers.
function openParser(elements: SitemapElements): sax.SAXParser {
  const parser = sax.parser(false, OPTIONS);
  let attributes = 0;
  parser.onopentagstart = () => {
    attributes = 0;
  };
  parser.onattribute = () => {
    attributes++;
    if (attributes > MAX_ATTRIBUTES)
      throw elements.malformed(`has more than ${MAX_ATTRIBUTES} attributes in a tag`);
  };
  parser.ondoctype = (text) => {
    if (/<!\s*ENTITY/i.test(text)) throw elements.malformed("declares entities, which are refused");
  };
  // Only with the option `xmlns` are attributes anything but strings.
  parser.onopentag = ({ name, attributes }) =>
    elements.open(name, attributes as Readonly<Record<string, string>>);
  parser.onclosetag = () => elements.close();
  parser.ontext = (text) => elements.text(text);
  parser.oncdata = (text) => elements.text(text);
  parser.onerror = ({ message }) => {
    if (message.startsWith("Max buffer length"))
      throw elements.malformed("holds a name, value or declaration of more than 64 KiB");
    parser.resume(); // an end inside a tag, which `elements.finish` words
  };
  return parser;
}
