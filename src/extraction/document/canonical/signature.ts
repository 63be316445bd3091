import { closingOf, EDIT_ADDRESS, isSignature, KEYWORDS, MAX_SIGNATURE } from "../../text.ts";
import {
  BLOCKS,
  build,
  type ContentElement,
  type ContentNode,
  ContentText,
  find,
  findAll,
  isElement,
  isText,
  moveChildren,
  named,
  nextNode,
  textOf,
} from "../tree.ts";

/*
 * A function's signature becomes code, however a manual lays it out: as a table with a cell for each bracket, as lines
 * between <br>, as spans, as the term of a list, or as a heading.
 */

const MAX_NODES = 400;
const FRAMES = new Set(["P", "DIV", "LI", "DT", "TABLE", "H1", "H2", "H3", "H4", "H5", "H6"]);
const isHeadCell = named("TH");
const isCell = named("TD");
const isBreak = named("BR");
const isCode = named("CODE");
/** Conditions may stand in a block of their own inside a heading. */
const isPart = named("DIV");
const isNoPhrase = (element: ContentElement): boolean =>
  BLOCKS.has(element.name) || element.name === "IMG" || element.className === "classifier";

/** Returns the block of code that an element's signature becomes; a term or a heading gets its code inside. */
export function canonicalSignature(element: ContentElement): ContentElement | undefined {
  if (!FRAMES.has(element.name) || !isShort(element)) return undefined;
  if (element.name === "TABLE") return signatureOfTable(element);
  const isTitle = /^(?:DT|H\d)$/.test(element.name);
  const lines = linesOf(element).replace(TOOLS_AT_END, "");
  const isInLines = lines.includes("\n");
  if (isInLines ? !areLines(lines) : !isSignature(lines, isOfSpans(element) ? "spans" : "plain"))
    return undefined;
  if (!isInLines && (element.name === "LI" || find(element, isCode))) return undefined;
  if (isTitle && !isInLines) return withCode(element);
  const code = build("PRE", {}, build("CODE", {}, lines));
  if (element.name !== "LI" && !isTitle) return code;
  while (element.firstChild) element.firstChild.remove();
  element.append(code);
  return undefined;
}

const TOOLS_AT_END = /(?:\s{1,20}(?:\[(?:src|source)\]|view source|source|[#¶])){1,4}$/i;

/** Tells whether an element holds a bracket or two colons, no block, and so little that it may be a signature. */
function isShort(element: ContentElement): boolean {
  let length = 0;
  let nodes = 0;
  let isCall = false;
  for (let node = element.firstChild; node; node = nextNode(node, element)) {
    if (node.kind === "text") {
      length += node.text.length;
      isCall ||= node.text.includes("(") || node.text.includes("::");
    } else if (element.name !== "TABLE" && isNoPhrase(node) && !(isPart(node) && /^H/.test(element.name)))
      return false;
    if (++nodes > MAX_NODES || length > 2 * MAX_SIGNATURE) return false;
  }
  return isCall;
}

/** Tells whether an element's words are set in elements of their own, as scripts mark the parts of a declaration. */
const isOfSpans = (element: ContentElement): boolean =>
  element.children.filter(({ name }) => name === "SPAN").length > 2;

/** Tells whether lines are one signature: a break stands in its brackets, or it is followed by declarations. */
function areLines(lines: string): boolean {
  const open = lines.indexOf("(");
  const close = open < 0 ? -1 : closingOf(lines, open);
  if (close < 0 || !isSignature(lines.replace(/\s+/g, " "), "apart")) return false;
  const after = lines.slice(close + 1).split("\n");
  return (
    lines.slice(open, close).includes("\n") || (after.length > 1 && after.every((line) => line.endsWith(";")))
  );
}

function withCode(element: ContentElement): undefined {
  const code = build("CODE", {});
  for (const part of findAll(element, isPart)) part.parent?.insertBefore(new ContentText(" "), part);
  moveChildren(element, code);
  element.append(code);
  // A term leads to its source from beside its code.
  const last = code.lastChild;
  if (isElement(last) && BRACKETED_TOOL.test(textOf(last).slice(0, 40))) element.append(last);
}

/** The lines that a browser shows: white space collapses, a <br> ends a line, and no-break spaces indent it. */
function linesOf(element: ContentElement): string {
  let text = "";
  let before: ContentNode | null = null;
  for (let node = element.firstChild; node; node = nextNode(node, element)) {
    if (isElement(node)) text += isBreak(node) ? "\n" : isPart(node) ? " " : "";
    else {
      // Style sheets set spans apart that have no space between them.
      const isTight = before?.parent !== node.parent && /^[\w$]/.test(node.text);
      if (isTight && KEYWORDS.has(/[A-Za-z]{1,19}$/.exec(text.slice(-20))?.[0] ?? "")) text += " ";
      text += text.endsWith("\n")
        ? node.text.replace(/\s+/g, (space) => (space.includes("\n") ? "" : space))
        : node.text.replace(/[ \t\n\f\r]+/g, " ");
      before = node;
    }
  }
  return text
    .replaceAll("\u00a0", " ")
    .split("\n")
    .map((line, index) => (index === 0 ? line.trim() : line.trimEnd()))
    .join("\n")
    .trim();
}

/** Brackets that open in one cell and close in another, or fill a cell, are those of a call. */
function signatureOfTable(table: ContentElement): ContentElement | undefined {
  const cells = findAll(table, isCell);
  const isApart = cells.some((cell) => /^\($|^\)$|\([^)]*$/.test(textOf(cell).slice(0, 300).trim()));
  if (!isApart || find(table, isHeadCell) || find(table, isHolder)) return undefined;
  const text = cells
    .map((cell) => linesOf(cell).replaceAll("\n", " "))
    .filter((part) => part !== "")
    .join(" ")
    .replace(/\s+/g, " ")
    .replace(/ ?\( ?/g, "(")
    .replace(/ (?=[),;])/g, "")
    .replace(/([*&]) (?=[\w$])/g, "$1");
  return isSignature(text, "apart") ? build("PRE", {}, build("CODE", {}, text)) : undefined;
}

const isHolder = named("TABLE PRE UL OL DL H1 H2 H3 H4 BLOCKQUOTE");

/** Controls that a heading shows beside its words: in brackets on any element, otherwise only as a switch. */
const BRACKETED_TOOL =
  /^\s*\[\s*(?:src|source|(?:view|show) source|link|edit|collapse|expand|[¶§#+−–-])\s*\]\s*$/i;
export const BARE_TOOL =
  /^\s*(?:src|source|(?:view|show) source|permalink|edit|collapse|expand|copy(?: link)?)\s*$/i;
const LINE_TOOL = /^\s*(?:at )?line \d{1,6}\s*$/i;
/** A link may also be called after a type: `Copy`, `Source`. */
const SWITCH_CLASS = /toggle|collaps|expand|btn|button|control|action|src|source|edit|copy/i;
const isTool = named("A SPAN BUTTON SMALL DIV");

/** Removes the tools beside a title's words: its source, the number of its line, a switch. */
export function dropTools(title: ContentElement): void {
  if (!/^H[1-6]$/.test(title.name)) return;
  for (let child = title.firstChild; child; ) {
    const next: ContentNode | null = child.nextSibling;
    if (isElement(child) && isTool(child)) dropTool(title, child);
    child = next;
  }
}

const leadsToEdit = (element: ContentElement): boolean =>
  EDIT_ADDRESS.test((element.getAttribute("href") ?? "").slice(0, 2000));
const holdsEditLink = (element: ContentElement): boolean =>
  leadsToEdit(element) || find(element, leadsToEdit) !== null;
function isToolText(tool: ContentElement, text: string): boolean {
  if (BRACKETED_TOOL.test(text) || LINE_TOOL.test(text) || holdsEditLink(tool)) return true;
  const isSwitch =
    /^#?$/.test(tool.getAttribute("href") ?? " ") || SWITCH_CLASS.test(tool.className.slice(0, 200));
  return isSwitch && BARE_TOOL.test(text);
}

function dropTool(title: ContentElement, tool: ContentElement): void {
  const text = textOf(tool);
  if (text === "" || text.length > 40) return;
  const { previousSibling: before, nextSibling: after } = tool;
  const isBracketed =
    isText(before) && /\[\s*$/.test(before.text) && isText(after) && /^\s*\]/.test(after.text);
  if (
    !isToolText(tool, isBracketed ? `[${text}]` : text) ||
    /^[\s[\]]*$/.test(textOf(title).replace(text, ""))
  )
    return;
  if (isBracketed) {
    before.text = before.text.replace(/\[\s*$/, "");
    after.text = after.text.replace(/^\s*\]/, "");
  }
  tool.remove();
}
