import type { PageModel } from "../page/page-model.ts";
import { FIRST_UNKNOWN_TAG, Tag, tagName } from "../page/tags.ts";
import type { ContentSink } from "./content-walk.ts";

/** Writes chosen content as HTML with the page's own start tags; it is not sanitised. */
export class HtmlSink implements ContentSink {
  readonly #model: PageModel;
  #html = "";
  /** Names of the open elements that the page writes itself. */
  readonly #open: string[] = [];

  constructor(model: PageModel) {
    this.#model = model;
  }

  get html(): string {
    return this.#html;
  }

  open(tag: number, element: number): void {
    const start = element < 0 ? `<${tagName(tag)}>` : this.#startTag(element);
    this.#html += start;
    // Custom elements have no name in the model.
    this.#open.push(tag < FIRST_UNKNOWN_TAG ? tagName(tag) : (/^<([^\s/>]+)/.exec(start)?.[1] ?? "div"));
  }

  close(): void {
    this.#html += `</${this.#open.pop()}>`;
  }

  text(text: number): void {
    const { html, textStart, textEnd } = this.#model;
    const source = html.slice(textStart[text]!, textEnd[text]!);
    // What the tokenizer took for text must stay text beside other neighbours.
    this.#html += source.includes("<") ? source.replaceAll("<", "&lt;") : source;
  }

  line(): void {
    this.#html += "\n";
  }

  gap(): void {
    this.#html += " ";
  }

  media(tag: number, element: number): void {
    const { parent, tag: tags } = this.#model;
    const around = parent[element]!;
    if (tag === Tag.br) this.#html += "<br>";
    else if (tag === Tag.hr) this.#html += "<hr>";
    // The sources of a picture come along, and nothing that a page may have left inside it.
    else if (tag === Tag.img && around >= 0 && tags[around] === Tag.picture) {
      this.#html += `${this.#source(around, element)}</picture>`;
    } else this.#html += this.#source(element, element);
  }

  whole(element: number): void {
    this.#html += this.#source(element, element);
  }

  #source(from: number, until: number): string {
    return this.#model.html.slice(this.#model.openStart[from]!, this.#model.closeEnd[until]!);
  }

  #startTag(element: number): string {
    return this.#model.html.slice(this.#model.openStart[element]!, this.#model.openEnd[element]!);
  }
}
