import {
  type PageModel,
  type ScannedPage,
  startTagOf,
  Tag,
  TagTrait,
  tagAt,
  traitsOf,
  valueIn,
} from "./page-model.ts";
import { scanPage } from "./scan.ts";
import { codesOf } from "./source-text.ts";
import { Tokenizer, type TokenSink } from "./tokenizer.ts";

/** The maximum nesting of shadow roots that are composed; deeper ones are read where they are written. */
const MAX_SHADOW_ROUNDS = 4;

/**
 * Scans a page with its shadow roots composed.
 * @throws Failure `too_complex` for too many elements, see `scanPage`
 */
export function readPage(html: string): ScannedPage {
  let page = scanPage(withLineFeeds(html));
  for (let round = 0; round < MAX_SHADOW_ROUNDS; round++) {
    const composed = withShadowRoots(page.model);
    if (composed === null) break;
    page = scanPage(composed);
  }
  return page;
}

/** Normalises line breaks to line feeds, as browsers do first; nearly half of all pages have others. */
function withLineFeeds(html: string): string {
  if (!html.includes("\r")) return html;
  // Two replacements take half the time of one regular expression.
  const unix = html.replaceAll("\r\n", "\n");
  return unix.includes("\r") ? unix.replaceAll("\r", "\n") : unix;
}

const SHADOW_MODE = /\sshadowroot(?:mode)?\s*=\s*["']?(?:open|closed)\b/i;
const NAME = /\sname\s*=\s*(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'>]{1,200}))/i;
const SLOT_OF_CHILD = /\sslot\s*=\s*(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'>]{1,200}))/i;

/**
 * Composes the page's declarative shadow roots as browsers do: a root's content goes into its host element, and the
 * host's own content into the root's slots. Roots inside a host are left as they are, so scan the result and call
 * this again. The time is linear in the length of the page.
 * @returns null for a page without shadow roots, as most are
 */
function withShadowRoots(model: PageModel): string | null {
  const { html, elementCount, tag, parent, openEnd, elementEnd } = model;
  let composed = "";
  let at = 0;
  for (let element = 0; element < elementCount; element++) {
    const host = parent[element]!;
    if (tag[element] !== Tag.template || host < 0 || !SHADOW_MODE.test(startTagOf(model, element))) continue;
    // An element has one root, and no text may appear twice.
    if (openEnd[host]! < at) continue;
    composed += html.slice(at, openEnd[host]!) + compose(model, host, element);
    at = endTagStart(model, host);
    element = elementEnd[host]! - 1;
  }
  return at === 0 ? null : composed + html.slice(at);
}

const END_TAG = /<\/[^<>]{0,200}>$/;

/** Returns the offset where an element's content ends. */
function endTagStart({ html, openEnd, closeEnd }: PageModel, element: number): number {
  const end = closeEnd[element]!;
  const tail = END_TAG.exec(html.slice(Math.max(openEnd[element]!, end - 210), end));
  return end - (tail?.[0].length ?? 0);
}

/** Returns a root's content with its host's content in the slots; content without a slot follows it. */
function compose(model: PageModel, host: number, root: number): string {
  const { html, tag, openEnd, closeEnd, openStart, elementEnd } = model;
  const assigned = contentBySlot(model, host, root);
  let content = "";
  let at = openEnd[root]!;
  for (let inner = root + 1; inner < elementEnd[root]!; inner++) {
    // Slots of a nested root belong to that root.
    if (tag[inner] === Tag.template) {
      inner = elementEnd[inner]! - 1;
      continue;
    }
    if (tag[inner] !== Tag.slot || openStart[inner]! < at) continue;
    const name = valueIn(startTagOf(model, inner), NAME) ?? "";
    const own = assigned.get(name);
    if (own === undefined) continue;
    assigned.delete(name);
    content += html.slice(at, openStart[inner]!) + own;
    at = closeEnd[inner]!;
  }
  content += html.slice(at, endTagStart(model, root));
  return `<div>${content}</div>${[...assigned.values()].join("")}`;
}

/**
 * Groups the host's own content by the slot that it asks for; the empty name is the slot for everything else.
 */
function contentBySlot(model: PageModel, host: number, root: number): Map<string, string> {
  const { html, elementEnd, openStart, closeEnd, openEnd } = model;
  const contents = new Map<string, string>();
  const add = (name: string, piece: string): void => {
    if (piece.trim() !== "") contents.set(name, (contents.get(name) ?? "") + piece);
  };
  let at = openEnd[host]!;
  for (let child = host + 1; child < elementEnd[host]!; child = elementEnd[child]!) {
    add("", html.slice(at, openStart[child]!));
    at = closeEnd[child]!;
    if (child !== root) {
      add(valueIn(startTagOf(model, child), SLOT_OF_CHILD) ?? "", html.slice(openStart[child]!, at));
    }
  }
  add("", html.slice(at, endTagStart(model, host)));
  return contents;
}

/**
 * Rewrites XHTML in the syntax of HTML: an element that XML closes with "/>" gets an end tag, because HTML would put
 * everything after it inside. Elements that are always empty (`br`) stay as they are.
 */
export function htmlOfXhtml(source: string): string {
  if (!source.includes("/")) return source;
  const codes = codesOf(source);
  const closer = new ElementCloser(source, codes);
  new Tokenizer(source, codes, closer).run();
  return closer.finish();
}

class ElementCloser implements TokenSink {
  readonly #source: string;
  readonly #codes: Uint16Array;
  readonly #parts: string[] = [];
  #written = 0;
  #name = "";
  #isVoid = false;

  constructor(source: string, codes: Uint16Array) {
    this.#source = source;
    this.#codes = codes;
  }

  finish(): string {
    return this.#parts.join("") + this.#source.slice(this.#written);
  }

  startTag(nameStart: number, nameEnd: number): number {
    const tag = tagAt(this.#codes, nameStart, nameEnd);
    this.#isVoid = (traitsOf(tag) & TagTrait.void) !== 0;
    this.#name = this.#source.slice(nameStart, nameEnd);
    return tag;
  }

  startTagEnd(end: number, isSelfClosing: boolean): void {
    if (!isSelfClosing || this.#isVoid) return;
    const slash = this.#source.lastIndexOf("/", end - 1);
    this.#parts.push(this.#source.slice(this.#written, slash), `></${this.#name}>`);
    this.#written = end;
  }

  text(): void {}
  attribute(): void {}
  endTag(): void {}
}
