import { join } from "node:path";
import { parseHTML } from "linkedom";

/** Known ways to make a page run code, one each: a line, or two where the first ends inside a tag or code. */
export async function readVectors(): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "..", "fixtures", "hostile", "vectors.txt")).text();
  const vectors: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const isContinued = !line.startsWith("<") || /^<script>alert\(1\)<\/script><\/pre>$/.test(line);
    if (isContinued && vectors.length > 0) vectors[vectors.length - 1] += `\n${line}`;
    else vectors.push(line);
  }
  return vectors;
}

/** An address that is followed, of a scheme that may run code. */
export function addressFaults(key: string, value: string): string[] {
  if (!["href", "src", "cite"].includes(key)) return [];
  const { protocol } = new URL(value, "https://relative.test/");
  return /^(?:https?|mailto|tel|ftp|geo|xmpp):$/.test(protocol) ? [] : [`${key}=${value}`];
}

/** What could run in rendered Markdown; renderers add classes and ids of their own, which count for nothing. */
export function dangersIn(html: string): string[] {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const dangers: string[] = [];
  for (const element of document.querySelectorAll("body *")) {
    if (
      /^(?:script|style|iframe|object|embed|svg|math|form|base|meta|link|template)$/.test(element.localName)
    ) {
      dangers.push(element.localName);
    }
    for (const { name, value } of element.attributes) {
      if (/^on|^style$|^srcdoc$|^formaction$/.test(name)) dangers.push(`${element.localName}[${name}]`);
      dangers.push(...addressFaults(name, value));
    }
  }
  return dangers;
}
