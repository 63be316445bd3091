import { type PageUrl, resolveHref } from "../urls/index.ts";
import { bestImageSource } from "./images.ts";
import { foldForComparison, removeInvisible } from "./text.ts";
import { headingText } from "./title.ts";

// Elements that never hold readable content, removed with all that is inside.
const REMOVED = new Set(
  `SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME OBJECT EMBED APPLET CANVAS SVG AUDIO VIDEO INPUT BUTTON SELECT
   TEXTAREA OPTION DATALIST DIALOG HEAD LINK META TITLE BASE FRAME FRAMESET PORTAL SOURCE TRACK MAP AREA`.split(
    /\s+/,
  ),
);

// Elements kept as they are, with the attributes that survive; every other element is unwrapped.
const KEPT: Readonly<Record<string, readonly string[]>> = {
  A: ["href", "title"],
  ABBR: ["title"],
  BLOCKQUOTE: ["cite"],
  BR: [],
  CODE: ["class"],
  IMG: ["src", "alt", "title", "width", "height"],
  LI: ["value"],
  OL: ["start", "reversed", "type"],
  PRE: ["class"],
  Q: ["cite"],
  TD: ["colspan", "rowspan", "align"],
  TH: ["colspan", "rowspan", "align", "scope"],
  TIME: ["datetime"],
  DETAILS: ["open"],
};

const KEPT_BARE = new Set(
  `H1 H2 H3 H4 H5 H6 P DIV SECTION ARTICLE MAIN HEADER FOOTER ASIDE ADDRESS SPAN B I STRONG EM U S DEL INS
   MARK SMALL SUB SUP KBD SAMP VAR CITE DFN BDI BDO RUBY RT RP UL DL DT DD TABLE CAPTION THEAD TBODY TFOOT
   TR FIGURE FIGCAPTION SUMMARY HR WBR`.split(/\s+/),
);

/**
 * Makes an element's content safe and self-contained in place: known elements and attributes only,
 * links and images absolute, no scripts, no tracking pixels.
 */
export function cleanContent(root: Element, base: PageUrl | null): void {
  // Before their frames are unwrapped: a picture's sources belong to the image inside it.
  for (const image of [...root.querySelectorAll("img")]) cleanImage(image, base);
  for (const element of [...root.querySelectorAll("*")]) {
    const name = element.tagName.toUpperCase();
    if (REMOVED.has(name)) element.remove();
    else if (name === "IMG") continue;
    else if (name in KEPT || KEPT_BARE.has(name)) cleanAttributes(element, KEPT[name] ?? [], base);
    else unwrap(element);
  }
  cleanTextNodes(root);
}

const PERMALINK = /^[\s¶§#🔗\u2060\u200b]*$/u;

/** Removes the links with which headings point to themselves; they are tools of the site, not text. */
export function removePermalinks(document: Document): void {
  for (const anchor of [...document.querySelectorAll("h1 a, h2 a, h3 a, h4 a, h5 a, h6 a, dt a")]) {
    const isSign = PERMALINK.test(anchor.textContent ?? "") && !anchor.querySelector("img");
    if (isSign && anchor.getAttribute("href")?.includes("#")) anchor.remove();
  }
}

/** Removes images; captions and all other content stay. */
export function removeImages(root: Element): void {
  for (const image of [...root.querySelectorAll("img, picture")]) image.remove();
}

/** Removes code blocks; code inside a sentence stays. */
export function removeCodeBlocks(root: Element): void {
  for (const block of [...root.querySelectorAll("pre")]) block.remove();
}

/** Removes the content's first heading when it says the title again and only blank space precedes it. */
export function removeRepeatedTitle(root: Element, title: string | null): void {
  if (title === null) return;
  const heading = root.querySelector("h1, h2");
  if (!heading || foldForComparison(headingText(heading)) !== foldForComparison(title)) return;
  if (!hasTextBefore(root, heading)) heading.remove();
}

function hasTextBefore(root: Element, element: Element): boolean {
  for (let node: Node = element; node !== root; node = node.parentNode as Node) {
    for (let before = node.previousSibling; before; before = before.previousSibling) {
      if ((before.nodeType === 1 || before.nodeType === 3) && before.textContent?.trim()) return true;
    }
  }
  return false;
}

function cleanAttributes(element: Element, kept: readonly string[], base: PageUrl | null): void {
  for (const { name, value } of [...element.attributes]) {
    if (name === "dir" || name === "lang") {
      if (!EVERYWHERE[name].test(value)) element.removeAttribute(name);
    } else if (!kept.includes(name)) element.removeAttribute(name);
    else if (name === "class") keepLanguageClass(element);
    else if (name === "href" || name === "cite") resolveAttribute(element, name, base);
    else element.setAttribute(name, removeInvisible(value));
  }
}

/** Attributes that every element may keep, with the values that mean something. */
const EVERYWHERE = { dir: /^(?:ltr|rtl|auto)$/i, lang: /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8}){0,6}$/i } as const;

// Highlighters write the language as a class of this form; no other class means anything outside.
function keepLanguageClass(element: Element): void {
  const language = /(?:^|\s)(?:lang(?:uage)?|highlight-source|brush:?)[-:\s]([\w+#.-]+)/i.exec(
    element.getAttribute("class") ?? "",
  )?.[1];
  if (language) element.setAttribute("class", `language-${language.toLowerCase()}`);
  else element.removeAttribute("class");
}

function resolveAttribute(element: Element, name: string, base: PageUrl | null): void {
  const value = element.getAttribute(name) ?? "";
  const reference = resolveHref(value, base) ?? (base === null ? relativeReference(value) : null);
  if (reference !== null) element.setAttribute(name, reference);
  else element.removeAttribute(name);
}

const SOME_PAGE = "https://relative.invalid/a/b";

// Without a base a relative reference cannot be resolved, but it is still what the page says. Only the
// URL parser knows what is relative: browsers read `java\nscript:` as a scheme.
function relativeReference(value: string): string | null {
  const isRelative = URL.parse(value) === null && URL.parse(value, SOME_PAGE)?.protocol === "https:";
  return isRelative ? removeInvisible(value.trim()) : null;
}

function cleanImage(image: Element, base: PageUrl | null): void {
  const source = bestImageSource(image);
  const reference = source === null ? null : imageReference(source, base);
  if (reference === null || isTrackingPixel(image)) {
    image.remove();
    return;
  }
  image.setAttribute("src", reference);
  cleanAttributes(image, KEPT.IMG ?? [], base);
}

function imageReference(source: string, base: PageUrl | null): string | null {
  const absolute = resolveHref(source, base);
  if (absolute !== null) return /^https?:/.test(absolute) ? absolute : null;
  return base === null ? relativeReference(source) : null;
}

const isTrackingPixel = (image: Element): boolean =>
  ["width", "height"].every((side) => /^[01](?:px)?$/.test(image.getAttribute(side) ?? ""));

function unwrap(element: Element): void {
  const parent = element.parentNode;
  if (!parent) return;
  for (let child = element.firstChild; child; child = element.firstChild) parent.insertBefore(child, element);
  element.remove();
}

function cleanTextNodes(root: Element): void {
  const stack: Node[] = [...root.childNodes];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node.nodeType === 1) stack.push(...node.childNodes);
    else if (node.nodeType !== 3) node.parentNode?.removeChild(node);
    else {
      const text = node.nodeValue ?? "";
      const visible = removeInvisible(text);
      if (visible !== text) node.nodeValue = visible;
    }
  }
}
