import {
  build,
  type ContentElement,
  type ContentNode,
  type ContentText,
  isElement,
  moveChildren,
  nextNode,
} from "../tree.ts";

/*
 * Word processors write the items of a list as paragraphs with a hanging sign: `·` or `1.`, and wide space. They become
 * the list that readers see.
 */

/** Matches a style that hangs the sign of an item out of its paragraph. */
const HANGS = /text-indent\s{0,9}:\s{0,9}-|mso-list\s{0,9}:/i;
const SIGN = /^\s{0,20}(?:[·•◦▪‣§o–-]|(\d{1,4})[.)])(?:\s{2,40}|\u00a0\s{0,40}|\t\s{0,40})(?=\S)/;
const LEVEL = /mso-list\s{0,9}:[^;]{0,40}\blevel(\d)/i;
const MARGIN = /margin(?:-left)?\s{0,9}:(?:[^;]{0,40}\s)?([\d.]{1,6})(?:in|pt|cm|px)/i;

type Item = {
  readonly paragraph: ContentElement;
  readonly number: string | undefined;
  readonly level: number;
};

/** Returns the list that begins with a paragraph, and takes its items out of the page; undefined for other elements. */
export function listOfParagraphs(element: ContentElement): ContentElement | undefined {
  const items: Item[] = [];
  for (let at: ContentNode | null = element; at; at = at.nextSibling) {
    const item = isElement(at) ? itemIn(at) : null;
    if (item) items.push(item);
    else if (isElement(at) || at.text.trim() !== "") break;
  }
  const [first] = items;
  if (!first) return undefined;
  const open: { readonly level: number; readonly list: ContentElement }[] = [];
  for (const item of items) {
    while (open.length > 1 && item.level < open.at(-1)!.level) open.pop();
    const last = open.at(-1);
    if (!last || item.level > last.level) {
      const list = item.number ? build("OL", { start: item.number }) : build("UL", {});
      (last?.list.children.at(-1) ?? last?.list)?.append(list);
      open.push({ level: item.level, list });
    }
    open.at(-1)!.list.append(listItem(item.paragraph));
    if (item !== first) item.paragraph.remove();
  }
  return open[0]!.list;
}

function itemIn(paragraph: ContentElement): Item | null {
  const style = (paragraph.getAttribute("style") ?? "").slice(0, 500);
  if (paragraph.name !== "P" || !HANGS.test(style)) return null;
  const sign = SIGN.exec(startOf(paragraph));
  if (!sign) return null;
  const level = Number(LEVEL.exec(style)?.[1] ?? MARGIN.exec(style)?.[1] ?? 0);
  return { paragraph, number: sign[1], level };
}

/** The first characters that a paragraph shows: enough for its sign. */
function startOf(paragraph: ContentElement): string {
  let text = "";
  for (let node = paragraph.firstChild; node && text.length < 100; node = nextNode(node, paragraph))
    if (node.kind === "text") text += node.text;
  return text.slice(0, 100);
}

/** Makes an item of a paragraph without its sign. */
function listItem(paragraph: ContentElement): ContentElement {
  let left = SIGN.exec(startOf(paragraph))?.[0].length ?? 0;
  for (let node = paragraph.firstChild; node && left > 0; node = nextNode(node, paragraph)) {
    if (node.kind !== "text") continue;
    left -= cutStart(node, left);
  }
  const item = build("LI", {});
  moveChildren(paragraph, item);
  return item;
}

function cutStart(node: ContentText, most: number): number {
  const cut = Math.min(most, node.text.length);
  node.text = node.text.slice(cut);
  return cut;
}
