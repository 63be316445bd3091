import { createHash } from "node:crypto";
import { decodeLoosely } from "../base/text.ts";
import type { PageUrl } from "../urls/index.ts";
import {
  ElementFlag,
  FIRST_UNKNOWN_TAG,
  type PageModel,
  type ScannedPage,
  startTagOf,
  Tag,
  tagsNamed,
  valueIn,
} from "./page/page-model.ts";
import type { ScriptProfile } from "./types.ts";

/**
 * Returns the profile of a page's scripts: the scripts, and the places that a script could fill or show. Pages with one
 * profile differ in nothing that a script is known to look at, so rendering is expected to have one effect on all of
 * them. Time is linear in the length of the page.
 * @param url the page's address, whose names do not count in inline scripts
 */
export function scriptProfileOf(
  { model, facts }: ScannedPage,
  base: PageUrl | null,
  url: PageUrl | null,
): ScriptProfile {
  const parts = new Set<string>();
  const neutral = createNeutral(url, facts.title);
  const filled = filledElements(model);
  let awaits = false;
  const handlers = HANDLER.test(model.html) ? [...model.html.matchAll(HANDLERS)].map(([text]) => text) : [];
  let runs = handlers.length > 0;
  for (let element = 0; element < model.elementCount; element++) {
    const tag = model.tag[element]!;
    if (isInsideTemplate(model, element)) continue;
    const place = placeOf(model, element, filled);
    awaits ||= place === "empty" && isEmpty(model, element);
    if (place !== null) parts.add(`${place} ${neutral(nameOf(model, element))}`);
    if (tag === Tag.script) {
      const script = scriptOf(model, element, base);
      runs ||= script !== null;
      if (script !== null) parts.add(script.startsWith("src ") ? script : `inline ${neutral(script)}`);
    } else if (TOLD_WHOLE.has(tag)) parts.add(neutral(startTagOf(model, element)));
    if (SHOWS_DOCUMENT.has(tag)) runs = true;
    if (tag === Tag.template) parts.add(neutral(contentOf(model, element)));
  }
  for (const handler of handlers) parts.add(neutral(handler));
  const name = createHash("sha256")
    .update([...parts].sort().join("\0"))
    .digest("base64url");
  return { name: name.slice(0, 22), runs, awaits, words: wordsOf(model) };
}

/** Tells what a script could do with an element: fill it, show it, or give a meaning to it; null for nothing. */
function placeOf(model: PageModel, element: number, filled: Uint8Array) {
  if (isContainer(model, element) && (filled[element] === 0 || holdsPlaceholder(model, element)))
    return "empty";
  if (isHiddenRoot(model, element)) return "hidden";
  return model.tag[element]! >= FIRST_UNKNOWN_TAG ? "element" : null;
}

// The texts of what is hidden are not among the page's texts.
const isEmpty = (model: PageModel, element: number): boolean =>
  !isHiddenRoot(model, element) || contentOf(model, element).trim() === "";

/** A digest of all words that the page shows, wherever its blocks begin. */
const wordsOf = ({ blocks }: PageModel): string =>
  createHash("sha256").update(blocks.text.join("").replace(/\s+/g, "")).digest("base64url");

/** Their attributes are for scripts, or lead to documents that a browser shows inside the page. */
const TOLD_WHOLE = tagsNamed("body iframe frame object embed noscript");
const SHOWS_DOCUMENT = tagsNamed("iframe frame object embed");

/** Elements that hold nothing until a script fills them; smaller ones are marks and icons. */
const CONTAINERS = tagsNamed(
  "div section article main aside header footer nav ul ol dl table tbody figure pre form output template",
);
/** Elements that a script may fill if an attribute besides name and style says with what. */
const FILLABLE = tagsNamed("p span td li h1 h2 h3 dd code time strong em");
const DIRECTIVE = /\s(?:data-|v-|x-|ng-|hx-|:)[\w:.-]+\s*=/i;

function isContainer(model: PageModel, element: number): boolean {
  const tag = model.tag[element]!;
  if (CONTAINERS.has(tag) || tag >= FIRST_UNKNOWN_TAG) return tag !== Tag.template;
  return FILLABLE.has(tag) && DIRECTIVE.test(startTagOf(model, element));
}

/** Elements that show something without text. */
const SHOWN = tagsNamed(
  "img picture video audio canvas svg math object embed iframe input select textarea button hr",
);

/** Marks the elements that show something, by their number. */
function filledElements(model: PageModel): Uint8Array {
  const { elementCount, tag, parent, textCount, textStart, textEnd, textParent, html } = model;
  const filled = new Uint8Array(elementCount);
  const fill = (inner: number): void => {
    for (let element = inner; element >= 0 && filled[element] === 0; element = parent[element]!)
      filled[element] = 1;
  };
  for (let element = 0; element < elementCount; element++) if (SHOWN.has(tag[element]!)) fill(element);
  for (let text = 0; text < textCount; text++)
    if (html.slice(textStart[text]!, textEnd[text]!).trim() !== "") fill(textParent[text]!);
  return filled;
}

/** Text that stands in for content until a script has loaded it. */
const PLACEHOLDER = /^(?:(?:loading|please wait)[\s\d%.…]*|[^.…<]{0,40}(?:\.\.\.|…))$/i;
const MAX_PLACEHOLDER = 80;

function holdsPlaceholder(model: PageModel, element: number): boolean {
  if (model.elementEnd[element]! > element + 1) return false;
  const length = model.closeEnd[element]! - model.openEnd[element]!;
  return length <= MAX_PLACEHOLDER && PLACEHOLDER.test(contentOf(model, element).trim());
}

/** Whether the page hides the element, and nothing around it. */
function isHiddenRoot({ flags, parent, tag }: PageModel, element: number): boolean {
  if ((flags[element]! & ElementFlag.hidden) === 0 || tag[element] === Tag.script) return false;
  const outer = parent[element]!;
  return outer < 0 || (flags[outer]! & ElementFlag.hidden) === 0;
}

function isInsideTemplate({ flags, parent }: PageModel, element: number): boolean {
  const outer = parent[element]!;
  return outer >= 0 && (flags[outer]! & ElementFlag.template) !== 0;
}

function contentOf({ html, openEnd, closeEnd }: PageModel, element: number): string {
  const content = html.slice(openEnd[element]!, closeEnd[element]!);
  const end = content.lastIndexOf("</");
  return end < 0 ? content : content.slice(0, end);
}

function nameOf({ html, tag, openStart, names, idId, classId }: PageModel, element: number): string {
  const start = openStart[element]!;
  const written =
    tag[element]! >= FIRST_UNKNOWN_TAG ? /^<[^\s/>]{0,80}/.exec(html.slice(start, start + 80))?.[0] : "";
  return `${tag[element]! >= FIRST_UNKNOWN_TAG ? written : tag[element]} #${names[idId[element]!]} .${names[classId[element]!]}`;
}

const SRC = /\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const TYPE = /\stype\s*=\s*["']?([^\s"'>;]+)/i;
/** Kinds of data that no script of the page shows: they are for search engines and for the browser itself. */
const SILENT = /^(?:application\/ld\+json|importmap|speculationrules)$/i;

/** Returns the address of a script, or its text; null for one that nothing on the page reads. */
function scriptOf(model: PageModel, element: number, base: PageUrl | null): string | null {
  const startTag = startTagOf(model, element);
  if (SILENT.test(TYPE.exec(startTag)?.[1] ?? "")) return null;
  const src = valueIn(startTag, SRC);
  if (src === undefined) return contentOf(model, element);
  const address = src.replaceAll("&amp;", "&").trim();
  return `src ${URL.parse(address, base ?? undefined)?.href ?? address}`;
}

const HANDLER = /\son(?:load|error)\s*=/i;
const HANDLERS = /\son(?:load|error)\s*=\s*(?:"[^"]{0,500}"|'[^']{0,500}'|[^\s>]{0,500})/gi;
/** A shorter name would be found in words that do not mean the page. */
const MIN_NAME = 3;

/** Makes a function that takes numbers and the names of the page out of a text. */
function createNeutral(url: PageUrl | null, title: string): (text: string) => string {
  const names = new Set<string>();
  const add = (name: string): void => {
    if (name.trim().length >= MIN_NAME) names.add(name.trim());
  };
  for (const part of [title, ...title.split(/\s[|–—·-]\s/)]) add(part);
  if (url !== null) {
    const { href, pathname } = new URL(url);
    for (const path of [href, pathname, decodeLoosely(pathname)]) add(path);
    const segments = pathname.split("/").filter((segment) => segment !== "");
    for (const segment of segments) {
      add(segment);
      add(segment.replace(/\.\w{1,5}$/, ""));
    }
    for (let from = 1; from < segments.length; from++) add(segments.slice(from).join("/"));
  }
  const longestFirst = [...names].sort((a, b) => b.length - a.length).slice(0, MAX_NAMES);
  return (text) => {
    let neutral = text;
    for (const name of longestFirst) neutral = neutral.replaceAll(name, "\u0001");
    return neutral.replace(/\d+/g, "0");
  };
}

const MAX_NAMES = 40;
