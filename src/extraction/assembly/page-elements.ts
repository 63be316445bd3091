import { type AttributeSource, ContentElement } from "../document/tree.ts";
import { EntityText } from "../page/entity-text.ts";
import type { PageModel } from "../page/page-model.ts";
import { FIRST_UNKNOWN_TAG, tagName } from "../page/tags.ts";

const UPPER_NAMES: readonly string[] = Array.from({ length: FIRST_UNKNOWN_TAG }, (_, tag) =>
  tagName(tag).toUpperCase(),
);

// A start tag after its name, piece by piece. The first character of an attribute's name may be any.
const ATTRIBUTE =
  /([^ \t\n\r\f/>][^ \t\n\r\f/>=]*)(?:[ \t\n\r\f]*=[ \t\n\r\f]*(?:"([^"]*)"|'([^']*)'|([^ \t\n\r\f>]*)))?/g;

/** The elements of a page as those of a content tree. */
export class PageElements implements AttributeSource {
  readonly #model: PageModel;
  #entities: EntityText | null = null;

  constructor(model: PageModel) {
    this.#model = model;
  }

  element(number: number): ContentElement {
    return new ContentElement(this.#nameOf(number), this, number);
  }

  classOf(number: number): string {
    return this.#model.names[this.#model.classId[number]!] ?? "";
  }

  idOf(number: number): string {
    return this.#model.names[this.#model.idId[number]!] ?? "";
  }

  attributesOf(number: number): Map<string, string> {
    const { html, openStart, openEnd } = this.#model;
    const attributes = new Map<string, string>();
    const start = openStart[number]! + 1;
    const tag = html.slice(start, openEnd[number]);
    ATTRIBUTE.lastIndex = nameLength(tag);
    for (let match = ATTRIBUTE.exec(tag); match; match = ATTRIBUTE.exec(tag)) {
      const name = match[1]!.toLowerCase();
      // The first of two with the same name counts, as in browsers.
      if (attributes.has(name)) continue;
      const value = match[2] ?? match[3] ?? match[4] ?? "";
      const isQuoted = match[4] === undefined && match[0].length > match[1]!.length;
      const end = start + match.index + match[0].length - (isQuoted ? 1 : 0);
      attributes.set(name, value.includes("&") ? this.#decoded(end - value.length, end) : value);
    }
    return attributes;
  }

  #decoded(start: number, end: number): string {
    this.#entities ??= new EntityText(this.#model.html, () => {});
    return this.#entities.attribute(start, end);
  }

  #nameOf(number: number): string {
    const { tag, html, openStart, openEnd } = this.#model;
    const known = tag[number]!;
    if (known > 0 && known < FIRST_UNKNOWN_TAG) return UPPER_NAMES[known]!;
    const source = html.slice(openStart[number]! + 1, openEnd[number]);
    return source.slice(0, nameLength(source)).toUpperCase();
  }
}

/** Where the name ends that a start tag begins with. */
function nameLength(tag: string): number {
  const end = tag.search(/[ \t\n\r\f/>]/);
  return end < 0 ? tag.length : end;
}
