import type { StartTagAttributes } from "./attributes.ts";
import type { FactCollector } from "./fact-collector.ts";
import type { OpenElements } from "./open-elements.ts";
import type { DateRole } from "./page-model.ts";
import { hasToken } from "./source-text.ts";
import { Tag, tagId } from "./tags.ts";

const SVG = tagId("svg");
const MAX_PRELOADED = 4;

/** Notes what a start tag alone says about the page. */
export function noteElement(tag: number, attributes: StartTagAttributes, facts: FactCollector): void {
  const { name, property, itemprop, httpEquiv, content, href, rel, state } = attributes;
  if (tag === Tag.meta) facts.meta([property, name, itemprop, httpEquiv], content, name);
  else if (tag === Tag.base) facts.baseHref ??= href || null;
  else if (tag === Tag.link && href?.trim() && hasToken(rel, "canonical")) facts.canonicalHref ??= href;
  else if (tag === Tag.area && href !== null) {
    facts.addLink({ href, text: "", isNofollow: hasToken(rel, "nofollow") });
  }
  if (state !== null && facts.states.length < MAX_PRELOADED) facts.states.push(state);
}

/** An element that has just been opened. */
export type OpenedElement = {
  readonly tag: number;
  /** Its position on the stack. */
  readonly position: number;
  readonly open: OpenElements;
  readonly attributes: StartTagAttributes;
  readonly facts: FactCollector;
};

/** Starts gathering the text of an element that says something about the page. */
export function noteOpening({ tag, position, open, attributes, facts }: OpenedElement): void {
  const { href, rel, itemprop, datetime } = attributes;
  const at = { position, element: open.elementAt(position) };
  if (tag === Tag.a && href !== null) {
    facts.start("link", { ...at, link: { href, isNofollow: hasToken(rel, "nofollow") } });
  } else if (tag === Tag.title && open.innermost(SVG) < 0) facts.start("title", at);
  else if (tag === Tag.h1) facts.start("h1", at);
  else if (tag === Tag.style) facts.start("style", at);
  else if (tag === Tag.script) {
    const kind = scriptKind(attributes);
    if (kind !== null) facts.start(kind, at);
  } else if (tag === Tag.time || datetime !== null || hasToken(itemprop, "datePublished")) {
    facts.start("time", { ...at, time: { datetime, role: dateRole(attributes) } });
  }
  if (hasToken(rel, "author") || hasToken(itemprop, "author")) facts.start("author", at);
}

function scriptKind({ type }: StartTagAttributes): "json-ld" | "state" | null {
  const kind = (type ?? "").split(";")[0]?.trim().toLowerCase();
  return kind === "application/ld+json" ? "json-ld" : kind === "application/json" ? "state" : null;
}

function dateRole({ pubdate, itemprop }: StartTagAttributes): DateRole | null {
  if (pubdate !== null || hasToken(itemprop, "datePublished")) return "published";
  if (hasToken(itemprop, "dateModified")) return "modified";
  return hasToken(itemprop, "dateCreated") ? "created" : null;
}
