import { Failure } from "../../base/failure.ts";
import { type FileContent, writeHtml } from "./write-html.ts";

/**
 * Reads a document that is a file as HTML, all of which is content.
 * @param bytes a PDF, DOCX, ODT or EPUB, of which this keeps nothing
 * @throws Failure `encrypted_document`, `no_text_layer`, `damaged_document`, `too_large` for one that unpacks to more
 * than anybody writes, `unsupported_content` for other archives
 */
export async function readFile(
  bytes: Uint8Array,
): Promise<{ readonly html: string; readonly warnings: readonly string[] }> {
  const content = await readContent(bytes);
  return { html: writeHtml(content), warnings: content.warnings };
}

async function readContent(bytes: Uint8Array): Promise<FileContent> {
  // The first bytes of a PDF may be line breaks.
  if (bytes[0] === OLE) throw new Failure("encrypted_document", "the document needs a password");
  if (bytes[0] !== ZIP) return (await import("./pdf.ts")).readPdf(bytes);
  return (await import("./archive.ts")).readArchive(bytes);
}

const ZIP = 0x50;
const OLE = 0xd0;
