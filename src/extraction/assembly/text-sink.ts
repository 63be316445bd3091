import { type PageModel, textOf } from "../page/page-model.ts";
import { Tag, tagName } from "../page/tags.ts";
import { removeInvisible, TextWriter } from "../text.ts";
import type { ContentSink } from "./content-walk.ts";

/** Writes chosen content as plain text, without a document. */
export class TextSink implements ContentSink {
  readonly #model: PageModel;
  readonly #writer = new TextWriter();
  readonly #names: string[] = [];

  constructor(model: PageModel) {
    this.#model = model;
  }

  finish(): string {
    return this.#writer.finish();
  }

  open(tag: number): void {
    const name = tagName(tag).toUpperCase();
    this.#writer.open(name, this.#names.at(-1) ?? "");
    this.#names.push(name);
  }

  close(): void {
    const name = this.#names.pop() ?? "";
    this.#writer.close(name, this.#names.at(-1) ?? "");
  }

  text(text: number): void {
    this.#writer.text(removeInvisible(textOf(this.#model, text)));
  }

  gap(): void {
    this.#writer.text(" ");
  }

  line(): void {
    this.#writer.text("\n");
  }

  media(tag: number): void {
    if (tag === Tag.img) this.gap();
    if (tag !== Tag.br && tag !== Tag.hr) return;
    const name = tagName(tag).toUpperCase();
    const parent = this.#names.at(-1) ?? "";
    this.#writer.open(name, parent);
    this.#writer.close(name, parent);
  }
}
