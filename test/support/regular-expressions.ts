import { join } from "node:path";
import { Glob, pathToFileURL } from "bun";

export const ROOT = join(import.meta.dir, "../..");

/** A regular expression as it is written in a file of `src/`. */
export type WrittenExpression = { readonly file: string; readonly source: string; readonly flags: string };

// After any of these a slash begins an expression and divides nothing.
const LITERAL =
  /(?:^|[=(,:?&|!;{}[]|=>|return|\.\.\.)\s*\/(?![*/])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/gm;

/** All regular expressions of `src/` that are written as literals, or made once when their file is loaded. */
export async function writtenExpressions(root: string): Promise<WrittenExpression[]> {
  const found: WrittenExpression[] = [];
  for (const file of [...new Glob("src/**/*.ts").scanSync({ cwd: root })].sort()) {
    const code = (await Bun.file(`${root}/${file}`).text()).replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
    for (const [, source = "", flags = ""] of code.matchAll(LITERAL))
      if (isExpression(source, flags)) found.push({ file, source, flags });
    if (/^const \w+ = new RegExp\(|^ +pattern: new RegExp\(/m.test(code))
      found.push(...(await madeBy(root, file)));
  }
  return found;
}

/** The expressions that a file makes of strings while it is loaded, and those of the files that it loads first. */
async function madeBy(root: string, file: string): Promise<WrittenExpression[]> {
  const made: WrittenExpression[] = [];
  const { RegExp: original } = globalThis;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [pattern, flags]: [string | RegExp, string | undefined]) {
      const expression = new target(pattern, flags);
      if (typeof pattern === "string")
        made.push({ file, source: expression.source, flags: expression.flags });
      return expression;
    },
  });
  try {
    await import(pathToFileURL(`${root}/${file}`).href);
  } finally {
    globalThis.RegExp = original;
  }
  return made;
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

/** A text made against an expression, of any length. */
export type Attack = { readonly start: string; readonly piece: string };

/** What makes an expression look for its end again and again. */
export function attacksOn({ source }: WrittenExpression): Attack[] {
  const pieces = piecesOf(source);
  const starts = new Set(["", pieces[0] ?? "", pieces.find((piece) => piece.length > 2) ?? ""]);
  return pieces.flatMap((piece) => [...starts].map((start) => ({ start, piece })));
}

/** The attack as a text of about so many characters. */
export const attackText = ({ start, piece }: Attack, length: number): string =>
  `${start}${piece.repeat(length / piece.length)}\u0001`;

/** Characters of the longest text that slow expressions see, by their file, or by file and beginning. */
const BOUNDED: Readonly<Record<string, number>> = {
  "src/extraction/metadata/byline.ts /^(?:(?:jan|feb|": 200,
  "src/search/document/lines.ts": 180,
  // The first bytes of a body, as many as MIME sniffing looks at.
  "src/fetching/charset/content-type.ts /^(?:<\\?[^>]*>|<!--": 1445,
};

type Tried = {
  readonly count: number;
  /** Those that take more than linear time, and the length of a text that is too much. */
  readonly slow: readonly { readonly expression: string; readonly characters: number }[];
};

/** Tries all expressions in a process of its own, on texts of up to so many characters. */
export async function tryExpressions(longest: number): Promise<{ count: number; unbounded: string[] }> {
  const script = join(ROOT, "test/support/try-expressions.ts");
  const child = Bun.spawn([process.execPath, script, ROOT, String(longest)], { stdout: "pipe" });
  const { count, slow } = (await new Response(child.stdout).json()) as Tried; // written by the script
  const boundOf = (expression: string): number =>
    Object.entries(BOUNDED).find(([start]) => expression.startsWith(start))?.[1] ?? Number.POSITIVE_INFINITY;
  const unbounded = slow.filter(({ expression, characters }) => boundOf(expression) >= characters);
  return {
    count,
    unbounded: unbounded.map(({ expression, characters }) => `${expression} with ${characters} characters`),
  };
}
