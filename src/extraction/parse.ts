import { parseHTML } from "linkedom";
import { Failure } from "../base/failure.ts";
import type { ExtractionOptions } from "./types.ts";

/** Deeper trees are attacks or accidents, and the walks below are quadratic in depth. */
const MAX_DEPTH = 2500;
/** An element takes about 1 KB in linkedom; real pages have a few thousand elements. */
const MAX_ELEMENTS = 120_000;

/**
 * Parses HTML into a document that always has `html`, `head` and `body`, as in browsers; linkedom itself keeps
 * fragments and missing tags as they are.
 * @throws Failure `too_large` when elements nest deeper than 2500 levels, `too_complex` for over 120 000 elements
 */
export function parseDocument(html: string): Document {
  requireFewElements(html);
  // linkedom's declarations describe its own classes, which implement the parts of the DOM used here.
  // Browsers turn every line break into "\n" first; linkedom leaves that to its caller.
  const source = html.includes("\r") ? html.replace(/\r\n?/g, "\n") : html;
  const parsed = parseHTML(source).document as unknown as Document;
  const document = parsed.documentElement?.tagName === "HTML" ? parsed : wrapFragment(source);
  normaliseTree(document);
  completeSkeleton(document);
  return document;
}

/** Parses a CSS selector against a document; throws `Failure` `invalid_usage` when it is none. */
function selectAll(document: Document, selector: string, option: string): Element[] {
  try {
    if (selector.trim() === "") throw new SyntaxError("an empty selector");
    return [...document.querySelectorAll(selector)];
  } catch (cause) {
    throw new Failure("invalid_usage", `${option} ${JSON.stringify(selector)} is not a CSS selector`, {
      cause,
    });
  }
}

function wrapFragment(html: string): Document {
  const document = parseHTML(`<html><head></head><body>${html}</body></html>`)
    .document as unknown as Document;
  // A page may write `<html>` after its first content; browsers then keep only its attributes.
  for (const late of [...document.querySelectorAll("body html, body head, body body")]) {
    const early = late.tagName === "HTML" ? document.documentElement : document.body;
    for (const { name, value } of late.tagName === "HEAD" ? [] : late.attributes)
      if (!early.hasAttribute(name)) early.setAttribute(name, value);
    while (late.firstChild) late.parentNode?.insertBefore(late.firstChild, late);
    late.remove();
  }
  return document;
}

/** Checks the depth, and lower-cases the names of attributes, as HTML does. */
function normaliseTree(document: Document): void {
  let depth = 0;
  let node: Node | null = document.documentElement;
  while (node) {
    if (node.nodeType === 1) lowerAttributeNames(node as Element);
    const child: Node | null = node.firstChild;
    if (child) {
      depth++;
      if (depth > MAX_DEPTH)
        throw new Failure("too_large", `the page nests elements deeper than ${MAX_DEPTH} levels`);
      node = child;
      continue;
    }
    while (node && !node.nextSibling) {
      node = node.parentNode;
      depth--;
    }
    node = node?.nextSibling ?? null;
  }
}

function lowerAttributeNames(element: Element): void {
  for (const name of element.getAttributeNames()) {
    const lower = name.toLowerCase();
    if (lower === name) continue;
    if (!element.hasAttribute(lower)) element.setAttribute(lower, element.getAttribute(name) ?? "");
    element.removeAttribute(name);
  }
}

const HEAD_ONLY = new Set(["TITLE", "META", "LINK", "SCRIPT", "STYLE", "BASE", "NOSCRIPT", "TEMPLATE"]);

function completeSkeleton(document: Document): void {
  const root = document.documentElement;
  const head = childNamed(root, "HEAD") ?? root.insertBefore(document.createElement("head"), root.firstChild);
  const body = childNamed(root, "BODY") ?? root.appendChild(document.createElement("body"));
  const strays = [...strayNodes(head), ...[...root.childNodes].filter((n) => n !== head && n !== body)];
  const first = body.firstChild;
  for (const node of strays) body.insertBefore(node, first);
}

// Everything from the first element that cannot stand in a head belongs to the body.
function strayNodes(head: Element): Node[] {
  const nodes = [...head.childNodes];
  const start = nodes.findIndex((node) =>
    node.nodeType === 1
      ? !HEAD_ONLY.has((node as Element).tagName)
      : node.nodeType === 3 && node.textContent?.trim() !== "",
  );
  return start < 0 ? [] : nodes.slice(start);
}

function childNamed(parent: Element, tagName: string): Element | null {
  for (let child = parent.firstElementChild; child; child = child.nextElementSibling)
    if (child.tagName === tagName) return child;
  return null;
}

/** @throws Failure `too_complex` for over 120 000 start tags, comments or processing instructions */
function requireFewElements(html: string): void {
  const opening = /<[a-z!?]/gi;
  for (let count = 0; opening.test(html); ) {
    if (++count <= MAX_ELEMENTS) continue;
    throw new Failure(
      "too_complex",
      `the page has over ${MAX_ELEMENTS} elements, too many to match selectors on; without any it can be had`,
    );
  }
}

/** The rest of a page after selectors were applied. */
type Selected = {
  /** The elements that `select` matches, or the page without what is excluded; null when none is left. */
  readonly html: string | null;
  /** The number of elements that `select` matches. */
  readonly elements: number;
  /** The selectors of `exclude` that match nothing. */
  readonly unmatched: readonly string[];
};

/**
 * Applies CSS selectors to a page.
 * @throws Failure `invalid_usage` for a text that is no selector, `too_large` and `too_complex` as `parseDocument`
 */
export function applySelectors(html: string, { select, exclude }: ExtractionOptions): Selected {
  const document = parseDocument(html);
  const unmatched = removeExcluded(document, exclude);
  // An exclusion may have removed the whole page.
  if (document.documentElement === null || document.body === null)
    return { html: null, elements: 0, unmatched };
  if (select === null) return { html: sourceOf(document.documentElement), elements: 0, unmatched };
  const selected = selectAll(document, select, "select");
  const parts = outermost(selected).map(sourceOf);
  return { html: parts.length === 0 ? null : parts.join("\n"), elements: selected.length, unmatched };
}

/** Returns the matches that are not inside another match, which already contains them. */
function outermost(selected: readonly Element[]): readonly Element[] {
  const matches = new Set<Element>(selected);
  return selected.filter((element) => {
    let at = element.parentElement;
    while (at !== null && !matches.has(at)) at = at.parentElement;
    return at === null;
  });
}

/** Serialises an element so that it parses to the same tree; linkedom leaves attributes' & unescaped. */
function sourceOf(root: Element): string {
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const { name, value } of element.attributes)
      if (value.includes("&")) element.setAttribute(name, value.replaceAll("&", "&amp;"));
  }
  return root.outerHTML;
}

/**
 * Removes what the selectors match, all judged on the unchanged page, so that their order does not matter. Returns
 * the selectors that match nothing.
 */
function removeExcluded(document: Document, exclude: readonly string[]): readonly string[] {
  const matches = exclude.map((selector) => selectAll(document, selector, "exclude"));
  for (const element of matches.flat()) element.remove();
  return exclude.filter((_, index) => matches[index]?.length === 0);
}
