/** The attributes that the scanner keeps of a start tag; null where the tag has none. */
export class StartTagAttributes {
  class: string | null = null;
  id: string | null = null;
  style: string | null = null;
  role: string | null = null;
  href: string | null = null;
  rel: string | null = null;
  name: string | null = null;
  property: string | null = null;
  itemprop: string | null = null;
  httpEquiv: string | null = null;
  content: string | null = null;
  datetime: string | null = null;
  lang: string | null = null;
  dir: string | null = null;
  type: string | null = null;
  hidden: string | null = null;
  ariaHidden: string | null = null;
  controls: string | null = null;
  pubdate: string | null = null;
  state: string | null = null;

  #isUsed = false;

  /** Forgets the tag before. */
  clear(): void {
    if (!this.#isUsed) return;
    this.#isUsed = false;
    this.class = this.id = this.style = this.role = this.href = this.rel = this.name = null;
    this.httpEquiv =
      this.property =
      this.itemprop =
      this.content =
      this.datetime =
      this.lang =
      this.dir =
        null;
    this.type = this.hidden = this.ariaHidden = this.controls = this.pubdate = this.state = null;
  }

  /** Keeps a value; the first of two attributes with the same name counts, as in browsers. */
  set(field: AttributeField, value: string): void {
    this.#isUsed = true;
    this[field] ??= value;
  }
}

export type AttributeField = Exclude<keyof StartTagAttributes, "clear" | "set">;

const FIELDS: Readonly<Record<string, AttributeField>> = {
  class: "class",
  id: "id",
  style: "style",
  role: "role",
  href: "href",
  rel: "rel",
  name: "name",
  property: "property",
  itemprop: "itemprop",
  "http-equiv": "httpEquiv",
  content: "content",
  datetime: "datetime",
  lang: "lang",
  "xml:lang": "lang",
  dir: "dir",
  type: "type",
  hidden: "hidden",
  "aria-hidden": "ariaHidden",
  "aria-controls": "controls",
  "data-target": "controls",
  "data-bs-target": "controls",
  pubdate: "pubdate",
  "data-preloaded": "state",
};
const FIELD_OF_NAME: ReadonlyMap<string, AttributeField> = new Map(Object.entries(FIELDS));
const LONGEST_NAME = Math.max(...Object.keys(FIELDS).map((name) => name.length));

// Most attributes of a page are none of these; first letter and length tell without cutting the name out.
const MAYBE = new Uint8Array(32 * (LONGEST_NAME + 1));
for (const name of FIELD_OF_NAME.keys())
  MAYBE[(name.charCodeAt(0) & 31) * (LONGEST_NAME + 1) + name.length] = 1;

/** The field that an attribute's name in `html` stands for; null for attributes that nobody asks for. */
export function fieldOf(html: string, start: number, end: number): AttributeField | null {
  const length = end - start;
  if (length > LONGEST_NAME) return null;
  if (MAYBE[(html.charCodeAt(start) & 31) * (LONGEST_NAME + 1) + length] === 0) return null;
  return FIELD_OF_NAME.get(html.slice(start, end).toLowerCase()) ?? null;
}
