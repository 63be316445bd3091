import { decodeLoosely } from "../../base/text.ts";
import { inlineText, readInline } from "../../markdown/index.ts";
import type { DocumentUrl } from "../../urls/index.ts";
import { PLAIN_LETTERS } from "../analysis/tokenizer.ts";
import type { DocumentAnchor, Section, SourceDocument, StoredDocument } from "../types.ts";

/**
 * A section takes about 600 bytes during analysis, so 20 MB of `# a` would take 3 GB. The longest references
 * that people write have a few thousand sections.
 */
export const MAX_SECTIONS = 20_000;

/** The most characters of a heading, and so of its anchor, that are kept: every hit reads all headings. */
const MAX_HEADING = 1000;

/** The most ids to keep of one page, since a page may give each line an id. */
const MAX_ANCHORS = 20_000;

/** A heading's range in the Markdown without its marks; `textEnd` is before the id that it gives itself. */
type HeadingRange = {
  readonly level: number;
  readonly start: number;
  readonly end: number;
  readonly textEnd: number;
  readonly id: string | null;
};

/** Collects the sections and the fragments of a document while its Markdown is read. */
export class SectionBuilder {
  /** How many headings the document has. */
  headings = 0;
  readonly #url: DocumentUrl;
  readonly #markdown: string;
  /** The ids of the page that the document was made of, in the order of their places; null without a page. */
  readonly #given: readonly DocumentAnchor[] | null;
  #nextGiven = 0;
  /** Most documents have no sign that begins a tag. */
  readonly #hasTags: boolean;
  readonly #sections: Section[] = [];
  readonly #anchors: DocumentAnchor[] = [];
  readonly #taken = new Set<string>();
  /** Ids of tags that stand alone: they lead to what comes next. */
  #waiting: string[] = [];
  #waitingEnd = 0;
  #open: Omit<Section, "end"> = { level: 0, heading: "", anchor: "", isAnchorWritten: false, start: 0 };

  constructor({ url, markdown, anchors }: SourceDocument) {
    this.#url = url;
    this.#markdown = markdown;
    this.#given = anchors ?? null;
    this.#hasTags = markdown.includes("<");
  }

  /** Counts a heading, and tells whether it may open a section. */
  mayOpen(): boolean {
    return ++this.headings <= MAX_SECTIONS;
  }

  open({ level, start, end, textEnd, id }: HeadingRange): void {
    const markdown = this.#markdown;
    const lineStart = markdown.lastIndexOf("\n", start - 1) + 1;
    this.#takeGiven(lineStart);
    this.#sections.push({ ...this.#open, end: Math.max(this.#open.start, lineStart) });
    const heading = inlineText(readInline(markdown.slice(start, Math.min(textEnd, start + MAX_HEADING))))
      .replace(/\n\s*/g, " ")
      .trim();
    const named = id && (forgeSlug(this.#url, heading + markdown.slice(textEnd, end)) ?? id);
    const own = this.#given ? this.#givenUntil(end) : [named, ...idsOfTags(markdown, start, textEnd)];
    const [anchor = "", ...others] = own.flatMap((one) => (one !== null && this.#take(one) ? [one] : []));
    for (const other of others) this.#anchors.push({ id: other, start: lineStart });
    this.#settle();
    const isAnchorWritten = anchor !== "" || this.#given !== null;
    this.#open = { level, heading, anchor, isAnchorWritten, start: lineStart };
  }

  /** Opens a section without a heading where a page of a printed document begins at or before a line; tells whether it did. */
  openPage(lineStart: number): boolean {
    const given = this.#given ?? [];
    let next = this.#nextGiven;
    let page: DocumentAnchor | null = null;
    for (; next < given.length && given[next]!.start <= lineStart; next++)
      if (PAGE.test(given[next]!.id)) page = given[next]!;
    if (page === null || !this.mayOpen() || !this.#take(page.id)) return false;
    this.#takeGiven(lineStart + 1);
    const { id: anchor, start } = page;
    this.#sections.push({ ...this.#open, end: Math.max(this.#open.start, start) });
    this.#open = { level: PAGE_LEVEL, heading: "", anchor, isAnchorWritten: true, start };
    return true;
  }

  /** Notes the ids of the tags in a line; code has none. */
  noteLine(start: number, end: number, isCode: boolean): void {
    if (this.#given || !this.#hasTags) return;
    const ids = isCode ? [] : idsOfTags(this.#markdown, start, end);
    if (ids.length === 0 && this.#waiting.length === 0) return;
    if (ids.length > 0 && isOnlyTags(this.#markdown.slice(start, end))) {
      for (const id of ids) this.#waiting.push(id);
      this.#waitingEnd = end;
      return;
    }
    this.#settle();
    const lineStart = this.#markdown.lastIndexOf("\n", start - 1) + 1;
    for (const id of ids) this.#add({ id, start: lineStart });
  }

  finish(): { readonly sections: readonly Section[]; readonly anchors: readonly DocumentAnchor[] } {
    const { length } = this.#markdown;
    this.#takeGiven(length + 1);
    this.#settle();
    this.#sections.push({ ...this.#open, end: length });
    return { sections: withSlugs(this.#sections, styleAt(this.#url, "github")), anchors: this.#anchors };
  }

  /** Gives waiting ids the place of the next line that is not blank. */
  #settle(): void {
    if (this.#waiting.length === 0) return;
    const markdown = this.#markdown;
    let next = this.#waitingEnd;
    while (next < markdown.length && /\s/.test(markdown[next]!)) next++;
    const start = markdown.lastIndexOf("\n", next - 1) + 1;
    for (const id of this.#waiting) this.#add({ id, start });
    this.#waiting = [];
  }

  #add(anchor: DocumentAnchor): void {
    if (this.#take(anchor.id)) this.#anchors.push(anchor);
  }

  /** An id that a page has twice leads to the first. */
  #take(id: string): boolean {
    if (id === "" || this.#taken.has(id) || this.#taken.size >= MAX_ANCHORS) return false;
    this.#taken.add(id);
    return true;
  }

  /** Takes the page's ids before a place. */
  #takeGiven(before: number): void {
    const given = this.#given ?? [];
    for (; this.#nextGiven < given.length && given[this.#nextGiven]!.start < before; this.#nextGiven++)
      this.#add(given[this.#nextGiven]!);
  }

  #givenUntil(end: number): readonly string[] {
    const given = this.#given ?? [];
    const first = this.#nextGiven;
    while (this.#nextGiven < given.length && given[this.#nextGiven]!.start <= end) this.#nextGiven++;
    return given.slice(first, this.#nextGiven).map(({ id }) => id);
  }
}

/** The anchor of a page of a printed document (RFC 8118). */
const PAGE = /^page=\d+$/;
/** Pages stand below all headings. */
export const PAGE_LEVEL = 7;

/** The page of a printed document on which a section begins; null in other documents. */
export const pageAnchorOf = (sections: readonly Section[], section: number): string | null =>
  sections.findLast(({ anchor }, at) => at <= section && PAGE.test(anchor))?.anchor ?? null;

// `{#id}`, `{ #id .class }`, `{: #id }` and `{/*id*/}` at the end of a heading.
const HEADING_ID =
  /(?<!\s)\s*(?:\{:?\s{0,3}#([^\s{}#]{1,200})(?:\s[^{}]{0,200})?\}|\{\/\*\s{0,3}([^\s{}*]{1,200})\s{0,3}\*\/\})\s{0,3}$/;
const MAX_ID_TAIL = 460;

const TAG_ID =
  /<(?:a\s[^<>]{0,300}?\bname|[a-z][\w-]{0,30}\s(?:[^<>]{0,300}?\s)?id)\s{0,3}=\s{0,3}(?:"([^"\s<>]{1,200})"|'([^'\s<>]{1,200})'|([^"'\s<>]{1,200}))/gi;

const CLOSING_BRACE = 0x7d;

/** The id that a heading gives itself, null for none, and where the heading's text ends. */
export function writtenId(
  markdown: string,
  start: number,
  end: number,
): { readonly end: number; readonly id: string | null } {
  let last = end - 1;
  while (last > start && markdown[last] === " ") last--;
  if (markdown.charCodeAt(last) !== CLOSING_BRACE) return { end, id: null };
  const from = Math.max(start, end - MAX_ID_TAIL);
  const match = HEADING_ID.exec(markdown.slice(from, end));
  return match ? { end: from + match.index, id: match[1] ?? match[2] ?? null } : { end, id: null };
}

/** Only a page that a program wrote on one line has more ids there. */
const MAX_LINE_IDS = 1000;

/** The ids and names of the tags in a line. */
function idsOfTags(markdown: string, start: number, end: number): readonly string[] {
  const line = markdown.slice(start, end);
  if (!line.includes("<")) return [];
  const ids = line.matchAll(TAG_ID).map(([, double, single, bare]) => double ?? single ?? bare ?? "");
  return [...ids.take(MAX_LINE_IDS)];
}

/** Whether a line has no words besides its tags, so that its ids belong to what follows. */
const isOnlyTags = (line: string): boolean => /^(?:\s*<[^<>]{1,400}>)+\s*$/.test(line);

const LINKED_FRAGMENT = /\]\((?!\w{1,10}:|\/\/)[^()\s#]{0,300}#([^()\s]{1,200})\)/g;
const MAX_FRAGMENTS = 500;

/** Hashes of the fragments in a document's links within its own site, each once, ascending. */
export function linkedFragments(markdown: string): Uint32Array {
  if (!markdown.includes("](")) return new Uint32Array(0);
  const hashes = new Set<number>();
  for (const { 1: fragment = "" } of markdown.matchAll(LINKED_FRAGMENT)) {
    hashes.add(fragmentHash(decodeLoosely(fragment)));
    if (hashes.size === MAX_FRAGMENTS) break;
  }
  return Uint32Array.from(hashes).sort();
}

/**
 * How a generator makes the anchor of a heading from its text. Docusaurus, Nextra, Starlight and many others
 * use GitHub's rules; MkDocs those of Python-Markdown, Sphinx those of Docutils. GitLab has its own.
 */
export const SLUG_STYLES = ["github", "vitepress", "mkdocs", "docutils", "gitlab"] as const;

export type SlugStyle = (typeof SLUG_STYLES)[number];

const SLUG_OF: Readonly<Record<SlugStyle, (heading: string) => string>> = {
  // github-slugger: letters, decimal digits, `_` and `-` stay, each blank becomes `-`; `½` and `²` go.
  github: (heading) =>
    heading
      .toLowerCase()
      .trim()
      .replace(/[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc} -]/gu, "")
      .replaceAll(" ", "-"),
  // @mdit-vue/shared: no accents, runs of signs become one `-`, and no digit comes first.
  vitepress: (heading) =>
    heading
      .normalize("NFKD")
      .replace(/[\u0300-\u036f\p{Cc}]/gu, "")
      .replace(/[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g, "-")
      .replace(/^-|-$/g, "")
      .replace(/^(?=\d)/, "_")
      .toLowerCase(),
  // markdown.extensions.toc: ASCII only, runs of spaces and `-` become one `-`.
  mkdocs: (heading) =>
    heading
      .normalize("NFKD")
      .replace(/[^\w\s-]/g, "")
      .trim()
      .toLowerCase()
      .replace(/[-\s]+/g, "-"),
  // docutils.nodes.make_id: ASCII letters and digits, runs of others become one `-`, and no digit comes first.
  docutils: (heading) =>
    heading
      .toLowerCase()
      .replace(/[ßæœøđħıłŧ]/g, (letter) => WITHOUT_STROKE[letter] ?? "")
      .normalize("NFKD")
      .replace(/[^\p{ASCII}]/gu, "")
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^[-0-9]+|-+$/g, ""),
  // gitlab: lib/gitlab/utils/markdown.rb: as GitHub's, but runs of `-` become one, and a number gets a word.
  gitlab: (heading) => SLUG_OF.github(heading).replace(/-+/g, "-").replace(/^\d+$/, "anchor-$&"),
};

const FORGE = /^https?:\/\/[^/]+\/[^?#]+?(\/-)?\/blob\//;

/** How the anchors of headings are made where a document is read: a forge shows it by its own rules. */
export function styleAt(url: DocumentUrl, style: SlugStyle): SlugStyle {
  const forge = FORGE.exec(url);
  if (!forge) return style;
  return forge[1] === undefined ? "github" : "gitlab";
}

/** Returns the slug that a forge gives to a Markdown heading with an id in braces, which it takes for text; else null. */
function forgeSlug(url: DocumentUrl, written: string): string | null {
  return /\.(?:md|markdown|mdx)$/i.test(url) && FORGE.test(url)
    ? SLUG_OF[styleAt(url, "github")](written)
    : null;
}

/** Docutils' replacements for letters without a decomposition. */
const WITHOUT_STROKE: Readonly<Record<string, string>> = { ...PLAIN_LETTERS, ß: "sz", ħ: "h", ŧ: "t" };

const SEPARATOR = { github: "-", vitepress: "-", mkdocs: "_", gitlab: "-" } as const;

/**
 * The anchors of a document's headings, each once: the second `usage` is `usage-1`, or `usage_1` in MkDocs;
 * Docutils numbers all headings of a page that have no anchor of their own, `id1`, `id2`.
 */
export class Slugs {
  readonly #style: SlugStyle;
  readonly #taken = new Set<string>();
  /** The last number after each stem. */
  readonly #numbers = new Map<string, number>();

  constructor(style: SlugStyle = "github") {
    this.#style = style;
  }

  /** Keeps an anchor that the document itself names from being given to a heading. */
  reserve(anchor: string): void {
    this.#taken.add(anchor);
  }

  next(heading: string): string {
    const style = this.#style;
    const slug = PLAIN.test(heading) ? heading.toLowerCase().replaceAll(" ", "-") : SLUG_OF[style](heading);
    const isMissing = slug === "" && (style === "mkdocs" || style === "docutils");
    if (!isMissing && !this.#taken.has(slug)) {
      this.#taken.add(slug);
      return slug;
    }
    const stem = style === "docutils" ? "id" : slug + SEPARATOR[style];
    let count = this.#numbers.get(stem) ?? 0;
    let candidate = slug;
    do candidate = `${stem}${++count}`;
    while (this.#taken.has(candidate));
    this.#numbers.set(stem, count);
    this.#taken.add(candidate);
    return candidate;
  }
}

/** Returns the sections with the anchors of a generator; anchors that the document names itself stay. */
export function withSlugs(sections: readonly Section[], style: SlugStyle): Section[] {
  const anchors = anchorsOf(sections, style);
  return sections.map((section, at) => ({ ...section, anchor: anchors[at]! }));
}

function anchorsOf(sections: readonly Section[], style: SlugStyle): readonly string[] {
  const slugs = new Slugs(style);
  for (const { anchor, isAnchorWritten } of sections) if (isAnchorWritten) slugs.reserve(anchor);
  return sections.map(({ level, heading, anchor, isAnchorWritten }) =>
    level === 0 || isAnchorWritten ? anchor : slugs.next(heading),
  );
}

/** Headings of which all styles make the same. */
const PLAIN = /^[A-Za-z][A-Za-z0-9]*(?: [A-Za-z0-9]+)*$/;

/** Whether all styles make the same anchor; a repeated one, which has a number, is longer than its heading. */
const isAlike = ({ level, heading, anchor, isAnchorWritten }: Section): boolean =>
  level === 0 || isAnchorWritten || (anchor.length === heading.length && PLAIN.test(heading));

/**
 * Finds the style of a collection: the one that explains most of the fragments in its own links. Only
 * headings whose anchors differ between the styles can tell.
 */
export class SlugBallot {
  /** A bit for each style that makes this anchor, by the anchor's hash. */
  readonly #styles = new Map<number, number>();
  readonly #fragments = new Set<number>();

  /** @param fragments hashes of the fragments that a document links to, see `fragmentHash` */
  add(sections: readonly Section[], fragments: Iterable<number>): void {
    for (const fragment of fragments) this.#fragments.add(fragment);
    if (sections.every(isAlike)) return;
    const byStyle = SLUG_STYLES.map((style) => anchorsOf(sections, style));
    for (let at = 1; at < sections.length; at++) {
      const first = byStyle[0]![at]!;
      if (byStyle.every((anchors) => anchors[at] === first)) continue;
      byStyle.forEach((anchors, style) => {
        const hash = fragmentHash(anchors[at]!);
        this.#styles.set(hash, (this.#styles.get(hash) ?? 0) | (1 << style));
      });
    }
  }

  winner(): SlugStyle {
    const votes = SLUG_STYLES.map(() => 0);
    for (const fragment of this.#fragments) {
      const styles = this.#styles.get(fragment) ?? 0;
      for (let style = 0; style < votes.length; style++) if (styles & (1 << style)) votes[style]!++;
    }
    return SLUG_STYLES[votes.indexOf(Math.max(...votes))]!;
  }
}

const fragmentHash = (fragment: string): number => Bun.hash.xxHash32(fragment);

/** A part of a document's Markdown, UTF-16 code units, end exclusive. */
type TextRange = { readonly start: number; readonly end: number };

/**
 * Finds the target of a URL's fragment: a section from its heading to the next heading of its level, or for an id inside
 * a section, the text from its line to the next such id that is not indented deeper, or to the section's end.
 * @param fragment without `#`, in upper or lower case, percent-encoded or not: browsers, people and models write it
 * differently. A generator's slug of a heading also finds the heading, even if the heading has another id.
 */
export function rangeOfFragment(document: StoredDocument, fragment: string): TextRange | null {
  const wanted = decodeLoosely(fragment);
  return (
    rangeWhere(document, (anchor) => anchor === fragment) ??
    rangeWhere(document, (anchor) => anchor === wanted) ??
    rangeWhere(document, (anchor) => anchor.toLowerCase() === wanted.toLowerCase()) ??
    rangeOfSlug(document, wanted.toLowerCase())
  );
}

// Characters that a fragment contains unescaped (WHATWG URL, "fragment percent-encode set").
const PLAIN_FRAGMENT = /^[!#-;=?-_a-z{|}~]*$/;

/**
 * An id as it is written after the `#` of an address. Browsers look for an id that is equal to the fragment first, and
 * then for the decoded one, so that an id is encoded only where it has to be.
 */
export const fragmentOf = (id: string): string =>
  PLAIN_FRAGMENT.test(id) ? id : id.replace(/[%\s"<>`\p{Cc}]/gu, encodeURIComponent);

function rangeWhere(document: StoredDocument, isWanted: (anchor: string) => boolean): TextRange | null {
  const { sections, anchors } = document;
  const section = sections.findIndex(({ anchor }) => anchor !== "" && isWanted(anchor));
  if (section >= 0) return wholeSection(document, section, PAGE.test(sections[section]!.anchor));
  const inner = anchors.findIndex(({ id }) => isWanted(id));
  return inner < 0 ? null : rangeOfAnchor(document, inner);
}

function rangeOfSlug(document: StoredDocument, wanted: string): TextRange | null {
  const unnamed = document.sections.map((section) => ({ ...section, isAnchorWritten: false }));
  for (const style of SLUG_STYLES) {
    const at = withSlugs(unnamed, style).findIndex(({ anchor, level }) => level > 0 && anchor === wanted);
    if (at >= 0) return wholeSection(document, at);
  }
  return null;
}

/** The range of a section with its subsections, without the blank lines at its end; of one that begins a page the page. */
function wholeSection({ sections, markdown }: StoredDocument, index: number, isPage = false): TextRange {
  const { start, level } = sections[index]!;
  const next = sections
    .slice(index + 1)
    .find((other) => (isPage ? PAGE.test(other.anchor) : other.level <= level));
  return withoutBlankEnd(markdown, { start, end: next?.start ?? markdown.length });
}

function rangeOfAnchor(document: StoredDocument, index: number): TextRange {
  const { sections, anchors, markdown } = document;
  const { start } = anchors[index]!;
  const holder = sections.findLastIndex((section) => section.start <= start);
  if (sections[holder]!.level > 0 && sections[holder]!.start === start) return wholeSection(document, holder);
  const indent = indentAt(markdown, start);
  const next = anchors
    .slice(index + 1)
    .find((other) => other.start > start && indentAt(markdown, other.start) <= indent);
  const end = Math.min(sections[holder]!.end, next?.start ?? markdown.length);
  return withoutBlankEnd(markdown, { start, end });
}

function indentAt(markdown: string, start: number): number {
  let at = start;
  while (markdown[at] === " " || markdown[at] === "\t") at++;
  return at - start;
}

function withoutBlankEnd(markdown: string, { start, end }: TextRange): TextRange {
  let at = end;
  while (at > start && /\s/.test(markdown[at - 1]!)) at--;
  return { start, end: at };
}

/** Lists the start of each section with an anchor, and the anchor as a URL contains it. */
export const anchoredSections = ({ sections }: Pick<StoredDocument, "sections">) =>
  sections.flatMap(({ anchor, start }) => (anchor === "" ? [] : [{ anchor: fragmentOf(anchor), start }]));

/** An entry of a document's table of contents. */
type OutlineEntry = {
  readonly level: number;
  readonly heading: string;
  /** The fragment that leads to it; null when the page has none. */
  readonly anchor: string | null;
  /** The length of the section with its subsections. */
  readonly characters: number;
};

/** The headings of a document in their order; without the deepest levels when there are more than `most`. */
export function outlineOf(document: StoredDocument, most: number): OutlineEntry[] {
  const { sections } = document;
  let deepest = 6;
  const isShown = ({ level }: Section): boolean => level > 0 && level <= deepest;
  while (deepest > 1 && sections.filter(isShown).length > most) deepest--;
  const entries: OutlineEntry[] = [];
  sections.forEach((section, index) => {
    if (!isShown(section) || entries.length >= most) return;
    const { level, heading, anchor } = section;
    const { start, end } = wholeSection(document, index);
    entries.push({ level, heading, anchor: fragmentOf(anchor) || null, characters: end - start });
  });
  return entries;
}
