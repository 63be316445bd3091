import { type Inline, type MarkdownDocument, SPAN_TAGS, type SpanTag } from "./model.ts";

/** Longer text is shown as written; no paragraph that people write comes near this length. */
const MAX_TEXT = 40_000;

type Context = Pick<MarkdownDocument, "references">;

/** Reads the phrases of a paragraph; any text has some. */
export function readInline(text: string, context: Context = { references: new Map() }): readonly Inline[] {
  SPECIAL.lastIndex = 0;
  if (!SPECIAL.test(text)) return text === "" ? [] : [{ kind: "text", text }];
  const inlines = new InlineReader(text.slice(0, MAX_TEXT), context).read();
  return text.length > MAX_TEXT ? [...inlines, { kind: "text", text: text.slice(MAX_TEXT) }] : inlines;
}

/** Whether a line, or a part of one, has nothing but text; if not, `readInline` tells what. */
export function isPlainText(text: string, start: number, end: number): boolean {
  SPECIAL.lastIndex = start;
  return !SPECIAL.test(text) || SPECIAL.lastIndex > end;
}

/** Returns the plain text of phrases. */
export function inlineText(inlines: readonly Inline[]): string {
  let text = "";
  for (const inline of inlines) {
    if (inline.kind === "text" || inline.kind === "code" || inline.kind === "image") text += inline.text;
    else if (inline.kind === "math") text += inline.tex;
    else if (inline.kind === "break") text += " ";
    else if (inline.kind === "link" || inline.kind === "span") text += inlineText(inline.children);
  }
  return text;
}

/** Where the address of a link or picture is written: a range of the text, or the label that it is defined under. */
type AddressPlace = readonly [start: number, end: number] | string;

/**
 * Told of each address of a link or picture, and whether it leads to a picture: that of the picture does, and that of a
 * link around it to the same file.
 */
type AddressSink = (address: string, place: AddressPlace, isPicture: boolean) => void;

/** Reads the phrases of a text for their addresses; longer texts than those that are shown have them too. */
export function findAddresses(text: string, context: Context, onAddress: AddressSink): void {
  new InlineReader(text, context, onAddress).read();
}

/** An open bracket or element. */
type Opener = {
  readonly kind: "[" | "![" | SpanTag | "a";
  /** The first node inside. */
  readonly from: number;
  /** The position where the text inside begins. */
  readonly at: number;
  readonly address: string;
};

const MAX_OPEN = 60;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const SPECIAL = /[\\`*_~[\]<&$\n]|!(?=\[)|h(?=ttps?:)/g;

class InlineReader {
  readonly #text: string;
  readonly #context: Context;
  readonly #onAddress: AddressSink | null;
  #at = 0;
  #nodes: Node[] = [];
  #open: Opener[] = [];
  /** The lengths of runs of backticks that nothing closes from here on. */
  readonly #unclosed = new Set<number>();

  constructor(text: string, context: Context, onAddress: AddressSink | null = null) {
    this.#text = text;
    this.#context = context;
    this.#onAddress = onAddress;
  }

  read(): readonly Inline[] {
    while (this.#at < this.#text.length) {
      const before = this.#at;
      this.#step(this.#text[before]!);
      if (this.#at === before) this.#literal(1);
    }
    return resolveEmphasis(this.#nodes);
  }

  #step(one: string): void {
    if (one === "\\") this.#escape();
    else if (one === "`") this.#code();
    else if (one === "*" || one === "_" || one === "~") this.#run(one);
    else if (one === "[") this.#openBracket("[", 1);
    else if (one === "]") this.#closeBracket();
    else if (one === "<") this.#angle();
    else if (one === "&") this.#entity();
    else if (one === "$") this.#math();
    else if (one === "\n") this.#newline();
    else if (this.#text.startsWith("http", this.#at)) this.#address();
    else if (this.#text.startsWith("![", this.#at)) this.#openBracket("![", 2);
    else this.#plain();
  }

  #plain(): void {
    SPECIAL.lastIndex = this.#at + 1;
    const next = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
    this.#literal(next - this.#at);
  }

  #push(node: Node, length: number): void {
    this.#nodes.push(node);
    this.#at += length;
  }

  #literal(length: number): void {
    this.#push({ kind: "text", text: this.#text.slice(this.#at, this.#at + length) }, length);
  }

  #escape(): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (next === "\n") this.#push({ kind: "break" }, 2);
    else if (next !== "" && PUNCTUATION.test(next)) this.#push({ kind: "text", text: next }, 2);
    else this.#literal(1);
  }

  #lengthOfRun(at: number): number {
    let end = at;
    while (this.#text[end] === this.#text[at]) end++;
    return end - at;
  }

  #code() {
    const length = this.#lengthOfRun(this.#at);
    if (this.#unclosed.has(length)) return this.#literal(length);
    let end = this.#at + length;
    for (;;) {
      end = this.#text.indexOf("`", end);
      if (end < 0) break;
      const closing = this.#lengthOfRun(end);
      if (closing === length) break;
      end += closing;
    }
    if (end < 0) {
      this.#unclosed.add(length);
      return this.#literal(length);
    }
    let code = this.#text.slice(this.#at + length, end).replaceAll("\n", " ");
    if (code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "") code = code.slice(1, -1);
    this.#push({ kind: "code", text: code }, end + length - this.#at);
  }

  /** Decides which runs may open and close emphasis (CommonMark 0.31, section 6.2). */
  #run(sign: string): void {
    const length = this.#lengthOfRun(this.#at);
    const before = this.#text[this.#at - 1] ?? " ";
    const after = this.#text[this.#at + length] ?? " ";
    const isLeft = !isSpace(after) && (!isPunctuation(after) || !isInWord(before));
    const isRight = !isSpace(before) && (!isPunctuation(before) || !isInWord(after));
    const isWordSign = sign === "_";
    const canOpen = isLeft && (!isWordSign || !isRight || isPunctuation(before));
    const canClose = isRight && (!isWordSign || !isLeft || isPunctuation(after));
    if (sign === "~" && length > 2) this.#literal(length);
    else this.#push({ kind: "run", sign, count: length, canOpen, canClose }, length);
  }

  #openBracket(kind: "[" | "![", length: number) {
    const note =
      kind === "[" ? /^\[\^([^\]\s]{1,100})\]/.exec(this.#text.slice(this.#at, this.#at + 104)) : null;
    if (note?.[1] !== undefined) return this.#push({ kind: "footnote", label: note[1] }, note[0].length);
    if (this.#open.length < MAX_OPEN)
      this.#open.push({ kind, from: this.#nodes.length, at: this.#at + length, address: "" });
    this.#literal(length);
  }

  #closeBracket() {
    const last = this.#open.findLastIndex(({ kind }) => kind === "[" || kind === "![");
    const opener = this.#open[last];
    if (!opener) return this.#literal(1);
    this.#open.length = last;
    const inside = this.#text.slice(opener.at, this.#at);
    const target = readLinkTarget(this.#text, this.#at + 1, inside, this.#context.references);
    if (!target) return this.#literal(1);
    const children = resolveEmphasis(this.#nodes.slice(opener.from + 1));
    this.#nodes.length = opener.from;
    const { address, end, place } = target;
    const isToPicture = children.some((child) => child.kind === "image" && child.address === address);
    this.#onAddress?.(address, place, opener.kind === "![" || isToPicture);
    const node: Inline =
      opener.kind === "!["
        ? { kind: "image", address, text: inlineText(children) }
        : { kind: "link", address, children };
    this.#push(node, end - this.#at);
    // Links cannot be nested.
    if (opener.kind === "[") this.#open = this.#open.filter(({ kind }) => kind !== "[" && kind !== "a");
  }

  #angle() {
    const tagStart = this.#at + 1;
    const close = this.#text.slice(this.#at, this.#at + MAX_TAG).indexOf(">");
    if (close < 0) return this.#literal(1);
    const inner = this.#text.slice(this.#at + 1, this.#at + close);
    if (/^(?:https?:\/\/|mailto:)[^\s<]+$/i.test(inner)) {
      const children: Inline[] = [{ kind: "text", text: inner.replace(/^mailto:/i, "") }];
      return this.#push({ kind: "link", address: inner, children }, close + 1);
    }
    if (inner.startsWith("!--")) {
      const end = this.#text.indexOf("-->", this.#at);
      if (end < 0) this.#literal(1);
      else this.#at = end + 3;
      return;
    }
    const tag = readTag(this.#text, this.#at);
    if (tag === null) return this.#literal(1);
    this.#at = tag.end;
    this.#tag(tag.name, tag.isClosing, this.#text.slice(tagStart, tag.end - 1));
  }

  #tag(name: string, isClosing: boolean, inner: string): void {
    if (name === "br") this.#nodes.push({ kind: "break" });
    else if (name === "img" && !isClosing)
      this.#nodes.push({ kind: "image", address: attribute(inner, "src"), text: attribute(inner, "alt") });
    else if ((name === "script" || name === "style") && !isClosing) {
      const end = this.#text.toLowerCase().indexOf(`</${name}`, this.#at);
      this.#at = end < 0 ? this.#text.length : end;
    } else if (!isSpanTag(name) && name !== "a") return;
    else if (isClosing) this.#closeElement(name);
    else if (this.#open.length < MAX_OPEN)
      this.#open.push({
        kind: name,
        from: this.#nodes.length,
        at: this.#at,
        address: name === "a" ? attribute(inner, "href") : "",
      });
  }

  #closeElement(name: SpanTag | "a"): void {
    const place = this.#open.findLastIndex(({ kind }) => kind === name);
    const opener = this.#open[place];
    if (!opener) return;
    this.#open.length = place;
    const children = resolveEmphasis(this.#nodes.slice(opener.from));
    this.#nodes.length = opener.from;
    if (name !== "a") this.#nodes.push({ kind: "span", tag: name, children });
    else this.#nodes.push({ kind: "link", address: opener.address, children });
  }

  #entity(): void {
    const found = decodeEntity(this.#text, this.#at);
    if (found) this.#push({ kind: "text", text: found.text }, found.length);
    else this.#literal(1);
  }

  /** Reads a formula between dollars, unless they mean money: no space inside, no letter or digit after. */
  #math(): void {
    const found = /^\$([^\s$](?:[^$\n]{0,400}[^\s$\\])?)\$(?![\p{L}\p{N}$])/u.exec(
      this.#text.slice(this.#at, this.#at + 410),
    );
    if (found?.[1] === undefined) this.#literal(1);
    else this.#push({ kind: "math", tex: found[1] }, found[0].length);
  }

  #newline(): void {
    const isBreak = this.#text.slice(Math.max(0, this.#at - 2), this.#at) === "  ";
    this.#push(isBreak ? { kind: "break" } : { kind: "text", text: "\n" }, 1);
  }

  /** Reads a bare address in the text. */
  #address() {
    const before = this.#text[this.#at - 1] ?? " ";
    const found = /^https?:\/\/[^\s<>"`\]|*]{3,2000}/.exec(this.#text.slice(this.#at, this.#at + 2010));
    if (!found || /[\p{L}\p{N}]/u.test(before)) return this.#literal(1);
    let address = found[0].replace(/[.,;:!?'_~]{1,20}$/, "");
    if (address.endsWith(")") && !address.includes("(")) address = address.slice(0, -1);
    this.#push({ kind: "link", address, children: [{ kind: "text", text: address }] }, address.length);
  }
}

const MAX_TAG = 2000;

const isSpace = (one: string): boolean => (one < "\x80" ? " \n\t\r\f\v".includes(one) : /\s/.test(one));
const isPunctuation = (one: string): boolean => /[\p{P}\p{S}]/u.test(one);
const isInWord = (one: string): boolean => !isSpace(one) && !isPunctuation(one);
const isSpanTag = (name: string): name is SpanTag => SPAN_TAGS.some((tag) => tag === name);

/** Returns the value of an attribute in the text of a tag, with its entities decoded. */
function attribute(tag: string, name: string): string {
  const place = new RegExp(`\\s${name}\\s{0,5}=\\s{0,5}("[^"]*"|'[^']*'|[^\\s"'>]+)`, "i").exec(tag);
  const value = (place?.[1] ?? "").replace(/^["']|["']$/g, "");
  return value.replace(/&[#\w]{1,10};/g, (entity) => decodeEntity(entity, 0)?.text ?? entity);
}

/** The maximum length of an address; pictures inside the address itself (`data:`) may be longer. */
const MAX_ADDRESS = 2000;
const MAX_DATA = 200_000;
const MAX_TITLE = 500;

/**
 * Reads what makes a bracket a link: `(address "title")`, `[label]`, or a label that is defined elsewhere.
 * @param at behind the closing bracket
 * @param inside the text between the brackets
 */
function readLinkTarget(
  text: string,
  at: number,
  inside: string,
  references: Context["references"],
): LinkTarget | null {
  if (text[at] === "(") {
    const found = readInParentheses(text, at + 1);
    if (found) return found;
  }
  if (references.size === 0) return null;
  const [whole, label] = /^\[([^\]]{0,200})\]/.exec(text.slice(at, at + 202)) ?? [];
  const key = (label || inside.slice(0, 201)).trim().toLowerCase();
  const address = references.get(key);
  return address === undefined ? null : { address, end: at + (whole?.length ?? 0), place: key };
}

type LinkTarget = { readonly address: string; readonly end: number; readonly place: AddressPlace };

function readInParentheses(text: string, start: number): LinkTarget | null {
  let at = skipSpaces(text, start);
  const isInBrackets = text[at] === "<";
  const addressStart = isInBrackets ? at + 1 : at;
  let address: string;
  if (isInBrackets) {
    const end = text.slice(at, at + MAX_ADDRESS).search(/[>\n]/);
    if (end < 0 || text[at + end] !== ">") return null;
    address = text.slice(at + 1, at + end);
    at += end + 1;
  } else {
    const limit = at + (text.startsWith("data:", at) ? MAX_DATA : MAX_ADDRESS);
    at = endOfAddress(text, at, limit);
    if (at < 0) return null;
    address = text.slice(addressStart, at);
  }
  const place = [addressStart, isInBrackets ? at - 1 : at] as const;
  at = skipSpaces(text, at);
  const [title] = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\([^()]*\))/s.exec(
    text.slice(at, at + MAX_TITLE),
  ) ?? [""];
  at = skipSpaces(text, at + title.length);
  if (text[at] !== ")") return null;
  return { address: address.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1"), end: at + 1, place };
}

/** Finds the end of an address: the first space, or the first unbalanced closing parenthesis. */
function endOfAddress(text: string, start: number, limit: number): number {
  let depth = 0;
  let at = start;
  for (; at < text.length && at < limit; at++) {
    const one = text[at]!;
    if (one === "\\") at++;
    else if (one <= " ") break;
    else if (one === "(") depth++;
    else if (one === ")" && depth-- === 0) return at;
    if (depth > 32) return -1;
  }
  return at >= limit || depth > 0 ? -1 : at;
}

function skipSpaces(text: string, start: number): number {
  let at = start;
  while (at < text.length && at < start + 20 && (text[at] === " " || text[at] === "\n")) at++;
  return at;
}

// Names that people write in the text of documents. A name that is not among them, and has neither an attribute nor a slash, is
// a placeholder (`cp <source> <target>`): it is text.
const NAMES =
  "a|abbr|b|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|h[1-6]|hr|i|iframe|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|script|section|small|span|strong|style|sub|summary|sup|svg|table|tbody|td|template|th|thead|tr|u|ul|var";

/** A tag of HTML or a component, with its slash and its name; sticky. */
const TAG = new RegExp(
  `<(?:(/)([a-zA-Z][\\w.:-]{0,60})\\s?|([a-zA-Z][\\w.:-]{0,60})(?:\\s(?=[^<>=]{0,200}=)[^<>]{0,1900}|\\s?/)|(${NAMES}|${NAMES.toUpperCase()}|[A-Z][\\w.]{1,60})\\s?)>`,
  "y",
);

/** The tag that begins at a `<`; null where the `<` is text. */
function readTag(text: string, at: number) {
  TAG.lastIndex = at;
  const found = TAG.exec(text);
  if (!found) return null;
  const name = found[2] ?? found[3] ?? found[4] ?? "";
  return { name: name.toLowerCase(), isClosing: found[1] !== undefined, end: TAG.lastIndex };
}

// These are the entities that people write; all others are shown as written.
const WRITTEN =
  `amp & lt < gt > quot " apos ' copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “
  rdquo ” laquo « raquo » larr ← rarr → times × middot · bull • deg ° euro € sect § nbsp \u00a0 ensp \u2002
  emsp \u2003 thinsp \u2009 shy \u00ad`.split(/[ \n]+/);
const NAMED = new Map<string, string>();
for (let at = 0; at < WRITTEN.length; at += 2) NAMED.set(WRITTEN[at]!, WRITTEN[at + 1]!);

/** Decodes the entity at this place. */
function decodeEntity(text: string, at: number): { readonly text: string; readonly length: number } | null {
  const found = /^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/.exec(text.slice(at, at + 12));
  if (!found) return null;
  const [whole, decimal, hex, name] = found;
  if (name !== undefined) {
    const known = NAMED.get(name);
    return known === undefined ? null : { text: known, length: whole.length };
  }
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return { text: isCharacter ? String.fromCodePoint(code) : "\ufffd", length: whole.length };
}

/** A run of `*`, `_` or `~` that may turn out to be emphasis. */
type Run = {
  readonly kind: "run";
  readonly sign: string;
  readonly count: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
};

type Node = Inline | Run;

type OpenRun = { readonly run: Run; left: number; readonly children: Inline[] };

/** The maximum number of open runs; further ones are text. */
const MAX_RUNS = 100;

/**
 * Turns runs into emphasis where an opening run meets a closing one (CommonMark 0.31, section 6.2, without the rule
 * of three), and into text elsewhere. It takes one pass: each open run keeps what follows it.
 */
function resolveEmphasis(nodes: readonly Node[]): readonly Inline[] {
  const top: Inline[] = [];
  const open: OpenRun[] = [];
  const add = (inline: Inline): void => {
    const list = open.at(-1)?.children ?? top;
    const last = list.at(-1);
    if (inline.kind === "text" && last?.kind === "text")
      list[list.length - 1] = { kind: "text", text: last.text + inline.text };
    else list.push(inline);
  };
  const drop = (): void => {
    const last = open.pop()!;
    if (last.left > 0) add({ kind: "text", text: last.run.sign.repeat(last.left) });
    for (const child of last.children) add(child);
  };
  for (const node of nodes) {
    if (node.kind !== "run") {
      add(node);
      continue;
    }
    let left = node.count;
    while (node.canClose && left > 0) {
      const opener = open.findLastIndex(({ run, left: rest }) => matches(run, node, rest, left));
      if (opener < 0) break;
      while (open.length > opener + 1) drop();
      const { children, left: rest, run } = open.pop()!;
      const used = Math.min(2, left, rest);
      const tag = node.sign === "~" ? "del" : used === 2 ? "strong" : "em";
      const span: Inline = { kind: "span", tag, children };
      left -= used;
      if (rest > used) open.push({ run, left: rest - used, children: [span] });
      else add(span);
    }
    if (left > 0 && node.canOpen && open.length < MAX_RUNS) open.push({ run: node, left, children: [] });
    else if (left > 0) add({ kind: "text", text: node.sign.repeat(left) });
  }
  while (open.length > 0) drop();
  return top;
}

/** Strikethrough needs equally many signs on both sides. */
const matches = (opener: Run, closer: Run, openLeft: number, closeLeft: number): boolean =>
  opener.sign === closer.sign && (closer.sign !== "~" || openLeft === closeLeft);
