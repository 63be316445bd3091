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

  gap(): void {
    this.#html += " ";
  }

  line(): void {
    this.#html += "\n";
  }

  media(tag: number, element: number): void {
    const { html, openStart, closeEnd } = this.#model;
    this.#html +=
      tag === Tag.br ? "<br>" : tag === Tag.hr ? "<hr>" : html.slice(openStart[element]!, closeEnd[element]!);
  }

  whole(element: number): void {
    const { html, openStart, closeEnd } = this.#model;
    this.#html += html.slice(openStart[element]!, closeEnd[element]!);
  }

  #startTag(element: number): string {
    return this.#model.html.slice(this.#model.openStart[element]!, this.#model.openEnd[element]!);
  }
}
