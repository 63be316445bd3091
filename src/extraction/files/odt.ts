import { Failure } from "../../base/failure.ts";
import { escapeHtml } from "../../base/text.ts";
import { writeAlt } from "./docx.ts";
import { cellName, type FileContent, type FileFacts, NO_FACTS, NoteWriter, writeLink } from "./write-html.ts";
import {
  childOf,
  childrenOf,
  type Element,
  elementsNamed,
  isElement,
  outermost,
  readXml,
  textIn,
  textNamed,
} from "./xml.ts";
import type { Entries } from "./zip.ts";

/** Reads an OpenDocument text (ISO/IEC 26300). */
export function readOdt(entries: Entries): FileContent {
  if (entries.get("META-INF/manifest.xml")?.includes("manifest:encryption-data"))
    throw new Failure("encrypted_document", "the document needs a password");
  const source = entries.get("content.xml");
  if (source === undefined) throw new Failure("damaged_document", "the document has no content.xml");
  const content = readXml(source);
  const numbered = new Set<string>();
  for (const root of [content, readXml(entries.get("styles.xml") ?? "")])
    for (const style of elementsNamed(root, "text:list-style"))
      if (childrenOf(style)[0]?.name === "text:list-level-style-number")
        numbered.add(style.attributes["style:name"] ?? "");
  const [text] = elementsNamed(content, "office:text");
  const body = text ? new OdtReader(numbered).writeAll(text) : "";
  return { ...readFacts(readXml(entries.get("meta.xml") ?? "")), body, warnings: [] };
}

function readFacts(meta: Element): FileFacts {
  const read = (name: string): string | null => textNamed(meta, name);
  const keywords = elementsNamed(meta, "meta:keyword").map(textIn);
  return {
    ...NO_FACTS,
    title: read("dc:title"),
    author: read("meta:initial-creator") ?? read("dc:creator"),
    description: read("dc:description"),
    keywords: keywords.length > 0 ? keywords.join(", ") : null,
    language: read("dc:language"),
    created: read("meta:creation-date"),
    modified: read("dc:date"),
  };
}

/** What is not shown, or repeats what stands elsewhere. */
const LEFT_OUT = new Set([
  ..."text:tracked-changes text:sequence-decls text:table-of-content text:alphabetical-index".split(" "),
  ..."office:forms office:annotation office:annotation-end svg:title svg:desc text:note-citation".split(" "),
]);

const ELEMENTS: Readonly<Record<string, string>> = {
  "text:list-item": "li",
  "text:list-header": "li",
};

const SIGNS: Readonly<Record<string, string>> = {
  "text:s": " ",
  "text:tab": " ",
  "text:line-break": "<br>",
};

class OdtReader {
  readonly #numbered: ReadonlySet<string>;
  readonly #marks = new NoteWriter();
  readonly #notes = new Map<string, string>();

  constructor(numbered: ReadonlySet<string>) {
    this.#numbered = numbered;
  }

  writeAll(text: Element): string {
    const html = this.#writeChildren(text);
    return html + this.#marks.write(this.#notes);
  }

  #writeChildren(element: Element, isInNumbered = false): string {
    return element.children
      .map((child) =>
        isElement(child) ? this.#write(child, isInNumbered) : escapeHtml(child.replace(/\s+/g, " ")),
      )
      .join("");
  }

  #write(element: Element, isInNumbered: boolean): string {
    const { name, attributes } = element;
    if (LEFT_OUT.has(name)) return "";
    const sign = SIGNS[name];
    if (sign) return sign;
    const known = ELEMENTS[name];
    if (known) return `<${known}>${this.#writeChildren(element, isInNumbered)}</${known}>`;
    switch (name) {
      case "text:h":
        return this.#writeHeading(element);
      case "text:p":
        return `<p>${this.#writeChildren(element)}</p>`;
      case "text:list": {
        const style = attributes["text:style-name"];
        // A list in a list has the style of the outer one unless it names its own.
        const isNumbered = style === undefined ? isInNumbered : this.#numbered.has(style);
        const list = isNumbered ? "ol" : "ul";
        return `<${list}>${this.#writeChildren(element, isNumbered)}</${list}>`;
      }
      case "table:table":
        return this.#writeTable(element);
      case "text:a":
        return writeLink(attributes["xlink:href"] ?? null, this.#writeChildren(element));
      case "draw:frame":
        return writeAlt(altOf(element)) + this.#writeChildren(element);
      case "text:note":
        return this.#writeNote(element);
      default:
        return this.#writeChildren(element, isInNumbered);
    }
  }

  #writeHeading(heading: Element): string {
    const level = Math.min(6, Math.max(1, Number(heading.attributes["text:outline-level"]) || 1));
    return `<h${level}>${this.#writeChildren(heading)}</h${level}>`;
  }

  #writeTable(table: Element): string {
    const rows = outermost(table, "table:table-row").map((row, index, { length }) => {
      const name = cellName(index, length);
      const cells = childrenOf(row, "table:table-cell").map(
        (cell) => `<${name}${spanOf(cell.attributes)}>${this.#writeChildren(cell)}</${name}>`,
      );
      return `<tr>${cells.join("")}</tr>`;
    });
    return `<table>${rows.join("")}</table>`;
  }

  /** The text of a note stands at the end. */
  #writeNote(note: Element): string {
    const body = childOf(note, "text:note-body");
    const id = String(this.#notes.size);
    const mark = this.#marks.mark(id);
    // A note in it has the next number.
    this.#notes.set(id, "");
    this.#notes.set(id, body ? this.#writeChildren(body) : "");
    return mark;
  }
}

function spanOf(attributes: Element["attributes"]): string {
  const span = Math.min(100, Number(attributes["table:number-columns-spanned"]) || 1);
  return span > 1 ? ` colspan="${span}"` : "";
}

const altOf = (frame: Element): string | null => {
  const described = childOf(frame, "svg:desc") ?? childOf(frame, "svg:title");
  return described ? textIn(described) : null;
};
