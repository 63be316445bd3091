import { Failure } from "../../base/failure.ts";
import { Parser } from "../page/source-text.ts";

/** An element, whose name and attributes have the prefixes that documents use for them. */
export type Element = {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (Element | string)[];
};

/** The deepest nesting; tables in tables in lists have some dozen levels. */
const MAX_LEVELS = 400;
/** The most elements; the text of a long book has 200 000. */
const MAX_ELEMENTS = 2_000_000;

/**
 * Reads XML as a tree. Entities of a document type are not known, so nothing is fetched or repeated.
 * @throws Failure `too_large` for trees that nobody writes
 */
export function readXml(source: string): Element {
  type Open = { name: string; attributes: Record<string, string>; children: (Element | string)[] };
  const root: Open = { name: "", attributes: {}, children: [] };
  const open = [root];
  let elements = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (open.length > MAX_LEVELS || ++elements > MAX_ELEMENTS)
          throw new Failure("too_large", "the document is nested too deeply, or has too many elements");
        const element: Open = { name, attributes, children: [] };
        open.at(-1)!.children.push(element);
        open.push(element);
      },
      ontext: (text) => open.at(-1)!.children.push(text),
      onclosetag: () => void open.pop(),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(source);
  return root;
}

export const isElement = (node: Element | string): node is Element => typeof node !== "string";

export const childrenOf = (element: Element, name?: string): Element[] =>
  element.children.filter(isElement).filter((child) => name === undefined || child.name === name);

export const childOf = (element: Element | undefined, name: string): Element | undefined =>
  element && childrenOf(element, name)[0];

/** All elements of a name below another, in the order of the document. */
export function elementsNamed(root: Element, name: string): Element[] {
  const found: Element[] = [];
  const visit = (element: Element): void => {
    for (const child of childrenOf(element)) {
      if (child.name === name) found.push(child);
      visit(child);
    }
  };
  visit(root);
  return found;
}

/** The elements of a name below another that are in no other of that name. */
export const outermost = (root: Element, name: string): Element[] =>
  childrenOf(root).flatMap((child) => (child.name === name ? [child] : outermost(child, name)));

export const textIn = (element: Element): string =>
  element.children.map((child) => (isElement(child) ? textIn(child) : child)).join("");

/** The text of the first element of a name, which has words; null without one. */
export function textNamed(root: Element, name: string): string | null {
  const [first] = elementsNamed(root, name);
  return (first && textIn(first).trim()) || null;
}
