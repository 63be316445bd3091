import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  type JSONPath,
  type JSONVisitor,
  modify,
  parseTree,
  visit,
} from "jsonc-parser";
import { Failure } from "../../base/failure.ts";

/**
 * The value of JSON in which comments and a comma after the last element are allowed, as editors allow them.
 * @param name names the text in messages
 * @throws Failure `invalid_settings` with the place, counted from 1 as in editors
 */
export function parseJsonc(text: string, name: string): unknown {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(json);
  } catch {
    // Most files have neither, and what follows is slower.
  }
  try {
    return JSON.parse(withoutLastCommas(withoutComments(json)));
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    throw new Failure("invalid_settings", `${name}: ${placeOfError(json)}not JSON: ${why.slice(0, 200)}`);
  }
}

/** Returns `line 3, column 8: `, or an empty text when the place is not found. */
function placeOfError(json: string): string {
  let place = "";
  const onError: JSONVisitor["onError"] = (_code, _offset, _length, line, column) => {
    place ||= `line ${line + 1}, column ${column + 1}: `;
  };
  try {
    visit(json, { onError }, { allowTrailingComma: true });
  } catch (error) {
    // A RangeError means that the text is nested too deeply to be walked.
    if (!(error instanceof RangeError)) throw error;
  }
  return place;
}

// Removed text becomes blanks, so that offsets stay.

function withoutComments(json: string): string {
  const pieces: string[] = [];
  let copied = 0;
  forEachToken(json, (at, token) => {
    if (!/^\/[/*]/.test(token)) return;
    pieces.push(json.slice(copied, at), token.replace(/[^\r\n]/g, " "));
    copied = at + token.length;
  });
  return pieces.join("") + json.slice(copied);
}

/** Only a comma that follows a value, as in `[1,]`: `[,]` is a mistake. */
function withoutLastCommas(json: string): string {
  const pieces: string[] = [];
  let copied = 0;
  let [before, beforeThat, comma] = ["", "", 0];
  forEachToken(json, (at, token) => {
    if (token.trim() === "") return;
    const sign = token[0] ?? "";
    if (before === "," && "]}".includes(sign) && !"[{,:".includes(beforeThat)) {
      pieces.push(json.slice(copied, comma), " ");
      copied = comma + 1;
    }
    if (sign === ",") comma = at;
    [before, beforeThat] = [sign, before];
  });
  return pieces.join("") + json.slice(copied);
}

/** Calls `take` for what has no end, such as an open comment, not at all. */
function forEachToken(json: string, take: (at: number, token: string) => void): void {
  const scanner = createScanner(json);
  for (scanner.scan(); scanner.getTokenOffset() < json.length; scanner.scan()) {
    const at = scanner.getTokenOffset();
    if (scanner.getTokenError() === 0) take(at, json.slice(at, at + scanner.getTokenLength()));
  }
}

/**
 * Adds a value at the end of a list of the top-level object, in the style of the text around it: its line breaks, its
 * indentation, a comma after the last element. All else stays as it is, comments included.
 * @param text what `parseJsonc` can read, with such a list
 */
export function withElement(text: string, list: string, value: object): string {
  const { elements, open, close, bare } = listOf(text, list);
  const [first, last] = [elements[0], elements.at(-1)];
  const inner = text.slice(open + 1, close);
  const end = last?.end ?? open + 1;
  // After what is written in the list, comments included.
  const at = open + 1 + inner.trimEnd().length;
  const hasLastComma = last !== undefined && bare.slice(last.end, close).includes(",");
  const comma = last === undefined || hasLastComma ? "" : ",";
  const put = (written: string): string =>
    `${text.slice(0, end)}${comma}${text.slice(end, at)}${written}${text.slice(at)}`;
  if (!(last ? inner : text.trim()).includes("\n")) {
    const gap = last !== undefined && /, /.test(bare) ? " " : "";
    return put(`${gap}${JSON.stringify(value)}${hasLastComma ? "," : ""}`);
  }
  const isClosedBelow = inner.slice(inner.trimEnd().length).includes("\n");
  const { lines, end: closing } = linesOf(value, text, open, first?.start ?? null);
  return put(`${lines}${hasLastComma ? "," : ""}${isClosedBelow ? "" : closing}`);
}

/** A value on lines of its own, in the style of the text, and the line break before the end of its list. */
function linesOf(value: object, text: string, open: number, first: number | null) {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const outside = indentationAt(text, open);
  const inside = first !== null && isFirstOfLine(text, first) ? indentationAt(text, first) : outside + unit;
  const lines = JSON.stringify(value, null, unit).split("\n");
  return { lines: lines.map((line) => `${eol}${inside}${line}`).join(""), end: `${eol}${outside}` };
}

/**
 * Takes an element out of a list of the top-level object, with its comma and the lines that are blank then. All else
 * stays as it is, comments beside the element included.
 * @param text what `parseJsonc` can read, with such an element
 */
export function withoutElement(text: string, list: string, index: number): string {
  const { elements, close, bare } = listOf(text, list);
  const [previous, element, next] = [elements[index - 1], elements[index], elements[index + 1]];
  if (!element) return text;
  const commaAfter = (end: number, limit: number): number => {
    const at = bare.slice(end, limit).indexOf(",");
    return at < 0 ? -1 : end + at;
  };
  const own = commaAfter(element.end, next?.start ?? close);
  const comma = own < 0 && previous ? commaAfter(previous.end, element.start) : own;
  const isBeside = own >= 0 && text.slice(element.end, own).trim() === "";
  const cuts = [wholeLine(text, element.start, isBeside ? own + 1 : element.end)];
  if (comma >= 0 && !isBeside) cuts.push([comma, comma + 1]);
  cuts.sort(([one], [other]) => other - one);
  return cuts.reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text);
}

/**
 * Changes fields of an object in a text, in the style of the text; all else stays, comments included.
 * @param fields undefined takes a field out
 */
export function withFieldsAt(
  text: string,
  path: JSONPath,
  fields: Readonly<Record<string, unknown>>,
): string {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const insertSpaces = !unit.startsWith("\t");
  const formattingOptions = {
    insertSpaces,
    tabSize: unit.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  return Object.entries(fields).reduce(
    (rest, [name, value]) => applyEdits(rest, modify(rest, [...path, name], value, { formattingOptions })),
    text,
  );
}

/** Finds the positions of a list and its elements in a text. */
function listOf(text: string, list: string) {
  const bare = withoutComments(text.replace(/^\uFEFF/, " "));
  const root = parseTree(withoutLastCommas(bare));
  const node = root && findNodeAtLocation(root, [list]);
  if (node?.type !== "array") throw new Failure("internal", `the text has no list ${list}`);
  const elements = (node.children ?? []).map(({ offset, length }) => ({
    start: offset,
    end: offset + length,
  }));
  return { elements, open: node.offset, close: node.offset + node.length - 1, bare };
}

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

const indentationAt = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, at), at))?.[0] ?? "";

const isFirstOfLine = (text: string, at: number): boolean =>
  text.slice(lineStart(text, at), at).trim() === "";

/** A range with the rest of its lines where that is blank, else with the blanks after it. */
function wholeLine(text: string, from: number, to: number): [number, number] {
  const rest = /^[ \t]*(\r?\n)?/.exec(text.slice(to, to + MAX_BLANKS));
  const end = to + (rest?.[0].length ?? 0);
  if (rest?.[1] === undefined) return [from, end];
  return isFirstOfLine(text, from) ? [lineStart(text, from), end] : [from, to];
}

const MAX_BLANKS = 1000;
