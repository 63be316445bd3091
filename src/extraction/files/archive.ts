import { Failure } from "../../base/failure.ts";
import { readDocx } from "./docx.ts";
import { readEpub } from "./epub.ts";
import { readOdt } from "./odt.ts";
import type { FileContent } from "./write-html.ts";
import { unzipTexts } from "./zip.ts";

/** Reads a DOCX, ODT or EPUB, which are archives of XML; throws as `readFile`. */
export function readArchive(bytes: Uint8Array): FileContent {
  const entries = unzipTexts(bytes);
  const type = entries.get("mimetype")?.trim();
  if (type?.startsWith("application/vnd.oasis.opendocument.text")) return readOdt(entries);
  if (entries.has("META-INF/container.xml")) return readEpub(entries);
  if (entries.has("word/document.xml")) return readDocx(entries);
  throw new Failure("unsupported_content", "the archive is no text document: neither DOCX, ODT nor EPUB");
}
