import { isRecord, parseJson } from "../base/json.ts";
import { wordsOf } from "../base/text.ts";
import { type JsonLdObject, propertyText } from "./metadata/metadata-page.ts";
import type { PageFacts } from "./page/page-model.ts";
import type { PageType } from "./types.ts";

/** Content that the page carries in data instead of in its markup. */
export type Recovered = {
  /** HTML written by the page's author or made from plain text; it is not sanitised. */
  readonly html: string;
  /** Tells whether it replaces the content found in the markup or follows it. */
  readonly placement: "instead" | "after";
};

/** The content found in the markup, and the other places to look at. */
type RecoveryContext = {
  readonly facts: PageFacts;
  readonly jsonLd: readonly JsonLdObject[];
  readonly text: string;
  readonly pageType: PageType | null;
};

const FEWEST_BODY_WORDS = 80;
const FEWEST_DESCRIPTION_WORDS = 12;
/** When the markup holds fewer characters, the content may be in the application's state. */
const NEXT_TO_NOTHING = 300;
const FEWEST_STATE_WORDS = 120;
/** A text counts as missing when at most this share of its word triples is on the page already. */
const MISSING_SHARE = 0.3;
const MAX_VISITED = 200_000;
const MAX_POSTS = 200;

/**
 * Finds content in JSON-LD (`articleBody`, a product's `description`), in a forum's preloaded topic or in the state
 * of an application when the markup lacks it; null when nothing is missing.
 */
export function recoverContent(context: RecoveryContext): Recovered | null {
  const found = new FoundText(context.text);
  return (
    fromPosts(context, found) ??
    fromArticleBody(context, found) ??
    fromState(context, found) ??
    fromProduct(context, found)
  );
}

function fromArticleBody({ jsonLd }: RecoveryContext, found: FoundText): Recovered | null {
  for (const object of jsonLd) {
    const body = typeof object.articleBody === "string" ? object.articleBody : "";
    const words = wordsOf(withoutTags(body));
    if (words.length < FEWEST_BODY_WORDS || words.length < found.wordCount || !found.lacks(words)) continue;
    return { html: toHtml(body), placement: "instead" };
  }
  return null;
}

function fromProduct({ jsonLd, pageType }: RecoveryContext, found: FoundText): Recovered | null {
  if (pageType !== "product") return null;
  for (const object of jsonLd) {
    if (![object["@type"]].flat().some((type) => type === "Product" || type === "ProductGroup")) continue;
    const description = propertyText(object.description) ?? "";
    const words = wordsOf(withoutTags(description));
    if (words.length < FEWEST_DESCRIPTION_WORDS || !found.lacks(words)) continue;
    return { html: toHtml(description), placement: "after" };
  }
  return null;
}

/** Reads a topic as Discourse preloads it: JSON inside JSON, with finished HTML for each post. */
function fromPosts({ facts }: RecoveryContext, found: FoundText): Recovered | null {
  for (const state of facts.states) {
    if (!state.includes("post_stream")) continue;
    const posts: string[] = [];
    // A state that was cut off is not used: the page is then read as if it had none.
    visit(parseJson(state), (value) => {
      if (typeof value === "string" && value.includes('"post_stream"')) return parseJson(value);
      if (isRecord(value) && typeof value.cooked === "string" && posts.length < MAX_POSTS) {
        const author = typeof value.username === "string" ? `<p>${escapeBrackets(value.username)}</p>` : "";
        posts.push(`${author}<div>${value.cooked}</div>`);
      }
      return null;
    });
    const html = posts.join("\n");
    if (posts.length > 0 && found.lacks(wordsOf(withoutTags(html)))) return { html, placement: "instead" };
  }
  return null;
}

/** Finds the longest text with paragraphs in an application's state when the markup holds next to nothing. */
function fromState({ facts }: RecoveryContext, found: FoundText): Recovered | null {
  if (found.text.length >= NEXT_TO_NOTHING) return null;
  let longest = "";
  for (const state of facts.states) {
    visit(parseJson(state), (value) => {
      if (typeof value === "string" && value.length > longest.length && /<p[\s>]/i.test(value))
        longest = value;
      return null;
    });
  }
  if (wordsOf(withoutTags(longest)).length < FEWEST_STATE_WORDS) return null;
  return { html: longest, placement: "instead" };
}

/** Visits every value without recursion. Values that `look` returns are visited too. */
function visit(root: unknown, look: (value: unknown) => unknown): void {
  const stack: unknown[] = [root];
  for (let visited = 0; stack.length > 0 && visited < MAX_VISITED; visited++) {
    const value = stack.pop();
    const more = look(value);
    if (more !== null && more !== undefined) stack.push(more);
    if (typeof value !== "object" || value === null) continue;
    const inner = Object.values(value);
    for (let index = inner.length - 1; index >= 0; index--) stack.push(inner[index]);
  }
}

/** The word triples of a text, which tell whether it already holds another text. */
class FoundText {
  readonly text: string;
  #words: readonly string[] | null = null;
  #triples: Set<string> | null = null;

  constructor(text: string) {
    this.text = text;
  }

  // Most pages have nothing to compare with, so the words are only counted when they are needed.
  get wordCount(): number {
    this.#words ??= wordsOf(withoutTags(this.text));
    return this.#words.length;
  }

  lacks(words: readonly string[]): boolean {
    if (words.length < 3) return false;
    if (this.wordCount < 3) return true;
    this.#triples ??= new Set(triplesOf(this.#words ?? []));
    const held = triplesOf(words).filter((triple) => this.#triples?.has(triple)).length;
    return held <= MISSING_SHARE * (words.length - 2);
  }
}

const triplesOf = (words: readonly string[]): string[] =>
  words.slice(2).map((third, at) => `${words[at]} ${words[at + 1]} ${third}`);

const withoutTags = (html: string): string => html.replace(/<[^<>]{0,2000}>/g, " ");

const looksLikeHtml = (text: string): boolean => /<(?:p|br|div|ul|h[1-6])\b[^<>]{0,500}>/i.test(text);

/** Turns each line of plain text into a paragraph. HTML stays as it is, and escaped HTML is unescaped once. */
function toHtml(text: string): string {
  if (looksLikeHtml(text)) return text;
  const unescaped = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  if (looksLikeHtml(unescaped)) return unescaped;
  return text
    .split(/\n+/)
    .filter((line) => line.trim() !== "")
    .map((line) => `<p>${escapeBrackets(line)}</p>`)
    .join("\n");
}

const escapeBrackets = (text: string): string =>
  text.replace(/[<>]/g, (sign) => (sign === "<" ? "&lt;" : "&gt;"));
