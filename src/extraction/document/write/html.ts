import { escapeAttribute, escapeHtml } from "../../../base/text.ts";
import {
  type Block,
  type Cell,
  type ContentDocument,
  type Figure,
  type Footnote,
  type Image,
  type Inline,
  isShown,
  type List,
  type Localised,
  type Span,
  type Table,
} from "../model.ts";

/**
 * Writes a document as HTML. Only texts, which are escaped, and addresses, which the reader has checked, come from
 * the page; elements and attributes are the ones written here, and no others.
 */
export function toHtml({ blocks, footnotes }: ContentDocument): string {
  const notes =
    footnotes.length === 0
      ? ""
      : `<section class="footnotes"><ol>${footnotes.map(noteToHtml).join("")}</ol></section>`;
  return blocksToHtml(blocks) + notes;
}

const noteToHtml = ({ label, blocks }: Footnote): string =>
  `<li class="footnote" id="fn-${escapeAttribute(label)}">${tightBlocks(blocks)}</li>`;

function blocksToHtml(blocks: readonly Block[]): string {
  let html = "";
  for (const block of blocks) html += blockToHtml(block);
  return html;
}

/** Writes a single paragraph in an item or cell without an element of its own. */
function tightBlocks(blocks: readonly Block[]): string {
  const [only, ...more] = blocks;
  const isTight = only?.kind === "paragraph" && !only.locale && more.every((block) => block.kind === "list");
  if (!isTight) return blocksToHtml(blocks);
  return inlinesToHtml(only.children) + blocksToHtml(more);
}

function attribute(name: string, value: string | null | undefined): string {
  return value === null || value === undefined ? "" : ` ${name}="${escapeAttribute(value)}"`;
}

const locale = ({ locale }: Localised): string =>
  locale ? attribute("lang", locale.lang) + attribute("dir", locale.dir) : "";

function blockToHtml(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `<p${locale(block)}>${inlinesToHtml(block.children)}</p>`;
    case "heading":
      return `<h${block.level}${locale(block)}>${inlinesToHtml(block.children)}</h${block.level}>`;
    case "list":
      return listToHtml(block);
    case "code-block": {
      const language = block.language === null ? "" : ` class="language-${escapeAttribute(block.language)}"`;
      return `<pre${attribute("data-label", block.label)}${locale(block)}><code${language}>${escapeHtml(block.text)}</code></pre>`;
    }
    case "table":
      return tableToHtml(block);
    case "quote":
      return `<blockquote${attribute("cite", block.cite)}${locale(block)}>${blocksToHtml(block.blocks)}</blockquote>`;
    case "admonition": {
      const title = shownIn('<p class="admonition-title">', block.title, "</p>");
      return `<blockquote class="admonition ${block.type}"${locale(block)}>${title}${blocksToHtml(block.blocks)}</blockquote>`;
    }
    case "details": {
      const summary = shownIn("<summary>", block.summary, "</summary>");
      return `<details${block.isOpen ? " open" : ""}${locale(block)}>${summary}${blocksToHtml(block.blocks)}</details>`;
    }
    case "definitions": {
      const groups = block.groups.map(
        ({ terms, definitions }) =>
          terms.map((term) => `<dt>${inlinesToHtml(term)}</dt>`).join("") +
          definitions.map((blocks) => `<dd>${tightBlocks(blocks)}</dd>`).join(""),
      );
      return `<dl${locale(block)}>${groups.join("")}</dl>`;
    }
    case "figure":
      return figureToHtml(block);
    case "math-block":
      return `<pre><code class="language-math math-display">${escapeHtml(block.tex)}</code></pre>`;
    case "rule":
      return "<hr>";
  }
}

const shownIn = (open: string, inlines: readonly Inline[], close: string): string =>
  isShown(inlines) ? `${open}${inlinesToHtml(inlines)}${close}` : "";

function listToHtml(list: List): string {
  const name = list.isOrdered ? "ol" : "ul";
  const start = list.isOrdered && list.start !== 1 ? ` start="${list.start}"` : "";
  const items = list.items.map(({ isDone, blocks }) => {
    if (isDone === null) return `<li>${tightBlocks(blocks)}</li>`;
    return `<li class="task-list-item">${isDone ? "☑" : "☐"} ${tightBlocks(blocks)}</li>`;
  });
  return `<${name}${start}${locale(list)}>${items.join("")}</${name}>`;
}

function figureToHtml(figure: Figure): string {
  const [only, ...more] = figure.blocks;
  const isImage = only?.kind === "paragraph" && more.length === 0;
  const content = isImage ? inlinesToHtml(only.children) : blocksToHtml(figure.blocks);
  const caption =
    figure.caption.length === 0 ? "" : `<figcaption>${tightBlocks(figure.caption)}</figcaption>`;
  return `<figure${locale(figure)}>${content}${caption}</figure>`;
}

function tableToHtml(table: Table): string {
  const caption = isShown(table.caption) ? `<caption>${inlinesToHtml(table.caption)}</caption>` : "";
  const rows = table.rows.map((cells) => `<tr>${cells.map(cellToHtml).join("")}</tr>`);
  const head = rows.slice(0, table.headerRows).join("");
  const body = rows.slice(table.headerRows).join("");
  const parts = (head === "" ? "" : `<thead>${head}</thead>`) + (body === "" ? "" : `<tbody>${body}</tbody>`);
  return `<table${locale(table)}>${caption}${parts}</table>`;
}

function cellToHtml(cell: Cell): string {
  const name = cell.isHeader ? "th" : "td";
  const span = (key: string, count: number): string => (count > 1 ? ` ${key}="${count}"` : "");
  const spans = span("colspan", cell.colspan) + span("rowspan", cell.rowspan);
  return `<${name}${spans}${attribute("align", cell.alignment)}>${tightBlocks(cell.blocks)}</${name}>`;
}

/** Writes phrases as HTML. */
export function inlinesToHtml(inlines: readonly Inline[]): string {
  let html = "";
  for (const inline of inlines) html += inlineToHtml(inline);
  return html;
}

function inlineToHtml(inline: Inline): string {
  switch (inline.kind) {
    case "text":
      return escapeHtml(inline.text);
    case "code":
      return `<code>${escapeHtml(inline.text)}</code>`;
    case "math":
      return `<code class="language-math math-inline">${escapeHtml(inline.tex)}</code>`;
    case "break":
      return "<br>";
    case "footnote-ref":
      return `<sup><a class="footnote-ref" href="#fn-${escapeAttribute(inline.label)}">${escapeHtml(inline.label)}</a></sup>`;
    case "ruby":
      return `<ruby>${inline.parts
        .map(({ base, annotation }) => {
          const reading = annotation === "" ? "" : `<rp>(</rp><rt>${escapeHtml(annotation)}</rt><rp>)</rp>`;
          return inlinesToHtml(base) + reading;
        })
        .join("")}</ruby>`;
    case "link":
      return `<a href="${escapeAttribute(inline.href)}"${attribute("title", inline.title)}>${inlinesToHtml(inline.children)}</a>`;
    case "image":
      return imageToHtml(inline);
    case "span":
      return spanToHtml(inline);
  }
}

const imageToHtml = ({ src, alt, title, width, height }: Image): string =>
  `<img src="${escapeAttribute(src)}"${attribute("alt", alt || null)}${attribute("title", title)}${attribute("width", width)}${attribute("height", height)}>`;

function spanToHtml(span: Span): string {
  const attributes = attribute("title", span.title) + attribute("datetime", span.datetime) + locale(span);
  return `<${span.tag}${attributes}>${inlinesToHtml(span.children)}</${span.tag}>`;
}
