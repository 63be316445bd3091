import { byWord, meaningsIn } from "../../base/text.ts";
import { codeSpan, emphasis, link, literal, MarkdownWriter, strong } from "./markdown-writer.ts";

/** Deepest nesting of lists and insets; deeper content stays in the last. */
const MAX_DEPTH = 20;

/** A line with a macro: its name, and what stands behind it. */
const MACRO = /^[.'][ \t]*([^\s\\]*)[ \t]*(.*)$/;
/** Macros that end the body of an item. */
const ENDS = /^(?:SH|SS|Sh|Ss|PP|P|LP|TP|TQ|IP|HP|RE|It|El|Bl-end)$/;
const SECTION = /^(?:SH|SS|Sh|Ss)$/;

/** Converts a manual page, in the macros of man or mdoc, to Markdown. No file is read (`.so`). */
export function manToMarkdown(source: readonly string[]): string {
  const writer = new MarkdownWriter();
  new ManReader(source, writer).page();
  return writer.toString();
}

class ManReader {
  readonly #lines: readonly string[];
  readonly #writer: MarkdownWriter;
  #at = 0;
  #depth = 0;
  #font: Font = "R";
  #pieces: Piece[] = [];
  /** The name of mdoc's page, which `.Nm` repeats. */
  #name = "";

  constructor(lines: readonly string[], writer: MarkdownWriter) {
    this.#lines = lines;
    this.#writer = writer;
  }

  page(): void {
    while (this.#at < this.#lines.length) {
      this.#blocks(() => false);
      this.#at++; // an end without a beginning
    }
    this.#flush();
  }

  /** Reads blocks up to a macro that ends them, or to the end. */
  #blocks(isEnd: (macro: string) => boolean): void {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at]!;
      const [, macro = "", rest = ""] = MACRO.exec(line) ?? [];
      if (!/^[.']/.test(line)) this.#text(line);
      else if (macro !== "" && isEnd(macro)) break;
      else this.#macro(macro, rest);
    }
    this.#flush();
  }

  #text(line: string): void {
    if (line.trim() === "") this.#flush();
    else {
      const { pieces, font } = piecesOf(line.trim(), this.#font);
      this.#font = font;
      this.#add(pieces);
    }
  }

  #add(pieces: readonly Piece[]): void {
    if (pieces.length === 0) return;
    if (this.#pieces.length > 0) this.#pieces.push({ font: "R", text: "\n" });
    for (const piece of pieces) this.#pieces.push(piece);
  }

  #flush(): void {
    const phrase = phraseOf(this.#pieces);
    this.#pieces = [];
    this.#writer.paragraph(phrase);
  }

  #macro(macro: string, rest: string): void {
    const read = ManReader.#MACROS.get(macro);
    if (read) read(this, rest, macro);
    // Signs behind a word of mdoc's belong to it.
    else this.#add(this.#piecesOf(macro, rest));
  }

  /** Functions that read block macros; all other macros are phrases. */
  static readonly #MACROS = byWord<(page: ManReader, rest: string, macro: string) => void>({
    "TH Dt": (page, rest) => page.#title(rest),
    "SH Sh": (page, rest) => page.#heading(2, rest),
    "SS Ss": (page, rest) => page.#heading(3, rest),
    "TP TQ": (page) => page.#tagged(),
    IP: (page, rest) => page.#itemOf(piecesOf(argumentsOf(rest)[0] ?? "", "R").pieces),
    RS: (page) => page.#inset(),
    Bl: (page) => page.#list(),
    "nf EX Bd": (page, rest, macro) => page.#code(macro, rest),
    "Dl D1": (page, rest) => page.#codeLine(rest),
    TS: (page) => page.#table(),
    "UR MT": (page, rest) => page.#link(rest),
    "de ig am": (page) => page.#definition(),
    "if ie el": (page) => page.#condition(),
    "PP P LP HP Pp sp br": (page) => page.#flush(),
  });

  #title(rest: string): void {
    const [name = "", section = ""] = argumentsOf(rest);
    this.#writer.heading(1, phraseOf(piecesOf(`${name.toLowerCase()}(${section})`, "R").pieces));
  }

  #codeLine(rest: string): void {
    this.#flush();
    this.#writer.code(plainOf(this.#piecesOfMacro(rest)));
  }

  /** Skips what defines a macro. */
  #definition(): void {
    while (this.#at < this.#lines.length && !/^\.\.$/.test(this.#lines[this.#at]!.trim())) this.#at++;
  }

  #heading(level: number, rest: string): void {
    this.#flush();
    this.#font = "R";
    const text = rest.trim() === "" ? (this.#lines[++this.#at] ?? "") : argumentsOf(rest).join(" ");
    this.#writer.heading(level, phraseOf([{ font: "R", text: plainOf(piecesOf(text, "R").pieces) }]));
  }

  /** Skips what a formatter decides: one with braces reaches to the closing one. */
  #condition(): void {
    let open = 0;
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at]!;
      open += (line.match(/\\\{/g)?.length ?? 0) - (line.match(/\\\}/g)?.length ?? 0);
      if (open <= 0) return;
    }
  }

  #tagged(): void {
    const terms: Piece[][] = [];
    do {
      const line = this.#lines[++this.#at] ?? "";
      const [, macro = "", rest = ""] = MACRO.exec(line) ?? [];
      if (SECTION.test(macro) || macro === "TP") break;
      terms.push([...(macro === "" ? piecesOf(line, "R").pieces : this.#piecesOf(macro, rest))]);
    } while (/^\.TQ\b/.test(this.#lines[this.#at + 1] ?? "") && this.#at++ < this.#lines.length);
    this.#at++;
    this.#body(terms);
  }

  #itemOf(term: readonly Piece[]): void {
    this.#at++;
    this.#body(plainOf(term).trim() === "" || /^[•·o*-]$/.test(plainOf(term).trim()) ? [] : [term]);
  }

  /** Reads what belongs to an item; the line that ends it is read again. */
  #body(terms: readonly (readonly Piece[])[]): void {
    this.#flush();
    for (const term of terms) this.#writer.paragraph(termOf(term));
    if (this.#depth >= MAX_DEPTH) {
      this.#at--;
      return;
    }
    this.#depth++;
    this.#writer.item(null, () => this.#blocks((macro) => ENDS.test(macro)));
    this.#depth--;
    this.#at--;
  }

  #inset(): void {
    this.#flush();
    if (this.#depth >= MAX_DEPTH) return;
    this.#at++;
    this.#depth++;
    this.#blocks((macro) => macro === "RE" || SECTION.test(macro));
    this.#depth--;
    if (!/^[.'][ \t]*RE/.test(this.#lines[this.#at] ?? "")) this.#at--;
  }

  /** Reads a list of mdoc up to its end. */
  #list(): void {
    this.#flush();
    if (this.#depth >= MAX_DEPTH) return;
    const isNumbered = /-enum/.test(this.#lines[this.#at] ?? "");
    this.#at++;
    this.#depth++;
    this.#blocks((macro) => macro === "It" || macro === "El" || SECTION.test(macro));
    for (let number = 1; /^[.'][ \t]*It\b/.test(this.#lines[this.#at] ?? ""); number++) {
      const rest = this.#lines[this.#at]!.replace(/^[.'][ \t]*It[ \t]*/, "");
      const term = this.#piecesOfMacro(rest);
      if (term.length > 0) this.#writer.paragraph(termOf(term));
      this.#at++;
      this.#writer.item(isNumbered ? number : null, () =>
        this.#blocks((macro) => macro === "It" || macro === "El" || SECTION.test(macro)),
      );
    }
    this.#depth--;
    if (!/^[.'][ \t]*El/.test(this.#lines[this.#at] ?? "")) this.#at--;
  }

  #code(macro: string, rest: string): void {
    this.#flush();
    if (macro === "Bd" && !/-(?:literal|unfilled)/.test(rest)) return;
    const end = { nf: /^[.'][ \t]*fi\b/, EX: /^[.'][ \t]*EE\b/, Bd: /^[.'][ \t]*Ed\b/ }[macro] ?? /^$/;
    const lines: string[] = [];
    for (this.#at++; this.#at < this.#lines.length && !end.test(this.#lines[this.#at]!); this.#at++) {
      const line = this.#lines[this.#at]!;
      const [, inner = "", words = ""] = MACRO.exec(line) ?? [];
      if (SECTION.test(inner)) {
        this.#at--;
        break;
      }
      if (!/^[.']/.test(line)) lines.push(plainOf(piecesOf(line, "R").pieces));
      else if (inner !== "") lines.push(plainOf(this.#piecesOf(inner, words)));
    }
    this.#writer.code(lines.join("\n"));
  }

  /** Reads a table of tbl, whose cells tabs separate unless it names another sign. */
  #table(): void {
    this.#flush();
    const rows: string[][] = [];
    let sign = "\t";
    let isData = false;
    let open = false;
    for (this.#at++; this.#at < this.#lines.length && !/^\.TE/.test(this.#lines[this.#at]!); this.#at++) {
      const line = this.#lines[this.#at]!;
      sign = /tab *\((.)\)/.exec(isData ? "" : line)?.[1] ?? sign;
      if (!isData) isData = /\.\s*$/.test(line);
      else if (open) {
        const [text = "", ...others] = line.startsWith("T}") ? line.slice(2).split(sign) : [line];
        const row = rows.at(-1)!; // a cell is open in it
        if (!/^[.']/.test(line)) row[row.length - 1] += ` ${text}`;
        row.push(...(line.startsWith("T}") ? others : []));
        open = line.startsWith("T}") ? line.endsWith("T{") : true;
      } else if (!/^[.']/.test(line) && !/^[_=]$/.test(line.trim())) {
        rows.push(line.split(sign));
        open = line.endsWith("T{");
      }
    }
    const cells = rows.map((row) =>
      row.map((cell) => phraseOf(piecesOf(cell.replace("T{", ""), "R").pieces)),
    );
    this.#writer.table(cells[0] ?? [], cells.slice(1));
  }

  #link(rest: string): void {
    const address = plainOf(piecesOf(argumentsOf(rest)[0] ?? "", "R").pieces);
    const lines: string[] = [];
    for (
      this.#at++;
      this.#at < this.#lines.length && !/^\.(?:UE|ME)\b/.test(this.#lines[this.#at]!);
      this.#at++
    )
      lines.push(plainOf(piecesOf(this.#lines[this.#at]!.replace(/^\.\w+ */, ""), "R").pieces));
    this.#flush();
    const text = phraseOf([{ font: "R", text: lines.join(" ") || address }]);
    this.#writer.paragraph(
      link(text, address.includes("@") && !address.includes(":") ? `mailto:${address}` : address),
    );
  }

  readonly #piecesOfMacro = (text: string): readonly Piece[] => new MdocLine(text, this.#name).read();

  #piecesOf(macro: string, rest: string): readonly Piece[] {
    const fonts = FONTS[macro];
    if (fonts !== undefined) {
      // Without arguments the next line has the font.
      const words = rest.trim() === "" ? [this.#lines[++this.#at] ?? ""] : argumentsOf(rest);
      const isJoined = macro.length === 2 && macro !== "SB" && macro !== "SM";
      const shown = isJoined ? words : [words.join(" ")];
      return shown.flatMap((word, at) => piecesOf(word, fonts[at % fonts.length]!).pieces);
    }
    if (macro === "SY" || macro === "OP") {
      const words = plainOf(piecesOf(argumentsOf(rest).join(" "), "R").pieces);
      return [{ font: "B", text: macro === "OP" ? `[${words}]` : words }];
    }
    if (macro === "Nm" && this.#name === "") this.#name = argumentsOf(rest)[0] ?? "";
    return /^[A-Z%][a-z\dA-Z]$/.test(macro) && !SETTINGS.test(macro)
      ? this.#piecesOfMacro(`${macro} ${rest}`)
      : [];
  }
}

const termOf = (term: readonly Piece[]): string => {
  const plain = plainOf(term).trim();
  return plain.startsWith("-") ? codeSpan(plain) : strong(phraseOf([{ font: "R", text: plain }]));
};

/** Macros that set something and show nothing. */
const SETTINGS = /^(?:PD|AT|UC|DT|Dd|Os|YS|UE|ME|RE|EE|Ed|El|Bk|Ek|Sm|Rs|Re|TE|IX|Sp|Vb|Ve)$/;

const FONTS: Readonly<Record<string, readonly Font[]>> = {
  B: ["B"],
  I: ["I"],
  R: ["R"],
  SM: ["R"],
  SB: ["B"],
  BR: ["B", "R"],
  RB: ["R", "B"],
  BI: ["B", "I"],
  IB: ["I", "B"],
  IR: ["I", "R"],
  RI: ["R", "I"],
};

/** The fonts of mdoc's words; those of others are roman. */
const WORD_FONTS = meaningsIn<Font>({
  B: "Fl Cm Ic Nm Fn Fo Sy Ms In Fd",
  I: "Ar Em Pa Va Vt Fa Ft",
  R: "Ev Dv Er Li",
});

/** Enclosures of words: the macro for a whole line, the opening and the closing macro, and the two signs. */
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
  Object.hasOwn(WORD_FONTS, word) || Object.hasOwn(ENCLOSED, word) || CALLABLE.test(word);

/** The text of a macro without arguments. */
const BARE: Readonly<Record<string, string>> = { Ar: "file ...", Fl: "-" };

/** Reads the words of a line of mdoc, whose macros may stand in the line too. */
class MdocLine {
  readonly #words: readonly string[];
  /** The name that `Nm` stands for without an argument. */
  readonly #name: string;
  readonly #pieces: Piece[] = [];
  readonly #closing: string[] = [];
  #font: Font = "R";
  #isOption = false;
  #isJoined = true;

  constructor(line: string, name: string) {
    this.#words = argumentsOf(line);
    this.#name = name;
  }

  read(): readonly Piece[] {
    for (const [index, word] of this.#words.entries()) {
      if (Object.hasOwn(ENCLOSED, word)) this.#enclose(ENCLOSED[word]!);
      else if (isMacro(word)) this.#macro(word, this.#words[index + 1]);
      else if (this.#words[index - 1] === "Xr") this.#add(word, "R");
      else if (this.#words[index - 2] === "Xr") this.#section(word);
      else this.#text(word);
    }
    for (const close of this.#closing.reverse()) this.#pieces.push({ font: "R", text: close });
    return this.#pieces;
  }

  #add(text: string, font: Font = this.#font): void {
    if (text === "") return;
    if (!this.#isJoined && !CLOSING.test(text)) this.#pieces.push({ font: "R", text: " " });
    this.#pieces.push({ font, text });
    this.#isJoined = /^[([<{“‘]$/.test(text);
  }

  #enclose([open, close]: readonly [string, string]): void {
    if (open === "") this.#isJoined = true;
    this.#add(open || close, "R");
    if (open !== "" && close !== "") this.#closing.push(close);
    this.#font = "R";
    this.#isOption = false;
  }

  #macro(word: string, next: string | undefined): void {
    this.#isOption = word === "Fl";
    this.#font = WORD_FONTS[word] ?? "R";
    const isBare = next === undefined || isMacro(next) || CLOSING.test(next);
    if (isBare) this.#add(word === "Nm" ? this.#name : (BARE[word] ?? ""));
    if (word === "Nd") this.#add("—");
    if (word === "Ns" || word === "Ap" || word === "Pf") this.#isJoined = true;
    if (word === "Ap") this.#add("'");
  }

  /** The section of the page that a cross-reference names. */
  #section(word: string): void {
    const isSection = /^\d/.test(word);
    this.#isJoined ||= isSection;
    this.#add(isSection ? `(${word})` : word, "R");
  }

  #text(word: string): void {
    const text = plainOf(piecesOf(word, "R").pieces);
    if (CLOSING.test(text)) this.#add(text, "R");
    else this.#add(this.#isOption ? `-${text}` : text);
  }
}

/** Fonts of manual pages: roman, bold, italic. */
type Font = "R" | "B" | "I";
type Piece = { readonly font: Font; readonly text: string };

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
function piecesOf(line: string, start: Font): { readonly pieces: readonly Piece[]; readonly font: Font } {
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
      const next = fontOf(f1 ?? f2 ?? f3 ?? "", before);
      before = font;
      font = next;
    } else if (one !== undefined) text += SIGNS.get(one) ?? one;
    else text += characterOf(two ?? long ?? s1 ?? s2 ?? s3 ?? "");
  }
  text += line.slice(from);
  if (text !== "") pieces.push({ font, text });
  return { pieces, font };
}

function fontOf(name: string, before: Font): Font {
  if (name === "P" || name === "") return before;
  if (/^(?:B|C[BW]|3|4)/.test(name)) return "B";
  return /^(?:I|2)/.test(name) ? "I" : "R";
}

/** Meanings of escaped signs; any other escaped sign means itself. */
const SIGNS = byWord({ e: "\\", "& | ^ % : / , c p d u r z ) { } !": "", "~ 0": " ", t: "\t" });

function characterOf(name: string): string {
  const code = /^u([0-9A-F]{4,6})$/.exec(name)?.[1];
  if (code === undefined) return CHARACTERS.get(name) ?? "";
  const point = Number.parseInt(code, 16);
  return point <= 0x10ffff && point > 31 ? String.fromCodePoint(point) : "";
}

const plainOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");

/** A phrase of pieces; one that touches another word keeps its text and loses its font. */
function phraseOf(pieces: readonly Piece[]): string {
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
function argumentsOf(text: string): string[] {
  const found: string[] = [];
  for (const [, quoted, bare] of text.matchAll(/"((?:[^"\n]|"")*)"?|((?:\\ |[^\s"])(?:\\ |[^\s])*)/g))
    found.push(quoted?.replaceAll('""', '"') ?? bare ?? "");
  return found;
}
