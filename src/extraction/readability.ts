import { Readability } from "@mozilla/readability";

export type ReadableContent = {
  /** Detached element that holds the content. */
  readonly root: Element;
  readonly byline: string | null;
  readonly excerpt: string | null;
};

/**
 * The main content as Readability finds it; null when it finds none. Consumes the document: read
 * everything else before.
 */
export function findReadable(document: Document): ReadableContent | null {
  // linkedom keeps the case that Readability writes names in, and would serialise <DIV>.
  flattenPreformatted(document);
  const create = document.createElement.bind(document);
  document.createElement = (name: string) => create(name.toLowerCase());
  const result = new Readability<Node>(document, {
    serializer: (node) => node,
    keepClasses: true, // code blocks say their language in a class; cleaning drops the others
    disableJSONLD: true, // metadata is read elsewhere, once
  }).parse();
  if (!result?.content) return null;
  return {
    // The serializer hands back the element that Readability built.
    root: result.content as Element,
    byline: result.byline?.trim() || null,
    excerpt: result.excerpt?.trim() || null,
  };
}

// Readability turns line breaks and wrappers into paragraphs, in code as well; as characters they survive.
function flattenPreformatted(document: Document): void {
  for (const lineBreak of [...document.querySelectorAll("pre br")]) lineBreak.replaceWith("\n");
  for (const line of [...document.querySelectorAll("pre div, pre p")]) {
    const before = line.previousSibling?.textContent ?? "\n";
    const text = line.textContent ?? "";
    const parts: (Node | string)[] = [...line.childNodes];
    if (!before.endsWith("\n")) parts.unshift("\n");
    if (line.nextSibling !== null && !text.endsWith("\n")) parts.push("\n");
    line.replaceWith(...parts);
  }
}
