import { escapeAttribute, escapeHtml } from "../../base/text.ts";

/** What a document says about itself; null where it does not. */
export type FileFacts = {
  readonly title: string | null;
  readonly author: string | null;
  readonly description: string | null;
  readonly keywords: string | null;
  readonly language: string | null;
  /** ISO 8601. */
  readonly created: string | null;
  readonly modified: string | null;
};

export type FileContent = FileFacts & {
  /** The content as HTML that is written by us: no scripts, no styles. */
  readonly body: string;
  readonly warnings: readonly string[];
};

export const NO_FACTS: FileFacts = {
  title: null,
  author: null,
  description: null,
  keywords: null,
  language: null,
  created: null,
  modified: null,
};

/** Writes a document as a page, with its facts where pages have theirs. */
export function writeHtml({ body, title, language, ...facts }: FileContent): string {
  const metas = [
    ["name", "author", facts.author],
    ["name", "description", facts.description],
    ["name", "keywords", facts.keywords],
    ["property", "article:published_time", facts.created],
    ["property", "article:modified_time", facts.modified],
  ] as const;
  const head = metas.flatMap(([key, name, value]) =>
    value ? `<meta ${key}="${name}" content="${escapeAttribute(value)}">` : [],
  );
  if (title) head.unshift(`<title>${escapeHtml(title)}</title>`);
  const lang = language ? ` lang="${escapeAttribute(language)}"` : "";
  return `<!doctype html><html${lang}><head>${head.join("")}</head><body><main>${body}</main></body></html>`;
}

/** The first row of a table names the columns, as Word and its readers take it unless they are told otherwise. */
export const cellName = (row: number, rows: number): "th" | "td" => (row === 0 && rows > 1 ? "th" : "td");

/** Writes a link; only those for readers of other pages are kept. */
export function writeLink(href: string | null, html: string): string {
  if (href === null || html.trim() === "" || !/^(?:https?:|mailto:|#)/i.test(href)) return html;
  return `<a href="${escapeAttribute(href)}">${html}</a>`;
}

/** Notes to a text: their marks in it, numbered as they come, and what stands below it. */
export class NoteWriter {
  readonly #numbers = new Map<string, number>();

  /** @param id tells a note of the document from its others */
  mark(id: string): string {
    const number = this.#numbers.get(id) ?? this.#numbers.size + 1;
    this.#numbers.set(id, number);
    return `<sup><a id="fnref-${number}" href="#fn-${number}">${number}</a></sup>`;
  }

  /** Writes the notes in the order of their marks, and after them those without one. */
  write(notes: ReadonlyMap<string, string>): string {
    const items = [...this.#numbers].map(
      ([id, number]) => `<li id="fn-${number}">${notes.get(id) ?? ""}</li>`,
    );
    const others = [...notes].filter(([id]) => !this.#numbers.has(id)).map(([, html]) => html);
    const marked =
      items.length === 0 ? "" : `<section class="footnotes"><ol>${items.join("")}</ol></section>`;
    return marked + others.join("");
  }
}
