import { escapeHtml } from "../../../base/text.ts";
import { type Image, type Inline, inlineText, type Link, type Span } from "../model.ts";
import {
  couldBeFormula,
  escapeDestination,
  escapeLineStart,
  escapeProse,
  escapeText,
  escapeTitle,
  hasPairOfTildes,
  type TextPlace,
} from "./escape.ts";

export type PhrasePlace = { readonly isInCell: boolean; readonly isHeading: boolean };

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
  if (AS_HTML.has(tag)) {
    return `<${tag}>${write(inline.children, context, { before: ">", after: "<" })}</${tag}>`;
  }
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
  if (before === mark || after === mark || first === mark || last === mark) return false;
  const opens = !PUNCTUATION.test(first) || isSpace(before) || PUNCTUATION.test(before);
  const closes = !PUNCTUATION.test(last) || isSpace(after) || PUNCTUATION.test(after);
  if (!opens || !closes) return false;
  // Underscores do not work inside words.
  return (
    mark !== "_" ||
    ((isSpace(before) || PUNCTUATION.test(before)) && (isSpace(after) || PUNCTUATION.test(after)))
  );
}

function lastCharacter(text: string): string {
  const low = text.charCodeAt(text.length - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(-2) : text.slice(-1);
}

/** Returns the character that the next piece will start with, as far as emphasis depends on it. */
function firstCharacter(inline: Inline): string {
  switch (inline.kind) {
    case "text": {
      const first = String.fromCodePoint(inline.text.codePointAt(0) ?? 32);
      return first;
    }
    case "span":
      if (AS_HTML.has(inline.tag)) return "<";
      if (inline.tag === "q") return "“";
      if (inline.tag === "samp") return "`";
      if (AS_EMPHASIS.has(inline.tag) || inline.tag === "strong") return "*";
      if (inline.tag === "del") return "~";
      return inline.children[0] ? firstCharacter(inline.children[0]) : " ";
    case "code":
      return "`";
    case "math":
      return "$";
    case "break":
      return "\n";
    case "ruby":
      return inlineText([inline]).charAt(0) || "(";
    default:
      return "[";
  }
}

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
