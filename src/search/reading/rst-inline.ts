import { byWord } from "../../base/text.ts";
import { codeSpan, emphasis, InlineReader, link, literal, strong } from "./markdown-writer.ts";

/** Targets of phrases: URLs by name (empty for a place in the document), and substitutions. */
export type References = {
  readonly addresses: Map<string, string>;
  readonly substitutions: Map<string, string>;
  /** How many characters of both may still be written, as a text may repeat them. */
  budget: number;
};

export const nameOf = (text: string): string => text.replace(/\s+/g, " ").trim().toLowerCase();

/** Inline markup begins after one of these characters or a blank (docutils, "Inline markup"). */
const BEFORE = /[\s'"([{<\-/:\u2010-\u2019\u201c\u201d\u00ab]/;
const AFTER = /[\s'")\]}>\-/:.,;!?\\\u2010-\u2019\u201c\u201d\u00bb]/;

const SPECIAL = /[\\`*|:[_]/g;
const ROLE = /:([\w+.-]{1,60}(?::[\w+.-]{1,60}){0,3}):`/y;
const ROLE_BEHIND = /:([\w+.-]{1,60}(?::[\w+.-]{1,60}){0,3}):(?!`)/y;
const FOOTNOTE = /\[(#?[\w.-]{0,100}|\*)\]_(?!\w)/y;
const SUBSTITUTION = /\|([^|\s](?:[^|\n]{0,100}[^|\s])?)\|_{0,2}/y;
const REFERENCE_NAME = /(?<![\p{L}\p{N}])[\p{L}\p{N}]+(?:[-.+_:][\p{L}\p{N}]+){0,20}$/u;

/** Converts a text's inline markup to Markdown, each character being read a limited number of times. */
export const inlineToMarkdown = (text: string, references: References): string =>
  new RstInlineReader(text, references).read();

/** How many places an end is looked for; then its beginning is a sign of the text. */
const MAX_ENDS = 20;

class RstInlineReader extends InlineReader {
  readonly #references: References;

  constructor(text: string, references: References) {
    super(text, SPECIAL);
    this.#references = references;
  }

  protected override special(sign: string): boolean {
    const isBeforeBacktick = this.text[this.at + 1] === "`";
    if (sign === "\\") return this.#escape();
    if (sign === "_") return isBeforeBacktick ? this.#target() : this.#reference();
    if (sign === ":") return this.#role();
    if (sign === "[") return this.#footnote();
    if (sign === "|") return this.#substitution();
    if (sign === "`") return isBeforeBacktick ? this.#code() : this.#interpreted();
    return this.#emphasis();
  }

  #escape(): true {
    const next = this.text[this.at + 1] ?? "";
    if (!/\s/.test(next)) this.plain += next;
    this.at += 2;
    return true;
  }

  #mayBegin(length: number): boolean {
    const before = this.text[this.at - 1] ?? " ";
    const after = this.text[this.at + length] ?? " ";
    if (before === after && /['"]/.test(before)) return false;
    return (BEFORE.test(before) || this.text[this.at - 2] === "\\") && !/\s/.test(after);
  }

  /** The place where markup ends that begins here; -1 without an end. */
  #endOf(mark: string, from: number): number {
    const text = this.text;
    let at = from;
    for (let tries = 0; tries < MAX_ENDS; tries++) {
      at = text.indexOf(mark, at + 1);
      if (at < 0) return -1;
      const before = text[at - 1]!;
      const after = text[at + mark.length] ?? " ";
      const isEnd = AFTER.test(after) || (mark === "`" && after === "_");
      if (!/\s/.test(before) && (before !== "\\" || mark === "``") && isEnd) return at;
    }
    return -1;
  }

  #emphasis(): boolean {
    const mark = this.text.startsWith("**", this.at) ? "**" : "*";
    const start = this.at + mark.length;
    const end = this.#mayBegin(mark.length) ? this.#endOf(mark, start) : -1;
    if (end < 0) return false;
    const inner = literal(unescaped(this.text.slice(start, end)));
    return this.push(mark === "*" ? emphasis(inner) : strong(inner), end + mark.length - this.at);
  }

  #code(): boolean {
    const end = this.#mayBegin(2) ? this.#endOf("``", this.at + 2) : -1;
    if (end < 0) return this.keep(2);
    return this.push(codeSpan(this.text.slice(this.at + 2, end)), end + 2 - this.at);
  }

  #target(): boolean {
    const end = this.#mayBegin(2) ? this.#endOf("`", this.at + 2) : -1;
    if (end < 0) return false;
    return this.push(literal(unescaped(this.text.slice(this.at + 2, end))), end + 1 - this.at);
  }

  #role(): boolean {
    const [whole, role = ""] = (this.#mayBegin(1) && this.match(ROLE)) || [];
    if (whole === undefined) return false;
    const start = this.at + whole.length;
    const end = this.#endOf("`", start - 1);
    return end >= 0 && this.push(roleToMarkdown(role, this.text.slice(start, end)), end + 1 - this.at);
  }

  /** Reads `text`, `text`_, `text <address>`_ and `text`:role:. */
  #interpreted(): boolean {
    const start = this.at + 1;
    const end = this.#mayBegin(1) ? this.#endOf("`", start) : -1;
    if (end < 0) return false;
    const content = this.text.slice(start, end);
    const underscores = this.text.startsWith("__", end + 1) ? 2 : this.text[end + 1] === "_" ? 1 : 0;
    const length = end + 1 - this.at;
    if (underscores > 0) return this.push(this.#linked(content), length + underscores);
    const [whole = "", role = ""] = this.match(ROLE_BEHIND, end + 1) ?? [];
    return this.push(roleToMarkdown(role, content), length + whole.length);
  }

  #linked(content: string): string {
    const { title, target } = titled(content);
    const shown = title === "" ? target : title;
    const address = target.endsWith("_") ? this.#addressOf(target.slice(0, -1)) : target;
    const found = content.endsWith(">") ? address : this.#addressOf(content);
    return this.#spend(found.length) ? link(literal(unescaped(shown)), found) : literal(unescaped(shown));
  }

  #addressOf(name: string): string {
    const { addresses } = this.#references;
    const found = addresses.get(nameOf(name)) ?? "";
    if (!found.endsWith("_")) return found;
    return addresses.get(nameOf(found.slice(0, -1).replaceAll("`", ""))) ?? "";
  }

  #spend(length: number): boolean {
    this.#references.budget -= length;
    return this.#references.budget > 0;
  }

  /** Reads `name_`, whose name has been taken for text. */
  #reference(): boolean {
    const length = this.text[this.at + 1] === "_" ? 2 : 1;
    const after = this.text[this.at + length] ?? " ";
    const [name] = AFTER.test(after) ? (REFERENCE_NAME.exec(lastWord(this.text, this.at)) ?? []) : [];
    if (name === undefined || !this.#references.addresses.has(nameOf(name))) return this.keep(length);
    if (this.plain.endsWith(name)) this.plain = this.plain.slice(0, -name.length);
    return this.push(this.#linked(name), length);
  }

  #footnote(): boolean {
    const [whole, label = ""] = this.match(FOOTNOTE) ?? [];
    const shown = label === "" ? "" : `[${literal(label.replace(/^#/, ""))}]`;
    return whole !== undefined && this.push(shown, whole.length);
  }

  #substitution(): boolean {
    const [whole, name = ""] = (this.#mayBegin(1) && this.match(SUBSTITUTION)) || [];
    const text = this.#references.substitutions.get(nameOf(name));
    if (whole === undefined || text === undefined || !this.#spend(text.length)) return false;
    const inner = inlineToMarkdown(text, { ...this.#references, substitutions: new Map() });
    return this.push(inner, whole.length);
  }
}

const MAX_NAME = 200;

const lastWord = (text: string, before: number): string => {
  const end = text.slice(Math.max(0, before - MAX_NAME), before);
  return end.slice(Math.max(end.lastIndexOf(" "), end.lastIndexOf("\n")) + 1);
};

const unescaped = (text: string): string =>
  text.includes("\\") ? text.replace(/\\(?:\s|(.))/gs, (_, kept: string | undefined) => kept ?? "") : text;

/** `title <target>`, or a target alone. */
function titled(content: string): { readonly title: string; readonly target: string } {
  const open = content.endsWith(">") ? content.lastIndexOf("<") : -1;
  if (open < 0) return { title: "", target: content };
  return { title: content.slice(0, open).trim(), target: content.slice(open + 1, -1).replace(/\s+/g, "") };
}

/** How the text of roles with a form of their own is written; the other ones are prose or names. */
const ROLES = byWord<(text: string, content: string, role: string) => string>({
  math: (_, content) => `$${content.trim()}$`,
  emphasis: (text) => emphasis(literal(text)),
  strong: (text) => strong(literal(text)),
  "pep rfc": (text, content, role) =>
    literal(titled(content).title === "" ? `${role.toUpperCase()} ${text}` : text),
});

/** Roles whose text is prose; that of others is a name. */
const PROSE =
  /^(?:ref|doc|term|numref|any|guilabel|menuselection|title(?:-reference)?|t|abbr|dfn|sub|subscript|sup|superscript|eq|label|index|download|std:.*|cite.*)$/;

function roleToMarkdown(name: string, content: string): string {
  const role = name.toLowerCase();
  const { title, target } = titled(content);
  const text = unescaped(title === "" ? target : title).replace(/^[!~]/, "");
  const write = ROLES.get(role);
  if (write) return write(text, content, role);
  if (PROSE.test(role)) return literal(text);
  if (role === "" && /\s/.test(text)) return emphasis(literal(text));
  if (role !== "" && (title !== "" || /\s\S*\s/.test(text))) return literal(text);
  return codeSpan(target.startsWith("~") && title === "" ? text.slice(text.lastIndexOf(".") + 1) : text);
}
