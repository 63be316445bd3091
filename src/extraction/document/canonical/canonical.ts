import { type ContentElement, type ContentNode, following, nextNode } from "../tree.ts";
import { canonicalAdmonition } from "./admonition.ts";
import { canonicalCode } from "./code.ts";
import { canonicalFootnotes } from "./footnotes.ts";
import { canonicalDelimiters, canonicalMath } from "./math.ts";
import { canonicalMedia, canonicalNoscript, canonicalTask, labelTabs } from "./structures.ts";

/**
 * Rewrites what generators, highlighters and formula renderers make of code, formulas, admonitions, tabs,
 * tasks, footnotes and embedded media into one form each, in place: the form that our own HTML has, so
 * that it is read again as what it is. Idempotent.
 * @param drawsFormulas whether a script of the page draws the formulas between `$…$` and the like in its text
 */
export function canonicalise(root: ContentElement, drawsFormulas: () => boolean): void {
  let node = root.firstChild;
  while (node) node = node.kind === "text" ? following(node, root) : rewrite(node, root);
  canonicalDelimiters(root, drawsFormulas);
  canonicalFootnotes(root);
}

/** Rewrites one element; the node to go on with. */
function rewrite(element: ContentElement, root: ContentElement): ContentNode | null {
  labelTabs(element);
  canonicalTask(element);
  const replacement = leafOf(element);
  if (replacement !== undefined) {
    const next = following(element, root);
    if (replacement === null) element.remove();
    else element.replaceWith(replacement);
    return next;
  }
  const admonition = canonicalAdmonition(element);
  if (admonition) {
    element.replaceWith(admonition);
    return nextNode(admonition, root);
  }
  return nextNode(element, root);
}

// Nothing inside these is looked at again.
function leafOf(element: ContentElement): ContentElement | null | undefined {
  const math = canonicalMath(element);
  if (math !== undefined) return math;
  const image = canonicalNoscript(element);
  if (image !== undefined) return image;
  const { name } = element;
  if (name === "CODE" && element.className.includes("math-inline")) return undefined;
  return canonicalCode(element) ?? canonicalMedia(element);
}
