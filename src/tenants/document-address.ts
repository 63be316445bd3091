import { type DocumentUrl, parseDocumentUrl } from "../urls/index.ts";

const PARTS = /^([a-z]+:\/\/[^/?#]+)([^?#]*)(\?[^#]*)?/i;
const ENDING = /\.(?:html?|mdx?|markdown|rst|adoc|txt)$/i;
const INDEX = /\/(?:index|readme)$/i;

/** What documentation appends to an address: nothing, a slash, an ending, or the name of an index page. */
const TAILS = [
  "",
  "/",
  ".html",
  ".md",
  ".mdx",
  ".rst",
  "/index.html",
  "/index.md",
  "/index.mdx",
  "/README.md",
] as const;

/**
 * The addresses under which an index may hold the document of an address, the likeliest first: as it is, and
 * without its query or with another ending, since generators and people write a page's address in several ways.
 * @param address of a page or a document, possibly with a fragment; other text has none
 */
export function* documentAddresses(address: string): Generator<DocumentUrl> {
  const [written = "", origin, path = "", query = ""] = PARTS.exec(address.trim()) ?? [];
  if (origin === undefined) return;
  const exact = parseDocumentUrl(written);
  if (exact) yield exact;
  const bare = path.replace(/(?<!\/)\/+$/, "");
  const stem = bare.replace(ENDING, "");
  const stems = new Set([bare, stem, stem.replace(INDEX, "")]);
  for (const start of originsOf(origin)) {
    for (const one of stems) {
      for (const tail of TAILS) {
        const found = parseDocumentUrl(`${start}${one}${tail}${tail === "" ? query : ""}`);
        if (found) yield found;
        const plain = query === "" ? null : parseDocumentUrl(`${start}${one}${tail}`);
        if (plain) yield plain;
      }
    }
  }
}

function originsOf(origin: string): readonly string[] {
  if (/^https:/i.test(origin)) return [origin, `http${origin.slice(5)}`];
  return /^http:/i.test(origin) ? [origin, `https${origin.slice(4)}`] : [origin];
}
