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
