import { Field, type StartTagAttributes } from "./attributes.ts";
import type { OpenElements } from "./columns.ts";
import {
  type DateRole,
  type PageFacts,
  type PageText,
  type PageTime,
  type RawLink,
  Tag,
} from "./page-model.ts";
import { hasToken } from "./source-text.ts";

/** The text that is gathered between an element's start and end. */
type Capture = {
  readonly kind: "title" | "h1" | "author" | "time" | "json-ld" | "link" | "state";
  /** The position of the element on the stack of open elements. */
  readonly position: number;
  readonly element: number;
  readonly limit: number;
  text: string;
  readonly link: Omit<RawLink, "text"> | null;
  readonly time: Omit<PageTime, keyof PageText> | null;
};

type CaptureStart = Pick<Capture, "position" | "element"> & Partial<Pick<Capture, "link" | "time">>;

const MAX_VALUE = 4000;
const MAX_LINK_TEXT = 1000;
const MAX_HEADINGS = 20;
const MAX_AUTHORS = 10;
const MAX_TIMES = 50;
const MAX_SCRIPTS = 60;
/** At most this many captures are nested, because each of them processes every text again. */
const MAX_OPEN = 8;
/** The maximum number of characters that are kept of a script. */
const MAX_SCRIPT_LENGTH = 4_000_000;

/** Gathers what a page says about itself while it is read. */
export class FactCollector {
  readonly #open: Capture[] = [];
  // The fields of `PageFacts` as they are found.
  title: string | null = null;
  readonly headings: PageText[] = [];
  readonly meta = new Map<string, string>();
  readonly properties: (readonly [string, string])[] = [];
  readonly jsonLd: string[] = [];
  jsonLdCount = 0;
  readonly authors: PageText[] = [];
  readonly times: PageTime[] = [];
  readonly links: RawLink[] = [];
  readonly frames: RawLink[] = [];
  readonly robots: string[] = [];
  readonly states: string[] = [];
  htmlLang: string | null = null;
  bodyLang: string | null = null;
  dir: string | null = null;
  baseHref: string | null = null;
  canonicalHref: string | null = null;
  markdownHref: string | null = null;
  readonly translations: { readonly href: string; readonly language: string }[] = [];
  describedByHref: string | null = null;
  refresh: string | null = null;
  noscriptRefresh: string | null = null;

  addMeta(names: readonly (string | null)[], content: string | null, name: string | null): void {
    if (content === null) return;
    const value = content.slice(0, MAX_VALUE);
    if (name?.trim().toLowerCase() === "robots") this.robots.push(value);
    if (value.trim() === "") return;
    for (const written of names) {
      const key = written?.trim().toLowerCase();
      if (key && !this.meta.has(key)) this.meta.set(key, value);
    }
  }

  /** Notes a property that may have several values, and the properties of its image beside it. */
  property(written: string | null, content: string | null): void {
    const property = written?.trim().toLowerCase() ?? "";
    if (content !== null && OPEN_GRAPH.test(property)) this.properties.push([property, content]);
  }

  /** Starts gathering text; `finishAt` stores it when the element ends. */
  start(kind: Capture["kind"], { position, element, link = null, time = null }: CaptureStart): void {
    if (kind === "json-ld") this.jsonLdCount++;
    if (this.#open.length >= MAX_OPEN || !this.#wants(kind)) {
      if (link) this.links.push({ ...link, text: "" });
      return;
    }
    const isScript = kind === "json-ld" || kind === "state";
    const limit = isScript ? MAX_SCRIPT_LENGTH : kind === "link" ? MAX_LINK_TEXT : MAX_VALUE;
    this.#open.push({ kind, position, element, limit, text: "", link, time });
  }

  get isCapturing(): boolean {
    return this.#open.length > 0;
  }

  /** Adds a text to the open captures: those of scripts take the text in scripts, the others all else. */
  text(text: string, isTextless: boolean, isAfterGap = false): void {
    for (const capture of this.#open) {
      if (isTextless && !TEXTLESS_KINDS.has(capture.kind)) continue;
      const room = capture.limit - capture.text.length;
      if (room <= 0) continue;
      const more = isAfterGap && capture.text !== "" ? ` ${text}` : text;
      capture.text += more.length <= room ? more : more.slice(0, room);
    }
  }

  /** Removes text that turned out not to belong to the element. */
  takeBack(text: string): void {
    for (const capture of this.#open) {
      if (capture.kind === "h1" && capture.text.endsWith(text))
        capture.text = capture.text.slice(0, -text.length);
    }
  }

  /** Ends the captures of elements at or above this position on the stack. */
  finishAt(position: number): void {
    for (let capture = this.#open.at(-1); capture; capture = this.#open.at(-1)) {
      if (capture.position < position) return;
      this.#open.pop();
      this.#store(capture);
    }
  }

  finish(): PageFacts {
    this.finishAt(-1);
    const { title, refresh, noscriptRefresh, ...facts }: FactCollector = this;
    const [scripted, plain] = [refresh, noscriptRefresh].map(
      (content) => content?.slice(0, MAX_VALUE) ?? null,
    );
    return { ...facts, title: title ?? "", refresh: scripted ?? null, noscriptRefresh: plain ?? null };
  }

  #wants(kind: Capture["kind"]): boolean {
    switch (kind) {
      case "title":
        return this.title === null;
      case "h1":
        return this.headings.length < MAX_HEADINGS;
      case "author":
        return this.authors.length < MAX_AUTHORS;
      case "time":
        return this.times.length < MAX_TIMES;
      case "json-ld":
        return this.jsonLd.length < MAX_SCRIPTS;
      case "state":
        return this.states.length < MAX_SCRIPTS;
      default:
        return true;
    }
  }

  #store({ kind, element, text, link, time }: Capture): void {
    if (kind === "title") this.title ??= text;
    else if (kind === "h1") this.headings.push({ element, text });
    else if (kind === "author") this.authors.push({ element, text });
    else if (kind === "json-ld") this.jsonLd.push(text);
    else if (kind === "state") this.states.push(text);
    else if (link) this.links.push({ ...link, text });
    else if (time) this.times.push({ ...time, element, text });
  }
}

const OPEN_GRAPH = /^(?:og|article|book|profile|video|music|product|twitter):./;

const TEXTLESS_KINDS: ReadonlySet<Capture["kind"]> = new Set(["title", "json-ld", "state"]);

const MAX_PRELOADED = 4;

/** Notes what a start tag alone says about the page. */
export function noteElement(tag: number, attributes: StartTagAttributes, facts: FactCollector): void {
  if (tag === Tag.meta) noteMeta(attributes, facts);
  else if (tag === Tag.base) facts.baseHref ??= attributes.get(Field.href) || null;
  else if (tag === Tag.frame && attributes.get(Field.src)) {
    const frame = { href: attributes.get(Field.src)!, text: "", isNofollow: false };
    facts.frames.push(frame);
    facts.links.push(frame);
  } else if (tag === Tag.link || tag === Tag.area) {
    const href = attributes.get(Field.href);
    const rel = attributes.get(Field.rel);
    if (tag === Tag.area && href !== null) {
      facts.links.push({ href, text: "", isNofollow: hasToken(rel, "nofollow") });
    } else if (href?.trim() && rel !== null) noteRelation(rel, href, attributes, facts);
  }
  if (attributes.has(Field.state) && facts.states.length < MAX_PRELOADED)
    facts.states.push(attributes.get(Field.state)!);
}

function noteRelation(rel: string, href: string, attributes: StartTagAttributes, facts: FactCollector): void {
  if (hasToken(rel, "canonical")) facts.canonicalHref ??= href;
  if (hasToken(rel, "describedby")) facts.describedByHref ??= href;
  if (!hasToken(rel, "alternate")) return;
  if (isMarkdownType(attributes.get(Field.type))) facts.markdownHref ??= href;
  const language = attributes.get(Field.hreflang)?.trim();
  if (language && facts.translations.length < MAX_TRANSLATIONS) facts.translations.push({ href, language });
}

/** A site has a few dozen languages. */
const MAX_TRANSLATIONS = 300;

const isMarkdownType = (type: string | null): boolean =>
  /^\s*text\/(?:x-)?markdown\s*(?:;|$)/i.test(type ?? "");

function noteMeta(attributes: StartTagAttributes, facts: FactCollector): void {
  const name = attributes.get(Field.name);
  const property = attributes.get(Field.property);
  facts.property(property ?? name, attributes.get(Field.content));
  const names = [property, name, attributes.get(Field.itemprop), attributes.get(Field.httpEquiv)];
  facts.addMeta(names, attributes.get(Field.content), name);
}

/**
 * Notes the content of `<meta http-equiv=refresh>`; only the first one of a page counts, and the first one inside
 * `noscript`, which is for readers without scripts. One inside a template never does.
 */
export function noteRefresh(attributes: StartTagAttributes, facts: FactCollector, open: OpenElements): void {
  if (open.innermost(Tag.template) >= 0) return;
  if (attributes.get(Field.httpEquiv)?.trim().toLowerCase() !== "refresh") return;
  if (open.innermost(Tag.noscript) >= 0) facts.noscriptRefresh ??= attributes.get(Field.content);
  else facts.refresh ??= attributes.get(Field.content);
}

/** Starts gathering the text of the element opened last if it says something about the page. */
export function noteOpening(
  tag: number,
  attributes: StartTagAttributes,
  facts: FactCollector,
  open: OpenElements,
): void {
  const position = open.size - 1;
  const rel = attributes.get(Field.rel);
  const itemprop = attributes.get(Field.itemprop);
  const href = tag === Tag.a ? attributes.get(Field.href) : null;
  const element = open.top;
  if (href !== null) {
    facts.start("link", { position, element, link: { href, isNofollow: hasToken(rel, "nofollow") } });
  } else if (tag === Tag.title && open.innermost(Tag.svg) < 0) facts.start("title", { position, element });
  else if (tag === Tag.h1) facts.start("h1", { position, element });
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
