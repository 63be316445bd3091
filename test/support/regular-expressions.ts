import { Glob } from "bun";

/** A regular expression as it is written in a file of `src/`. */
export type WrittenExpression = { readonly file: string; readonly source: string; readonly flags: string };

// After any of these a slash begins an expression and divides nothing.
const LITERAL =
  /(?:^|[=(,:?&|!;{}[]|=>|return|\.\.\.)\s*\/(?![*/])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/gm;

/** All regular expressions that are written as literals in `src/`. */
export async function writtenExpressions(root: string): Promise<WrittenExpression[]> {
  const found: WrittenExpression[] = [];
  for (const file of [...new Glob("src/**/*.ts").scanSync({ cwd: root })].sort()) {
    const code = (await Bun.file(`${root}/${file}`).text()).replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
    for (const [, source = "", flags = ""] of code.matchAll(LITERAL))
      if (isExpression(source, flags)) found.push({ file, source, flags });
  }
  return found;
}

// Two divisions in a line look like one.
function isExpression(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) !== null;
  } catch {
    return false;
  }
}

const BLANKS = [" ", "\t", "\n", "\u00a0"];

/** Pieces that its own source says that an expression may repeat over, and some that most do. */
function piecesOf(source: string): readonly string[] {
  const literal = source.replace(/\\[a-zA-Z](?:\{[^}]*\})?|\(\?[:=!<]+|[\\^$.*+?()[\]{}|]/g, " ");
  const words = literal.split(/\s+/).filter((word) => word !== "" && word.length < 20);
  const units = [...new Set([...source].filter((unit) => unit !== "\\"))];
  return [...new Set([...words, ...units, ...BLANKS, "a", "A", "0", "a ", " a", "a1", "-", "\u4e2d"])];
}

/** Texts of about so many characters that make an expression look for its end again and again. */
export function* attacks({ source }: WrittenExpression, length: number): Generator<string> {
  const pieces = piecesOf(source);
  const starts = new Set(["", pieces[0] ?? "", pieces.find((piece) => piece.length > 2) ?? ""]);
  for (const piece of pieces)
    for (const start of starts) yield `${start}${piece.repeat(length / piece.length)}\u0001`;
}
