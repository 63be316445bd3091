import { describe, expect, test } from "bun:test";
import { extractBody } from "../../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { parsePageUrl } from "../../../src/urls/index.ts";
import { type PdfText, writePdf } from "../../support/pdf.ts";
import { failureOf } from "../../support/test-fetcher.ts";

const OPTIONS = {
  ...DEFAULT_EXTRACTION,
  renderings: ["markdown", "anchors", "links"] as ("markdown" | "anchors" | "links")[],
};

async function articleOf(file: Uint8Array) {
  const { article } = await extractBody({ kind: "file", body: file, url: null, options: OPTIONS });
  if (article === null) throw new Error("the document has no article");
  return article;
}

/** Lines of text, 12 points apart. */
const lines = (texts: readonly string[], { x = 60, y = 700, size = 10 } = {}): PdfText[] =>
  texts.map((text, index) => ({ text, x, y: y - index * size * 1.2, size }));

describe("the text of a PDF", () => {
  test("is read column by column, and a line across both ends them", async () => {
    const column = (name: string) =>
      Array.from({ length: 8 }, (_, index) => `${name} line number ${index} goes to the edge of it`);
    const [left, right] = [lines(column("left"), { y: 600 }), lines(column("right"), { x: 320, y: 600 })];
    const across =
      "A sentence below the columns that goes from the left edge to the right edge of this page and ends there.";
    // Row by row, as some programs draw columns.
    const drawn = [...left.flatMap((line, row) => [line, right[row]!]), ...lines([across], { y: 400 })];
    const { text } = await articleOf(writePdf([drawn]));
    const places = [
      "left line number 0",
      "left line number 7",
      "right line number 0",
      "right line number 7",
      "A sentence below",
    ];
    const found = places.map((words) => text.indexOf(words));
    expect(found.every((place) => place >= 0)).toBe(true);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  });

  test("has the rows of a table, not its columns", async () => {
    const rows = Array.from({ length: 8 }, (_, row) => [
      { text: `key ${row}`, x: 60, y: 700 - row * 12 },
      { text: `value ${row}`, x: 400, y: 700 - row * 12 },
    ]);
    expect((await articleOf(writePdf([rows.flat()]))).text).toMatch(/key 0 value 0\s+key 1 value 1/);
  });

  describe("with rules between the cells of a table", () => {
    const cell = (text: string, x: number, y: number): PdfText => ({ text, x, y });
    const drawn = [
      ...lines(["Measures of birds stand in the table below."], { y: 760 }),
      ...[cell("bird", 64, 688), cell("size in cm", 164, 688), cell("note", 264, 688)],
      ...[cell("tern", 64, 668), cell("35", 164, 668), cell("dives for", 264, 668), cell("fish", 264, 656)],
      ...[cell("gannet and booby", 64, 628), cell("90", 264, 628)],
      ...lines(["It is followed by a sentence."], { y: 560 }),
    ];
    const across = [700, 680, 640, 620].map((y) => `60 ${y} m 360 ${y} l`);
    const down = [60, 360].map((x) => `${x} 620 m ${x} 700 l`);
    // The last row has two columns in one cell.
    const inner = ["160 640 m 160 700 l", "260 620 m 260 700 l"];
    const expected = [
      "Measures of birds stand in the table below.\n\n| bird | size in cm | note |\n| --- | --- | --- |",
      "| tern | 35 | dives for fish |\n| gannet and booby |  | 90 |\n\nIt is followed",
    ].join("\n");
    const markdownOf = async (paths: readonly string[]): Promise<string> =>
      (await articleOf(writePdf([drawn], { rules: paths.join(" ") }))).markdown ?? "";

    test("is a table when they are lines", async () => {
      expect(await markdownOf([...across, ...down, ...inner, "S"])).toContain(expected);
    });

    test("is a table when its sides are open, and when they are thin boxes on a moved page", async () => {
      expect(await markdownOf([...across, ...inner, "S"])).toContain(expected);
      const boxes = [
        ...[700, 680, 640, 620].map((y) => `0 ${y - 100} 300 0.5 re`),
        ...["100 540 0.5 60 re", "200 520 0.5 80 re", "0 520 0.5 80 re", "300 520 0.5 80 re"],
      ];
      expect(await markdownOf(["q 1 0 0 1 60 100 cm", ...boxes, "f Q"])).toContain(expected);
    });

    test("is none when they are a frame, lines below texts, a drawing with a line that leads away, boxes, or too many", async () => {
      const frame = "60 620 300 80 re S";
      const below = `${across.join(" ")} S`;
      const table = [...across, ...down, ...inner].join(" ");
      const leading = `${table} 20 690 m 60 690 l S`;
      const boxes =
        "60 660 100 0 re 60 620 m 60 700 l 160 640 200 40 re 160 620 200 80 re 260 620 m 260 700 l S";
      const many = `${table} ${Array.from({ length: 4000 }, (_, at) => `500 ${at / 5} m 510 ${at / 5} l`).join(" ")} S`;
      for (const rules of [frame, below, leading, boxes, many]) {
        const markdown = await markdownOf([rules]);
        expect([rules.slice(-20), markdown.includes("|")]).toEqual([rules.slice(-20), false]);
        expect(markdown).toContain("gannet and booby");
      }
    });
  });

  test("joins words that are hyphenated at the ends of lines, and keeps the hyphens of others", async () => {
    const drawn = lines([
      "The printer hyphen-",
      "ates long words, and keeps a well-known",
      "compound, which is well-",
      "known, as it is. MEAS-",
      "URES in capitals are joined",
    ]);
    const { text } = await articleOf(writePdf([drawn]));
    expect(text).toContain("The printer hyphenates long words");
    expect(text).toContain("which is well-known, as it is. MEASURES in capitals");
  });

  test("leaves out running heads and page numbers, whose chapters may have one page", async () => {
    const pages = ["Fish", "Fish", "Birds", "Birds", "Mice"].map((chapter, index) => [
      ...lines([`Chapter ${chapter} ${index + 11}`], { y: 760 }),
      ...lines([`${chapter} of page ${"abcde"[index]} eat what they find, and rest.`], { y: 700 }),
      ...lines([`- ${index + 11} -`], { x: 300, y: 30 }),
    ]);
    const { text } = await articleOf(writePdf(pages));
    expect(text).not.toContain("Chapter");
    expect(text).not.toMatch(/\d/);
    expect(text.match(/eat what they find/g)).toHaveLength(5);
  });

  test("has paragraphs that go on over the end of a page, and anchors of pages", async () => {
    const pages = [
      lines(["The first page has a paragraph", "that goes on and"]),
      lines(["ends on the second one.", "", "", "The second paragraph stands alone here."]),
    ];
    const { markdown, anchors } = await articleOf(writePdf(pages));
    expect(markdown).toContain("goes on and ends on the second one.");
    expect(anchors?.map(({ id, start }) => [id, markdown?.slice(start, start + 10)])).toEqual([
      ["page=1", "The first "],
      ["page=2", "The second"],
    ]);
  });

  test("has headings by the outline and by sizes, and a title", async () => {
    const drawn = [
      ...lines(["The Book of Tests"], { size: 24, y: 760 }),
      ...lines(["1. First things"], { size: 16, y: 700 }),
      ...lines(["They come first of all, as everybody knows who has ever read one."], { y: 670 }),
      ...lines(["Small but outlined"], { y: 640 }),
      ...lines(["This text stands below a heading of its own size, which the outline names."], { y: 628 }),
    ];
    const outline = [{ title: "Small but outlined", page: 1 }];
    const { title, markdown } = await articleOf(writePdf([drawn], { outline }));
    expect(title).toBe("The Book of Tests");
    expect(markdown).toContain("## 1. First things\n");
    expect(markdown).toContain("## Small but outlined\n\nThis text");
  });

  test("has the first heading of the highest level as its title, else its file's name", async () => {
    const text = lines(["They come first of all, as everybody knows who has ever read one of them."], {
      y: 670,
    });
    const headed = [...lines(["First things"], { size: 14, y: 700 }), ...text];
    const later = [...lines(["Larger things"], { size: 20, y: 700 }), ...text, ...text];
    expect((await articleOf(writePdf([headed, later]))).title).toBe("Larger things");
    expect((await articleOf(writePdf([headed]))).title).toBe("First things");
    const url = parsePageUrl("https://example.org/of/some_birds%20(2).pdf?a=b");
    const task = { kind: "file", body: writePdf([text]), url, options: OPTIONS } as const;
    expect((await extractBody(task)).article?.title).toBe("some birds (2)");
    expect((await extractBody({ ...task, url: null })).article?.title).toBeNull();
  });

  test("has lists, code and links", async () => {
    const drawn = [
      ...lines(["Things to buy, in this order:", "1. bread", "2. butter", "3. salt"]),
      { text: "$ buy", x: 60, y: 600, font: 2 as const },
      { text: "  --now", x: 60, y: 588, font: 2 as const },
      ...lines(["See the shop."], { y: 560 }),
    ];
    const link = { url: "https://example.org/shop", rect: [55, 555, 130, 575] as const };
    const { markdown, links } = await articleOf(writePdf([drawn], { link }));
    expect(markdown).toContain("1. bread\n2. butter\n3. salt");
    expect(markdown).toContain("```\n$ buy\n  --now\n```");
    expect(links).toEqual([{ url: "https://example.org/shop", text: "See the shop." }]);
  });

  test("has author, dates and keywords of its metadata", async () => {
    const info = {
      Title: "On (Tests)",
      Author: "A. Writer",
      CreationDate: "D:20240203040506Z",
      Keywords: "a, b",
    };
    const { title, byline, publishedDate, keywords } = await articleOf(
      writePdf([lines(["Some words of a document."])], { info }),
    );
    expect([title, byline, publishedDate?.slice(0, 10), keywords]).toEqual([
      "On (Tests)",
      "A. Writer",
      "2024-02-03",
      ["a", "b"],
    ]);
  });

  test("names the pages without text", async () => {
    const { warnings } = await articleOf(writePdf([lines(["Some words of a document."]), []]));
    expect(warnings).toContain("Pages without text: 2");
  });
});

describe("a PDF fails", () => {
  const codeOf = async (file: Uint8Array) => (await failureOf(articleOf(file)))?.code;
  const page = lines(["Words that nobody reads."]);
  test("as no_text_layer when it has pictures only", async () => {
    expect(await codeOf(writePdf([[], []]))).toBe("no_text_layer");
  });
  test("as encrypted_document when it needs a password", async () => {
    expect(await codeOf(writePdf([page], { isEncrypted: true }))).toBe("encrypted_document");
  });
  test("as damaged_document when nothing in it can be found", async () => {
    expect(await codeOf(Buffer.from("%PDF-1.7\nnothing more"))).toBe("damaged_document");
  });
  test("as too_large when a page unpacks to 200 MB, and what it changed is as before", async () => {
    const { Uint8Array: array, DecompressionStream: stream } = globalThis;
    expect(await codeOf(writePdf([page], { content: Buffer.alloc(200_000_000, " ") }))).toBe("too_large");
    expect([globalThis.Uint8Array === array, globalThis.DecompressionStream === stream]).toEqual([
      true,
      true,
    ]);
  });
});
