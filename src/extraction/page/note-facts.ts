import type { StartTagAttributes } from "./attributes.ts";
import type { FactCollector } from "./fact-collector.ts";
import type { OpenElements } from "./open-elements.ts";
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
  const { href, rel, itemprop } = attributes;
  if (tag === Tag.a && href !== null) {
    facts.start("link", position, { link: { href, isNofollow: hasToken(rel, "nofollow") } });
  } else if (tag === Tag.title && open.innermost(SVG) < 0) facts.start("title", position);
  else if (tag === Tag.h1) facts.start("h1", position);
  else if (tag === Tag.style) facts.start("style", position);
  else if (tag === Tag.script) noteScript(position, attributes, facts);
  else if (tag === Tag.time || hasToken(itemprop, "datePublished")) {
    noteTime(position, open, attributes, facts);
  }
  if (hasToken(rel, "author") || hasToken(itemprop, "author")) facts.start("author", position);
}

function noteScript(position: number, { type }: StartTagAttributes, facts: FactCollector): void {
  const kind = (type ?? "").split(";")[0]?.trim().toLowerCase();
  if (kind === "application/ld+json") facts.start("json-ld", position);
  else if (kind === "application/json") facts.start("state", position);
}

function noteTime(
  position: number,
  open: OpenElements,
  { datetime, pubdate, itemprop }: StartTagAttributes,
  facts: FactCollector,
): void {
  const isPublication = pubdate !== null || hasToken(itemprop, "datePublished");
  const article = open.innermost(Tag.article);
  const isInArticleHeader = article >= 0 && open.innermost(Tag.header) > article;
  facts.start("time", position, { time: { datetime, isPublication, isInArticleHeader } });
}
