import { ancestorWhere, build, type ContentElement, findAll, moveChildren, named, textOf } from "../tree.ts";

/*
 * Office programs and editors write words in bold or italics as spans with a style, or with a class of the page's own sheet. They
 * become <strong> and <em>, as authors of HTML write them.
 */

/** The classes that a page's own style sheets make bold or italic. */
type Styles = { readonly bold: ReadonlySet<string>; readonly italic: ReadonlySet<string> };

const MAX_SHEETS = 300_000;
const SHEET = /<style[^>]{0,300}>([^<]{0,300000})<\/style/gi;
const RULE = /(?<=^|[},;/]\s{0,9})(?:span|font)?\.([\w-]{1,80})\s*\{([^{}]{0,2000})\}/g;
const BOLD = /font-weight\s*:\s*(?:bold|[6-9]00)/i;
const ITALIC = /font-style\s*:\s*(?:italic|oblique)/i;
const MAX_LEVELS = 8;

const isSpan = named("SPAN FONT");
const isBlock = named("P LI DD TD BLOCKQUOTE DIV");
const isMarked = named("STRONG B EM I H1 H2 H3 H4 H5 H6 TH DT CODE PRE FIGCAPTION CAPTION BUTTON");

/** @param html the source of the page, with its sheets */
export function canonicalEmphasis(root: ContentElement, html: string): void {
  const spans = findAll(root, isSpan).filter((span) => span.className !== "" || span.hasAttribute("style"));
  if (spans.length === 0) return;
  const styles = stylesIn(html);
  const lengths = new Map<ContentElement, number>();
  const lengthOf = (block: ContentElement): number => {
    const known = lengths.get(block) ?? textOf(block).trim().length;
    lengths.set(block, known);
    return known;
  };
  for (const span of spans) {
    const style = (span.getAttribute("style") ?? "").slice(0, 1000);
    const isBold = BOLD.test(style) || span.classes.some((name) => styles.bold.has(name));
    const isItalic = ITALIC.test(style) || span.classes.some((name) => styles.italic.has(name));
    if ((!isBold && !isItalic) || ancestorWhere(span, MAX_LEVELS, isMarked)) continue;
    const block = ancestorWhere(span, MAX_LEVELS, isBlock);
    const length = textOf(span).trim().length;
    // Emphasis on a whole block is a heading or a text in bold throughout; nothing stands out in it.
    if (length === 0 || block === null || length >= lengthOf(block)) continue;
    mark(span, isBold ? (isItalic ? ["STRONG", "EM"] : ["STRONG"]) : ["EM"]);
  }
}

function mark(span: ContentElement, names: readonly string[]): void {
  for (const name of names) {
    const marked = build(name, {});
    moveChildren(span, marked);
    span.append(marked);
  }
}

function stylesIn(html: string): Styles {
  const styles = { bold: new Set<string>(), italic: new Set<string>() };
  if (!/font-(?:weight|style)/i.test(html)) return styles;
  let read = 0;
  for (const [, sheet = ""] of html.matchAll(SHEET)) {
    read += sheet.length;
    if (read > MAX_SHEETS) break;
    for (const [, name = "", body = ""] of sheet.matchAll(RULE)) {
      if (BOLD.test(body)) styles.bold.add(name.toLowerCase());
      if (ITALIC.test(body)) styles.italic.add(name.toLowerCase());
    }
  }
  return styles;
}
