import { describe, expect, test } from "bun:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import { extractBody } from "../../../src/extraction/index.ts";
import { isFileBody } from "../../../src/fetching/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { writeDocx, writeEpub, writeOdt, zipOf } from "../../support/office.ts";
import { failureOf } from "../../support/test-fetcher.ts";

async function articleOf(file: Uint8Array) {
  const options = { ...DEFAULT_EXTRACTION, renderings: ["markdown" as const] };
  const { article } = await extractBody({ kind: "file", body: file, url: null, options });
  if (article === null) throw new Error("the document has no article");
  return article;
}

const p = (text: string, properties = ""): string =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const item = (text: string, list: number, level: number): string =>
  p(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);

const DOCX =
  writeDocx(`${p("Terns", '<w:pStyle w:val="Title"/>')}${p("Where they fly", '<w:pStyle w:val="H1"/>')}
  <w:p><w:r><w:t xml:space="preserve">They fly &amp; </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>dive</w:t></w:r>
    <w:del><w:r><w:delText>or swim</w:delText></w:r></w:del>
    <w:hyperlink r:id="r1"><w:r><w:t>in summer</w:t></w:r></w:hyperlink></w:p>
  ${item("north", 1, 0)}${item("the isles", 1, 1)}${item("south", 1, 0)}${p("In order:")}${item("egg", 2, 0)}${item("tern", 2, 0)}
  <w:tbl><w:tr><w:tc>${p("Bird")}</w:tc><w:tc>${p("Weight")}</w:tc></w:tr><w:tr><w:tc>${p("tern")}</w:tc><w:tc>${p("100 g")}</w:tc></w:tr></w:tbl>
  <w:p><w:r><w:drawing><wp:inline><wp:docPr descr="A tern on a post"/></wp:inline></w:drawing></w:r></w:p>`);

const list = (items: readonly string[], more = "", style = ""): string =>
  `<text:list${style}>${items.map((text) => `<text:list-item><text:p>${text}</text:p>${more}</text:list-item>`).join("")}</text:list>`;
const row = (cells: readonly string[]): string =>
  `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join("")}</table:table-row>`;

const ODT = writeOdt(`<text:tracked-changes><text:p>or swim</text:p></text:tracked-changes>
  <text:h text:outline-level="1">Terns</text:h><text:h text:outline-level="2">Where they fly</text:h>
  <text:p>They fly &amp;<text:s/><text:span>dive</text:span> <text:a xlink:href="https://example.org/a">in summer</text:a></text:p>
  ${list([`north</text:p>${list(["the isles"])}<text:p>`, "south"])}<text:p>In order:</text:p>${list(["egg", "tern"], "", ' text:style-name="L2"')}
  <table:table>${row(["Bird", "Weight"])}${row(["tern", "100 g"])}</table:table>
  <text:p><draw:frame><svg:desc>A tern on a post</svg:desc></draw:frame></text:p>`);

const EPUB = writeEpub([
  `<h1>Terns</h1><h2>Where they fly</h2><p>They fly &amp; dive <a href="https://example.org/a">in summer</a><br/></p>`,
  `<ul><li>north<ul><li>the isles</li></ul></li><li>south</li></ul><p>In order:</p><ol><li>egg</li><li>tern</li></ol>
   <table><tr><th>Bird</th><th>Weight</th></tr><tr><td>tern</td><td>100 g</td></tr></table><script>or swim</script>`,
]);

describe.each([
  ["a DOCX", DOCX],
  ["an ODT", ODT],
  ["an EPUB", EPUB],
])("%s", (name, file) => {
  test("has its headings, lists, tables and links", async () => {
    const { markdown, text } = await articleOf(file);
    expect(markdown).toMatch(/## Where they fly\n\nThey fly &/);
    expect(markdown).toContain("[in summer](https://example.org/a)");
    expect(markdown).toMatch(/- north\n\s+- the isles/);
    expect(markdown).toContain("1. egg\n2. tern");
    expect(markdown).toMatch(/\| Bird +\| Weight +\|\n\|[ -]+\|[ -]+\|\n\| tern +\| 100 g +\|/);
    expect(text).not.toContain("or swim");
    if (name !== "an EPUB") expect(text).toContain("[A tern on a post]");
  });

  test("has the title, author and date of its metadata", async () => {
    const { title, byline, publishedDate } = await articleOf(file);
    expect([title, byline, publishedDate?.slice(0, 10)]).toEqual([
      name === "an EPUB" ? "Of Terns" : "Terns",
      "A. Writer",
      "2024-02-03",
    ]);
  });
});

describe("an archive fails", () => {
  const codeOf = async (file: Uint8Array) => (await failureOf(articleOf(file)))?.code;
  const spaces = new Uint8Array(101 * 1024 * 1024);

  test.each([
    ["too_large", "unpacks to 101 MB", () => zipOf({ "word/document.xml": spaces })],
    [
      "too_large",
      "has 20 001 files",
      () => zipOf(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`${at}`, ""]))),
    ],
    ["too_large", "is nested too deeply", () => writeDocx("<w:sdt>".repeat(1000))],
    ["damaged_document", "is cut short", () => DOCX.slice(0, 900)],
    [
      "unsupported_content",
      "is no document",
      () => zipOf({ "_rels/.rels": "<a/>", "xl/workbook.xml": "<a/>" }),
    ],
    ["encrypted_document", "is an ODT with a password", () => writeOdt("", "<manifest:encryption-data/>")],
    [
      "encrypted_document",
      "is a book of one shop",
      () =>
        writeEpub(["<p>Words</p>"], {
          "META-INF/encryption.xml": '<encryption><enc:CipherReference URI="OPS/c0.xhtml"/></encryption>',
        }),
    ],
  ])("as %s when it %s", async (code, _, file) => {
    expect(await codeOf(file())).toBe(code as FailureCode);
  });

  test("but not for what stands first in it", () => {
    const first = { "Pictures/a.png": "", "1.xhtml": "" };
    const names = ["word/document.xml", "META-INF/manifest.xml", "META-INF/container.xml"];
    expect(names.map((name) => isFileBody(zipOf({ ...first, [name]: "" })))).toEqual([true, true, true]);
    expect(isFileBody(zipOf(first))).toBe(false);
  });

  test("and no entity of a document type is read", async () => {
    const bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY f SYSTEM "file:///etc/passwd">]>';
    const xml = `${bomb}<w:document><w:body>${p("Words &a;&f; that stand")}</w:body></w:document>`;
    expect((await articleOf(zipOf({ "word/document.xml": xml }))).text).toBe("Words &a;&f; that stand");
  });
});

describe("notes have marks in the text, in the order of these:", () => {
  const EXPECTED = "They fly[^1] far, and rest[^2].\n\nThe end.\n\n[^1]: Or dive.\n\n[^2]: On posts.";
  const note = (id: number, kind: string, text: string): string =>
    `<w:${kind} w:id="${id}"><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:${kind}>`;
  const run = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const mark = (id: number, kind: string): string => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`;
  const docx = (first: string, second: string, more: Readonly<Record<string, string>>): Uint8Array =>
    writeDocx(
      `<w:p>${run("They fly")}${first}${run(" far, and rest")}${second}${run(".")}</w:p>${p("The end.")}`,
      more,
    );

  test("the footnotes of a DOCX, without the lines that part them", async () => {
    const parting =
      '<w:footnote w:id="0" w:type="separator"><w:p><w:r><w:t>rule</w:t></w:r></w:p></w:footnote>';
    const notes = `<w:footnotes>${parting}${note(3, "footnote", "On posts.")}${note(2, "footnote", "Or dive.")}</w:footnotes>`;
    const file = docx(mark(2, "footnote"), mark(3, "footnote"), { "word/footnotes.xml": notes });
    expect((await articleOf(file)).markdown).toBe(EXPECTED);
  });

  test("a footnote and an endnote of one number", async () => {
    const file = docx(mark(2, "footnote"), mark(2, "endnote"), {
      "word/footnotes.xml": `<w:footnotes>${note(2, "footnote", "Or dive.")}</w:footnotes>`,
      "word/endnotes.xml": `<w:endnotes>${note(2, "endnote", "On posts.")}</w:endnotes>`,
    });
    expect((await articleOf(file)).markdown).toBe(EXPECTED);
  });

  test("a note of a DOCX without a mark is not lost", async () => {
    const notes = `<w:footnotes>${note(2, "footnote", "Or dive.")}</w:footnotes>`;
    expect((await articleOf(docx("", "", { "word/footnotes.xml": notes }))).markdown).toEndWith(
      "The end.\n\nOr dive.",
    );
  });

  const noteOf = (text: string): string =>
    `<text:note><text:note-citation>7</text:note-citation><text:note-body><text:p>${text}</text:p></text:note-body></text:note>`;
  test("the notes of an ODT", async () => {
    const text = `<text:p>They fly${noteOf("Or dive.")} far, and rest${noteOf("On posts.")}.</text:p><text:p>The end.</text:p>`;
    expect((await articleOf(writeOdt(text))).markdown).toBe(EXPECTED);
  });

  test("a note in a note of an ODT", async () => {
    const text = `<text:p>They fly${noteOf(`Or dive${noteOf("Deep.")}.`)}.</text:p><text:p>The end.</text:p>`;
    expect((await articleOf(writeOdt(text))).markdown).toContain("[^1]: Or dive[^2].\n\n[^2]: Deep.");
  });
});
