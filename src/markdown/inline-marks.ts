import type { Inline } from "./model.ts";

/** The maximum length of an address; pictures inside the address itself (`data:`) may be longer. */
const MAX_ADDRESS = 2000;
const MAX_DATA = 200_000;
const MAX_TITLE = 500;

/**
 * Reads what makes a bracket a link: `(address "title")`, `[label]`, or a label that is defined elsewhere.
 * @param at behind the closing bracket
 * @param inside the text between the brackets
 */
export function readLinkTarget(
  text: string,
  at: number,
  inside: string,
  references: ReadonlyMap<string, string>,
): { readonly address: string; readonly end: number } | null {
  if (text[at] === "(") {
    const found = readInParentheses(text, at + 1);
    if (found) return found;
  }
  if (references.size === 0) return null;
  const [whole, label] = /^\[([^\]]{0,200})\]/.exec(text.slice(at, at + 202)) ?? [];
  const key = (label || inside.slice(0, 201)).trim().toLowerCase();
  const address = references.get(key);
  return address === undefined ? null : { address, end: at + (whole?.length ?? 0) };
}

function readInParentheses(text: string, start: number): { address: string; end: number } | null {
  let at = skipSpaces(text, start);
  const addressStart = at;
  let address: string;
  if (text[at] === "<") {
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
  at = skipSpaces(text, at);
  const [title] = /^(?:"[^"]*"|'[^']*'|\([^()]*\))/.exec(text.slice(at, at + MAX_TITLE)) ?? [""];
  at = skipSpaces(text, at + title.length);
  return text[at] === ")" ? { address: address.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1"), end: at + 1 } : null;
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

type Tag = { readonly name: string; readonly isClosing: boolean; readonly end: number };

/** The tag that begins at a `<`; null where the `<` is text. */
export function readTag(text: string, at: number): Tag | null {
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
export function decodeEntity(
  text: string,
  at: number,
): { readonly text: string; readonly length: number } | null {
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
export type Run = {
  readonly kind: "run";
  readonly sign: string;
  readonly count: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
};

export type Node = Inline | Run;

type OpenRun = { readonly run: Run; left: number; readonly children: Inline[] };

/** The maximum number of open runs; further ones are text. */
const MAX_OPEN = 100;

/**
 * Turns runs into emphasis where an opening run meets a closing one (CommonMark 0.31, section 6.2, without the rule
 * of three), and into text elsewhere. It takes one pass: each open run keeps what follows it.
 */
export function resolveEmphasis(nodes: readonly Node[]): readonly Inline[] {
  const top: Inline[] = [];
  const open: OpenRun[] = [];
  const add = (inline: Inline): void => addTo(open.at(-1)?.children ?? top, inline);
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
    if (left > 0 && node.canOpen && open.length < MAX_OPEN) open.push({ run: node, left, children: [] });
    else if (left > 0) add({ kind: "text", text: node.sign.repeat(left) });
  }
  while (open.length > 0) drop();
  return top;
}

/** Strikethrough needs equally many signs on both sides. */
const matches = (opener: Run, closer: Run, openLeft: number, closeLeft: number): boolean =>
  opener.sign === closer.sign && (closer.sign !== "~" || openLeft === closeLeft);

function addTo(list: Inline[], inline: Inline): void {
  const last = list.at(-1);
  if (inline.kind === "text" && last?.kind === "text")
    list[list.length - 1] = { kind: "text", text: last.text + inline.text };
  else list.push(inline);
}
