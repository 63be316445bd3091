import type { PageModel } from "./page-model.ts";
import { Tag, tagId } from "./tags.ts";

const SLOT = tagId("slot");
const SHADOW_MODE = /\sshadowroot(?:mode)?\s*=\s*["']?(?:open|closed)\b/i;
const NAME = /\sname\s*=\s*(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'>]{1,200}))/i;
const SLOT_OF_CHILD = /\sslot\s*=\s*(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'>]{1,200}))/i;

/**
 * The page as browsers put it together where it declares shadow roots: what a root holds stands in its element,
 * and the element's own content in the root's slots. Roots inside of a root's element are left as they are:
 * the result is to be read and asked again. Linear in the length of the page.
 * @returns null for a page without shadow roots, as most are
 */
export function withShadowRoots(model: PageModel): string | null {
  const { html, elementCount, tag, parent, openEnd, elementEnd } = model;
  let composed = "";
  let at = 0;
  for (let element = 0; element < elementCount; element++) {
    const host = parent[element]!;
    if (tag[element] !== Tag.template || host < 0 || !SHADOW_MODE.test(startTagOf(model, element))) continue;
    // Never twice the same text: an element has one root, and content outside of it stands once.
    if (openEnd[host]! < at) continue;
    composed += html.slice(at, openEnd[host]!) + compose(model, host, element);
    at = endTagStart(model, host);
    element = elementEnd[host]! - 1;
  }
  return at === 0 ? null : composed + html.slice(at);
}

const startTagOf = ({ html, openStart, openEnd }: PageModel, element: number): string =>
  html.slice(openStart[element]!, Math.min(openEnd[element]!, openStart[element]! + 2000));

const END_TAG = /<\/[^<>]{0,200}>$/;

/** Where an element's content ends. */
function endTagStart({ html, openEnd, closeEnd }: PageModel, element: number): number {
  const end = closeEnd[element]!;
  const tail = END_TAG.exec(html.slice(Math.max(openEnd[element]!, end - 210), end));
  return end - (tail?.[0].length ?? 0);
}

/** The content of a root with that of its element in its slots; what has no slot stands behind it. */
function compose(model: PageModel, host: number, root: number): string {
  const { html, tag, openEnd, closeEnd, openStart, elementEnd } = model;
  const assigned = contentBySlot(model, host, root);
  let content = "";
  let at = openEnd[root]!;
  for (let inner = root + 1; inner < elementEnd[root]!; inner++) {
    // The slots of a root inside are that one's.
    if (tag[inner] === Tag.template) {
      inner = elementEnd[inner]! - 1;
      continue;
    }
    if (tag[inner] !== SLOT || openStart[inner]! < at) continue;
    const name = attributeIn(NAME, startTagOf(model, inner));
    const own = assigned.get(name);
    if (own === undefined) continue;
    assigned.delete(name);
    content += html.slice(at, openStart[inner]!) + own;
    at = closeEnd[inner]!;
  }
  content += html.slice(at, endTagStart(model, root));
  return `<div>${content}</div>${[...assigned.values()].join("")}`;
}

/** The element's own content by the name of the slot that it asks for; empty for the slot of all else. */
function contentBySlot(model: PageModel, host: number, root: number): Map<string, string> {
  const { html, elementEnd, openStart, closeEnd, openEnd } = model;
  const contents = new Map<string, string>();
  const add = (name: string, piece: string): void => {
    if (piece.trim() !== "") contents.set(name, (contents.get(name) ?? "") + piece);
  };
  let at = openEnd[host]!;
  for (let child = host + 1; child < elementEnd[host]!; child = elementEnd[child]!) {
    add("", html.slice(at, openStart[child]!));
    at = closeEnd[child]!;
    if (child !== root) {
      add(attributeIn(SLOT_OF_CHILD, startTagOf(model, child)), html.slice(openStart[child]!, at));
    }
  }
  add("", html.slice(at, endTagStart(model, host)));
  return contents;
}

function attributeIn(attribute: RegExp, startTag: string): string {
  const match = attribute.exec(startTag);
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? "";
}
