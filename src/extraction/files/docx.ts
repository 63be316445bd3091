import { escapeHtml } from "../../base/text.ts";
import { type ListedHtml, writeLists } from "./list-writer.ts";
import { cellName, type FileContent, type FileFacts, NO_FACTS, NoteWriter, writeLink } from "./write-html.ts";
import {
  childOf,
  childrenOf,
  type Element,
  elementsNamed,
  outermost,
  readXml,
  textIn,
  textNamed,
} from "./xml.ts";
import type { Entries } from "./zip.ts";

/** Reads a Word document (ECMA-376, WordprocessingML). */
export function readDocx(entries: Entries): FileContent {
  const read = (name: string): Element => readXml(entries.get(name) ?? "");
  const facts = readFacts(read("docProps/core.xml"));
  const document = new DocxReader(
    read("word/styles.xml"),
    read("word/numbering.xml"),
    read("word/_rels/document.xml.rels"),
  );
  const [body] = elementsNamed(read("word/document.xml"), "w:body");
  const written = body ? document.write(body) : "";
  const notes = ["footnote", "endnote"].flatMap((kind) =>
    elementsNamed(read(`word/${kind}s.xml`), `w:${kind}`)
      .filter(({ attributes }) => !attributes["w:type"])
      .map((note) => [`${kind} ${note.attributes["w:id"]}`, document.write(note)] as const),
  );
  return { ...facts, body: written + document.notes.write(new Map(notes)), warnings: [] };
}

function readFacts(core: Element): FileFacts {
  const read = (name: string): string | null => textNamed(core, name);
  return {
    ...NO_FACTS,
    title: read("dc:title"),
    author: read("dc:creator"),
    description: read("dc:description"),
    keywords: read("cp:keywords"),
    language: read("dc:language"),
    created: read("dcterms:created"),
    modified: read("dcterms:modified"),
  };
}

type Style = { readonly level: number | null; readonly list: Element | undefined; readonly isCode: boolean };

const valIn = (element: Element | undefined): string => element?.attributes["w:val"] ?? "";
/** Word counts levels from 0. */
const levelIn = (element: Element | undefined): number =>
  Math.min(9, Math.max(0, Number(valIn(element)) || 0));

class DocxReader {
  readonly notes = new NoteWriter();
  readonly #styles = new Map<string, Style>();
  /** The kinds of numbering by number and level. */
  readonly #formats = new Map<string, string>();
  readonly #targets = new Map<string, string>();

  constructor(styles: Element, numbering: Element, relations: Element) {
    for (const style of elementsNamed(styles, "w:style"))
      this.#styles.set(style.attributes["w:styleId"] ?? "", styleOf(style));
    const abstract = new Map(
      elementsNamed(numbering, "w:abstractNum").map((one) => [one.attributes["w:abstractNumId"], one]),
    );
    for (const number of elementsNamed(numbering, "w:num")) {
      const base = abstract.get(valIn(childOf(number, "w:abstractNumId")));
      for (const level of base ? childrenOf(base, "w:lvl") : [])
        this.#formats.set(
          `${number.attributes["w:numId"]} ${level.attributes["w:ilvl"]}`,
          valIn(childOf(level, "w:numFmt")),
        );
    }
    for (const { attributes } of elementsNamed(relations, "Relationship"))
      if (attributes["TargetMode"] === "External")
        this.#targets.set(attributes["Id"] ?? "", attributes["Target"] ?? "");
  }

  write(body: Element): string {
    return writeLists(this.#blocksOf(body));
  }

  #blocksOf(body: Element): ListedHtml[] {
    return childrenOf(body).flatMap((child) => {
      if (child.name === "w:p") return this.#writeParagraph(child);
      if (child.name === "w:tbl") return unlisted(this.#writeTable(child));
      // Deleted text and settings hold no paragraphs.
      return WRAPPERS.has(child.name) ? this.#blocksOf(child) : [];
    });
  }

  #writeParagraph(paragraph: Element): ListedHtml {
    const properties = childOf(paragraph, "w:pPr");
    const style = this.#styles.get(valIn(childOf(properties, "w:pStyle")));
    const outline = childOf(properties, "w:outlineLvl");
    const level = outline ? outlineLevel(outline) : (style?.level ?? null);
    const html = this.#writeRuns(paragraph);
    if (html.trim() === "") return unlisted("");
    if (level !== null) return unlisted(`<h${level}>${html}</h${level}>`);
    if (style?.isCode) return unlisted(`<pre>${html}</pre>`);
    const list = childOf(properties, "w:numPr") ?? style?.list;
    const number = valIn(childOf(list, "w:numId"));
    if (number === "" || number === "0") return unlisted(`<p>${html}</p>`);
    const depth = levelIn(childOf(list, "w:ilvl"));
    const format = this.#formats.get(`${number} ${depth}`) ?? "bullet";
    return { html, level: depth + 1, isNumbered: format !== "bullet" && format !== "none" };
  }

  #writeRuns(element: Element): string {
    return childrenOf(element)
      .map((child) => {
        if (child.name === "w:r") return this.#writeRun(child);
        if (child.name === "w:hyperlink") {
          const href = this.#targets.get(child.attributes["r:id"] ?? "") ?? null;
          return writeLink(href, this.#writeRuns(child));
        }
        return WRAPPERS.has(child.name) ? this.#writeRuns(child) : "";
      })
      .join("");
  }

  #writeRun(run: Element): string {
    const html = childrenOf(run)
      .map((part) => this.#writePart(part))
      .join("");
    const properties = childOf(run, "w:rPr");
    const has = (name: string): boolean => {
      const toggle = childOf(properties, name);
      return toggle !== undefined && !/^(?:0|false|none)$/.test(valIn(toggle));
    };
    if (html.trim() === "") return html;
    const slanted = has("w:i") ? `<em>${html}</em>` : html;
    return has("w:b") ? `<strong>${slanted}</strong>` : slanted;
  }

  #writePart(part: Element): string {
    switch (part.name) {
      case "w:t":
        return escapeHtml(textIn(part));
      case "w:tab":
        return " ";
      case "w:br":
      case "w:cr":
        return "<br>";
      case "w:footnoteReference":
      case "w:endnoteReference":
        return this.notes.mark(`${part.name.slice(2, -9)} ${part.attributes["w:id"]}`);
      case "w:noBreakHyphen":
        return "-";
      case "w:drawing":
        return writeAlt(outermost(part, "wp:docPr")[0]?.attributes["descr"]) + this.#writeBoxes(part);
      case "mc:AlternateContent":
        return childrenOf(childOf(part, "mc:Choice") ?? part)
          .map((one) => this.#writePart(one))
          .join("");
      case "w:pict":
        return this.#writeBoxes(part);
      default:
        return "";
    }
  }

  /** Boxes of text that are drawn beside a paragraph. */
  #writeBoxes(part: Element): string {
    return outermost(part, "w:txbxContent")
      .map((box) => this.write(box))
      .join("");
  }

  #writeTable(table: Element): string {
    const rows = childrenOf(table, "w:tr").map((row, index, { length }) => {
      const name = cellName(index, length);
      const cells = childrenOf(row, "w:tc").map((cell) => {
        const span = levelIn(childOf(childOf(cell, "w:tcPr"), "w:gridSpan"));
        return `<${name}${span > 1 ? ` colspan="${span}"` : ""}>${this.write(cell)}</${name}>`;
      });
      return `<tr>${cells.join("")}</tr>`;
    });
    return `<table>${rows.join("")}</table>`;
  }
}

/** Elements around blocks or runs that are shown. */
const WRAPPERS = new Set([
  "w:sdt",
  "w:sdtContent",
  "w:ins",
  "w:moveTo",
  "w:smartTag",
  "w:customXml",
  "w:fldSimple",
]);

const unlisted = (html: string): ListedHtml => ({ html, level: 0, isNumbered: false });

/** A picture has no address outside of its document, so its description stands for it. */
export const writeAlt = (alt: string | null | undefined): string =>
  alt?.trim() ? `[${escapeHtml(alt.trim())}]` : "";

/** Level 9 is that of ordinary text. */
const outlineLevel = (outline: Element): number | null =>
  levelIn(outline) > 8 ? null : Math.min(6, levelIn(outline) + 1);

function styleOf(style: Element): Style {
  const properties = childOf(style, "w:pPr");
  const name = valIn(childOf(style, "w:name")).toLowerCase();
  const outline = childOf(properties, "w:outlineLvl");
  const [, named] = /^heading ([1-9])$/.exec(name) ?? [];
  const level = named ? Math.min(6, Number(named)) : outline ? outlineLevel(outline) : null;
  return {
    level: name === "title" ? 1 : level,
    list: childOf(properties, "w:numPr"),
    isCode: /\b(?:code|preformatted|verbatim)\b/.test(name) && style.attributes["w:type"] === "paragraph",
  };
}
