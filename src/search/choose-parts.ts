import { createYieldWhenDue } from "../base/event-loop.ts";
import { formatHeading } from "../base/text.ts";
import { scanBlocks } from "../markdown/index.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { Analyser } from "./analysis/analyser.ts";
import { fragmentOf, SectionBuilder, writtenId } from "./document/sections.ts";
import { MemoryIndexBuilder } from "./memory-index.ts";
import { compileQuery } from "./query/compile.ts";
import { scoreDocuments } from "./query/phrases.ts";
import { RANKING } from "./ranking/formula.ts";
import { rescore } from "./ranking/rescore.ts";
import { headingPath, type SearchSettings } from "./searcher.ts";
import { type DocumentAnchor, LANGUAGES, type Section } from "./types.ts";

/** The text that parts are chosen from. */
export type WholeText = {
  readonly markdown: string;
  /** The ids that lead into it; null where they are not known, and then parts have no anchor. */
  readonly anchors: readonly DocumentAnchor[] | null;
  /** A BCP 47 tag, whose words are stemmed; null reads it as English. */
  readonly language: string | null;
};

export type PartsWish = {
  readonly query: string;
  /** The most tokens of the parts with their headings and marks, by `tokensOf`. */
  readonly maxTokens: number;
  /** The offset of the text in what a reader can ask the rest from by offset; null where there is no such thing. */
  readonly offset: number | null;
};

type ChosenParts = {
  readonly markdown: string;
  /** Whether any block has words of the query; without one the parts are the beginning. */
  readonly isMatched: boolean;
};

/**
 * Chooses the blocks of a text that answer a query best. Each block is ranked with the headings above it, as if it were a
 * document of a collection, by the formula of all searches (docs/search.md), and the best are taken while they fit. A
 * paragraph, list, quotation, table or block of code is taken whole; of a list or table with more than `maxTokens` whole
 * items or rows are, and another block with more is given where it is the best, and then alone. What stands beside them in their sections fills the rest. They stand in the order
 * of the text, each section with the path of its headings and its anchor, and a mark with its size stands for what is left
 * out.
 */
export async function chooseParts(
  text: WholeText,
  { query, maxTokens, offset }: PartsWish,
  settings: Pick<SearchSettings, "profile" | "ranking" | "synonyms">,
): Promise<ChosenParts> {
  const outline = new Outline(text, maxTokens);
  const ranked = await rankBlocks(outline, { query, language: text.language }, settings);
  const isMatched = ranked.length > 0;
  const excerpt = new Excerpt(outline, offset);
  for (const block of isMatched ? withTheirSections(outline, ranked) : outline.content) {
    // A beginning has no gaps.
    if (!excerpt.add(block, maxTokens) && !isMatched) break;
  }
  return { markdown: excerpt.markdown, isMatched };
}

/**
 * Estimates the tokens of a text for language models: about those of cl100k or a little more, which has 3.3 to 4.1
 * characters a token in English documentation and code, 2 and more in other alphabets, and a token for each Chinese or
 * Japanese character.
 */
export function tokensOf(text: string): number {
  let ascii = 0;
  let eastAsian = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < ASCII_END) ascii++;
    else if (unit >= EAST_ASIAN) eastAsian++;
  }
  const others = text.length - ascii - eastAsian;
  return Math.ceil((ascii * 3 + others * 5 + eastAsian * 11) / 10);
}

const ASCII_END = 0x80;
const EAST_ASIAN = 0x2e80;

/** A block at the top level of a text, UTF-16 code units, end exclusive. */
type Block = {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  /** The index of its section. */
  readonly section: number;
  readonly tokens: number;
  /** The head of the table whose rows these are; empty for what is no part of a table. */
  readonly head: string;
  /** The start of the whole whose part it is: parts of one list or table that follow one another stand together. */
  readonly whole: number;
};

/** Blocks of which one goes on with the next: the items of a list, and addresses of links. */
const RUNS: ReadonlySet<string> = new Set(["item", "reference"]);
/** Blocks in which nobody finds an answer. */
const SILENT: ReadonlySet<string> = new Set(["heading", "rule", "reference"]);

/** The blocks of a text in their order, which together are all of it, and its sections. */
export class Outline {
  readonly markdown: string;
  readonly blocks: readonly Block[];
  readonly #sections: readonly Section[];
  /** The sections around each, the outermost first and itself last. */
  readonly #paths: readonly (readonly number[])[];

  /** @param maxTokens a list or table with more is given as its items or rows */
  constructor({ markdown, anchors }: WholeText, maxTokens = Number.POSITIVE_INFINITY) {
    this.markdown = markdown;
    const builder = new SectionBuilder({ url: NO_ADDRESS, title: "", markdown, anchors: anchors ?? [] });
    const begun = scanTopLevel(markdown, builder);
    this.#sections = builder.finish().sections;
    this.#paths = pathsOf(this.#sections);
    let section = 0;
    this.blocks = begun.flatMap(({ kind, start }, index) => {
      if (kind === "heading") section++;
      const source = markdown.slice(start, begun[index + 1]?.start).trimEnd();
      const tokens = tokensOf(source);
      const whole = { kind, start, end: start + source.length, section, tokens, head: "", whole: start };
      return tokens > maxTokens && CUT.has(kind) ? partsOf(whole, source) : [whole];
    });
  }

  /** The numbers of the blocks that may be chosen. */
  get content(): readonly number[] {
    return [...this.blocks.keys()].filter((block) => !SILENT.has(this.blocks[block]!.kind));
  }

  sourceOf(block: number): string {
    const { start, end, head } = this.blocks[block]!;
    return head + this.markdown.slice(start, end);
  }

  /** Whether a block goes on with the list or table of the one before it. */
  goesOn(block: number): boolean {
    return block > 0 && this.blocks[block - 1]!.whole === this.blocks[block]!.whole;
  }

  /** The headings above the blocks of a section, its own last, and the id that leads to it. */
  placeOf(section: number): { readonly headings: readonly string[]; readonly anchor: string | null } {
    const { anchor } = this.#sections[section]!;
    return {
      headings: this.#paths[section]!.map((one) => this.#sections[one]!.heading),
      anchor: anchor === "" ? null : anchor,
    };
  }

  /** The headings above a block, each as the index reads it. */
  headingsAbove(block: number): readonly string[] {
    return this.#paths[this.blocks[block]!.section]!.map((section) => {
      const { level, heading } = this.#sections[section]!;
      return `${"#".repeat(level)} ${heading}`;
    });
  }

  /** The line above the first shown block of a section; empty before the first heading. */
  headingLineOf(section: number): string {
    const path = this.#paths[section]!;
    if (path.length === 0) return "";
    const { level, anchor } = this.#sections[section]!;
    const headings = path.map((one) => this.#sections[one]!.heading);
    const shown = formatHeading(headingPath({ title: "", headings }));
    return `${"#".repeat(level - 1)}${shown}${anchor === "" ? "" : ` (#${fragmentOf(anchor)})`}`;
  }
}

/** Blocks of which a part can stand alone. */
const CUT: ReadonlySet<string> = new Set(["item", "table"]);
/** How the line of a list item begins. */
export const ITEM_SIGN = /^(?:[-*+]|\d{1,9}[.)])\s/;

/** The items of a list or the rows of a table, whose head is not among them. */
function partsOf(whole: Block, source: string): Block[] {
  const lines = source.split("\n");
  const isTable = whole.kind === "table";
  const head = isTable ? `${lines.slice(0, 2).join("\n")}\n` : "";
  const parts: Block[] = [];
  let start = whole.start;
  for (const [index, line] of lines.entries()) {
    const end = start + line.length;
    const last = parts.at(-1);
    if (isTable ? index >= 2 : ITEM_SIGN.test(line) || !last)
      parts.push({ ...whole, start, end, head, tokens: tokensOf(last ? line : head + line) });
    else if (last) parts.push({ ...parts.pop()!, end, tokens: last.tokens + tokensOf(line) });
    start = end + 1;
  }
  return parts;
}

/** Blocks have no address of their own, so that only their words count. */
const NO_ADDRESS = "" as DocumentUrl;

/** Finds where the blocks at the top level begin, and opens the sections. */
function scanTopLevel(markdown: string, sections: SectionBuilder) {
  const begun: { readonly kind: string; readonly start: number }[] = [];
  let depth = 0;
  let heading: { readonly level: number; start: number; end: number } | null = null;
  const begin = (kind: string, at: number): void => {
    const start = markdown.lastIndexOf("\n", at - 1) + 1;
    const last = begun.at(-1);
    if (depth > 0 || (last && (start <= last.start || (last.kind === kind && RUNS.has(kind))))) return;
    begun.push({ kind, start });
  };
  scanBlocks(markdown, {
    open: ({ kind }, start) => {
      begin(kind, start);
      depth++;
    },
    close: () => depth--,
    begin: (leaf, start) => {
      begin(leaf.kind, start);
      heading = leaf.kind === "heading" && depth === 0 ? { level: leaf.level, start, end: start } : null;
    },
    line: (_, end) => {
      if (heading) heading.end = end;
    },
    end: () => {
      if (!heading) return;
      const { end: textEnd, id } = writtenId(markdown, heading.start, heading.end);
      sections.open({ ...heading, textEnd, id });
      heading = null;
    },
    rule: (start) => begin("rule", start),
    reference: (_, __, start) => begin("reference", start),
  });
  return begun;
}

function pathsOf(sections: readonly Section[]): number[][] {
  let path: number[] = [];
  return sections.map(({ level }, section) => {
    path = path.filter((outer) => sections[outer]!.level < level);
    if (level > 0) path = [...path, section];
    return path;
  });
}

/** A longer block is judged by its beginning. */
const MAX_RANKED_CHARACTERS = 20_000;
/** The blocks of a longer text are looked for in its beginning. */
const MAX_RANKED_BLOCKS = 20_000;

/** The numbers of the blocks with words of a query, the best first. */
async function rankBlocks(
  outline: Outline,
  { query, language }: { readonly query: string; readonly language: string | null },
  { profile, ranking, synonyms }: Pick<SearchSettings, "profile" | "ranking" | "synonyms">,
): Promise<number[]> {
  const stemmed = LANGUAGES.find((known) => known === language?.split("-")[0]?.toLowerCase());
  const analyser = new Analyser(profile, stemmed);
  const builder = new MemoryIndexBuilder(analyser);
  const yieldWhenDue = createYieldWhenDue();
  const content = outline.content.slice(0, MAX_RANKED_BLOCKS);
  for (const block of content) {
    const source = outline.sourceOf(block).slice(0, MAX_RANKED_CHARACTERS);
    const markdown = [...outline.headingsAbove(block), source].join("\n\n");
    builder.add({ url: NO_ADDRESS, title: "", markdown });
    await yieldWhenDue();
  }
  const index = builder.finish();
  const deadline = Number.POSITIVE_INFINITY;
  const options = { wordMatch: false, isLoose: true, synonyms, corpus: null, deadline };
  const compiled = compileQuery(index, analyser, query, options);
  const all = [...content.keys()];
  const scored = scoreDocuments(index, compiled.terms, all, { limit: RANKING.candidates, ranking, deadline });
  const candidates = scored.filter(({ score }) => score > 0);
  const second = { ranking, corpus: index, factors: null, deadline, isExplained: false };
  return rescore(index, compiled, candidates, second).map(({ document }) => content[document]!);
}

/**
 * Puts the other blocks of their sections behind some blocks, those near the best of each first: what stands around an
 * answer explains it.
 */
function withTheirSections(outline: Outline, ranked: readonly number[]): ReadonlySet<number> {
  const sectionOf = (block: number): number => outline.blocks[block]!.section;
  const { content } = outline;
  const best = new Map(ranked.toReversed().map((block) => [sectionOf(block), block]));
  const sections = [...new Set(ranked.map(sectionOf))];
  const around = sections.flatMap((section) => {
    const middle = best.get(section)!;
    const own = content.filter((block) => sectionOf(block) === section);
    return own.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  });
  return new Set([...ranked, ...around]);
}

/** A block may take the place of a mark. */
const MARK_TOKENS = 20;

/** Some blocks of a text, in its order, with marks for the others. */
class Excerpt {
  markdown = "";
  tokens = 0;
  readonly #outline: Outline;
  readonly #offset: number | null;
  #chosen: readonly number[] = [];

  constructor(outline: Outline, offset: number | null) {
    this.#outline = outline;
    this.#offset = offset;
  }

  /** Adds a block if it fits, or if it is the first. @returns whether it does */
  add(block: number, maxTokens: number): boolean {
    const isFirst = this.#chosen.length === 0;
    if (!isFirst && this.tokens + this.#outline.blocks[block]!.tokens > maxTokens + MARK_TOKENS) return false;
    const chosen = [...this.#chosen, block].sort((a, b) => a - b);
    const markdown = this.#written(chosen);
    const tokens = tokensOf(markdown);
    if (!isFirst && tokens > maxTokens) return false;
    this.#chosen = chosen;
    this.markdown = markdown;
    this.tokens = tokens;
    return true;
  }

  #written(chosen: readonly number[]): string {
    const { blocks } = this.#outline;
    const pieces: string[] = [];
    let next = 0;
    let shown = 0;
    for (const block of chosen) {
      const { section, start, end } = blocks[block]!;
      if (block === next && this.#outline.goesOn(block)) {
        pieces.push(`${pieces.pop()}\n${this.#outline.markdown.slice(start, end)}`);
      } else {
        pieces.push(this.#markFor(next, block));
        if (section !== shown) pieces.push(this.#outline.headingLineOf(section));
        pieces.push(this.#outline.sourceOf(block));
      }
      shown = section;
      next = block + 1;
    }
    pieces.push(this.#markFor(next, blocks.length));
    return pieces.filter((piece) => piece !== "").join("\n\n");
  }

  /** The mark for the blocks of a range, end exclusive; empty where no content is left out. */
  #markFor(from: number, to: number): string {
    const left = this.#outline.blocks.slice(from, to);
    if (left.every(({ kind }) => SILENT.has(kind))) return "";
    const tokens = left.reduce((sum, block) => sum + block.tokens, 0);
    const place = this.#offset === null ? "" : ` from offset ${this.#offset + left[0]!.start}`;
    return `[… ${tokens} tokens left out${place} …]`;
  }
}
