import { Field, type StartTagAttributes } from "./attributes.ts";
import type { FactCollector } from "./fact-collector.ts";
import type { OpenElements } from "./open-elements.ts";
import { hasToken } from "./source-text.ts";
import { Tag, tagId } from "./tags.ts";

const SVG = tagId("svg");
const MAX_PRELOADED = 4;

/** Notes what a start tag alone says about the page. */
export function noteElement(tag: number, attributes: StartTagAttributes, facts: FactCollector): void {
  if (tag === Tag.meta) noteMeta(attributes, facts);
  else if (tag === Tag.base) facts.baseHref ??= attributes.get(Field.href) || null;
  else if (tag === Tag.link || tag === Tag.area) {
    const href = attributes.get(Field.href);
    const rel = attributes.get(Field.rel);
    if (tag === Tag.area && href !== null) {
      facts.addLink({ href, text: "", isNofollow: hasToken(rel, "nofollow") });
    } else if (href?.trim() && hasToken(rel, "canonical")) facts.canonicalHref ??= href;
  }
  if (attributes.has(Field.state) && facts.states.length < MAX_PRELOADED) {
    facts.states.push(attributes.get(Field.state)!);
  }
}

function noteMeta(attributes: StartTagAttributes, facts: FactCollector): void {
  const name = attributes.get(Field.name);
  const names = [
    attributes.get(Field.property),
    name,
    attributes.get(Field.itemprop),
    attributes.get(Field.httpEquiv),
  ];
  facts.meta(names, attributes.get(Field.content), name);
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
  const rel = attributes.get(Field.rel);
  const itemprop = attributes.get(Field.itemprop);
  const href = tag === Tag.a ? attributes.get(Field.href) : null;
  if (href !== null) {
    facts.start("link", position, { link: { href, isNofollow: hasToken(rel, "nofollow") } });
  } else if (tag === Tag.title && open.innermost(SVG) < 0) facts.start("title", position);
  else if (tag === Tag.h1) facts.start("h1", position);
  else if (tag === Tag.style) facts.start("style", position);
  else if (tag === Tag.script) noteScript(position, attributes, facts);
  else if (tag === Tag.time || hasToken(itemprop, "datepublished")) {
    noteTime(position, open, attributes, facts);
  }
  if (hasToken(rel, "author") || hasToken(itemprop, "author")) facts.start("author", position);
}

function noteScript(position: number, attributes: StartTagAttributes, facts: FactCollector): void {
  const kind = (attributes.get(Field.type) ?? "").split(";")[0]?.trim().toLowerCase();
  if (kind === "application/ld+json") facts.start("json-ld", position);
  else if (kind === "application/json") facts.start("state", position);
}

function noteTime(
  position: number,
  open: OpenElements,
  attributes: StartTagAttributes,
  facts: FactCollector,
): void {
  const datetime = attributes.get(Field.datetime);
  const isPublication =
    attributes.has(Field.pubdate) || hasToken(attributes.get(Field.itemprop), "datepublished");
  const article = open.innermost(Tag.article);
  const isInArticleHeader = article >= 0 && open.innermost(Tag.header) > article;
  facts.start("time", position, { time: { datetime, isPublication, isInArticleHeader } });
}
