import { escapeHtml } from "../../../base/text.ts";
import { type Image, type Inline, inlineText, type Link, type Span } from "../model.ts";

type PhrasePlace = { readonly isInCell: boolean; readonly isHeading: boolean };

/** Writes phrases as Markdown lines that start no block. */
export function phrasesToMarkdown(inlines: readonly Inline[], place: PhrasePlace): string {
  const text = inlineText(inlines);
  const context: Context = {
    isInLink: false,
    isInCell: place.isInCell,
    isBeforeLink: false,
    brackets: null,
    phraseBrackets: markupBrackets(inlines),
    hasTildes: hasPairOfTildes(text),
    hasDollars: couldBeFormula(text),
    breaks: place.isInCell ? "<br>" : place.isHeading ? " " : "\\\n",
    emphasis: [],
  };
  const written = write(inlines, context, { before: "", after: "" });
  if (place.isInCell) return written;
  if (place.isHeading) return written.replace(/(?<!#)(#+)$/, "\\$1");
  return written.split("\n").map(escapeLineStart).join("\n");
}

type Context = TextPlace & {
  readonly breaks: string;
  readonly emphasis: readonly string[];
  readonly phraseBrackets: MarkupBrackets;
};
const NO_BRACKETS: ReadonlySet<number> = new Set();
/** The characters before and after, which decide whether emphasis takes effect. */
type Neighbours = { readonly before: string; readonly after: string };

function write(inlines: readonly Inline[], context: Context, around: Neighbours): string {
  // Reading the end of one growing string would copy it each time.
  const pieces: string[] = [];
  let before = around.before;
  for (const [index, inline] of inlines.entries()) {
    const next = inlines[index + 1];
    const after = next === undefined ? around.after : firstCharacter(next);
    const isBeforeLink = next?.kind === "link" || next?.kind === "footnote-ref";
    // A bare address would swallow the backslash of the line break.
    const isAfterAddress =
      inline.kind === "break" && /(?:https?:\/\/|www\.)\S*$/.test((pieces.at(-1) ?? "").slice(-500));
    const breaks = isAfterAddress && context.breaks === "\\\n" ? "  \n" : context.breaks;
    const piece = writeOne(inline, { ...context, breaks, isBeforeLink }, { before, after });
    if (piece === "") continue;
    pieces.push(piece);
    before = lastCharacter(piece);
  }
  return pieces.join("");
}

function writeOne(inline: Inline, context: Context, around: Neighbours): string {
  switch (inline.kind) {
    case "text":
      return escapeProse(
        inline.text,
        { ...context, brackets: context.phraseBrackets.get(inline) ?? NO_BRACKETS },
        around.after,
      );
    case "code":
      return codeSpan(inline.text, context.isInCell);
    case "math":
      return `$${texForMarkdown(inline.tex).replace(/\s+/g, " ")}$`;
    case "break":
      return context.breaks;
    case "footnote-ref":
      return `[^${inline.label}]`;
    case "image":
      return image(inline);
    case "ruby":
      return inline.parts
        .map(({ base, annotation }) => {
          const reading = annotation === "" ? "" : escapeText(`(${annotation})`, context);
          return write(base, context, { before: "", after: "(" }) + reading;
        })
        .join("");
    case "link":
      return link(inline, context);
    case "span":
      return span(inline, context, around);
  }
}

/**
 * Escapes TeX between dollars. A renderer without formulas reads it as Markdown, so nothing in it may be a tag.
 * Spaces after a sign mean nothing in TeX.
 */
export const texForMarkdown = (tex: string): string =>
  tex.replace(/<(?=[a-z/!?])/gi, "< ").replace(/(?<!\\)\$/g, "\\$");

/** Writes code with a fence that differs from every run of backticks inside (CommonMark 6.1). */
function codeSpan(code: string, isInCell: boolean): string {
  const text = code.replace(/[\r\n]+/g, " ");
  // Renderers do not agree on any form of a pipe after a backslash in a cell.
  if (isInCell && text.includes("\\|"))
    return `<code>${htmlInMarkdown(text).replaceAll("|", "&#124;")}</code>`;
  const runs = new Set(text.match(/`+/g)?.map((run) => run.length));
  let length = 1;
  while (runs.has(length)) length++;
  const fence = "`".repeat(length);
  const isPadded = text.startsWith("`") || text.endsWith("`") || (/^ .* $/.test(text) && text.trim() !== "");
  const inner = isPadded ? ` ${text} ` : text;
  return `${fence}${isInCell ? inner.replaceAll("|", "\\|") : inner}${fence}`;
}

export function longestRun(text: string, character: string): number {
  let longest = 0;
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    run = text[at] === character ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}

const titlePart = (title: string | null): string => (title === null ? "" : ` ${escapeTitle(title)}`);

const image = ({ src, alt, title }: Image): string => {
  const text = alt
    .replace(/[\\[\]`*_<~]/g, "\\$&")
    // A backslash would not do: renderers disagree about one before an entity here.
    .replace(/&(?=#?\w{1,40};)/g, "&amp;")
    .replaceAll("|", "&#124;");
  return `![${text}](${escapeDestination(src)}${titlePart(title)})`;
};

function link({ href, title, children }: Link, context: Context): string {
  const text = write(children, { ...context, isInLink: true }, { before: "[", after: "]" });
  return `[${text}](${escapeDestination(href)}${titlePart(title)})`;
}

const AS_HTML = new Set(["sub", "sup", "kbd", "ins", "mark"]);
const AS_EMPHASIS = new Set(["em", "var", "dfn", "cite"]);

function span(inline: Span, context: Context, around: Neighbours): string {
  const { tag } = inline;
  if (AS_HTML.has(tag))
    return `<${tag}>${write(inline.children, context, { before: ">", after: "<" })}</${tag}>`;
  if (tag === "q") return `“${write(inline.children, context, { before: "“", after: "”" })}”`;
  if (tag === "samp") return codeSpan(inlineText(inline.children), context.isInCell);
  if (AS_EMPHASIS.has(tag)) return emphasis(inline, "em", context, around);
  if (tag === "strong") return emphasis(inline, "strong", context, around);
  if (tag === "del") return emphasis(inline, "del", context, around);
  return write(inline.children, context, around);
}

/**
 * Writes emphasis with the first delimiter that takes effect between these neighbours, or else with tags: the rules
 * of flanking (CommonMark 6.2) refuse `**「x」**y`, for example.
 */
function emphasis(inline: Span, tag: "em" | "strong" | "del", context: Context, around: Neighbours): string {
  // Emphasis inside the same emphasis changes nothing.
  if (context.emphasis.includes(tag)) return write(inline.children, context, around);
  const inner = { ...context, emphasis: [...context.emphasis, tag] };
  const isNested = context.emphasis.length > 0 || hasEmphasis(inline.children);
  const delimiters = tag === "del" ? ["~~"] : tag === "strong" ? ["**"] : isNested ? ["_", "*"] : ["*", "_"];
  for (const delimiter of delimiters) {
    const mark = delimiter.charAt(0);
    const text = write(inline.children, inner, { before: mark, after: mark });
    if (takesEffect(text, mark, around)) return `${delimiter}${text}${delimiter}`;
  }
  return `<${tag}>${write(inline.children, inner, { before: ">", after: "<" })}</${tag}>`;
}

const hasEmphasis = (inlines: readonly Inline[]): boolean =>
  inlines.some(
    (inline) => inline.kind === "span" || (inline.kind === "link" && hasEmphasis(inline.children)),
  );

const PUNCTUATION = /[\p{P}\p{S}]/u;
const isSpace = (character: string): boolean => character === "" || /\s/.test(character);

function takesEffect(text: string, mark: string, { before, after }: Neighbours): boolean {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 32);
  const last = lastCharacter(text);
  if (isSpace(first) || isSpace(last) || text.endsWith("\\")) return false;
  if ([before, after, first, last].includes(mark)) return false;
  const opens = !PUNCTUATION.test(first) || endsWord(before);
  const closes = !PUNCTUATION.test(last) || endsWord(after);
  // Underscores do not work inside words.
  return opens && closes && (mark !== "_" || (endsWord(before) && endsWord(after)));
}

const endsWord = (character: string): boolean => isSpace(character) || PUNCTUATION.test(character);

function lastCharacter(text: string): string {
  const low = text.charCodeAt(text.length - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(-2) : text.slice(-1);
}

/** Returns the character that the next piece will start with, as far as emphasis depends on it. */
function firstCharacter(inline: Inline): string {
  if (inline.kind === "text") return String.fromCodePoint(inline.text.codePointAt(0) ?? 32);
  if (inline.kind === "ruby") return inlineText([inline]).charAt(0) || "(";
  if (inline.kind !== "span") return FIRST_SIGNS[inline.kind] ?? "[";
  const { tag, children } = inline;
  if (AS_HTML.has(tag)) return "<";
  const sign = AS_EMPHASIS.has(tag) ? "*" : FIRST_SIGNS[tag];
  return sign ?? (children[0] ? firstCharacter(children[0]) : " ");
}

/** The first characters of each kind of phrase and span. */
const FIRST_SIGNS: Readonly<Record<string, string>> = {
  code: "`",
  math: "$",
  break: "\n",
  q: "“",
  samp: "`",
  strong: "*",
  del: "~",
};

/** Escapes HTML text inside Markdown, where Markdown's own marks would still take effect. */
export const htmlInMarkdown = (text: string): string =>
  escapeHtml(text).replace(/[\\`*_[\]~$]/g, (character) => `&#${character.charCodeAt(0)};`);

/** The places of the brackets that Markdown would read as markup, for each text that has any. */
type MarkupBrackets = ReadonlyMap<Inline, ReadonlySet<number>>;

const NONE: MarkupBrackets = new Map();

type Bracket = { readonly text: Inline; readonly at: number; readonly isAfterCaret: boolean };

/**
 * Finds the brackets of a phrase that must be escaped. Brackets only matter in pairs, so a pair is escaped whole or
 * not at all; the two may stand in different texts, as in `a[<em>b</em>](c)`. Text inside links is skipped, because
 * every bracket in a link is escaped.
 */
function markupBrackets(inlines: readonly Inline[]): MarkupBrackets {
  if (!hasClosingBracket(inlines)) return NONE;
  const finder = new BracketFinder();
  finder.walk(inlines);
  return finder.escaped;
}

const hasClosingBracket = (inlines: readonly Inline[]): boolean =>
  inlines.some((inline) =>
    inline.kind === "text"
      ? inline.text.includes("]")
      : inline.kind === "span"
        ? hasClosingBracket(inline.children)
        : inline.kind === "ruby",
  );

class BracketFinder {
  readonly escaped = new Map<Inline, Set<number>>();
  readonly #open: Bracket[] = [];
  /** The pair that has just ended; the next character decides about it. */
  #pair: readonly [Bracket, Bracket] | null = null;
  #before = " ";

  walk(inlines: readonly Inline[]): void {
    for (const inline of inlines) this.#walkOne(inline);
  }

  #walkOne(inline: Inline): void {
    if (inline.kind === "text") {
      this.#walkText(inline, inline.text);
      return;
    }
    if (inline.kind === "ruby") {
      for (const { base } of inline.parts) {
        this.walk(base);
        this.#follow("(");
      }
      return;
    }
    this.#follow(inline.kind === "link" || inline.kind === "footnote-ref" ? "[" : " ");
    if (inline.kind !== "span") return;
    this.walk(inline.children);
    this.#follow(" ");
  }

  #walkText(text: Inline, characters: string): void {
    for (let at = 0; at < characters.length; at++) {
      const character = characters[at]!;
      const isAfterCaret = this.#before === "^";
      this.#follow(character);
      if (character === "[") this.#open.push({ text, at, isAfterCaret });
      else if (character === "]") this.#close(text, at, characters);
    }
  }

  #close(text: Inline, at: number, characters: string): void {
    const opening = this.#open.pop();
    if (opening === undefined) return;
    this.#pair = [opening, { text, at, isAfterCaret: false }];
    // `[^1]` and `^[1]` would be notes, `[x]` a task.
    const inside =
      opening.text === text ? characters.slice(opening.at + 1, Math.min(at, opening.at + 3)) : "";
    if (opening.isAfterCaret || inside.startsWith("^") || /^[ xX]$/.test(inside)) this.#escapePair();
  }

  /** Handles the character after a pair: `[a](b)`, `[a][b]` and `[a]: b` are links and definitions. */
  #follow(character: string): void {
    if (this.#pair !== null && "([:".includes(character)) this.#escapePair();
    this.#pair = null;
    this.#before = character;
  }

  #escapePair(): void {
    for (const { text, at } of this.#pair ?? []) {
      const places = this.escaped.get(text);
      if (places === undefined) this.escaped.set(text, new Set([at]));
      else places.add(at);
    }
  }
}

/** The place of a text in Markdown, which decides which characters would be markup there. */
type TextPlace = {
  readonly isInLink: boolean;
  readonly isInCell: boolean;
  /** Whether a link follows the text, which `!` in front would turn into an image. */
  readonly isBeforeLink: boolean;
  /** Whether the phrase contains enough tildes to strike something out. */
  readonly hasTildes: boolean;
  /** Whether dollars in the phrase could be read as a formula. */
  readonly hasDollars: boolean;
  /** The places of the brackets in the text that would be markup; null when every bracket counts as such. */
  readonly brackets: ReadonlySet<number> | null;
};

// Matches characters that may be markup anywhere in a line.
const SUSPECT = /[\\`*_[\]<&~$|!^]/;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/**
 * Escapes text so that Markdown shows exactly it, whatever stands beside it (CommonMark 0.31, GFM 0.29).
 * @param offset where the text begins in the one that `place.brackets` counts in
 */
function escapeText(text: string, place: TextPlace, offset = 0): string {
  if (!SUSPECT.test(text)) return text;
  let out = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const isBracket = text[at] === "[" || text[at] === "]";
    const isEscaped = isBracket ? isMarkupBracket(at + offset, place) : isMarkup(text, at, place);
    if (!isEscaped) continue;
    out += `${text.slice(from, at)}\\`;
    from = at;
  }
  return out + text.slice(from);
}

// GitHub turns bare addresses into links, with everything that follows up to a space.
const ADDRESS = /https?:\/\/[^\s<>[\]"`\\|*]+/g;
const ADDRESS_END = /(?<![?!.,:;'_~)])[?!.,:;'_~)]+$/;

/**
 * Escapes text that may contain addresses. An address is put between `<` and `>` when something follows it directly,
 * or when part of it would have to be escaped.
 * @param after the character that follows the text; empty for none
 */
function escapeProse(text: string, place: TextPlace, after: string): string {
  if (place.isInLink || !text.includes("://")) return escapeText(text, place);
  let out = "";
  let from = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = found.includes("(") ? found : found.replace(ADDRESS_END, "");
    const end = index + address.length;
    const rest = text.slice(end, end + MAX_ADDRESS_TAIL);
    const next = /^[?!.,:;'_~)]*(.?)/su.exec(rest)?.[1] || after;
    const isOpen = next !== "" && !/\s/.test(next);
    const isSafe = !isOpen && escapeText(address, place, index) === address;
    if (isSafe || /&#?\w{1,40};/.test(address)) continue;
    out += `${escapeText(text.slice(from, index), place, from)}<${address}>`;
    from = end;
  }
  return out + escapeText(text.slice(from), place, from);
}

const MAX_ADDRESS_TAIL = 20;

const isMarkupBracket = (at: number, { isInLink, brackets }: TextPlace): boolean =>
  isInLink || brackets === null || brackets.has(at);

function isMarkup(text: string, at: number, place: TextPlace): boolean {
  const next = text[at + 1] ?? "";
  switch (text[at]) {
    case "\\":
      return /^[!-/:-@[-`{-~\n]?$/.test(next);
    case "`":
      return true;
    case "*":
      return !isApart(text, at);
    case "_":
      return !isInWord(text, at) && !isApart(text, at);
    case "<":
      return /^[a-z/!?]?$/i.test(next);
    case "&":
      return /^&#?\w{1,40};/.test(text.slice(at, at + 44));
    case "~":
      return place.hasTildes;
    case "$":
      return place.hasDollars;
    case "|":
      return place.isInCell;
    // `![a](b)` is an image, and `^[a]` a note to Pandoc and others.
    case "!":
    case "^":
      return next === "" && place.isBeforeLink;
    default:
      return false;
  }
}

const isApart = (text: string, at: number): boolean => text[at - 1] === " " && text[at + 1] === " ";

const isInWord = (text: string, at: number): boolean => isWordAt(text, at - 1) && isWordAt(text, at + 1);

// Both halves of a surrogate pair count as letters, because most are.
const isWordAt = (text: string, at: number): boolean => {
  const character = text[at];
  return character !== undefined && (WORD.test(character) || /[\ud800-\udfff]/.test(character));
};

/** Escapes a line inside a paragraph so that it does not start a block. */
function escapeLineStart(line: string): string {
  const match = LINE_START.exec(line);
  if (!match) return line;
  const [found, digits] = match;
  if (digits !== undefined) return `${digits}\\${line.slice(digits.length)}`;
  return found.startsWith("\\") ? line : `\\${line}`;
}

const LINE_START =
  /^(?:#{1,6}(?=[ \t]|$)|>|[-+*](?=[ \t]|$)|(\d{1,9})(?=[.)](?:[ \t]|$))|=+[ \t]*$|-[-\t ]*$|_[_\t ]*$|~~~|\||:?-+:?[ \t]*(?:\||$)|:(?=[ \t-]))/;

/** Tells whether a text has two tildes, which may be a pair that strikes text out. */
const hasPairOfTildes = (text: string): boolean => text.indexOf("~") !== text.lastIndexOf("~");

/**
 * Tells whether two dollars look like those around a formula (Pandoc's rule): no space inside, no digit after.
 */
function couldBeFormula(text: string): boolean {
  const opening = /\$(?=\S)/.exec(text);
  if (!opening) return false;
  const closing = /(?<=\S)\$(?!\d)/g;
  closing.lastIndex = opening.index + 2;
  return closing.test(text);
}

/** Escapes the destination of a link or image. */
function escapeDestination(url: string): string {
  const safe = url.replace(/[\s<>`|\\]/g, (character) => encodeURIComponent(character));
  const escaped = hasBalancedParentheses(safe) ? safe : safe.replaceAll("(", "%28").replaceAll(")", "%29");
  // Entities are decoded in destinations too.
  return escaped.replace(/&(?=#?\w{1,40};)/g, "&amp;");
}

function hasBalancedParentheses(url: string): boolean {
  let depth = 0;
  for (const character of url) {
    if (character === "(" && ++depth > 8) return false;
    if (character === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

const escapeTitle = (title: string): string => {
  const text = title.replace(/[\\"]|&(?=#?\w{1,40};)|`|</g, "\\$&").replaceAll("|", "&#124;");
  return `"${text}"`;
};
