import { parseHTML } from "linkedom";
import { Marked } from "marked";

/** The parts of a document's structure that are counted. */
export const PARTS = ["headings", "list items", "table rows", "code blocks", "links"] as const;
export type Part = (typeof PARTS)[number];
export type Parts = Readonly<Record<Part, readonly string[]>>;

/** Kept parts are in the reference and here, lost ones only in the reference, added ones only here. */
export type Tally = { kept: number; lost: number; added: number };

const marked = new Marked({ gfm: true });

const read = (markdown: string) =>
  parseHTML(`<html><body>${marked.parse(markdown, { async: false })}</body></html>`).document;

/** The words that a reader of a Markdown document sees. */
export const textOf = (markdown: string): string =>
  read(markdown)
    .body.innerHTML.replace(/<\/?(?:strong|em|del|a|code|span|sup|sub|b|i|u)\b[^>]*>/g, "")
    .replace(/<[^>]*>/g, " ");

/** The parts of a Markdown document: texts reduced to their letters and digits, links to their addresses. */
export function partsOf(markdown: string, url: string): Parts {
  const document = read(markdown);
  const all = (selector: string): Element[] => [
    ...(document as unknown as Document).querySelectorAll(selector),
  ]; // linkedom's types describe the same DOM
  return {
    headings: texts(all("h1, h2, h3, h4, h5, h6").map((heading) => heading.textContent)),
    "list items": texts(all("li").map(ownText)),
    "table rows": texts(all("tr").map((row) => row.textContent)),
    "code blocks": texts(all("pre").map((pre) => pre.textContent)),
    links: all("a[href]")
      .map((link) => addressOf(link.getAttribute("href") ?? "", url))
      .filter((address) => address !== ""),
  };
}

const fold = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
const texts = (list: readonly (string | null)[]): string[] =>
  list.map((text) => fold(text ?? "")).filter((text) => text !== "");

// Only an item's own words count; those of inner lists belong to the inner items.
function ownText(item: Element): string {
  let text = "";
  for (const child of item.childNodes) {
    if (!/^(?:UL|OL|TABLE|PRE)$/.test(child.nodeName.toUpperCase())) text += child.textContent ?? "";
  }
  return text;
}

function addressOf(href: string, url: string): string {
  const parsed = URL.parse(href, url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return "";
  return safeDecode(`${parsed.host}${parsed.pathname}${parsed.search}`.replace(/\/$/, ""));
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What the parts of one kind have in common on a page; a part that appears twice counts twice. */
export type Comparison = { readonly kept: number; readonly lost: string[]; readonly added: string[] };

export function compareParts(reference: readonly string[], found: readonly string[]): Comparison {
  const rest = new Map<string, number>();
  for (const item of reference) rest.set(item, (rest.get(item) ?? 0) + 1);
  const added: string[] = [];
  for (const item of found) {
    const left = rest.get(item) ?? 0;
    if (left === 0) added.push(item);
    else rest.set(item, left - 1);
  }
  const lost = [...rest].flatMap(([item, count]) => Array.from({ length: count }, () => item));
  return { kept: found.length - added.length, lost, added };
}

/** Adds one page's comparison to the tallies. */
export function tally(tallies: Map<Part, Tally>, reference: Parts, found: Parts): void {
  for (const part of PARTS) {
    const sum = tallies.get(part) ?? { kept: 0, lost: 0, added: 0 };
    const { kept, lost, added } = compareParts(reference[part], found[part]);
    sum.kept += kept;
    sum.lost += lost.length;
    sum.added += added.length;
    tallies.set(part, sum);
  }
}
