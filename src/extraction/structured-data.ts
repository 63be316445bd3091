import { Failure } from "../base/failure.ts";
import { meaningsIn } from "../base/text.ts";
import { nestingOf, parseLeniently } from "./metadata/metadata-page.ts";
import type { PageFacts, ScannedPage } from "./page/page-model.ts";
import { parseDocument } from "./parse.ts";
import { collapseSpace } from "./text.ts";
import type { MicrodataItem, OpenGraphProperty, StructuredData } from "./types.ts";

/** The maximum number of characters of each of the three forms; shop catalogues reach 300 000. */
const MAX_CHARS = 1_000_000;
const MAX_PROPERTIES = 2_000;
/** Data nested deeper describes nothing, and recursive programs could not write it. */
const MAX_NESTING = 64;

/** Reads what a page tells machines about itself, unchanged; parts too large or broken are named instead. */
export function readStructuredData({ facts, model }: ScannedPage): {
  readonly data: StructuredData;
  readonly warnings: readonly string[];
} {
  const warnings: string[] = [];
  const jsonLd = readScripts(facts, warnings);
  const openGraph = readProperties(facts, warnings);
  const { items, omitted } = new MicrodataReader().read(model.html);
  if (omitted !== null) warnings.push(`structured_data: microdata is left out ${omitted}`);
  return { data: { jsonLd, microdata: items, openGraph }, warnings };
}

function readScripts({ jsonLd: scripts, jsonLdCount: all }: PageFacts, warnings: string[]): unknown[] {
  const values: unknown[] = [];
  let chars = 0;
  let large = all - scripts.length;
  let broken = 0;
  for (const script of scripts) {
    if (chars + script.length > MAX_CHARS || nestingOf(script) > MAX_NESTING) {
      large++;
      continue;
    }
    chars += script.length;
    const value = parseLeniently(script);
    if (value === null) broken++;
    else values.push(value);
  }
  if (large > 0)
    warnings.push(
      `structured_data: ${large} of ${all} JSON-LD scripts left out (over ${MAX_CHARS} characters together, or nested deeper than ${MAX_NESTING})`,
    );
  if (broken > 0) warnings.push(`structured_data: ${broken} of ${all} JSON-LD scripts left out (no JSON)`);
  return values;
}

function readProperties({ properties: written }: PageFacts, warnings: string[]): OpenGraphProperty[] {
  const properties: OpenGraphProperty[] = [];
  let chars = 0;
  for (const [property, content] of written) {
    chars += property.length + content.length;
    if (properties.length === MAX_PROPERTIES || chars > MAX_CHARS) break;
    properties.push({ property, content });
  }
  const missing = written.length - properties.length;
  if (missing > 0)
    warnings.push(`structured_data: ${missing} of ${written.length} Open Graph properties left out`);
  return properties;
}

type OpenItem = {
  readonly type: readonly string[];
  readonly id: string | null;
  readonly properties: Map<string, (string | OpenItem)[]>;
};

/** The maximum nesting of items; deeper ones describe nothing. */
const MAX_ITEM_NESTING = 32;
/** The maximum number of nodes visited for the texts of properties, which may be nested in each other. */
const MAX_NODES = 1_000_000;
const ITEM_CHARS = 100;

/**
 * Reads HTML microdata (WHATWG HTML, section 5) and converts it as that section converts it to JSON. `itemref` is not
 * followed, and addresses stay as written. Use one reader for each page.
 */
class MicrodataReader {
  #charsLeft = MAX_CHARS;
  #nodesLeft = MAX_NODES;

  /** @returns the top-level items, and for which reason others are left out; null for none */
  read(html: string): { readonly items: readonly MicrodataItem[]; readonly omitted: string | null } {
    if (!/\sitemscope/i.test(html)) return { items: [], omitted: null };
    try {
      const items: OpenItem[] = [];
      const omitted = this.#collect(parseDocument(html).documentElement, items);
      return { items: items.map(close), omitted };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { items: [], omitted: `(${error.message})` };
    }
  }

  #collect(root: Element, items: OpenItem[]): string | null {
    /** The items around an element, the innermost last. */
    const around: HeldItem[] = [];
    let omitted: string | null = null;
    for (const element of elementsWithin(root, around)) {
      const holder = around.at(-1);
      const isItem = element.hasAttribute("itemscope");
      const names = holder ? tokens(element.getAttribute("itemprop")) : [];
      if (!isItem && names.length === 0) continue;
      if (isItem && around.length >= MAX_ITEM_NESTING) {
        omitted = `in part (nested deeper than ${MAX_ITEM_NESTING})`;
        continue;
      }
      const item = isItem ? openItem(element) : null;
      if (item) around.push({ item, behind: nodeBehind(element, root) });
      const value = item ?? this.#valueOf(element);
      this.#charsLeft -= ITEM_CHARS;
      if (holder && names.length > 0) this.#add(holder.item, names, value);
      else if (item) items.push(item);
      if (this.#isSpent) return "in part (too much of it)";
    }
    return omitted;
  }

  get #isSpent(): boolean {
    return this.#charsLeft < 0 || this.#nodesLeft < 0;
  }

  /** A value that exceeds the rest of the budget was not read to its end, so it is left out. */
  #add({ properties }: OpenItem, names: readonly string[], value: string | OpenItem): void {
    for (const name of names) {
      this.#charsLeft -= name.length + (typeof value === "string" ? value.length : 0);
      if (this.#isSpent) return;
      const values = properties.get(name);
      if (values) values.push(value);
      else properties.set(name, [value]);
    }
  }

  #valueOf(element: Element): string {
    const attribute = VALUE_ATTRIBUTES[element.tagName.toLowerCase()];
    const written = attribute === undefined ? null : element.getAttribute(attribute);
    if (written !== null) return written.trim();
    // These elements state their value in an attribute, not in their text.
    return attribute === undefined || element.tagName === "TIME" ? this.#textOf(element) : "";
  }

  #textOf(element: Element): string {
    let text = "";
    for (let node: Node | null = element.firstChild; node; node = nextNode(node, element)) {
      if (--this.#nodesLeft < 0 || text.length > this.#charsLeft) break;
      if (node.nodeType === 3 && !isScript(node.parentNode)) text += node.nodeValue ?? "";
    }
    return collapseSpace(text);
  }
}

/** An item whose element is open, with the first node after that. */
type HeldItem = { readonly item: OpenItem; readonly behind: Node | null };

/** Yields the elements from `root` on, and takes away the items that end before each. */
function* elementsWithin(root: Element, around: HeldItem[]): Generator<Element> {
  for (let node: Node | null = root; node; node = nextNode(node, root)) {
    while (around.length > 0 && around.at(-1)!.behind === node) around.pop();
    if (node.nodeType === 1) yield node as Element; // its type says so
  }
}

/** The attributes that hold the value of a property, by element (WHATWG HTML, 5.2.4). */
const VALUE_ATTRIBUTES = meaningsIn({
  content: "meta",
  src: "audio embed iframe img source track video",
  href: "a area link",
  data: "object",
  value: "data meter",
  datetime: "time",
});

const openItem = (element: Element): OpenItem => ({
  type: tokens(element.getAttribute("itemtype")),
  id: element.getAttribute("itemid")?.trim() || null,
  properties: new Map(),
});

// `Object.fromEntries` defines even "__proto__" as an own property.
const close = ({ type, id, properties }: OpenItem): MicrodataItem => ({
  type,
  id,
  properties: Object.fromEntries(
    Array.from(properties, ([name, values]) => [
      name,
      values.map((value) => (typeof value === "string" ? value : close(value))),
    ]),
  ),
});

const MAX_TOKENS = 20;
const tokens = (written: string | null): string[] =>
  (written ?? "").slice(0, 2000).split(/\s+/).filter(Boolean).slice(0, MAX_TOKENS);

const isScript = (node: Node | null): boolean => node?.nodeName === "SCRIPT" || node?.nodeName === "STYLE";

const nextNode = (node: Node, root: Node): Node | null => node.firstChild ?? nodeBehind(node, root);

/** Returns the first node after everything inside a node. */
function nodeBehind(node: Node, root: Node): Node | null {
  for (let at: Node | null = node; at && at !== root; at = at.parentNode)
    if (at.nextSibling) return at.nextSibling;
  return null;
}
