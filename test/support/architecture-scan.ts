/** A file of the tree; the path is relative to the repository's root, with `/`. */
export type SourceFile = { readonly path: string; readonly text: string };

/** One module that a file names, in any way: statement, type, dynamic import, require, worker URL. */
export type ModuleReference = {
  /** Null for a dynamic import whose path is computed, which cannot be checked. */
  readonly specifier: string | null;
  /** What stands between `import` and `from`; empty for the other ways. */
  readonly clause: string;
  readonly isTypeOnly: boolean;
  readonly line: number;
};

export type ScannedSource = {
  /** The text with comments and the insides of strings, templates and regular expressions blanked. */
  readonly code: string;
  readonly references: readonly ModuleReference[];
};

const scans = new WeakMap<SourceFile, ScannedSource>();

/**
 * Finds what a file imports. Bun's transpiler drops imports of types, and the compiler has no
 * JavaScript interface, hence a scanner of our own: it knows just enough of the grammar not to be taken
 * in by comments, strings, templates and regular expressions.
 */
export function scanSource(file: SourceFile): ScannedSource {
  const known = scans.get(file);
  if (known) return known;
  const code = blankText(file.text);
  const scanned = { code, references: findReferences(file.text, code) };
  scans.set(file, scanned);
  return scanned;
}

/** 1-based. */
export const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

// In blanked code a string is two quotes with blanks between, so a quote begins a specifier.
const CLAUSE = /(?:(?!\b(?:import|export)\b)[^;"'`()=])*?/.source;
const STATEMENT = new RegExp(`\\b(?:import|export)\\b(${CLAUSE})\\bfrom\\s*["']`, "g");
const SIDE_EFFECT = /\bimport\s*["']/g;
const DYNAMIC = /\b(?:import|require|require\s*\.\s*resolve)\s*\(\s*(?:["'`]|(?=[^\s"'`]))/g;
const MODULE_URL = /\bnew\s+URL\s*\(\s*["'`](?=[^"'`]*["'`]\s*,\s*import\s*\.\s*meta\b)/g;

function findReferences(text: string, code: string): ModuleReference[] {
  const references: ModuleReference[] = [];
  for (const pattern of [STATEMENT, SIDE_EFFECT, DYNAMIC, MODULE_URL]) {
    for (const match of code.matchAll(pattern)) {
      const clause = match[1] ?? "";
      const opening = match.index + match[0].length - 1;
      references.push({
        specifier: readString(text, code, opening),
        clause,
        isTypeOnly: isTypeOnly(clause),
        line: lineAt(code, match.index),
      });
    }
  }
  return references.sort((one, other) => one.line - other.line);
}

function readString(text: string, code: string, opening: number): string | null {
  const quote = code[opening];
  if (quote !== '"' && quote !== "'" && quote !== "`") return null;
  const closing = code.indexOf(quote, opening + 1);
  const specifier = text.slice(opening + 1, closing);
  return quote === "`" && specifier.includes("${") ? null : specifier;
}

function isTypeOnly(clause: string): boolean {
  if (/^\s*type\s+[\w$*{]/.test(clause)) return true;
  const names = /^\s*\{([^}]*)\}\s*$/.exec(clause)?.[1]?.split(",") ?? [];
  const written = names.map((name) => name.trim()).filter((name) => name !== "");
  return written.length > 0 && written.every((name) => /^type\s+\w/.test(name));
}

/** Blanks everything that is not code, keeping quotes, length and line breaks. */
function blankText(text: string): string {
  const parts: string[] = [];
  // How many braces are open in each template's `${`, innermost last.
  const openBraces: number[] = [];
  let position = 0;
  const keep = (length: number): void => {
    parts.push(text.slice(position, position + length));
    position += length;
  };
  const blankTo = (end: number): void => {
    parts.push(text.slice(position, end).replace(/[^\n]/g, " "));
    position = end;
  };
  const blankTemplate = (): void => {
    const end = endOfTemplatePart(text, position);
    blankTo(end);
    if (text[end] === "$") openBraces.push(0);
    keep(text[end] === "$" ? 2 : 1);
  };
  while (position < text.length) {
    const character = text[position] ?? "";
    const depth = openBraces.at(-1);
    if (text.startsWith("//", position)) blankTo(indexOrEnd(text, "\n", position));
    else if (text.startsWith("/*", position)) blankTo(indexOrEnd(text, "*/", position + 2, 2));
    else if (character === '"' || character === "'" || (character === "/" && isRegexStart(parts))) {
      keep(1);
      blankTo(endOfLiteral(text, position, character));
      keep(1);
    } else if (character === "`") {
      keep(1);
      blankTemplate();
    } else if (character === "}" && depth === 0) {
      openBraces.pop();
      keep(1);
      blankTemplate();
    } else {
      if (depth !== undefined && character === "{") openBraces[openBraces.length - 1] = depth + 1;
      if (depth !== undefined && character === "}") openBraces[openBraces.length - 1] = depth - 1;
      keep(/^[\w$]+/.exec(text.slice(position, position + 200))?.[0].length ?? 1);
    }
  }
  return parts.join("");
}

function indexOrEnd(text: string, wanted: string, from: number, extra = 0): number {
  const index = text.indexOf(wanted, from);
  return index < 0 ? text.length : index + extra;
}

// Finds the end of a string or a regular expression, in whose character classes a slash is literal.
function endOfLiteral(text: string, start: number, delimiter: string): number {
  let isInClass = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index++;
    else if (character === "\n") return index;
    else if (character === delimiter && !isInClass) return index;
    else if (delimiter === "/" && character === "[") isInClass = true;
    else if (character === "]") isInClass = false;
  }
  return text.length;
}

function endOfTemplatePart(text: string, start: number): number {
  for (let index = start; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === "`" || text.startsWith("${", index)) return index;
  }
  return text.length;
}

// A slash after a value divides; anywhere else it begins a regular expression.
function isRegexStart(parts: readonly string[]): boolean {
  const before = parts.findLast((part) => part.trim() !== "")?.trim() ?? "";
  if (/^(?:return|typeof|case|in|of|delete|void|throw|new|await|yield|else|do)$/.test(before)) return true;
  return !/[\w$)\]"'`]$/.test(before);
}
