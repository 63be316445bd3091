import type { Inline } from "../model.ts";

/** For each text that holds some, the places of the brackets that Markdown would read as markup. */
export type MarkupBrackets = ReadonlyMap<Inline, ReadonlySet<number>>;

const NONE: MarkupBrackets = new Map();

type Bracket = { readonly text: Inline; readonly at: number; readonly isAfterCaret: boolean };

/**
 * Finds the brackets of a phrase that must be escaped. Brackets only mean something in pairs, so a pair is
 * escaped whole or not at all: the two may stand in different texts, as in `a[<em>b</em>](c)`. Text inside
 * links is left out, because every bracket in a link is escaped.
 */
export function markupBrackets(inlines: readonly Inline[]): MarkupBrackets {
  if (!hasClosingBracket(inlines)) return NONE;
  const finder = new BracketFinder();
  finder.walk(inlines);
  return finder.escaped;
}

const hasClosingBracket = (inlines: readonly Inline[]): boolean =>
  inlines.some((inline) =>
    inline.kind === "text"
      ? inline.text.includes("]")
      : inline.kind === "span"
        ? hasClosingBracket(inline.children)
        : inline.kind === "ruby",
  );

class BracketFinder {
  readonly escaped = new Map<Inline, Set<number>>();
  readonly #open: Bracket[] = [];
  /** The pair that has just ended, for what follows decides about it. */
  #pair: readonly [Bracket, Bracket] | null = null;
  #before = " ";

  walk(inlines: readonly Inline[]): void {
    for (const inline of inlines) this.#walkOne(inline);
  }

  #walkOne(inline: Inline): void {
    if (inline.kind === "text") {
      this.#walkText(inline, inline.text);
      return;
    }
    if (inline.kind === "ruby") {
      for (const { base } of inline.parts) {
        this.walk(base);
        this.#follow("(");
      }
      return;
    }
    this.#follow(inline.kind === "link" || inline.kind === "footnote-ref" ? "[" : " ");
    if (inline.kind !== "span") return;
    this.walk(inline.children);
    this.#follow(" ");
  }

  #walkText(text: Inline, characters: string): void {
    for (let at = 0; at < characters.length; at++) {
      const character = characters[at]!;
      const isAfterCaret = this.#before === "^";
      this.#follow(character);
      if (character === "[") this.#open.push({ text, at, isAfterCaret });
      else if (character === "]") this.#close(text, at, characters);
    }
  }

  #close(text: Inline, at: number, characters: string): void {
    const opening = this.#open.pop();
    if (opening === undefined) return;
    this.#pair = [opening, { text, at, isAfterCaret: false }];
    // `[^1]` and `^[1]` would be notes, `[x]` a task.
    const inside =
      opening.text === text ? characters.slice(opening.at + 1, Math.min(at, opening.at + 3)) : "";
    if (opening.isAfterCaret || inside.startsWith("^") || /^[ xX]$/.test(inside)) this.#escapePair();
  }

  /** Takes the character behind a pair: `[a](b)`, `[a][b]` and `[a]: b` are links and definitions. */
  #follow(character: string): void {
    if (this.#pair !== null && "([:".includes(character)) this.#escapePair();
    this.#pair = null;
    this.#before = character;
  }

  #escapePair(): void {
    for (const { text, at } of this.#pair ?? []) {
      const places = this.escaped.get(text);
      if (places === undefined) this.escaped.set(text, new Set([at]));
      else places.add(at);
    }
  }
}
