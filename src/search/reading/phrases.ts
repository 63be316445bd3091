// Phrases of Markdown, made of what documents in other languages say.

/**
 * A text as a phrase that shows it literally. Only marks that would take effect are escaped, and a `<` becomes
 * an entity, so that no text is taken for hidden markup.
 */
export const literal = (text: string): string =>
  text
    .replace(
      /\\(?=[!-/:-@[-`{-~])|`|\*(?!\s)|(?<=\S)\*|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|~(?=\S)|(?<=\S)~|\$(?=\S)|\](?=[([])|\[(?=\^)/gu,
      "\\$&",
    )
    .replace(/&(?=#?\w{1,40};)/g, "&amp;")
    .replace(/<(?=[a-z/!?]|$)/gi, "&lt;");

/** A text without its line breaks and what stands around them. */
export const oneLine = (text: string): string =>
  text.includes("\n")
    ? text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .join(" ")
    : text.trim();

/** A span of code, in one line. */
export function codeSpan(code: string): string {
  const line = oneLine(code);
  if (line === "") return "";
  let longest = 0;
  for (const [run] of line.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  const gap = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${gap}${line}${gap}${fence}`;
}

const marked = (phrase: string, mark: string): string => {
  const inner = phrase.trim();
  return inner === "" || inner.includes(mark) ? inner : `${mark}${inner}${mark}`;
};

export const strong = (phrase: string): string => marked(phrase, "**");
export const emphasis = (phrase: string): string => marked(phrase, "*");

/** A link, or its text alone where the address is none that a reader may follow. */
export const link = (phrase: string, address: string): string =>
  isFollowed(address) && phrase.trim() !== "" ? `[${phrase.trim()}](${target(address)})` : phrase;

export const image = (alt: string, address: string): string =>
  isFollowed(address) ? `![${literal(alt)}](${target(address)})` : literal(alt);

/** Pages of the web, mail and places relative to the document; no script and no data. */
const isFollowed = (address: string): boolean =>
  address !== "" &&
  address.length <= MAX_ADDRESS &&
  (/^(?:https?|mailto|ftp):/i.test(address) || !/^[a-z][a-z0-9+.-]{0,30}:/i.test(address));

const MAX_ADDRESS = 2000;

const target = (address: string): string =>
  address.replace(/[\s<>()\\|"`]/g, (one) => ESCAPED[one] ?? encodeURIComponent(one));

const ESCAPED: Readonly<Record<string, string>> = { "(": "%28", ")": "%29" };

/** Reads the inline markup of a text from left to right, each character a limited number of times. */
export abstract class InlineReader {
  protected readonly text: string;
  protected at = 0;
  /** What has been read and is no markup. */
  protected plain = "";
  readonly #special: RegExp;
  #out = "";

  /** @param special matches the signs with which markup may begin; global */
  constructor(text: string, special: RegExp) {
    this.text = text;
    this.#special = special;
  }

  /** Reads the markup that begins here. @returns false when the sign is one of the text */
  protected abstract special(sign: string): boolean;

  /** Converts the text to Markdown. */
  read(): string {
    const { text } = this;
    while (this.at < text.length) {
      this.#special.lastIndex = this.at;
      const next = this.#special.exec(text)?.index ?? text.length;
      this.plain += text.slice(this.at, next);
      this.at = next;
      if (next < text.length && !this.special(text[next]!)) this.plain += text[this.at++]!;
    }
    return this.#out + literal(this.plain);
  }

  /** Adds a phrase for what is read up to `end`. */
  protected push(phrase: string, end: number): true {
    this.#out += literal(this.plain) + phrase;
    this.plain = "";
    this.at = end;
    return true;
  }

  /** Keeps what is read up to `end` as text. */
  protected keep(end: number): true {
    this.plain += this.text.slice(this.at, end);
    this.at = end;
    return true;
  }

  /** @param expression sticky */
  protected match(expression: RegExp, at = this.at): RegExpExecArray | null {
    expression.lastIndex = at;
    return expression.exec(this.text);
  }
}
