import { parseHTML } from "linkedom";
import { Failure } from "../failure.ts";

/** Deeper trees are attacks or accidents; the walks below are quadratic in depth. */
const MAX_DEPTH = 2500;

/**
 * Parses HTML into a document that always has `html`, `head` and `body`, as browsers make them:
 * linkedom keeps the tree as the page wrote it, fragments and missing tags included.
 * @throws Failure `too_large` when elements nest deeper than 2500 levels
 */
export function parseDocument(html: string): Document {
  // linkedom's declarations describe its own classes, which implement the parts of the DOM used here.
  const parsed = parseHTML(html).document as unknown as Document;
  const document = parsed.documentElement?.tagName === "HTML" ? parsed : wrapFragment(html);
  requireDepth(document);
  completeSkeleton(document);
  return document;
}

/** Parses a CSS selector against a document; throws `Failure` `invalid_usage` when it is none. */
export function selectAll(document: Document, selector: string, option: string): Element[] {
  try {
    return [...document.querySelectorAll(selector)];
  } catch (cause) {
    throw new Failure("invalid_usage", `${option} ${JSON.stringify(selector)} is not a CSS selector`, {
      cause,
    });
  }
}

function wrapFragment(html: string): Document {
  return parseHTML(`<html><head></head><body>${html}</body></html>`).document as unknown as Document;
}

function requireDepth(document: Document): void {
  let depth = 0;
  let node: Node | null = document.documentElement;
  while (node) {
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

const HEAD_ONLY = new Set(["TITLE", "META", "LINK", "SCRIPT", "STYLE", "BASE", "NOSCRIPT", "TEMPLATE"]);

function completeSkeleton(document: Document): void {
  const root = document.documentElement;
  const head = childNamed(root, "HEAD") ?? root.insertBefore(document.createElement("head"), root.firstChild);
  const body = childNamed(root, "BODY") ?? root.appendChild(document.createElement("body"));
  const strays = [...strayNodes(head), ...[...root.childNodes].filter((n) => n !== head && n !== body)];
  const first = body.firstChild;
  for (const node of strays) body.insertBefore(node, first);
}

// From the first element that cannot stand in a head on, everything belongs to the body.
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
