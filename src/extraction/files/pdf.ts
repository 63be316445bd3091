import type { PDFDocumentProxy, PDFPageProxy } from "unpdf/pdfjs";
import { getDocument, OPS, PDFDateString } from "unpdf/pdfjs";
import { Failure } from "../../base/failure.ts";
import { withAllocationLimit } from "./allocation-limit.ts";
import { type Outlined, writePages } from "./pdf-blocks.ts";
import type { Region, TextRun } from "./pdf-lines.ts";
import { regionsOf } from "./pdf-tables.ts";
import { type FileContent, type FileFacts, NO_FACTS } from "./write-html.ts";

/** The most bytes that one stream of a PDF may unpack to; the text of a page has some kB, a font some MB. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
/** The most texts of all pages: a thousand densely printed pages have a million. */
const MAX_RUNS = 3_000_000;

/** Reads a PDF in reading order; throws as `readFile`. */
export const readPdf = (bytes: Uint8Array): Promise<FileContent> =>
  withAllocationLimit(MAX_STREAM_BYTES, async () => {
    // PDF.js takes the bytes that it is given for itself.
    const task = getDocument({ data: new Uint8Array(bytes), ...OPTIONS });
    try {
      return await readPages(await task.promise);
    } catch (error) {
      throw failureOf(error);
    } finally {
      await task.destroy();
    }
  });

/** Nothing is evaluated, drawn or fetched. */
const OPTIONS = {
  isEvalSupported: false,
  disableFontFace: true,
  useSystemFonts: false,
  useWorkerFetch: false,
  enableXfa: false,
  maxImageSize: 1,
  verbosity: 0,
} as const;

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { name = "", message = "" } = error instanceof Error ? error : {};
  if (name === "PasswordException") return new Failure("encrypted_document", "the PDF needs a password");
  const reason = message.slice(0, 200);
  return new Failure("damaged_document", `the PDF is damaged: ${reason}`, { cause: error });
}

async function readPages(pdf: PDFDocumentProxy): Promise<FileContent> {
  const pages: Region[][] = [];
  let count = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const runs = await runsOf(page);
    const regions = await regionsOf(runs, async () => ({
      ...(await page.getOperatorList({ annotationMode: 0 })),
      operations: OPS,
    }));
    page.cleanup();
    count += runs.length;
    if (count > MAX_RUNS)
      throw new Failure("too_large", `the PDF holds more than ${MAX_RUNS} pieces of text`);
    pages.push(regions);
  }
  if (count === 0) throw new Failure("no_text_layer", "the PDF holds pictures of its pages and no text");
  const facts = await factsOf(pdf);
  const { body, title } = writePages(pages, await outlineOf(pdf));
  return { ...facts, title: facts.title ?? title, body, warnings: withoutText(pages) };
}

function withoutText(pages: readonly (readonly Region[])[]): string[] {
  const numbers = pages.flatMap((regions, index) => (regions.length === 0 ? index + 1 : []));
  if (numbers.length === 0) return [];
  const some = numbers.slice(0, 20).join(", ") + (numbers.length > 20 ? " …" : "");
  return [`Pages without text: ${some}`];
}

async function runsOf(page: PDFPageProxy): Promise<TextRun[]> {
  const { items, styles } = await page.getTextContent({ disableNormalization: false });
  const links = await linksOf(page);
  const runs: TextRun[] = [];
  for (const item of items) {
    if (!("str" in item) || item.str.trim() === "") continue;
    const { a, b, x, y } = placeOf(item.transform);
    // Text that stands on its side is read as upright text of its own.
    const turn = Math.round(Math.atan2(b, a) / (Math.PI / 2)) & 3;
    const place = turned(x, y, turn);
    const size = Math.hypot(a, b) || item.height;
    if (![place.x, place.y, size, item.width].every(Number.isFinite)) continue;
    runs.push({
      text: item.str,
      turn,
      ...place,
      size,
      width: item.width,
      isRightToLeft: item.dir === "rtl",
      isCode: styles[item.fontName]?.fontFamily === "monospace",
      href: links.find(({ isIn }) => isIn(x, y + size / 4))?.href ?? null,
    });
  }
  return runs;
}

const placeOf = ([a = 0, b = 0, , , x = 0, y = 0]: readonly number[]) => ({ a, b, x, y });

/** @param turn quarter turns against the clock */
function turned(x: number, y: number, turn: number): { x: number; y: number } {
  if (turn === 1) return { x: y, y: -x };
  if (turn === 2) return { x: -x, y: -y };
  return turn === 3 ? { x: -y, y: x } : { x, y };
}

type LinkArea = { readonly href: string; readonly isIn: (x: number, y: number) => boolean };

/** More areas than these are no links for readers; each text is compared with each of them. */
const MAX_LINKS = 500;

async function linksOf(page: PDFPageProxy): Promise<LinkArea[]> {
  const annotations: readonly { url?: unknown; rect?: unknown }[] = await page.getAnnotations();
  return annotations.slice(0, MAX_LINKS).flatMap(({ url, rect }) => {
    if (typeof url !== "string" || !Array.isArray(rect)) return [];
    const [left, bottom, right, top] = rect.map(Number);
    const isIn = (x: number, y: number): boolean => x >= left! - 1 && x < right! && y >= bottom! && y <= top!;
    return [{ href: url, isIn }];
  });
}

/** Programs that write PDFs put names of files and of themselves here. */
const NO_TITLE = /^(?:untitled|microsoft word\b.*|.*\.(?:docx?|odt|rtf|tex|dvi|pdf|indd|qxd|pages))$/i;

async function factsOf(pdf: PDFDocumentProxy): Promise<FileFacts> {
  const { info } = await pdf.getMetadata();
  const read = (name: string): string | null => {
    const value: unknown = (info as Readonly<Record<string, unknown>>)[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
  };
  const dateOf = (name: string): string | null => {
    const date = PDFDateString.toDateObject(read(name) ?? "");
    return date && !Number.isNaN(date.getTime()) ? date.toISOString() : null;
  };
  const title = read("Title");
  return {
    ...NO_FACTS,
    title: title !== null && NO_TITLE.test(title) ? null : title,
    author: read("Author"),
    description: read("Subject"),
    keywords: read("Keywords"),
    language: read("Language"),
    created: dateOf("CreationDate"),
    modified: dateOf("ModDate"),
  };
}

const MAX_OUTLINE = 10_000;

/** The titles of the outline with their depths, in its order. */
async function outlineOf(pdf: PDFDocumentProxy): Promise<Outlined[]> {
  const found: Outlined[] = [];
  type Item = { readonly title: string; readonly items: readonly Item[] };
  const visit = (items: readonly Item[], depth: number): void => {
    for (const { title, items: below } of items) {
      if (found.length === MAX_OUTLINE) return;
      found.push({ title, depth });
      if (depth < 6) visit(below, depth + 1);
    }
  };
  visit(((await pdf.getOutline()) as Item[] | null) ?? [], 1);
  return found;
}
