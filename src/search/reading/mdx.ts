import { byWord } from "../../base/text.ts";
import { codeBlocksOf, endOfCodeSpan, FenceReader } from "../../markdown/index.ts";
import { image, literal } from "./markdown-writer.ts";

const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
const MODULE =
  /^(?:import[ \t]+(?:["'{*]|[\w$]+(?:,|[ \t]+from[ \t]))|export[ \t]+(?:const|let|var|function|default|async|class|type|interface|[{*]))/;

/**
 * Converts MDX to Markdown: imports, exports, tags and expressions go; what stands between tags stays, and so do
 * titles and labels of components. In MDX no indentation makes code, so components may indent what they hold.
 */
export function mdxToMarkdown(lines: readonly string[]): string {
  const out: string[] = [];
  let prose: string[] = [];
  const end = (): void => {
    if (prose.length > 0) out.push(withoutTags(withoutModules(prose).join("\n")));
    prose = [];
  };
  const fences = new FenceReader();
  let base = 0;
  /** The column of the list that is open; -1 without one. */
  let list = -1;
  const enter = (line: string, indent: number): void => {
    if (list < 0 || indent < list || (indent < list + 2 && !ITEM.test(line))) {
      base = indent;
      list = -1;
    }
    if (list < 0 && ITEM.test(line)) list = indent;
  };
  for (const line of lines) {
    const indent = line.search(/\S/);
    if (!fences.isOpen && indent >= 0) enter(line, indent);
    const shown = indent < 0 ? "" : line.slice(Math.min(base, indent));
    if (!fences.isCode(line)) prose.push(shown);
    else {
      end();
      out.push(shown);
    }
  }
  end();
  return out.join("\n");
}

/** Leaves out imports and exports, which reach to the first blank line at which their brackets are closed. */
function withoutModules(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const isStart = at === 0 || lines[at - 1]!.trim() === "" || kept.length === 0;
    if (isStart && MODULE.test(lines[at]!)) at = endOfModule(lines, at) - 1;
    else kept.push(lines[at]!);
  }
  return kept;
}

const MAX_MODULE_LINES = 500;

function endOfModule(lines: readonly string[], start: number): number {
  let open = 0;
  let firstBlank = -1;
  const end = Math.min(lines.length, start + MAX_MODULE_LINES);
  for (let at = start; at < end; at++) {
    const line = lines[at]!;
    if (line.trim() === "") {
      if (open <= 0) return at;
      if (firstBlank < 0) firstBlank = at;
    }
    for (const bracket of line.match(/[([{}\])]/g) ?? []) open += "([{".includes(bracket) ? 1 : -1;
  }
  return open <= 0 || firstBlank < 0 ? end : firstBlank;
}

/** Attributes of components that their readers see. */
const SHOWN = /^(?:title|label|heading|header|summary|description|alt|caption|subtitle)$/;

type Tag = {
  readonly name: string;
  readonly isClosing: boolean;
  readonly isEmpty: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  readonly end: number;
};

/**
 * Removes the tags of components from Markdown that is not MDX, and keeps what they hold with their titles. A name that
 * nothing closes is a placeholder or a type.
 */
export function withoutComponents(markdown: string): string {
  const closed = new Set(Array.from(markdown.matchAll(/<\/(\p{Lu}[\w.]{0,100})\s?>/gu), ([, name]) => name));
  if (closed.size === 0 && !/<\p{Lu}[^<]*\/>/u.test(markdown)) return markdown;
  const isComponent = ({ name, isEmpty }: Tag) => /^\p{Lu}/u.test(name) && (isEmpty || closed.has(name));
  let shown = "";
  let from = 0;
  for (const { start, end } of codeBlocksOf(markdown)) {
    shown += withoutTags(markdown.slice(from, start), isComponent) + markdown.slice(start, end);
    from = end;
  }
  return shown + withoutTags(markdown.slice(from), isComponent);
}

/** @param isComponent which tags go, where the text is no MDX: then braces are text, too */
function withoutTags(text: string, isComponent?: (tag: Tag) => boolean): string {
  if (!/[<{]/.test(text)) return text;
  const closing = bracesOf(text);
  let out = "";
  for (let at = 0; at < text.length; ) {
    const next = nextSign(text, at);
    out += text.slice(at, next);
    at = next;
    const sign = text[at];
    if (sign === "\\") {
      out += text.slice(at, at + 2);
      at += 2;
    } else if (sign === "`") {
      const end = endOfCodeSpan(text, at);
      out += text.slice(at, end);
      at = end;
    } else if (sign === "{" && !isComponent && closing.has(at)) {
      const end = closing.get(at)!;
      out += shownOf(text.slice(at + 1, end), out);
      at = end + 1;
    } else if (sign === "<") {
      const read = readTag(text, at, closing);
      const tag = read && isComponent?.(read) === false ? null : read;
      out += tag === null ? "<" : markdownOf(tag, out);
      at = tag === null ? at + 1 : tag.end;
    } else if (sign !== undefined) {
      out += sign;
      at++;
    }
  }
  return out;
}

const SIGN = /[\\`{<]/g;

function nextSign(text: string, from: number): number {
  SIGN.lastIndex = from;
  return SIGN.exec(text)?.index ?? text.length;
}

/** Maps the position of each opening brace to its closing brace. */
function bracesOf(text: string): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    if (brace === "{") open.push(index);
    else {
      const start = open.pop();
      if (start !== undefined) closing.set(start, index);
    }
  }
  return closing;
}

/** Returns the text that an expression shows, or keeps a heading's id, which the index understands. */
function shownOf(expression: string, before: string): string {
  const inner = expression.trim();
  const isId =
    inner.startsWith("#") ||
    (/^\/\*\s*[\w:.-]{1,100}\s*\*\/$/.test(inner) && /^#{1,6} /.test(lastLine(before)));
  if (isId) return `{${expression}}`;
  const [, , string] = /^(["'`])([^"'`$\\]*)\1$/.exec(inner) ?? [];
  return string === undefined ? "" : literal(string);
}

const lastLine = (text: string): string => {
  const end = text.slice(-1000);
  return end.slice(end.lastIndexOf("\n") + 1);
};

const NAME = /<(\/?)([A-Za-z][\w.:-]{0,100})?/y;
const ATTRIBUTE =
  /\s{1,200}(?:([A-Za-z_@:][\w.:@-]{0,100})(?:\s{0,20}=\s{0,20}(?:"([^"<]{0,4000})"|'([^'<]{0,4000})'|(?=(\{))))?|(?=(\{)))/y;
const TAG_END = /\s{0,1000}\/?>/y;

/** Reads a tag of JSX with its attributes, of which expressions are skipped; null when there is none. */
function readTag(text: string, start: number, closing: ReadonlyMap<number, number>): Tag | null {
  NAME.lastIndex = start;
  const [whole, slash = "", name = ""] = NAME.exec(text) ?? [];
  if (whole === undefined) return null;
  const attributes = new Map<string, string>();
  for (let at = start + whole.length; ; ) {
    TAG_END.lastIndex = at;
    const end = TAG_END.exec(text);
    if (end) {
      const isEmpty = end[0].endsWith("/>");
      return { name, isClosing: slash !== "", isEmpty, attributes, end: at + end[0].length };
    }
    ATTRIBUTE.lastIndex = at;
    const found = name === "" ? null : ATTRIBUTE.exec(text);
    if (!found) return null;
    const [written, key = "", double, single, value, spread] = found;
    at += written.length;
    attributes.set(key, double ?? single ?? "");
    if (value === undefined && spread === undefined) continue;
    const close = closing.get(at);
    if (close === undefined) return null;
    attributes.set(
      key,
      /^\s*(["'`])([^"'`$\\]{0,4000})\1\s*$/.exec(text.slice(at + 1, Math.min(close, at + 4000)))?.[2] ?? "",
    );
    at = close + 1;
  }
}

function markdownOf(tag: Tag, before: string): string {
  const isBlock = lastLine(before).trim() === "";
  const write = ELEMENTS.get(tag.name) ?? (/^\p{Lu}/u.test(tag.name) ? component : null);
  return write?.(tag, isBlock) ?? "";
}

function component({ isClosing, attributes }: Tag, isBlock: boolean): string {
  const shown = isClosing
    ? []
    : [...attributes].filter(([key, value]) => SHOWN.test(key) && /\S/.test(value));
  if (shown.length === 0) return "";
  const phrases = shown.map(([, value]) => literal(value.replace(/\s+/g, " ").trim()));
  return isBlock ? `${phrases.map((one) => `**${one}**`).join("\n\n")}\n\n` : `${phrases.join(" ")} `;
}

/** Functions that convert elements; any other element is replaced by its content. */
const ELEMENTS = byWord<(tag: Tag, isBlock: boolean) => string>({
  // Phrases that Markdown keeps.
  "br kbd sub sup code b i em strong del s u mark details summary": ({ name, isClosing }) =>
    `<${isClosing ? "/" : ""}${name}>`,
  a: ({ isClosing, attributes }) =>
    isClosing ? "</a>" : `<a href="${attributes.get("href")?.replace(/["<>]/g, "") ?? ""}">`,
  "img Image": ({ isClosing, attributes }) =>
    isClosing ? "" : image(attributes.get("alt") ?? "", attributes.get("src") ?? ""),
  "h1 h2 h3 h4 h5 h6": ({ name, isClosing }, isBlock) =>
    isBlock && !isClosing ? `${"#".repeat(Number(name[1]))} ` : "",
  li: ({ isClosing }, isBlock) => (isBlock && !isClosing ? "- " : ""),
});
