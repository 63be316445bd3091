import { Field, type StartTagAttributes } from "./attributes.ts";
import type { FactCollector } from "./fact-collector.ts";
import type { OpenElements } from "./open-elements.ts";
import type { DateRole } from "./page-model.ts";
import { hasToken } from "./source-text.ts";
import { Tag } from "./tags.ts";

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
  const property = attributes.get(Field.property);
  facts.property(property ?? name, attributes.get(Field.content));
  const names = [property, name, attributes.get(Field.itemprop), attributes.get(Field.httpEquiv)];
  facts.meta(names, attributes.get(Field.content), name);
}

/**
 * Notes where a `<meta http-equiv=refresh>` leads; only the first one of a page counts. With scripts off, as here,
 * one inside `noscript` counts, too; one inside a template never does.
 */
export function noteRefresh(attributes: StartTagAttributes, facts: FactCollector, open: OpenElements): void {
  if (open.innermost(Tag.template) >= 0) return;
  if (attributes.get(Field.httpEquiv)?.trim().toLowerCase() !== "refresh") return;
  facts.refresh ??= attributes.get(Field.content);
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
  const element = open.elementAt(position);
  if (href !== null) {
    facts.start("link", { position, element, link: { href, isNofollow: hasToken(rel, "nofollow") } });
  } else if (tag === Tag.title && open.innermost(Tag.svg) < 0) facts.start("title", { position, element });
  else if (tag === Tag.h1) facts.start("h1", { position, element });
  else if (tag === Tag.style) facts.start("style", { position, element, media: attributes.get(Field.media) });
  else if (tag === Tag.script) {
    const kind = scriptKind(attributes);
    if (kind !== null) facts.start(kind, { position, element });
  } else if (tag === Tag.time || attributes.has(Field.datetime) || hasToken(itemprop, "datepublished")) {
    const datetime = attributes.get(Field.datetime);
    facts.start("time", { position, element, time: { datetime, role: dateRole(attributes, itemprop) } });
  }
  if (hasToken(rel, "author") || hasToken(itemprop, "author")) facts.start("author", { position, element });
}

function scriptKind(attributes: StartTagAttributes): "json-ld" | "state" | null {
  const kind = (attributes.get(Field.type) ?? "").split(";")[0]?.trim().toLowerCase();
  return kind === "application/ld+json" ? "json-ld" : kind === "application/json" ? "state" : null;
}

function dateRole(attributes: StartTagAttributes, itemprop: string | null): DateRole | null {
  if (attributes.has(Field.pubdate) || hasToken(itemprop, "datepublished")) return "published";
  if (hasToken(itemprop, "datemodified")) return "modified";
  return hasToken(itemprop, "datecreated") ? "created" : null;
}
