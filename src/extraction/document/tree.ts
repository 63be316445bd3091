import { FIRST_UNKNOWN_TAG, type PageModel, tagName } from "../page/page-model.ts";
import { decodeAttribute } from "../page/source-text.ts";

/**
 * The tree that a page's content is turned into before it is read: elements and texts, linked both ways so that the
 * output of generators can be rewritten in place. An element of a page remembers its place there, and its attributes
 * are only read when needed.
 */
export type ContentNode = ContentElement | ContentText;

export class ContentText {
  readonly kind = "text";
  parent: ContentElement | null = null;
  previousSibling: ContentNode | null = null;
  nextSibling: ContentNode | null = null;
  /** The decoded characters, with white space as in the source. */
  text: string;

  constructor(text: string) {
    this.text = text;
  }

  remove(): void {
    unlink(this);
  }
}

export class ContentElement {
  readonly kind = "element";
  parent: ContentElement | null = null;
  previousSibling: ContentNode | null = null;
  nextSibling: ContentNode | null = null;
  firstChild: ContentNode | null = null;
  lastChild: ContentNode | null = null;
  /** The name in capitals. */
  readonly name: string;
  /** Whether there is a block somewhere inside, see `noteBlocks`. */
  holdsBlocks = false;
  readonly #source: PageElements | null;
  readonly #number: number;
  /** The attributes that were set since the page was read. */
  #own: Map<string, string> | null = null;

  /** @param number of the element in its source; without a source the element has no attributes yet */
  constructor(name: string, source: PageElements | null = null, number = -1) {
    this.name = name;
    this.#source = source;
    this.#number = number;
  }

  /** The class attribute; empty without one. */
  get className(): string {
    return this.#own?.get("class") ?? this.#source?.classOf(this.#number) ?? "";
  }

  /** The words of the class in lower case; a hostile class is truncated. */
  get classes(): readonly string[] {
    const own = this.#own?.get("class");
    return own === undefined ? (this.#source?.classesOf(this.#number) ?? []) : wordsOfClass(own);
  }

  get id(): string {
    return this.#own?.get("id") ?? this.#source?.idOf(this.#number) ?? "";
  }

  getAttribute(name: string): string | null {
    const own = this.#own?.get(name);
    if (own !== undefined || this.#source === null) return own ?? null;
    return this.#source.attributeOf(this.#number, name);
  }

  hasAttribute(name: string): boolean {
    return this.getAttribute(name) !== null;
  }

  setAttribute(name: string, value: string): void {
    this.#own ??= new Map();
    this.#own.set(name, value);
  }

  get firstElementChild(): ContentElement | null {
    return elementFrom(this.firstChild);
  }
  get nextElementSibling(): ContentElement | null {
    return elementFrom(this.nextSibling);
  }
  get previousElementSibling(): ContentElement | null {
    let at = this.previousSibling;
    while (at !== null && at.kind !== "element") at = at.previousSibling;
    return at;
  }

  get children(): ContentElement[] {
    const children: ContentElement[] = [];
    for (let at = this.firstElementChild; at; at = at.nextElementSibling) children.push(at);
    return children;
  }

  /** Tells whether there are more child elements than this number, which should be small. */
  hasMoreChildrenThan(count: number): boolean {
    let seen = 0;
    for (let at = this.firstElementChild; at; at = at.nextElementSibling) if (++seen > count) return true;
    return false;
  }

  append(...nodes: readonly ContentNode[]): void {
    for (const node of nodes) this.insertBefore(node, null);
  }

  /** Appends text, joined to a text that is last already. */
  appendText(text: string): void {
    const last = this.lastChild;
    if (last?.kind === "text") last.text += text;
    else this.append(new ContentText(text));
  }

  /** Moves a node to this place, or to the end when `before` is null. */
  insertBefore(node: ContentNode, before: ContentNode | null): void {
    if (node.parent !== null) unlink(node);
    const previous = before === null ? this.lastChild : before.previousSibling;
    node.parent = this;
    node.previousSibling = previous;
    node.nextSibling = before;
    if (previous === null) this.firstChild = node;
    else previous.nextSibling = node;
    if (before === null) this.lastChild = node;
    else before.previousSibling = node;
  }

  remove(): void {
    unlink(this);
  }

  replaceWith(node: ContentNode): void {
    this.parent?.insertBefore(node, this);
    unlink(this);
  }

  contains(node: ContentNode): boolean {
    let at: ContentNode | null = node;
    while (at !== null && at !== this) at = at.parent;
    return at !== null;
  }
}

const UPPER_NAMES: readonly string[] = Array.from({ length: FIRST_UNKNOWN_TAG }, (_, tag) =>
  tagName(tag).toUpperCase(),
);

// Matches a start tag after its name, piece by piece. The first character of an attribute's name may be any.
const ATTRIBUTE =
  /([^ \t\n\r\f/>][^ \t\n\r\f/>=]*)(?:[ \t\n\r\f]*=[ \t\n\r\f]*(?:"([^"]*)"|'([^']*)'|([^ \t\n\r\f>]*)))?/g;

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/** Gives the elements of a page to a content tree, and reads their attributes. */
export class PageElements {
  readonly #model: PageModel;
  /** The words of each class by its number, filled in on demand. */
  readonly #classes: (readonly string[] | undefined)[] = [];

  /** The attributes of the element that was read last. */
  #attributes = NO_ATTRIBUTES;
  #last = -1;

  constructor(model: PageModel) {
    this.#model = model;
  }

  element(number: number): ContentElement {
    return new ContentElement(this.#nameOf(number), this, number);
  }

  classOf(number: number): string {
    return this.#model.names[this.#model.classId[number]!] ?? "";
  }

  idOf(number: number): string {
    return this.#model.names[this.#model.idId[number]!] ?? "";
  }

  classesOf(number: number): readonly string[] {
    const id = this.#model.classId[number]!;
    this.#classes[id] ??= wordsOfClass(this.#model.names[id] ?? "");
    return this.#classes[id];
  }

  /** Returns the value of an attribute, named in lower case; null when the element has none. */
  attributeOf(number: number, name: string): string | null {
    // Readers ask one element several things in a row; keeping all attributes took 100 MB for 120 000 links.
    if (number !== this.#last) {
      this.#attributes = this.#read(number);
      this.#last = number;
    }
    const written = this.#attributes.get(name);
    if (written === undefined) return null;
    return written.includes("&") ? decodeAttribute(written) : written;
  }

  /** Reads the attributes of a start tag as the page wrote them. */
  #read(number: number): ReadonlyMap<string, string> {
    const { html, openStart, openEnd } = this.#model;
    const tag = html.slice(openStart[number]! + 1, openEnd[number]);
    const start = nameLength(tag);
    if (start + 1 >= tag.length) return NO_ATTRIBUTES;
    const attributes = new Map<string, string>();
    ATTRIBUTE.lastIndex = start;
    for (let match = ATTRIBUTE.exec(tag); match; match = ATTRIBUTE.exec(tag)) {
      const name = match[1]!.toLowerCase();
      // The first of two attributes with the same name counts, as in browsers.
      if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? "");
    }
    return attributes;
  }

  #nameOf(number: number): string {
    const { tag, html, openStart, openEnd } = this.#model;
    const known = tag[number]!;
    if (known > 0 && known < FIRST_UNKNOWN_TAG) return UPPER_NAMES[known]!;
    const source = html.slice(openStart[number]! + 1, openEnd[number]);
    return source.slice(0, nameLength(source)).toUpperCase();
  }
}

function nameLength(tag: string): number {
  const end = tag.search(/[ \t\n\r\f/>]/);
  return end < 0 ? tag.length : end;
}

function unlink(node: ContentNode): void {
  const { parent, previousSibling, nextSibling } = node;
  if (parent === null) return;
  if (previousSibling === null) parent.firstChild = nextSibling;
  else previousSibling.nextSibling = nextSibling;
  if (nextSibling === null) parent.lastChild = previousSibling;
  else nextSibling.previousSibling = previousSibling;
  node.parent = null;
  node.previousSibling = null;
  node.nextSibling = null;
}

function elementFrom(node: ContentNode | null): ContentElement | null {
  let at = node;
  while (at !== null && at.kind !== "element") at = at.nextSibling;
  return at;
}

export const isElement = (node: ContentNode | null | undefined): node is ContentElement =>
  node?.kind === "element";

export const isText = (node: ContentNode | null | undefined): node is ContentText => node?.kind === "text";

/** Splits a class into words in lower case; a hostile class is truncated. */
const wordsOfClass = (classes: string): readonly string[] =>
  classes === "" ? NO_WORDS : classes.slice(0, 1000).toLowerCase().split(/\s+/).filter(Boolean);

const NO_WORDS: readonly string[] = [];

/** Returns the node after this one and everything inside it, in document order and inside `root`. */
export function following(node: ContentNode, root: ContentNode): ContentNode | null {
  let at: ContentNode | null = node;
  while (at && at !== root) {
    if (at.nextSibling) return at.nextSibling;
    at = at.parent;
  }
  return null;
}

/** Returns the next node in document order, which may be inside this one; null at the end of `root`. */
export const nextNode = (node: ContentNode, root: ContentNode): ContentNode | null =>
  (node.kind === "element" ? node.firstChild : null) ?? following(node, root);

/** Visits the elements below `root` in document order; where `visit` returns true, it does not enter. */
export function walkElements(root: ContentElement, visit: (element: ContentElement) => boolean): void {
  let node = root.firstChild;
  while (node) {
    const isSkipped = node.kind === "text" || visit(node);
    node = isSkipped ? following(node, root) : nextNode(node, root);
  }
}

type Test = (element: ContentElement) => boolean;

/** Returns the first element below `root`, in document order, that passes the test. */
export function find(root: ContentElement, test: Test): ContentElement | null {
  for (let node = root.firstChild; node; node = nextNode(node, root))
    if (node.kind === "element" && test(node)) return node;
  return null;
}

/** Returns all elements below `root` that pass the test, in document order. */
export function findAll(root: ContentElement, test: Test): ContentElement[] {
  const found: ContentElement[] = [];
  for (let node = root.firstChild; node; node = nextNode(node, root))
    if (node.kind === "element" && test(node)) found.push(node);
  return found;
}

/** Creates a test for elements with these names, in capitals. */
export const named = (names: string): Test => {
  const set = new Set(names.split(" "));
  return (element) => set.has(element.name);
};

/** Tells whether an element has a class; case matters. */
export const hasClass = (element: ContentElement, word: string): boolean =>
  element.className.includes(word) && element.className.split(/\s+/).includes(word);

/** Returns the innermost ancestor, at most `levels` up, that passes the test. */
export function ancestorWhere(element: ContentElement, levels: number, test: Test): ContentElement | null {
  let at = element.parent;
  for (let level = 0; at && level < levels; level++, at = at.parent) if (test(at)) return at;
  return null;
}

/** Creates an element with attributes and children. */
export function build(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (ContentNode | string)[]
): ContentElement {
  const element = new ContentElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  for (const child of children) {
    if (typeof child === "string") element.appendText(child);
    else element.append(child);
  }
  return element;
}

/** Moves the children of one element to the end of another. */
export function moveChildren(from: ContentElement, to: ContentElement): void {
  for (let child = from.firstChild; child; child = from.firstChild) to.append(child);
}

export function textOf(root: ContentNode): string {
  if (root.kind === "text") return root.text;
  let text = "";
  for (let node = root.firstChild; node; node = nextNode(node, root))
    if (node.kind === "text") text += node.text;
  return text;
}

/** Returns the text of a node and of those right after it; empty for a text that continues the previous one. */
export function textFrom(node: ContentText): string {
  if (isText(node.previousSibling)) return "";
  let { text } = node;
  for (let at = node.nextSibling; isText(at); at = at.nextSibling) text += at.text;
  return text;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** Elements that never hold readable content; they are left out with everything inside. */
export const DROPPED = set(
  `SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME OBJECT EMBED APPLET CANVAS SVG MATH AUDIO VIDEO INPUT BUTTON SELECT
   TEXTAREA OPTION DATALIST DIALOG HEAD LINK META TITLE BASE FRAME FRAMESET PORTAL SOURCE TRACK MAP AREA
   COLGROUP COL XMP NOEMBED NOFRAMES PLAINTEXT PARAM BGSOUND RP`,
);

/** Elements that start on a new line; all others are phrases. */
export const BLOCKS = set(
  `ADDRESS ARTICLE ASIDE BLOCKQUOTE BODY CAPTION CENTER DD DETAILS DIR DIV DL DT FIELDSET FIGCAPTION FIGURE
   FOOTER FORM H1 H2 H3 H4 H5 H6 HEADER HGROUP HR LEGEND LI MAIN MENU NAV OL P PRE SEARCH SECTION SUMMARY
   TABLE TBODY TD TFOOT TH THEAD TR UL`,
);

/** Deeper elements are read as plain text; no real page is nested that deeply. */
export const MAX_ELEMENT_DEPTH = 200;
