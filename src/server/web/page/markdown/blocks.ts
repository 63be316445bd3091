import { indentOf, isAll, isBlank, isRule, startsBlock } from "./lines.ts";
import { readList } from "./lists.ts";
import type { Block, MarkdownDocument } from "./model.ts";
import { readTable } from "./tables.ts";

/** The maximum nesting of blocks; deeper content is shown as one paragraph. */
const MAX_DEPTH = 16;

/** The state that the blocks of a document share while it is read. */
type Reading = {
  readonly footnotes: Map<string, readonly Block[]>;
  readonly references: Map<string, string>;
  readonly depth: number;
};

/** Reads GitHub-flavoured Markdown, each line a bounded number of times; any text is a valid document. */
export function readMarkdown(markdown: string): MarkdownDocument {
  const footnotes = new Map<string, readonly Block[]>();
  const references = new Map<string, string>();
  const lines = markdown.replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n").map(withoutTabs);
  const blocks = readBlocks(lines, { footnotes, references, depth: 0 });
  return { blocks, footnotes, references };
}

/** Replaces tabs before the text, which count as four columns. */
function withoutTabs(line: string): string {
  let at = 0;
  while (line[at] === " " || line[at] === "\t") at++;
  const indent = line.slice(0, at);
  return indent.includes("\t") ? indent.replaceAll("\t", "    ") + line.slice(at) : line;
}

type Found = { readonly block: Block | null; readonly next: number };
type Reader = (lines: readonly string[], at: number, reading: Reading) => Found | null;

/**
 * The readers in the order in which they are tried; the first one that recognises the line reads the block.
 */
const READERS: readonly Reader[] = [
  readFence,
  readMath,
  readHeading,
  readRule,
  readQuote,
  (lines, at, reading) => readList(lines, at, (inner) => readBlocks(inner, reading)),
  readFootnote,
  readReference,
  readDetails,
  readSilent,
  (lines, at) => readTable(lines, at),
  readIndented,
];

/** Reads the blocks of some lines. */
function readBlocks(lines: readonly string[], reading: Reading): Block[] {
  if (reading.depth > MAX_DEPTH) return [{ kind: "paragraph", text: lines.join("\n").trim() }];
  const inside = { ...reading, depth: reading.depth + 1 };
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlank(lines[at]!)) {
      at++;
      continue;
    }
    const found = firstOf(lines, at, inside) ?? readParagraph(lines, at);
    if (found.block) blocks.push(found.block);
    at = found.next;
  }
  return blocks;
}

function firstOf(lines: readonly string[], at: number, reading: Reading): Found | null {
  for (const read of READERS) {
    const found = read(lines, at, reading);
    if (found) return found;
  }
  return null;
}

function readFence(lines: readonly string[], at: number): Found | null {
  const line = lines[at]!;
  const indent = indentOf(line);
  const [, fence = "", info = ""] = /^(`{3,}|~{3,})(.*)$/.exec(line.slice(indent)) ?? [];
  if (fence === "" || indent > 3 || (fence[0] === "`" && info.includes("`"))) return null;
  const text: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const inner = lines[next]!;
    const closing = inner.trim();
    if (closing.length >= fence.length && isAll(closing, fence[0]!) && indentOf(inner) <= 3) break;
    text.push(inner.slice(Math.min(indent, indentOf(inner))));
  }
  const language = /^[\w.+#-]{1,40}/.exec(info.trim())?.[0] ?? "";
  return { block: { kind: "code", language, text: text.join("\n") }, next: next + 1 };
}

function readMath(lines: readonly string[], at: number): Found | null {
  const line = lines[at]!.trim();
  if (!line.startsWith("$$")) return null;
  if (line.length > 4 && line.endsWith("$$") && !line.slice(2, -2).includes("$$"))
    return { block: { kind: "math", tex: line.slice(2, -2).trim() }, next: at + 1 };
  if (line !== "$$") return null;
  // Formulas are short, so a pair of dollars far below belongs to something else.
  const near = lines.slice(at + 1, at + 200).findIndex((inner) => inner.trim() === "$$");
  if (near < 0) return null;
  const end = at + 1 + near;
  return { block: { kind: "math", tex: lines.slice(at + 1, end).join("\n") }, next: end + 1 };
}

function readHeading(lines: readonly string[], at: number): Found | null {
  const line = lines[at]!;
  const [, signs = "", rest = ""] = /^ {0,3}(#{1,6})(?=[ \t]|$)(.*)$/.exec(line) ?? [];
  if (signs === "") return null;
  let text = rest.trim();
  let end = text.length;
  while (text[end - 1] === "#") end--;
  if (end === 0 || text[end - 1] === " ") text = text.slice(0, end).trim();
  return { block: { kind: "heading", level: signs.length, text: withoutAnchor(text) }, next: at + 1 };
}

/** Removes the anchor that documentation generators write after a heading: `Title {#anchor}`. */
const withoutAnchor = (text: string): string =>
  text.endsWith("}") ? text.replace(/\{#[\w:.-]{1,100}\}$/, "").trimEnd() : text;

function readRule(lines: readonly string[], at: number): Found | null {
  return isRule(lines[at]!) ? { block: { kind: "rule" }, next: at + 1 } : null;
}

const isQuote = (line: string): boolean => /^ {0,3}>/.test(line);

function readQuote(lines: readonly string[], at: number, reading: Reading): Found | null {
  if (!isQuote(lines[at]!)) return null;
  const inner: string[] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    if (isQuote(line)) inner.push(line.slice(line.indexOf(">") + 1).replace(/^ /, ""));
    // A paragraph may continue without the sign.
    else if (isBlank(line) || isBlank(inner.at(-1)!) || startsBlock(line)) break;
    else inner.push(line);
  }
  const label = /^\[!([A-Za-z]{1,20})\]\s*$/.exec(inner[0]!)?.[1];
  if (label !== undefined)
    return { block: { kind: "note", label, blocks: readBlocks(inner.slice(1), reading) }, next };
  return { block: { kind: "quote", blocks: readBlocks(inner, reading) }, next };
}

function readFootnote(lines: readonly string[], at: number, reading: Reading): Found | null {
  const [, label, first] = /^\[\^([^\]\s]{1,100})\]:(.*)$/.exec(lines[at]!) ?? [];
  if (label === undefined) return null;
  const inner = [(first ?? "").trimStart()];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    const goesOn = indentOf(line) >= 4 || (!isBlank(line) && !isBlank(inner.at(-1)!) && !startsBlock(line));
    if (!goesOn && !isBlank(line)) break;
    inner.push(line.slice(Math.min(4, indentOf(line))));
  }
  if (!reading.footnotes.has(label)) reading.footnotes.set(label, readBlocks(inner, reading));
  return { block: null, next };
}

function readReference(lines: readonly string[], at: number, { references }: Reading): Found | null {
  const [, label, address] = /^ {0,3}\[([^\]^][^\]]{0,200})\]:[ \t]+(\S+)/.exec(lines[at]!) ?? [];
  if (label === undefined || address === undefined) return null;
  const key = label.trim().toLowerCase();
  if (!references.has(key)) references.set(key, address.replace(/^<|>$/g, ""));
  return { block: null, next: at + 1 };
}

function readDetails(lines: readonly string[], at: number, reading: Reading): Found | null {
  const [, attributes, first = ""] = /^ {0,3}<details([^>]{0,200})>(.*)$/i.exec(lines[at]!) ?? [];
  if (attributes === undefined) return null;
  const inner = [first];
  let open = 1;
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    if (/^\s*<details[\s>]/i.test(line)) open++;
    if (/<\/details>/i.test(line) && --open === 0) break;
    inner.push(line);
  }
  const { summary, rest } = takeSummary(inner);
  const blocks = readBlocks(rest, reading);
  const isOpen = /\bopen\b/i.test(attributes);
  return { block: { kind: "details", summary, isOpen, blocks }, next: next + 1 };
}

function takeSummary(lines: readonly string[]): { summary: string; rest: readonly string[] } {
  const head = lines.slice(0, 5).join("\n");
  const start = head.search(/<summary[^>]{0,200}>/i);
  const end = head.search(/<\/summary>/i);
  if (start < 0 || end < start) return { summary: "", rest: lines };
  const summary = head.slice(head.indexOf(">", start) + 1, end).trim();
  return { summary, rest: [...head.slice(end + "</summary>".length).split("\n"), ...lines.slice(5)] };
}

/** Skips comments, scripts and styles, which a reader does not see. */
function readSilent(lines: readonly string[], at: number): Found | null {
  const [, start] = /^ {0,3}<(!--|script|style|template)(?![\w-])/i.exec(lines[at]!) ?? [];
  if (start === undefined) return null;
  const end = start === "!--" ? "-->" : `</${start.toLowerCase()}`;
  let next = at;
  while (next < lines.length && !lines[next]!.toLowerCase().includes(end)) next++;
  const last = lines[next] ?? "";
  const rest = last.slice(last.toLowerCase().indexOf(end) + end.length).replace(/^>/, "");
  return { block: isBlank(rest) ? null : { kind: "paragraph", text: rest.trim() }, next: next + 1 };
}

function readIndented(lines: readonly string[], at: number): Found | null {
  if (indentOf(lines[at]!) < 4) return null;
  const text: string[] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    if (!isBlank(line) && indentOf(line) < 4) break;
    text.push(line.slice(4));
  }
  while (isBlank(text.at(-1) ?? "x")) text.pop();
  return { block: { kind: "code", language: "", text: text.join("\n") }, next };
}

function readParagraph(lines: readonly string[], at: number): Found {
  const text: string[] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    if (isBlank(line)) break;
    const underline = /^ {0,3}(=+|-+) *$/.exec(line)?.[1];
    if (underline !== undefined && next > at) {
      const level = underline[0] === "=" ? 1 : 2;
      return {
        block: { kind: "heading", level, text: withoutAnchor(text.join(" ").trim()) },
        next: next + 1,
      };
    }
    if (next > at && (startsBlock(line) || readTable(lines, next))) break;
    text.push(line.trimStart());
  }
  return { block: { kind: "paragraph", text: text.join("\n").trimEnd() }, next };
}
