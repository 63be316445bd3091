import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Tokenizer as ReferenceTokenizer } from "htmlparser2";
import { tagAt } from "../../../../src/extraction/page/page-model.ts";
import { scanPage } from "../../../../src/extraction/page/scan.ts";
import { codesOf, TextTable } from "../../../../src/extraction/page/source-text.ts";
import { Tokenizer } from "../../../../src/extraction/page/tokenizer.ts";

/** What our tokenizer makes of a page, as lines. */
function tokens(html: string): string[] {
  const lines: string[] = [];
  const codes = codesOf(html);
  new Tokenizer(html, codes, {
    text: (start, end) => lines.push(`text ${html.slice(start, end)}`),
    startTag: (start, end) => {
      lines.push(`open ${html.slice(start, end)}`);
      return tagAt(codes, start, end);
    },
    attribute: (nameStart, nameEnd, start, end) =>
      lines.push(`${html.slice(nameStart, nameEnd)}=${html.slice(start, end)}`),
    startTagEnd: (_, isSelfClosing) => lines.push(isSelfClosing ? "/>" : ">"),
    endTag: (start, end) => lines.push(`close ${html.slice(start, end)}`),
  }).run();
  return lines;
}

/** The same from htmlparser2, entities undecoded. */
function referenceTokens(html: string): string[] {
  const lines: string[] = [];
  let name = "";
  let value = "";
  let textEnd = -1;
  const ignore = (): void => {};
  const reference = new ReferenceTokenizer(
    { decodeEntities: false },
    {
      ontext: (start, end) => {
        // It begins a text anew at each "<"; ours only where one may open markup.
        if (textEnd === start && lines.at(-1)?.startsWith("text ") && !/^<[a-z/!?]/i.test(html.slice(start)))
          lines.push(`${lines.pop()}${html.slice(start, end)}`);
        else lines.push(`text ${html.slice(start, end)}`);
        textEnd = end;
      },
      onopentagname: (start, end) => lines.push(`open ${html.slice(start, end)}`),
      onattribname: (start, end) => {
        name = html.slice(start, end);
        value = "";
      },
      onattribdata: (start, end) => {
        value += html.slice(start, end);
      },
      onattribend: () => lines.push(`${name}=${value}`),
      onopentagend: () => lines.push(">"),
      onselfclosingtag: () => lines.push("/>"),
      onclosetag: (start, end) => lines.push(`close ${html.slice(start, end)}`),
      onattribentity: ignore,
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onprocessinginstruction: ignore,
      ontextentity: ignore,
    },
  );
  reference.write(html);
  reference.end();
  return lines;
}

/** Without the tag that the page cuts off, which opens nothing. */
function ended(lines: readonly string[]): readonly string[] {
  const open = lines.findLastIndex((line) => line.startsWith("open "));
  return open >= 0 && !lines.slice(open).some((line) => line === ">" || line === "/>")
    ? lines.slice(0, open)
    : lines;
}

const PIECES = [
  ..."<>/='\"& \n!-?a1",
  "<p>",
  "</p >",
  "<a href=x/>",
  '<b c="d" e>',
  "<i f='g'",
  "<br/ >",
  "<!--",
  "-->",
  "<!doctype html>",
  "<script>",
  "</script>",
  "</SCRIPT\n>",
  "<title>",
  "</title>",
  "<style>",
  "</style>",
  "<svg/>",
  "text",
];

describe("the tokenizer", () => {
  test("finds the tags, attributes and texts that htmlparser2 finds", () => {
    const page = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(page, (start) => {
        // In two kinds of broken declarations the two differ on purpose.
        const html = `${start.replace(/<!(?:-?>|-[^-])/g, "")}"'-->?></title></script></style><p>end</p> `;
        expect(ended(tokens(html))).toEqual(ended(referenceTokens(html)));
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ["a CDATA section, which HTML has none of", "a<![CDATA[ x><b>c</b>"],
    ["a declaration without a word", "a<!><b>c</b>"],
    ["a comment with one dash", "a<!-><b>c</b>"],
  ])("goes on behind %s", (_, html) => {
    expect(tokens(html).filter((line) => line.startsWith("text"))).toEqual(["text a", "text c"]);
  });

  test("drops a tag, a comment or a declaration that the page cuts off", () => {
    for (const cut of ["<p", '<p class="a', "<!--", "<!doc", "<?xml", "</p", "<script"]) {
      expect(tokens(`a${cut}`)[0]).toBe("text a");
      expect(tokens(`a${cut}`).filter((line) => line.startsWith("text"))).toHaveLength(1);
    }
  });
});

describe("the texts of a page", () => {
  test("are numbered by what they say, wherever they stand and however many there are", () => {
    const words = fc.array(fc.stringMatching(/^[a-c&]{0,4}$/), { maxLength: 2000 });
    fc.assert(
      fc.property(words, fc.nat(3), (said, kind) => {
        const html = said.join(" ");
        const table = new TextTable(html, codesOf(html));
        const numbers = new Map<string, number>();
        let at = 0;
        for (const [index, word] of said.entries()) {
          const isPlaced = index % 4 !== kind;
          const number = isPlaced ? table.numberAt(at, at + word.length) : table.numberOf(word);
          expect(table.texts[number]).toBe(word);
          expect(numbers.get(word) ?? number).toBe(number);
          numbers.set(word, number);
          at += word.length + 1;
        }
      }),
      { numRuns: 50 },
    );
  });

  test("that share one hash cost no more than others", () => {
    // "Classes" of the same letters in another order collide in weak hashes; 50 000 must stay apart here.
    const names = Array.from({ length: 50_000 }, (_, index) => index.toString(2).padStart(16, "0"));
    const html = names.map((name) => `<p class="${name}">x`).join("");
    expect(new Set(scanPage(html).model.classId.subarray(0, 50_000)).size).toBeGreaterThan(49_000);
  });
});
