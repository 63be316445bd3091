import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeText, decodingWarnings } from "../../../src/fetching/index.ts";
import { encodeAs, LANGUAGE_SAMPLES } from "../../support/language-samples.ts";

const CODE = `function open(menu) { var item = menu.querySelector(".item"); if (item) { item.focus(); } }\n`;
const lettersOf = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;

/** The amounts of markup, code and English text around the sentences of a page. */
const weights = fc.record({
  wrapping: fc.constantFrom(
    (text: string) => text,
    (text: string) => `<p>${text}</p>`,
    (text: string) => `<div class="row wrapper" style="color:#333" data-id="a-1"><span>${text}</span></div>`,
    (text: string) => `<table><tr><td class=cell>\r\n${text}\r\n</td></tr></table>`,
  ),
  isPage: fc.boolean(),
  codeLines: fc.constantFrom(0, 0, 5, 400),
  links: fc.constantFrom(0, 0, 5, 80),
  comment: fc.constantFrom("", `<!-- <p>${"words in English ".repeat(50)} -->`),
});

type Weights = typeof weights extends fc.Arbitrary<infer T> ? T : never;

function pageOf(
  sentences: readonly string[],
  { wrapping, isPage, codeLines, links, comment }: Weights,
): string {
  const body = sentences.map(wrapping).join("\n");
  if (!isPage) return body;
  const script = codeLines > 0 ? `<SCRIPT type="text/javascript">${CODE.repeat(codeLines)}</SCRIPT>` : "";
  const menu = `<li><a href="/products/item">Read more about our services</a></li>`.repeat(links);
  return `<html><head><title>${sentences[0]}</title>${script}</head><body>${comment}${menu}${body}${script}${menu}</body></html>`;
}

const cases = Object.entries(LANGUAGE_SAMPLES).flatMap(([language, { encodings, sentences }]) =>
  encodings.map((encoding) => ({ language, encoding, sentences })),
);

describe("a page of 200 letters that declares no encoding", () => {
  test.each(cases)("is read in $encoding, $language", ({ encoding, sentences }) => {
    const choice = fc.array(fc.constantFrom(...sentences), { minLength: 2, maxLength: 40 });
    const enough = choice.filter((chosen) => new Set(chosen).size > 1 && lettersOf(chosen.join("")) >= 200);
    fc.assert(
      fc.property(enough, weights, (chosen, weight) => {
        const page = pageOf(chosen, weight);
        const decoded = decodeText(encodeAs(page, encoding), null);
        expect({ text: decoded.text, warnings: decodingWarnings(decoded) }).toEqual({
          text: page,
          warnings: [],
        });
      }),
      { numRuns: 25 },
    );
  });
});

test("Thai that says the same again and again is no Korean", () => {
  const sentences = LANGUAGE_SAMPLES.Thai?.sentences ?? [];
  for (const bell of sentences)
    for (const cart of sentences)
      for (const market of sentences) {
        const page = [bell, bell, bell, bell, cart, market, market, cart].join("\n");
        expect(decodeText(encodeAs(page, "windows-874"), null).text).toBe(page);
      }
});

describe("a guess that may be wrong gives a warning", () => {
  const warning = (encoding: string): string =>
    `No encoding is declared, and ${encoding} is a guess: letters may be wrong`;

  test("when there are few letters", () => {
    const page = `<p>${LANGUAGE_SAMPLES.Russian?.sentences[0]}`;
    const decoded = decodeText(encodeAs(page, "windows-1251"), null);
    expect([decoded.text, ...decodingWarnings(decoded)]).toEqual([page, warning("windows-1251")]);
  });

  test("when nothing fits", () => {
    const noise = Uint8Array.from({ length: 600 }, (_, index) => 0x80 + ((index * index * 7) % 128));
    const decoded = decodeText(noise, null);
    expect([decoded.encoding, decodingWarnings(decoded)[0]]).toEqual([
      "windows-1252",
      warning("windows-1252"),
    ]);
  });

  test.each([
    ["UTF-8", new TextEncoder().encode("é")],
    ["ASCII", new TextEncoder().encode("e")],
    ["UTF-16", Buffer.from("some words", "utf16le")],
  ])("and not in %s, which is certain", (_, bytes) => {
    expect(decodingWarnings(decodeText(bytes, null))).toEqual([]);
  });

  test("but not when the encoding is declared", () => {
    expect(
      decodingWarnings(decodeText(Buffer.from("caf\xe9", "latin1"), "text/html; charset=latin1")),
    ).toEqual([]);
  });
});

test("endless markup costs little", () => {
  for (const start of ["<script>", "<!--", "<a ", "</", "<style><script>"]) {
    const bytes = Buffer.from(`${start.repeat(200_000)}\xe9\xe8\xea\xeb`, "latin1");
    expect(decodeText(bytes, null).encoding).toBeString();
  }
});
