import { columnsOf, DETAILS, FOOTNOTE, ITEM, matchAt, RULE, skipBlanks, skipColumns } from "./lines.ts";

/** What contains other blocks; an item's `sign` is its bullet, or what stands behind its number. */
export type Container =
  | { readonly kind: "quote" }
  | { readonly kind: "item"; readonly sign: string; readonly number: number | null }
  | { readonly kind: "footnote"; readonly label: string }
  | { readonly kind: "details"; readonly isOpen: boolean };

/** A container that lines go on with; the text of an item or footnote is indented by its width. */
export type OpenContainer = { readonly kind: Container["kind"]; readonly width: number };

/** A line that is indented this much after a blank line is code. */
export const CODE_INDENT = 4;

/** A line whose containers have been read: what is left of it begins at `at`, its text at `first`. */
export type Line = {
  readonly outerStart: number;
  readonly at: number;
  readonly first: number;
  readonly end: number;
  /** How many of the open containers it belongs to. */
  readonly depth: number;
};

/** Where the text of a container goes on in a line; -1 when the line does not belong to it. */
export function enterContainer(
  { kind, width }: OpenContainer,
  text: string,
  at: number,
  end: number,
): number {
  if (kind === "details") return at;
  const first = skipBlanks(text, at, end);
  const indent = columnsOf(text, at, first);
  if (kind !== "quote") return first === end || indent >= width ? skipColumns(text, at, end, width) : -1;
  return indent < CODE_INDENT && text[first] === ">" ? skipColumns(text, first + 1, end, 1) : -1;
}

type Opened = { readonly container: Container; readonly width: number; readonly inside: number };

/**
 * The container whose mark a line begins with, and where its text begins; null for none.
 * @param isInText whether the line else belongs to a paragraph, which not every mark ends
 */
export function openContainer(text: string, line: Line, isInText: boolean): Opened | null {
  const { first, end, depth } = line;
  switch (text[first]) {
    case ">":
      return { container: { kind: "quote" }, width: 0, inside: skipColumns(text, first + 1, end, 1) };
    case "[": {
      if (isInText || depth > 0) return null;
      const [mark = "", label = ""] = matchAt(FOOTNOTE, text, first) ?? [];
      if (mark === "") return null;
      return { container: { kind: "footnote", label }, width: CODE_INDENT, inside: first + mark.length };
    }
    case "<": {
      const [tag = "", attributes = ""] = matchAt(DETAILS, text, first) ?? [];
      if (tag === "") return null;
      const isOpen = /\bopen\b/i.test(attributes);
      return { container: { kind: "details", isOpen }, width: 0, inside: first + tag.length };
    }
    default:
      return openItem(text, line, isInText);
  }
}

function openItem(text: string, { at, first, end }: Line, isInText: boolean): Opened | null {
  const mark = matchAt(ITEM, text, first);
  if (mark === null || matchAt(RULE, text, first)) return null;
  const [whole, digits, delimiter, bullet] = mark;
  const number = digits === undefined ? null : Number(digits);
  const markEnd = first + whole.length;
  const inner = skipBlanks(text, markEnd, end);
  if (isInText && (inner === end || (number !== null && number !== 1))) return null;
  const markWidth = columnsOf(text, at, markEnd);
  const isTab = text[markEnd] === "\t";
  const gap = isTab ? 4 - (markWidth % 4) : columnsOf(text, markEnd, inner);
  // Five spaces and more belong to code inside the item.
  const isCode = inner === end || (!isTab && gap > CODE_INDENT);
  return {
    container: { kind: "item", sign: bullet ?? delimiter ?? "", number },
    width: markWidth + (isCode ? 1 : gap),
    inside: isCode ? skipColumns(text, markEnd, end, 1) : inner,
  };
}
