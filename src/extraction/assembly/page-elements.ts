import { type AttributeSource, ContentElement, wordsOfClass } from "../document/tree.ts";
import { decodeAttribute } from "../page/entity-text.ts";
import type { PageModel } from "../page/page-model.ts";
import { FIRST_UNKNOWN_TAG, tagName } from "../page/tags.ts";

const UPPER_NAMES: readonly string[] = Array.from({ length: FIRST_UNKNOWN_TAG }, (_, tag) =>
  tagName(tag).toUpperCase(),
);

// A start tag after its name, piece by piece. The first character of an attribute's name may be any.
const ATTRIBUTE =
  /([^ \t\n\r\f/>][^ \t\n\r\f/>=]*)(?:[ \t\n\r\f]*=[ \t\n\r\f]*(?:"([^"]*)"|'([^']*)'|([^ \t\n\r\f>]*)))?/g;

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/** The elements of a page as those of a content tree. */
export class PageElements implements AttributeSource {
  readonly #model: PageModel;
  /** The words of each class by its number, of those that were asked for. */
  readonly #classes: (readonly string[] | undefined)[] = [];

  /** The attributes of the element that was asked last. */
  #attributes = NO_ATTRIBUTES;
  #last = -1;

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

  classesOf(number: number): readonly string[] {
    const id = this.#model.classId[number]!;
    this.#classes[id] ??= wordsOfClass(this.#model.names[id] ?? "");
    return this.#classes[id];
  }

  attributeOf(number: number, name: string): string | null {
    // Readers ask one element several things; keeping what all said took 100 MB for 120 000 links.
    if (number !== this.#last) {
      this.#attributes = this.#read(number);
      this.#last = number;
    }
    const written = this.#attributes.get(name);
    if (written === undefined) return null;
    return written.includes("&") ? decodeAttribute(written) : written;
  }

  /** The attributes of a start tag as the page wrote them. */
  #read(number: number): ReadonlyMap<string, string> {
    const { html, openStart, openEnd } = this.#model;
    const tag = html.slice(openStart[number]! + 1, openEnd[number]);
    const start = nameLength(tag);
    if (start + 1 >= tag.length) return NO_ATTRIBUTES;
    const attributes = new Map<string, string>();
    ATTRIBUTE.lastIndex = start;
    for (let match = ATTRIBUTE.exec(tag); match; match = ATTRIBUTE.exec(tag)) {
      const name = match[1]!.toLowerCase();
      // The first of two with the same name counts, as in browsers.
      if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? "");
    }
    return attributes;
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
