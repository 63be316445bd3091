import { isTrackingPixel, type References } from "../links.ts";
import { removeInvisible } from "../text.ts";
import { type Block, type Inline, type Locale, type RubyPart, SPANS, type SpanTag } from "./model.ts";
import {
  BLOCKS,
  type ContentElement,
  DROPPED,
  find,
  isElement,
  MAX_ELEMENT_DEPTH,
  textFrom,
  textOf,
} from "./tree.ts";

/** The state that a reader of blocks passes down. */
export type Place = {
  /** The number of elements between the root and here. */
  readonly depth: number;
  /** The number of lists, quotations and similar blocks around here. */
  readonly nesting: number;
  readonly locale: Locale;
  /** The link around these blocks, until a block has received it. */
  readonly link: { readonly href: string | null } | null;
};

/** Reads the content of an element. */
export interface BlockReader {
  blocks(parent: ContentElement, place: Place): Block[];
  phrases(element: ContentElement, place: Place): Inline[];
}

/** What readers of phrases need to know about their page. */
export type PhraseContext = {
  readonly references: References;
  /** The labels of the footnotes in the content. */
  readonly notes: ReadonlySet<string>;
  readonly isInLink: boolean;
  /**
   * Whether the phrases are the title of a section: links within the page then only lead back to where they stand.
   */
  readonly isInTitle: boolean;
  readonly depth: number;
};

/** Reads an element's children as phrases, with white space as in the page. */
export function readPhrases(parent: ContentElement, context: PhraseContext): Inline[] {
  const inlines: Inline[] = [];
  for (let child = parent.firstChild; child; child = child.nextSibling) {
    if (child.kind === "text") pushText(inlines, textFrom(child));
    else inlines.push(...readPhrase(child, context));
  }
  return inlines;
}

export function pushText(inlines: Inline[], text: string): void {
  const visible = removeInvisible(text);
  if (visible !== "") inlines.push({ kind: "text", text: visible });
}

/** Reads one element as phrases; a block inside a phrase becomes words separated by spaces. */
export function readPhrase(element: ContentElement, context: PhraseContext): Inline[] {
  const name = element.name;
  if (context.depth > MAX_ELEMENT_DEPTH) return [{ kind: "text", text: removeInvisible(textOf(element)) }];
  if (DROPPED.has(name)) return [];
  const inner: PhraseContext = { ...context, depth: context.depth + 1 };
  if (name === "BR") return [{ kind: "break" }];
  if (name === "IMG") return readImage(element, context.references);
  if (name === "CODE" || name === "TT") return readCode(element, inner);
  if (name === "A") return readLink(element, inner);
  if (name === "RUBY") return readRuby(element, inner);
  if (name === "SUP") {
    const label = footnoteLabel(element, context);
    if (label !== null) return [{ kind: "footnote-ref", label }];
    // These signs are superscript by themselves.
    if (/^\s*(?:[®™℠©]\ufe0e?)\s*$/u.test(textOf(element))) return readPhrases(element, inner);
  }
  const children = readPhrases(element, inner);
  // Pages separate the labels of their fields by style alone.
  if (BLOCKS.has(name) || name === "LABEL")
    return [{ kind: "text", text: " " }, ...children, { kind: "text", text: " " }];
  if (name === "SPAN" && element.className === "classifier") return [...colonBefore(element), ...children];
  const tag = SPANS[name] ?? (name === "SPAN" || name === "FONT" ? "span" : undefined);
  return tag === undefined ? children : spanOf(element, tag, children);
}

// Docutils leaves the colon between a term and its type to the style sheet.
function colonBefore(classifier: ContentElement): Inline[] {
  const before = (classifier.previousSibling && textOf(classifier.previousSibling)) ?? "";
  return /:\s*$/.test(before) || before.trim() === "" ? [] : [{ kind: "text", text: " : " }];
}

function spanOf(element: ContentElement, tag: SpanTag, children: Inline[]): Inline[] {
  const locale = localeOf(element);
  const isNamed = "lang" in locale || "dir" in locale;
  if (tag === "span" && !isNamed) return children;
  const title = tag === "abbr" || tag === "dfn" ? attributeText(element, "title") : null;
  const datetime = tag === "time" ? attributeText(element, "datetime") : null;
  return [
    {
      kind: "span",
      tag,
      children,
      ...(title ? { title } : {}),
      ...(datetime ? { datetime } : {}),
      ...locale,
    },
  ];
}

/** Reads `lang` and `dir` when their values are valid. */
export function localeOf(element: ContentElement): { lang?: string; dir?: string } {
  const lang = element.getAttribute("lang") ?? "";
  const dir = (element.getAttribute("dir") ?? "").toLowerCase();
  return {
    ...(lang.length < 40 && /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8}){0,6}$/i.test(lang) ? { lang } : {}),
    ...(/^(?:ltr|rtl|auto)$/.test(dir) ? { dir } : {}),
  };
}

function attributeText(element: ContentElement, name: string): string | null {
  const value = removeInvisible(element.getAttribute(name) ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return value === "" ? null : value;
}

function readImage(image: ContentElement, references: References): Inline[] {
  const src = references.image(image);
  // An image that cannot be shown still separates two words.
  if (src === null || isTrackingPixel(image)) return [{ kind: "text", text: " " }];
  const alt = attributeText(image, "alt") ?? "";
  if (alt === "" && isIcon(image, src)) return [{ kind: "text", text: " " }];
  const title = attributeText(image, "title");
  const size = (side: string): string | null => /^\d{1,5}$/.exec(image.getAttribute(side) ?? "")?.[0] ?? null;
  return [
    {
      kind: "image",
      src,
      alt,
      title: title === alt ? null : title,
      width: size("width"),
      height: size("height"),
    },
  ];
}

/** A picture without a description up to this many pixels is an ornament. */
const MAX_ICON = 48;

function isIcon(image: ContentElement, src: string): boolean {
  if (/\.svg(?:[?#]|$)/i.test(src)) return true;
  const sides = ["width", "height"]
    .map((side) => Number.parseInt(image.getAttribute(side) ?? "", 10))
    .filter((side) => !Number.isNaN(side));
  return sides.length > 0 && sides.every((side) => side <= MAX_ICON);
}

// References to functions are links inside code, but Markdown can only express code inside links.
function readCode(element: ContentElement, context: PhraseContext): Inline[] {
  const text = removeInvisible(textOf(element));
  if (/(?:^|\s)math-inline(?:\s|$)/.test(element.className)) return [{ kind: "math", tex: text.trim() }];
  if (context.isInLink || !find(element, isLink)) return [{ kind: "code", text }];
  const inlines: Inline[] = [];
  for (let child = element.firstChild; child; child = child.nextSibling) {
    const link = isElement(child) ? linkIn(child) : null;
    const href = link && context.references.link(link.getAttribute("href") ?? "");
    const code: Inline = { kind: "code", text: removeInvisible(textOf(child)) };
    if (code.text === "") continue;
    const last = inlines.at(-1);
    if (href) inlines.push({ kind: "link", href, title: null, children: [code] });
    else if (last?.kind === "code")
      inlines[inlines.length - 1] = { kind: "code", text: last.text + code.text };
    else inlines.push(code);
  }
  return inlines;
}

const linkIn = (element: ContentElement): ContentElement | null =>
  element.name === "A" ? element : find(element, isLink);

const isLink = (element: ContentElement): boolean => element.name === "A" && element.hasAttribute("href");

function readLink(element: ContentElement, context: PhraseContext): Inline[] {
  const label = footnoteLabel(element, context);
  if (label !== null) return [{ kind: "footnote-ref", label }];
  const isUnlinked = context.isInLink || (context.isInTitle && isFragment(element));
  const href = isUnlinked ? null : hrefOf(element, context.references);
  const children = readPhrases(element, { ...context, isInLink: context.isInLink || href !== null });
  if (href === null) return children;
  const title = attributeText(element, "title");
  const isSaid = title !== null && title.toLowerCase() === textOf(element).trim().toLowerCase();
  return [{ kind: "link", href, title: isSaid ? null : title, children }];
}

const isFragment = (link: ContentElement): boolean =>
  (link.getAttribute("href") ?? "").trimStart().startsWith("#");

/** Returns the target of a link; null when it leads nowhere. */
export function hrefOf(element: ContentElement, references: References): string | null {
  const href = element.getAttribute("href");
  // A reference to an omitted note leads nowhere.
  if (element.className === "footnote-ref" && FOOTNOTE_HREF.test(href ?? "")) return null;
  if (href === null || /^\s*(?:#\s*)?$/.test(href)) return null;
  return references.link(href);
}

const FOOTNOTE_HREF = /^#fn-(\d{1,4})$/;

/** Returns the number of the footnote that an element in canonical form refers to. */
function footnoteLabel(element: ContentElement, { notes }: PhraseContext): string | null {
  const link = element.name === "SUP" ? element.firstElementChild : element;
  if (link?.name !== "A" || link.className !== "footnote-ref") return null;
  if (element.name === "SUP" && textOf(element) !== textOf(link)) return null;
  const label = FOOTNOTE_HREF.exec(link.getAttribute("href") ?? "")?.[1];
  return label !== undefined && notes.has(label) ? label : null;
}

function readRuby(element: ContentElement, context: PhraseContext): Inline[] {
  const parts: RubyPart[] = [];
  let base: Inline[] = [];
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.kind === "text") pushText(base, textFrom(child));
    else if (/^RTC?$/.test(child.name)) {
      parts.push({ base, annotation: removeInvisible(textOf(child)).replace(/\s+/g, " ").trim() });
      base = [];
    } else base.push(...readPhrase(child, context));
  }
  const rest = base.filter((inline) => inline.kind !== "text" || inline.text.trim() !== "");
  if (rest.length > 0) parts.push({ base, annotation: "" });
  return [{ kind: "ruby", parts }];
}
