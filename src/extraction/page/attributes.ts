import { CodeWords } from "./code-words.ts";
import type { EntityText } from "./source-text.ts";

/** The numbers of the attributes that the scanner keeps of a start tag. */
export const Field = {
  class: 0,
  id: 1,
  style: 2,
  role: 3,
  href: 4,
  rel: 5,
  name: 6,
  property: 7,
  itemprop: 8,
  httpEquiv: 9,
  content: 10,
  datetime: 11,
  lang: 12,
  dir: 13,
  type: 14,
  hidden: 15,
  ariaHidden: 16,
  controls: 17,
  pubdate: 18,
  state: 19,
  expanded: 20,
  media: 21,
} as const;
export type AttributeField = (typeof Field)[keyof typeof Field];

const FIELD_COUNT = 22;
const FIELDS: readonly (readonly [string, AttributeField])[] = [
  ["class", Field.class],
  ["id", Field.id],
  ["style", Field.style],
  ["role", Field.role],
  ["href", Field.href],
  ["rel", Field.rel],
  ["name", Field.name],
  ["property", Field.property],
  ["itemprop", Field.itemprop],
  ["http-equiv", Field.httpEquiv],
  ["content", Field.content],
  ["datetime", Field.datetime],
  ["lang", Field.lang],
  ["xml:lang", Field.lang],
  ["dir", Field.dir],
  ["type", Field.type],
  ["hidden", Field.hidden],
  ["aria-hidden", Field.ariaHidden],
  ["aria-controls", Field.controls],
  ["aria-expanded", Field.expanded],
  ["media", Field.media],
  ["data-target", Field.controls],
  ["data-bs-target", Field.controls],
  ["pubdate", Field.pubdate],
  ["data-preloaded", Field.state],
];
const NAMES = new CodeWords(FIELDS.map(([name]) => name));

/**
 * The attributes of the start tag that is being read. Values are kept as offsets and become strings only when they
 * are read, which most never are.
 */
export class StartTagAttributes {
  readonly #html: string;
  readonly #codes: Uint16Array;
  readonly #entities: EntityText;
  readonly #start = new Int32Array(FIELD_COUNT);
  readonly #end = new Int32Array(FIELD_COUNT);
  /** One bit for each field that the tag has. */
  #held = 0;

  constructor(html: string, codes: Uint16Array, entities: EntityText) {
    this.#html = html;
    this.#codes = codes;
    this.#entities = entities;
  }

  /** Forgets the previous tag. */
  clear(): void {
    this.#held = 0;
  }

  /**
   * Keeps an attribute that the scanner knows. The first of two with the same name counts, as in browsers.
   */
  add(nameStart: number, nameEnd: number, start: number, end: number): void {
    const index = NAMES.find(this.#codes, nameStart, nameEnd);
    if (index < 0) return;
    const field = FIELDS[index]![1];
    if ((this.#held & (1 << field)) !== 0) return;
    this.#held |= 1 << field;
    this.#start[field] = start;
    this.#end[field] = end;
  }

  has(field: AttributeField): boolean {
    return (this.#held & (1 << field)) !== 0;
  }

  /** Returns the value with its entities decoded, or null when the tag has no such attribute. */
  get(field: AttributeField): string | null {
    if ((this.#held & (1 << field)) === 0) return null;
    const start = this.#start[field]!;
    const end = this.#end[field]!;
    const value = this.#html.slice(start, end);
    return value.includes("&") ? this.#entities.attribute(start, end) : value;
  }

  /**
   * The offsets of the value in the page: its first character, and the character after it. The tag must have the
   * attribute.
   */
  startOf(field: AttributeField): number {
    return this.#start[field]!;
  }
  endOf(field: AttributeField): number {
    return this.#end[field]!;
  }
}
