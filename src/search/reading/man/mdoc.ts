import { argumentsOf, type Font, type Piece, piecesOf, plainOf } from "./roff.ts";

/** The fonts of mdoc's words; those of others are roman. */
const FONTS: Readonly<Record<string, Font>> = {
  Fl: "B",
  Cm: "B",
  Ic: "B",
  Nm: "B",
  Fn: "B",
  Fo: "B",
  Sy: "B",
  Ms: "B",
  In: "B",
  Fd: "B",
  Ar: "I",
  Em: "I",
  Pa: "I",
  Va: "I",
  Vt: "I",
  Fa: "I",
  Ft: "I",
  Ev: "R",
  Dv: "R",
  Er: "R",
  Li: "R",
};

/** What encloses words: up to the end of the line, or up to the macro that closes it. */
const ENCLOSED: Readonly<Record<string, readonly [string, string]>> = {
  Op: ["[", "]"],
  Oo: ["[", ""],
  Oc: ["", "]"],
  Bq: ["[", "]"],
  Bo: ["[", ""],
  Bc: ["", "]"],
  Pq: ["(", ")"],
  Po: ["(", ""],
  Pc: ["", ")"],
  Aq: ["<", ">"],
  Ao: ["<", ""],
  Ac: ["", ">"],
  Brq: ["{", "}"],
  Bro: ["{", ""],
  Brc: ["", "}"],
  Dq: ["“", "”"],
  Do: ["“", ""],
  Dc: ["", "”"],
  Sq: ["‘", "’"],
  So: ["‘", ""],
  Sc: ["", "’"],
  Qq: ['"', '"'],
  Qo: ['"', ""],
  Qc: ["", '"'],
  Ql: ["‘", "’"],
};

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
