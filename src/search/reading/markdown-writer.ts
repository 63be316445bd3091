import { withoutHiddenMarkup } from "./hidden-markup.ts";

/** Deeper containers are left out, and their blocks stand in the last one: the grammar of Markdown reads 16. */
const MAX_DEPTH = 12;

export type NoteKind = "NOTE" | "TIP" | "IMPORTANT" | "WARNING" | "CAUTION";

type Container = { readonly mark: string; readonly inset: string; isFresh: boolean };

/** Writes the blocks of a document as Markdown. Phrases are Markdown already, made by the functions below. */
export class MarkdownWriter {
  readonly #lines: string[] = [];
  readonly #isCell: boolean;
  readonly #containers: Container[] = [];
  /** Whether the last block was the first paragraph of an item, so that an item may follow at once. */
  #isTight = false;
  /** Whether the last block is the line that says the kind of a note. */
  #isJoined = false;

  /** @param isCell whether the blocks will stand in a cell of a table, where code and headings are phrases */
  constructor(isCell = false) {
    this.#isCell = isCell;
  }

  /** @param id the heading's fragment, where the document names one */
  heading(level: number, phrase: string, id = ""): void {
    const text = phrase
      .replace(/\s+/g, " ")
      .trim()
      .replace(/(^|\s)(#+)$/, "$1\\$2");
    if (text === "") return;
    const anchor = /^[\w:.-]{1,100}$/.test(id) ? ` {#${id}}` : "";
    if (this.#isCell) this.paragraph(strong(text));
    else this.#block([`${"#".repeat(Math.min(6, Math.max(1, level)))} ${text}${anchor}`]);
  }

  paragraph(phrase: string): void {
    const shown = this.#isCell ? oneLine(phrase.replaceAll("\\\n", "<br>")) : phrase;
    const lines = shown.split("\n").flatMap((line) => (line.trim() === "" ? [] : [withoutMark(line)]));
    if (lines.length === 0) return;
    const isFirstOfItem = this.#containers.at(-1)?.isFresh === true;
    if (this.#isJoined) this.#write(lines);
    else this.#block(lines);
    this.#isTight = isFirstOfItem;
  }

  code(text: string, language = ""): void {
    const lines = text
      .replace(/^(?:[ \t]*\n)+/, "")
      .trimEnd()
      .split("\n");
    if (lines.length === 1 && lines[0] === "") return;
    let longest = 2;
    for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
    const fence = "`".repeat(longest + 1);
    if (this.#isCell) this.#block(lines.map(codeSpan));
    else this.#block([`${fence}${/^[\w.+#-]{1,40}$/.test(language) ? language : ""}`, ...lines, fence]);
  }

  math(tex: string): void {
    const lines = tex.split("\n").filter((line) => line.trim() !== "");
    if (lines.length > 0) this.#block(["$$", ...lines, "$$"]);
  }

  /** Writes rows of phrases; without a header the first row is empty. */
  table(header: readonly string[], rows: readonly (readonly string[])[]): void {
    const width = rows.reduce((most, row) => Math.max(most, row.length), header.length);
    if (width === 0) return;
    const line = (cells: readonly string[]): string =>
      `| ${Array.from({ length: width }, (_, at) => cellOf(cells[at] ?? "")).join(" | ")} |`;
    this.#block([line(header), `|${" --- |".repeat(width)}`, ...rows.map(line)]);
  }

  rule(): void {
    this.#block(["---"]);
  }

  /** Writes the Markdown or HTML of the document itself, without what its readers do not see. */
  markdown(text: string): void {
    this.#block(
      withoutHiddenMarkup(text)
        .replace(/^(?:[ \t]*\n)+/, "")
        .trimEnd()
        .split("\n"),
    );
  }

  /** @param number null for a bullet */
  item(number: number | null, write: () => void): void {
    const mark = number === null ? "- " : `${Math.min(999_999_999, Math.max(0, number))}. `;
    this.#inside({ mark, inset: " ".repeat(mark.length), isFresh: true }, write);
  }

  quote(write: () => void): void {
    this.#inside({ mark: "> ", inset: "> ", isFresh: true }, write);
  }

  /** @param title the note's own title, as a phrase */
  note(kind: NoteKind, title: string, write: () => void): void {
    this.quote(() => {
      this.#block([`[!${kind}]`, ...(title === "" ? [] : [strong(title)])]);
      this.#isJoined = title === "";
      write();
    });
  }

  /** Writes the term of a definition, in bold, with what it means as an item. */
  definition(terms: readonly string[], write: () => void): void {
    for (const term of terms) this.paragraph(strong(term));
    this.item(null, write);
  }

  toString(): string {
    return this.#lines
      .filter((line) => !this.#isCell || line.trim() !== "")
      .join(this.#isCell ? "<br>" : "\n");
  }

  #inside(container: Container, write: () => void): void {
    const isTooDeep = this.#containers.length >= MAX_DEPTH;
    if (!isTooDeep) this.#containers.push(container);
    write();
    if (!isTooDeep) this.#containers.pop();
  }

  #block(lines: readonly string[]): void {
    if (lines.every((line) => line === "")) return;
    this.#separate();
    this.#write(lines);
  }

  #write(lines: readonly string[]): void {
    for (const line of lines) {
      let start = "";
      for (const container of this.#containers) {
        start += container.isFresh ? container.mark : container.inset;
        container.isFresh = false;
      }
      this.#lines.push((start + line).trimEnd());
    }
    this.#isTight = false;
    this.#isJoined = false;
  }

  #separate(): void {
    if (this.#lines.length === 0) return;
    const fresh = this.#containers.find(({ isFresh }) => isFresh);
    if (this.#isTight && fresh && fresh.mark !== "> ") return;
    let start = "";
    for (const { inset, isFresh } of this.#containers) {
      if (isFresh) break;
      start += inset;
    }
    this.#lines.push(start.trimEnd());
  }
}

/** A line of a paragraph, so that nothing at its start makes it another block. */
const withoutMark = (line: string): string =>
  line
    .trim()
    .replace(/^(?:#{1,6}(?=\s|$)|>|[+-](?=\s|$)|[=-]+$|[:-]+[ \t]*(?=\|)|~{3}|\[(?=[^\]]{1,300}\]:))/, "\\$&")
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, "$1\\$2");

const cellOf = (phrase: string): string => oneLine(phrase).replace(/(?<!\\)\|/g, "\\|");

// Phrases of Markdown, made of what documents in other languages say.

/**
 * A text as a phrase that shows it literally. Only marks that would take effect are escaped, and a `<` becomes
 * an entity, so that no text is taken for hidden markup.
 */
export const literal = (text: string): string =>
  text
    .replace(
      /\\(?=[!-/:-@[-`{-~])|`|\*(?!\s)|(?<=\S)\*|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|~(?=\S)|(?<=\S)~|\$(?=\S)|\](?=[([])|\[(?=\^)/gu,
      "\\$&",
    )
    .replace(/&(?=#?\w{1,40};)/g, "&amp;")
    .replace(/<(?=[a-z/!?]|$)/gi, "&lt;");

/** A text without its line breaks and what stands around them. */
export const oneLine = (text: string): string =>
  text.includes("\n")
    ? text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .join(" ")
    : text.trim();

/** A span of code, in one line. */
export function codeSpan(code: string): string {
  const line = oneLine(code);
  if (line === "") return "";
  let longest = 0;
  for (const [run] of line.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  const gap = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${gap}${line}${gap}${fence}`;
}

const marked = (phrase: string, mark: string): string => {
  const inner = phrase.trim();
  return inner === "" || inner.includes(mark) ? inner : `${mark}${inner}${mark}`;
};

export const strong = (phrase: string): string => marked(phrase, "**");
export const emphasis = (phrase: string): string => marked(phrase, "*");

/** A link, or its text alone where the address is none that a reader may follow. */
export const link = (phrase: string, address: string): string =>
  isFollowed(address) && phrase.trim() !== "" ? `[${phrase.trim()}](${target(address)})` : phrase;

export const image = (alt: string, address: string): string =>
  isFollowed(address) ? `![${literal(alt)}](${target(address)})` : literal(alt);

/** Pages of the web, mail and places relative to the document; no script and no data. */
const isFollowed = (address: string): boolean =>
  address !== "" &&
  address.length <= MAX_ADDRESS &&
  (/^(?:https?|mailto|ftp):/i.test(address) || !/^[a-z][a-z0-9+.-]{0,30}:/i.test(address));

const MAX_ADDRESS = 2000;

const target = (address: string): string =>
  address.replace(/[\s<>()\\|"`]/g, (one) => ESCAPED[one] ?? encodeURIComponent(one));

const ESCAPED: Readonly<Record<string, string>> = { "(": "%28", ")": "%29" };

/** Reads the inline markup of a text from left to right, each character a limited number of times. */
export abstract class InlineReader {
  protected readonly text: string;
  protected at = 0;
  /** The text read so far without any markup. */
  protected plain = "";
  readonly #special: RegExp;
  #out = "";

  /** @param special matches the signs with which markup may begin; global */
  constructor(text: string, special: RegExp) {
    this.text = text;
    this.#special = special;
  }

  /** Reads the markup that begins here. @returns false when the sign is one of the text */
  protected abstract special(sign: string): boolean;

  /** Converts the text to Markdown. */
  read(): string {
    const { text } = this;
    while (this.at < text.length) {
      this.#special.lastIndex = this.at;
      const next = this.#special.exec(text)?.index ?? text.length;
      this.plain += text.slice(this.at, next);
      this.at = next;
      if (next < text.length && !this.special(text[next]!)) this.plain += text[this.at++]!;
    }
    return this.#out + literal(this.plain);
  }

  /** Adds a phrase for the next characters. */
  protected push(phrase: string, length: number): true {
    this.#out += literal(this.plain) + phrase;
    this.plain = "";
    this.at += length;
    return true;
  }

  /** Keeps the next characters as text. */
  protected keep(length: number): true {
    this.plain += this.text.slice(this.at, this.at + length);
    this.at += length;
    return true;
  }

  /** @param expression sticky */
  protected match(expression: RegExp, at = this.at): RegExpExecArray | null {
    expression.lastIndex = at;
    return expression.exec(this.text);
  }
}
