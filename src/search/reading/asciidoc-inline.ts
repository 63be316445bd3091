import { byWord } from "../../base/text.ts";
import { codeSpan, emphasis, InlineReader, image, link, literal, strong } from "./markdown-writer.ts";

/** The attributes that a document sets (`:name: value`). */
export type Attributes = {
  readonly values: Map<string, string>;
  /** How many characters of them may still be written, as a text may repeat them. */
  budget: number;
};

/** Deepest nesting of phrases; deeper phrases are text. */
const MAX_NESTED_PHRASES = 5;
/** How many places an end is looked for; then its beginning is a sign of the text. */
const MAX_ENDS = 20;

const SPECIAL =
  /[\\*_`#^~+<({["]|(?<![\p{L}\p{N}])(?:link|xref|image|kbd|btn|menu|footnote|footnoteref|stem|latexmath|asciimath|pass|icon|mailto|anchor|indexterm2?|https?|ftp):/gu;
const MACRO = /([a-z]{3,12}2?):([^\s[\]]{0,500})\[((?:[^\]\\]|\\.){0,1000})\]/sy;
const ADDRESS = /((?:https?|ftp):\/\/[^\s[\]<>]{1,1000})(?:\[((?:[^\]\\]|\\.){0,1000})\])?/sy;
const REFERENCE = /<<#?([^<>,\n]{1,300})(?:,([^<>]{1,500}))?>>/y;
const ATTRIBUTE = /\{([\w-]{1,60})\}/y;
const INDEX_TERM = /\(\(\([^()]{1,300}\)\)\)|\(\(([^()]{1,300})\)\)/y;
const ANCHOR = /\[\[[^\]\n]{1,200}\]\]/y;
const ROLE = /\[[\w.#%, -]{0,100}\](?=[#*_`])/y;
const QUOTED = /(["'])`([^`\n]{1,500})`\1/y;

const wordUnit = /[\p{L}\p{N}]/u;

/** Attributes that every document has, each name before its sign. */
const SIGNS = `apos ' quot " lsquo ‘ rsquo ’ ldquo “ rdquo ” deg ° plus + brvbar ¦ vbar | amp & lt < gt >
  startsb [ endsb ] caret ^ asterisk * tilde ~ backslash \\ backtick \` two-colons :: two-semicolons ;; cpp C++ pp ++`;
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...byWord({ "empty zwsp wj": "", "sp nbsp": " " }),
  ...SIGNS.matchAll(/(\S{1,20})\s{1,20}(\S{1,20})/g).map(([, name = "", sign = ""]) => [name, sign] as const),
]);

/** Converts a text's inline markup to Markdown, each character being read a limited number of times. */
export const inlineToMarkdown = (text: string, attributes: Attributes): string =>
  new AsciidocReader(text, attributes, 0).read();

class AsciidocReader extends InlineReader {
  readonly #attributes: Attributes;
  readonly #depth: number;

  constructor(text: string, attributes: Attributes, depth: number) {
    super(text, SPECIAL);
    this.#attributes = attributes;
    this.#depth = depth;
  }

  #inner(text: string): string {
    if (this.#depth >= MAX_NESTED_PHRASES) return literal(text);
    return new AsciidocReader(text, this.#attributes, this.#depth + 1).read();
  }

  protected override special(sign: string): boolean {
    if (sign === "\\") return this.#escape();
    if (sign === "{") return this.#attribute();
    if (sign === "<") return this.#reference();
    if (sign === "(") return this.#indexTerm();
    if (sign === "[") return this.#bracket();
    if (sign === '"') return this.#quoted();
    return "*_`#+^~".includes(sign) ? this.#marked(sign) : this.#macro();
  }

  #escape(): boolean {
    const next = this.text[this.at + 1] ?? "";
    if (!/[\\*_`#^~+<({["a-z]/.test(next)) return false;
    this.at++;
    // An escaped phrase is text up to its own end.
    const run =
      /^(?:([*_`#+])\1?|[\^~<({["]+|[a-z]+:?)/.exec(this.text.slice(this.at, this.at + 20))?.[0] ?? "";
    return this.keep(run.length);
  }

  #attribute(): boolean {
    const [whole, name = ""] = this.match(ATTRIBUTE) ?? [];
    if (whole === undefined) return false;
    const key = name.toLowerCase();
    const value = this.#attributes.values.get(key) ?? CHARACTERS.get(key);
    if (value === undefined) return false;
    this.#attributes.budget -= value.length;
    if (this.#attributes.budget < 0) return false;
    return this.push(CHARACTERS.has(key) ? literal(value) : this.#inner(value), whole.length);
  }

  #reference(): boolean {
    const [whole, target = "", shown] = this.match(REFERENCE) ?? [];
    if (whole === undefined) return false;
    const phrase = shown === undefined ? literal(nameOfTarget(target)) : this.#inner(shown.trim());
    return this.push(phrase, whole.length);
  }

  #indexTerm(): boolean {
    const [whole, shown = ""] = this.match(INDEX_TERM) ?? [];
    return whole !== undefined && this.push(this.#inner(shown), whole.length);
  }

  #bracket(): boolean {
    const whole = this.match(ANCHOR)?.[0] ?? (this.#mayBegin(this.at) ? this.match(ROLE)?.[0] : undefined);
    return whole !== undefined && this.push("", whole.length);
  }

  #quoted(): boolean {
    const [whole, , inner = ""] = this.match(QUOTED) ?? [];
    return whole !== undefined && this.push(`“${this.#inner(inner)}”`, whole.length);
  }

  #mayBegin(at: number): boolean {
    return !wordUnit.test(this.text[at - 1] ?? " ");
  }

  /** Reads what stands between marks: two of them anywhere, one only around whole words. */
  #marked(sign: string): boolean {
    const { text } = this;
    const isNarrow = "^~".includes(sign);
    const start = this.at + 1;
    if (text[start] === sign && !isNarrow) return this.#doublyMarked(sign);
    if (/\s/.test(text[start] ?? " ") || !(isNarrow || this.#mayBegin(this.at))) return false;
    for (let end = start, tries = 0; tries < MAX_ENDS; tries++) {
      end = text.indexOf(sign, end + 1);
      if (end < 0 || (isNarrow && /\s/.test(text.slice(start, Math.min(end, start + 200))))) return false;
      if (/\s/.test(text[end - 1]!) || (!isNarrow && wordUnit.test(text[end + 1] ?? " "))) continue;
      return this.push(this.#phrase(sign, text.slice(start, end)), end + 1 - this.at);
    }
    return false;
  }

  #doublyMarked(sign: string): boolean {
    const end = this.text.indexOf(sign + sign, this.at + 3);
    if (end >= 0) return this.push(this.#phrase(sign, this.text.slice(this.at + 2, end)), end + 2 - this.at);
    let length = 2;
    while (this.text[this.at + length] === sign) length++;
    return this.keep(length);
  }

  #phrase(sign: string, content: string): string {
    if (sign === "`") return codeSpan(this.#codeOf(content));
    if (sign === "+") return literal(content);
    const inner = this.#inner(content);
    return sign === "*" ? strong(inner) : sign === "_" ? emphasis(inner) : inner;
  }

  /** The text of code, without pluses around it that keep it from being read, and with its attributes. */
  #codeOf(content: string): string {
    const kept = /^\+{1,2}([\s\S]+?)\+{1,2}$/.exec(content)?.[1];
    if (kept !== undefined) return kept;
    return content.replace(/\{([\w-]{1,60})\}/g, (whole, name: string) => {
      const value = this.#attributes.values.get(name.toLowerCase()) ?? CHARACTERS.get(name) ?? whole;
      this.#attributes.budget -= value.length;
      return this.#attributes.budget < 0 ? whole : value;
    });
  }

  #macro(): boolean {
    const [address, url = "", label] = this.match(ADDRESS) ?? [];
    if (address !== undefined) {
      if (label === undefined) return this.push(url, url.length);
      return this.push(link(label === "" ? literal(url) : this.#inner(labelOf(label)), url), address.length);
    }
    const [whole, name = "", target = "", content = ""] = this.match(MACRO) ?? [];
    if (whole === undefined) return this.keep(this.text.indexOf(":", this.at) + 1 - this.at);
    const write = AsciidocReader.#MACROS.get(name);
    const shown = content.replaceAll("\\]", "]");
    const phrase = write ? write(this, shown, target) : this.#inner(shown);
    return this.push(phrase, whole.length);
  }

  /** Functions that write macros; any other macro shows its content. */
  static readonly #MACROS = byWord<(reader: AsciidocReader, content: string, target: string) => string>({
    link: (reader, content, target) =>
      link(reader.#label(content, target), target.includes("{") ? reader.#codeOf(target) : target),
    mailto: (reader, content, target) => link(reader.#label(content, target), `mailto:${target}`),
    xref: (reader, content, target) => reader.#label(content, nameOfTarget(target)),
    image: (_, content, target) => (labelOf(content) === "" ? "" : image(labelOf(content), target)),
    "icon anchor indexterm": () => "",
    menu: (_, content, target) => {
      const path = [target, ...content.split(">").map((one) => one.trim())];
      return literal(path.filter((one) => one !== "").join(" > "));
    },
    "stem latexmath asciimath": (_, content) => (content.trim() === "" ? "" : `$${content.trim()}$`),
    pass: (_, content) => literal(content),
    "footnote footnoteref": (reader, content) => (content === "" ? "" : ` (${reader.#inner(content)})`),
  });

  #label(content: string, target: string): string {
    const label = labelOf(content);
    return label === "" ? literal(target) : this.#inner(label);
  }
}

/** Returns the text of a link without the attributes for its window and its roles. */
const labelOf = (content: string): string =>
  content
    .replace(/,\s*(?:[\w-]{1,30}=|\d{1,5}).{0,500}$/s, "")
    .replace(/^(?:alt|text)=/, "")
    .replace(/\^$/, "")
    .replace(/^"([\s\S]{0,1000})"$/, "$1");

/** Returns the text of a place that has no text of its own: `_set_up` is the section "Set up". */
const nameOfTarget = (target: string): string => {
  const place =
    target.includes("#") && !target.endsWith("#")
      ? target.slice(target.lastIndexOf("#") + 1)
      : target.replace(/#$/, "");
  return place.startsWith("_") ? place.replaceAll("_", " ").trim() : place.replace(/\.adoc$/, "");
};
