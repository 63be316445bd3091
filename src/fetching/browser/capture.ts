/** A page's document, as read inside the page. */
export type Capture = {
  /** The HTML, with the content of open shadow roots and same-origin frames written in their places. */
  readonly html: string;
  readonly contentType: string;
};

/**
 * Writes out a page's document. A document with shadow roots or readable frames is written from a copy in
 * which each shadow root replaces its host's content, its slots filled, and each same-origin frame is
 * replaced by its document. Runs inside the page, so it may use nothing from outside this function.
 * @param maxChars a longer document gives null
 */
export function captureDocument(maxChars: number): Capture | null {
  const framesOf = (root: Document | ShadowRoot): Document[] =>
    [...root.querySelectorAll("iframe, frame")].flatMap((frame) => {
      try {
        const inner = (frame as HTMLIFrameElement).contentDocument;
        return inner?.body && (inner.URL !== "about:blank" || inner.body.hasChildNodes()) ? [inner] : [];
      } catch {
        return [];
      }
    });
  const hasShadow = (root: Document): boolean => {
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) return true;
    return false;
  };
  const attributesOf = (element: Element): string =>
    [...element.attributes]
      .map(({ name, value }) => ` ${name}="${value.replace(/&/g, "&amp;").replace(/"/g, "&quot;")}"`)
      .join("");
  const voidTags = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
  const rawTags = /^(?:script|style|xmp|noembed|noframes|plaintext)$/;
  const maxDepth = 1500;
  let length = 0;
  const parts: string[] = [];
  const add = (text: string): void => {
    length += text.length;
    if (length <= maxChars) parts.push(text);
  };
  const writeAll = (nodes: Iterable<Node>, depth: number): void => {
    for (const node of nodes) write(node, depth);
  };
  const write = (node: Node, depth: number): void => {
    if (length > maxChars || depth > maxDepth) return;
    if (node.nodeType === 3) {
      const text = node.nodeValue ?? "";
      const isRaw = rawTags.test((node.parentNode as Element | null)?.localName ?? "");
      add(isRaw ? text : text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"));
      return;
    }
    if (node.nodeType !== 1) return;
    const element = node as HTMLElement;
    const tag = element.localName;
    if (tag === "slot" && element.getRootNode() instanceof ShadowRoot) {
      const assigned = (element as HTMLSlotElement).assignedNodes();
      writeAll(assigned.length > 0 ? assigned : element.childNodes, depth + 1);
      return;
    }
    if (tag === "iframe" || tag === "frame") {
      writeFrame(element as HTMLIFrameElement, depth);
      return;
    }
    add(`<${tag}${attributesOf(element)}>`);
    if (voidTags.test(tag)) return;
    if (element.shadowRoot) writeAll(element.shadowRoot.childNodes, depth + 1);
    else if (tag === "template") add((element as unknown as HTMLTemplateElement).innerHTML);
    else if (tag === "noscript") add(element.innerHTML);
    else writeAll(element.childNodes, depth + 1);
    add(`</${tag}>`);
  };
  const writeFrame = (frame: HTMLIFrameElement, depth: number): void => {
    let inner: Document | null = null;
    try {
      inner = frame.contentDocument;
    } catch {
      // A frame of another origin cannot be read and stays a link.
    }
    // A frame without a document of its own may still have been filled by a script.
    if (!inner?.body || (inner.URL === "about:blank" && !inner.body.hasChildNodes())) {
      add(`<iframe${attributesOf(frame)}></iframe>`);
      return;
    }
    add(`<div data-frame-src="${inner.URL.replace(/&/g, "&amp;").replace(/"/g, "&quot;")}">`);
    writeAll(inner.body.childNodes, depth + 1);
    add("</div>");
  };

  const root = document.documentElement;
  const contentType = document.contentType;
  if (!root) return { html: "", contentType };
  const isWhole = framesOf(document).length === 0 && !hasShadow(document);
  if (!isWhole) write(root, 0);
  // The page's scripts may have replaced any method, so the length is read from a string built here.
  const html = `<!DOCTYPE html>${isWhole ? root.outerHTML : parts.join("")}`;
  return length > maxChars || html.length > maxChars ? null : { html, contentType };
}
