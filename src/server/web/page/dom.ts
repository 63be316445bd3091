type Value = string | number | boolean | null | undefined | ((event: Event) => void);

/** Attributes by name; a function is a listener (`onclick`), true is an empty attribute, false and null mean none. */
type Attributes = Readonly<Record<string, Value>>;

/** The content of an element: nodes, and text that is never parsed as markup. */
export type Child = Node | string | number | null | undefined | false;

type Tag = keyof HTMLElementTagNameMap;
type ElementOf<Selector> = Selector extends `${infer Name extends Tag}.${string}`
  ? HTMLElementTagNameMap[Name]
  : HTMLElementTagNameMap[Selector & Tag];

/**
 * Makes an element, with the classes that its name says (`p.fine`). Text becomes text nodes, so no child can become
 * markup.
 */
export function h<Selector extends Tag | `${Tag}.${string}`>(
  selector: Selector,
  ...parts: readonly [Attributes, ...Child[]] | readonly Child[]
): ElementOf<Selector> {
  const [name = "", ...classes] = selector.split(".");
  const element = document.createElement(name) as ElementOf<Selector>; // what the selector says
  if (classes.length > 0) element.className = classes.join(" ");
  const [first, ...rest] = parts;
  const hasAttributes = typeof first === "object" && first !== null && !(first instanceof Node);
  return filled(element, hasAttributes ? first : {}, (hasAttributes ? rest : parts) as readonly Child[]);
}

/** Makes an SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Adds children at the end. */
export function append(parent: ParentNode, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces everything in an element. */
export function fill(parent: ParentNode, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/** Replaces the children of an element. Children that stay are not touched, so they keep the focus, and a click its target. */
export function keepInStep(parent: Element, wanted: readonly Element[]): void {
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  for (const [place, child] of wanted.entries()) {
    const present = parent.children[place] ?? null;
    if (present !== child) parent.insertBefore(child, present);
  }
}

/**
 * Finds the element with this id.
 * @throws Error when the page has none of that kind
 */
export function byId<E extends Element>(id: string, kind: new () => E): E {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} #${id}`);
}

/** Announces a change elsewhere on the page once to screen readers. */
export function announce(text: string): void {
  const place = document.getElementById("announcer");
  if (place && place.textContent !== text) place.textContent = text;
}

/** A message to the reader, by default one that is no error. */
export const message = (title: string, ...texts: readonly string[]): HTMLElement =>
  h("div.message", h("strong", title), ...texts.map((text) => h("p", text)));

/** Copies text and says so on the button for a moment. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "small" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
      announce("Copied");
    } catch {
      button.textContent = "Not allowed by the browser";
    }
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  });
  return button;
}

/** Offers content as a file. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Free space to leave below, in pixels. */
const MARGIN = 16;
/** In a window with less room the page has to be scrolled. */
const MIN_HEIGHT = 200;

/**
 * Keeps the lower edge of an element that scrolls inside the window: where it begins depends on how far the page is
 * scrolled and on what is above, which a style sheet cannot know.
 * @param wide while it stands beside something else; at other times its height is left to the style sheet
 * @returns a function that does it at once, for who measures in it
 */
export function fitWindow(element: HTMLElement, wide: MediaQueryList): () => void {
  const fit = (): void => {
    const top = element.getBoundingClientRect().top;
    const room = innerHeight - Math.max(MARGIN, top) - MARGIN;
    element.style.maxHeight = wide.matches ? `${Math.max(MIN_HEIGHT, room)}px` : "";
  };
  const listening = new AbortController();
  const onMove = (): void => {
    if (element.isConnected) requestAnimationFrame(fit);
    else {
      listening.abort();
      sizes.disconnect();
    }
  };
  const sizes = new ResizeObserver(onMove);
  for (const one of [element, document.body]) sizes.observe(one);
  for (const kind of ["scroll", "resize"])
    addEventListener(kind, onMove, { passive: true, signal: listening.signal });
  return fit;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/**
 * Turns a snippet of the server (escaped text, `<mark>` around matches, `<code>` around code) into nodes; any other
 * tag stays text.
 */
export function snippetNodes(snippet: string): Node[] {
  const nodes: Node[] = [];
  let code: HTMLElement | null = null;
  let isMarked = false;
  for (const part of snippet.split(/(<\/?(?:mark|code)>)/)) {
    if (part === "<mark>" || part === "</mark>") isMarked = part === "<mark>";
    else if (part === "<code>") {
      code = h("code");
      nodes.push(code);
    } else if (part === "</code>") code = null;
    else if (part !== "") {
      const text = part.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
      const node = isMarked ? h("mark", text) : document.createTextNode(text);
      if (code) code.append(node);
      else nodes.push(node);
    }
  }
  return nodes;
}
