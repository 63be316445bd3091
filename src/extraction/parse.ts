import { parseHTML } from "linkedom";
import { Failure } from "../base/failure.ts";

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
export function selectAll(document: Document, selector: string, option: string): Element[] {
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
    for (const { name, value } of late.tagName === "HEAD" ? [] : late.attributes) {
      if (!early.hasAttribute(name)) early.setAttribute(name, value);
    }
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
      if (depth > MAX_DEPTH) {
        throw new Failure("too_large", `the page nests elements deeper than ${MAX_DEPTH} levels`);
      }
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
  for (let child = parent.firstElementChild; child; child = child.nextElementSibling) {
    if (child.tagName === tagName) return child;
  }
  return null;
}

/** @throws Failure `too_complex` for over 120 000 start tags or comments */
function requireFewElements(html: string): void {
  let count = 0;
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at + 1)) {
    if (!opensNode(html.charCodeAt(at + 1)) || ++count <= MAX_ELEMENTS) continue;
    throw new Failure(
      "too_complex",
      `the page has over ${MAX_ELEMENTS} elements, too many to match selectors on; without any it can be had`,
    );
  }
}

/** Tells whether a character after `<` begins an element, a comment or a processing instruction. */
const opensNode = (unit: number): boolean =>
  ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a) || unit === EXCLAMATION || unit === QUESTION;

const EXCLAMATION = 0x21;
const QUESTION = 0x3f;
