import { join } from "node:path";

const INLINE = new Set(
  "a abbr b bdi bdo cite code data dfn del em font i ins kbd label mark q s samp small span strong sub sup time u var wbr".split(
    " ",
  ),
);
const ELEMENT_NODE = 1;
const TEXT_NODE = 3;

/**
 * The text of an element with a line break around everything that is not inline, so that the words of
 * neighbouring blocks stay apart: the peers return HTML, and the scorer counts words.
 */
export function readBlockText(root: Node): string {
  const parts: string[] = [];
  const waiting: (Node | "\n")[] = [root];
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    if (item === "\n") parts.push(item);
    else if (item.nodeType === TEXT_NODE) parts.push(item.textContent ?? "");
    else if (item.nodeType === ELEMENT_NODE) pushChildren(item, waiting, parts);
  }
  return parts.join("").trim();
}

function pushChildren(element: Node, waiting: (Node | "\n")[], parts: string[]): void {
  const isBlock = !INLINE.has(element.nodeName.toLowerCase());
  if (isBlock) {
    parts.push("\n");
    waiting.push("\n");
  }
  for (let child = element.lastChild; child !== null; child = child.previousSibling) waiting.push(child);
}

/** The part of the DOM that the peers need. */
export type ParseHtml = (html: string) => { readonly document: Document };

/**
 * Imports a module from the scratch folder in which the bench installed the peers. The caller says what the
 * module exports, because its declarations are not installed here.
 */
export async function loadPeer<Module>(scratch: string, modulePath: string): Promise<Module> {
  return (await import(join(scratch, "node_modules", modulePath))) as Module;
}
