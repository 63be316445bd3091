import { strToU8, zipSync } from "fflate";

/** Packs texts into an archive, in their order. */
export const zipOf = (files: Readonly<Record<string, string | Uint8Array>>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, typeof text === "string" ? strToU8(text) : text]),
    ),
  );

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** Writes a Word document of this body, with the styles Heading1 and Title, and the lists 1 (bullets) and 2 (numbers). */
export const writeDocx = (body: string, more: Readonly<Record<string, string>> = {}): Uint8Array =>
  zipOf({
    ...more,
    "[Content_Types].xml": "<Types/>",
    "word/document.xml": `<?xml version="1.0"?><w:document ${W}><w:body>${body}</w:body></w:document>`,
    "word/styles.xml": `<w:styles ${W}>
      <w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>
      <w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 2"/></w:style></w:styles>`,
    "word/numbering.xml": `<w:numbering ${W}>
      ${["bullet", "decimal"].map((format, index) => `<w:abstractNum w:abstractNumId="${index}">${[0, 1].map((level) => `<w:lvl w:ilvl="${level}"><w:numFmt w:val="${format}"/></w:lvl>`).join("")}</w:abstractNum>`).join("")}
      <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
    "word/_rels/document.xml.rels": `<Relationships><Relationship Id="r1" TargetMode="External" Target="https://example.org/a"/></Relationships>`,
    "docProps/core.xml": `<cp:coreProperties><dc:title>Of Terns</dc:title><dc:creator>A. Writer</dc:creator><dcterms:created>2024-02-03T04:05:06Z</dcterms:created></cp:coreProperties>`,
  });

/** Writes an OpenDocument text of this body, with the numbered list style L2. */
export const writeOdt = (body: string, manifest = ""): Uint8Array =>
  zipOf({
    mimetype: "application/vnd.oasis.opendocument.text",
    "META-INF/manifest.xml": `<manifest:manifest>${manifest}</manifest:manifest>`,
    "content.xml": `<office:document-content><office:automatic-styles><text:list-style style:name="L2"><text:list-level-style-number/></text:list-style></office:automatic-styles>
      <office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    "meta.xml": `<office:document-meta><office:meta><dc:title>Of Terns</dc:title><meta:initial-creator>A. Writer</meta:initial-creator><meta:creation-date>2024-02-03T04:05:06</meta:creation-date></office:meta></office:document-meta>`,
  });

/** Writes a book of these chapters, the bodies of their pages. */
export const writeEpub = (
  chapters: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Uint8Array =>
  zipOf({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": `<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>`,
    "OPS/book.opf": `<package><metadata><dc:title>Of Terns</dc:title><dc:creator>A. Writer</dc:creator><dc:language>en</dc:language><dc:date>2024-02-03</dc:date></metadata>
      <manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>${chapters.map((_, index) => `<item id="c${index}" href="c${index}.xhtml" media-type="application/xhtml+xml"/>`).join("")}</manifest>
      <spine><itemref idref="nav"/>${chapters.map((_, index) => `<itemref idref="c${index}"/>`).join("")}</spine></package>`,
    "OPS/nav.xhtml": "<html><body><nav><a href='c0.xhtml'>Contents of the book</a></nav></body></html>",
    ...Object.fromEntries(
      chapters.map((body, index) => [
        `OPS/c${index}.xhtml`,
        `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`,
      ]),
    ),
    ...more,
  });
