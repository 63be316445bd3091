import { meaningsIn } from "../../../base/text.ts";
import { argumentsOf, type Font, type Piece, piecesOf, plainOf } from "./roff.ts";

/** The fonts of mdoc's words; those of others are roman. */
const FONTS = meaningsIn<Font>({
  B: "Fl Cm Ic Nm Fn Fo Sy Ms In Fd",
  I: "Ar Em Pa Va Vt Fa Ft",
  R: "Ev Dv Er Li",
});

/** What encloses words: the macros for those of a line, for what opens and for what closes, and the two signs. */
const ENCLOSURES = [
  ["Op", "Oo", "Oc", "[", "]"],
  ["Bq", "Bo", "Bc", "[", "]"],
  ["Pq", "Po", "Pc", "(", ")"],
  ["Aq", "Ao", "Ac", "<", ">"],
  ["Brq", "Bro", "Brc", "{", "}"],
  ["Dq", "Do", "Dc", "“", "”"],
  ["Sq", "So", "Sc", "‘", "’"],
  ["Qq", "Qo", "Qc", '"', '"'],
] as const;
const ENCLOSED: Readonly<Record<string, readonly [string, string]>> = Object.fromEntries([
  ...ENCLOSURES.flatMap(([line, start, end, open, close]) => [
    [line, [open, close]],
    [start, [open, ""]],
    [end, ["", close]],
  ]),
  ["Ql", ["‘", "’"]],
]);

const CALLABLE =
  /^(?:Ad|An|Ap|Cd|Dv|Er|Ev|Fr|Lk|Mt|No|Ns|Tn|Ux|Bx|Fx|Nx|Ox|Dx|Bsx|At|St|Xr|Xo|Xc|Nd|Rv|Ex|Lb|Cq|Eo|Ec|Pf|%[A-Z])$/;
const CLOSING = /^[.,:;)\]?!]+$/;

const isMacro = (word: string): boolean =>
  Object.hasOwn(FONTS, word) || Object.hasOwn(ENCLOSED, word) || CALLABLE.test(word);

/**
 * The words of a line of mdoc, whose macros may stand in the line too.
 * @param name what `Nm` without a name means
 */
export function mdocPieces(line: string, name: string): readonly Piece[] {
  const words = argumentsOf(line);
  const pieces: Piece[] = [];
  const closing: string[] = [];
  let font: Font = "R";
  let isOption = false;
  let isJoined = true;
  const add = (text: string, written: Font = font): void => {
    if (text === "") return;
    if (!isJoined && !CLOSING.test(text)) pieces.push({ font: "R", text: " " });
    pieces.push({ font: written, text });
    isJoined = /^[([<{“‘]$/.test(text);
  };
  for (const [index, word] of words.entries()) {
    const enclosed = Object.hasOwn(ENCLOSED, word) ? ENCLOSED[word] : undefined;
    if (enclosed) {
      const [open, close] = enclosed;
      if (open === "") isJoined = true;
      add(open === "" ? close : open, "R");
      if (open !== "" && close !== "") closing.push(close);
      font = "R";
      isOption = false;
    } else if (isMacro(word)) {
      isOption = word === "Fl";
      font = FONTS[word] ?? "R";
      const next = words[index + 1];
      const isBare = next === undefined || isMacro(next) || CLOSING.test(next);
      if (word === "Nm" && isBare) add(name);
      if (word === "Ar" && isBare) add("file ...");
      if (word === "Fl" && isBare) add("-");
      if (word === "Nd") add("—");
      if (word === "Ns" || word === "Ap" || word === "Pf") isJoined = true;
      if (word === "Ap") add("'");
    } else if (words[index - 1] === "Xr" || words[index - 2] === "Xr") {
      const isSection = words[index - 2] === "Xr" && /^\d/.test(word);
      isJoined ||= isSection;
      add(isSection ? `(${word})` : word, "R");
    } else {
      const text = plainOf(piecesOf(word, "R").pieces);
      add(isOption && !CLOSING.test(text) ? `-${text}` : text, CLOSING.test(text) ? "R" : font);
    }
  }
  for (const close of closing.reverse()) pieces.push({ font: "R", text: close });
  return pieces;
}
