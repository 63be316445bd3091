import { codeSpan, emphasis, literal, strong } from "../phrases.ts";

/** Fonts of manual pages: roman, bold, italic. */
export type Font = "R" | "B" | "I";
export type Piece = { readonly font: Font; readonly text: string };

/** Characters that have names, each behind its name. */
const CHARACTERS: ReadonlyMap<string, string> = new Map(
  `
  aq '   dq "   oq ‘   cq ’   lq “   rq ”   em —   en –   hy -   mi −   bu •   co ©   rg ®   tm ™
  ha ^   ti ~   ga \`   aa ´   rs \\   sl /   ul _   lB [   rB ]   lC {   rC }   la <   ra >   -> →
  <- ←   +- ±   mu ×   de °   >= ≥   <= ≤   != ≠   == ≡   sh #   Do $   at @   ba |   or |   ss ß
  :a ä   :o ö   :u ü   'e é   \`e è   Po £   Eu €   R ®   Tm ™   q "   Lt <   Gt >   Am &   Ba |
  Le ≤   Ge ≥`
    .trim()
    .split(/\s{2,}/)
    .map((pair) => pair.split(" ") as [string, string]), // a name and its sign
);

const ESCAPE =
  /\\(?:f(?:\[([\w-]{0,10})\]|\((\w\w)|(.))|\((..)|\[([^\]\n]{1,40})\]|\*(?:\[([^\]\n]{1,40})\]|\((..)|(.))|s(?:[+-]?\d{1,2}|\[[^\]\n]{0,10}\]|\(\d\d)|[nmMgkYFV](?:\[[^\]\n]{0,40}\]|\(..|[+-]?.)|[hvwlLXoZbSHRDBA]'[^'\n]{0,200}'|"[^\n]*|#[^\n]*|([^\n])|$)/g;

/**
 * Reads the escapes of a line of text.
 * @param start the font in which it begins
 * @returns its pieces, and the font in which it ends
 */
export function piecesOf(
  line: string,
  start: Font,
): { readonly pieces: readonly Piece[]; readonly font: Font } {
  const pieces: Piece[] = [];
  let font = start;
  let before: Font = "R";
  let text = "";
  let from = 0;
  for (const match of line.matchAll(ESCAPE)) {
    text += line.slice(from, match.index);
    from = match.index + match[0].length;
    const [whole, f1, f2, f3, two, long, s1, s2, s3, one] = match;
    if (whole.startsWith("\\f")) {
      if (text !== "") pieces.push({ font, text });
      text = "";
      const named = f1 ?? f2 ?? f3 ?? "";
      const next: Font =
        named === "P" || named === ""
          ? before
          : /^(?:B|C[BW]|CB|3|4|BI)/.test(named)
            ? "B"
            : /^(?:I|2)/.test(named)
              ? "I"
              : "R";
      before = font;
      font = next;
    } else if (one !== undefined) text += SIGNS[one] ?? one;
    else text += characterOf(two ?? long ?? s1 ?? s2 ?? s3 ?? "");
  }
  text += line.slice(from);
  if (text !== "") pieces.push({ font, text });
  return { pieces, font };
}

/** What a backslash makes of the sign behind it; other signs are themselves. */
const SIGNS: Readonly<Record<string, string>> = {
  e: "\\",
  "&": "",
  "|": "",
  "^": "",
  "%": "",
  ":": "",
  "/": "",
  ",": "",
  "~": " ",
  "0": " ",
  " ": " ",
  c: "",
  p: "",
  d: "",
  u: "",
  r: "",
  z: "",
  t: "\t",
  ")": "",
  "{": "",
  "}": "",
  "!": "",
};

function characterOf(name: string): string {
  const code = /^u([0-9A-F]{4,6})$/.exec(name)?.[1];
  if (code === undefined) return CHARACTERS.get(name) ?? "";
  const point = Number.parseInt(code, 16);
  return point <= 0x10ffff && point > 31 ? String.fromCodePoint(point) : "";
}

export const plainOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");

/** A phrase of pieces; one that touches another word keeps its text and loses its font. */
export function phraseOf(pieces: readonly Piece[]): string {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last?.font === piece.font)
      joined[joined.length - 1] = { font: piece.font, text: last.text + piece.text };
    else if (piece.text !== "") joined.push(piece);
  }
  return joined
    .map(({ font, text }, at) => {
      const before = joined[at - 1]?.text ?? " ";
      const after = joined[at + 1]?.text ?? " ";
      const isApart = /[\s([{|]$/.test(before) && /^[\s\])}|.,;:=]/.test(after);
      const inner = text.trim();
      if (font === "R" || !isApart || inner === "") return literal(text);
      const shown =
        font === "I"
          ? emphasis(literal(inner))
          : inner.startsWith("-")
            ? codeSpan(inner)
            : strong(literal(inner));
      return `${/^\s/.test(text) ? " " : ""}${shown}${/\s$/.test(text) ? " " : ""}`;
    })
    .join("");
}

/** The arguments of a macro; quotes hold blanks, and two quotes in quotes are one. */
export function argumentsOf(text: string): string[] {
  const found: string[] = [];
  for (const [, quoted, bare] of text.matchAll(/"((?:[^"\n]|"")*)"?|((?:\\ |[^\s"])(?:\\ |[^\s])*)/g))
    found.push(quoted?.replaceAll('""', '"') ?? bare ?? "");
  return found;
}
