/** The element's name in capitals, whatever the case it was made with. */
export const nameOf = (element: Element): string => element.tagName.toUpperCase();

export const isElement = (node: Node | null): node is Element => node?.nodeType === 1;

export const classOf = (element: Element): string => element.getAttribute("class") ?? "";

/** The words of an element's class, lower-cased; a hostile class is cut off. */
export const classesOf = (element: Element): string[] =>
  classOf(element).slice(0, 1000).toLowerCase().split(/\s+/).filter(Boolean);

/** The node after this one and all that is inside it, in document order and inside `root`. */
export function following(node: Node, root: Node): Node | null {
  let at: Node | null = node;
  while (at && at !== root) {
    if (at.nextSibling) return at.nextSibling;
    at = at.parentNode;
  }
  return null;
}

/** Visits the elements below `root` in document order; one for which `visit` returns true is not entered. */
export function walkElements(root: Node, visit: (element: Element) => boolean): void {
  let node: Node | null = root.firstChild;
  while (node) {
    const skip = !isElement(node) || visit(node) || node.firstChild === null;
    node = skip ? following(node, root) : node.firstChild;
  }
}

/** The innermost ancestor, at most `levels` up, that passes. */
export function ancestorWhere(
  element: Element,
  levels: number,
  test: (element: Element) => boolean,
): Element | null {
  let at = element.parentElement;
  for (let level = 0; at && level < levels; level++, at = at.parentElement) if (test(at)) return at;
  return null;
}

/** A new element with attributes and children, made by the document of another one. */
export function build(
  beside: Element,
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): Element {
  const element = beside.ownerDocument.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Moves the children of one element to the end of another. */
export function moveChildren(from: Element, to: Element): void {
  for (let child = from.firstChild; child; child = from.firstChild) to.appendChild(child);
}

export const textOf = (node: Node): string => node.textContent ?? "";

/**
 * The text that starts at a text node, over the text nodes right after it: parsers begin a new one at each
 * character reference. Empty for a node that goes on with the text before it.
 */
export function textFrom(node: Node): string {
  if (node.previousSibling?.nodeType === 3) return "";
  let text = "";
  for (let at: Node | null = node; at?.nodeType === 3; at = at.nextSibling) text += at.nodeValue ?? "";
  return text;
}
