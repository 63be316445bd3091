import { canonicalAdmonition } from "./admonition.ts";
import { canonicalCode } from "./code.ts";
import { following, isElement, nameOf } from "./element.ts";
import { canonicalFootnotes } from "./footnotes.ts";
import { canonicalDelimiters, canonicalMath } from "./math.ts";
import { canonicalMedia, canonicalNoscript, canonicalTask, labelTabs } from "./structures.ts";

/**
 * Rewrites what generators, highlighters and formula renderers make of code, formulas, admonitions, tabs,
 * tasks, footnotes and embedded media into one form each, in place: the form that our own HTML has, so
 * that it is read again as what it is. Idempotent.
 * @param drawsFormulas whether a script of the page draws the formulas between `$…$` and the like in its text
 */
export function canonicalise(root: Element, drawsFormulas: boolean): void {
  let node: Node | null = root.firstChild;
  while (node) {
    if (!isElement(node)) {
      node = following(node, root);
      continue;
    }
    node = rewrite(node, root);
  }
  canonicalDelimiters(root, drawsFormulas);
  canonicalFootnotes(root);
}

/** Rewrites one element; the node to go on with. */
function rewrite(element: Element, root: Element): Node | null {
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
    return admonition.firstChild ?? following(admonition, root);
  }
  return element.firstChild ?? following(element, root);
}

// Nothing inside these is looked at again.
function leafOf(element: Element): Element | null | undefined {
  const math = canonicalMath(element);
  if (math !== undefined) return math;
  const image = canonicalNoscript(element);
  if (image !== undefined) return image;
  const name = nameOf(element);
  if (name === "CODE" && element.getAttribute("class")?.includes("math-inline")) return undefined;
  return canonicalCode(element) ?? canonicalMedia(element);
}
