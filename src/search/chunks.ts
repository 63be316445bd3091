import { ITEM_SIGN, Outline, tokensOf, type WholeText } from "./choose-parts.ts";

export type ChunkLimits = {
  /** The most tokens of a chunk, by `tokensOf`. */
  readonly maxTokens: number;
  /** About as many tokens of the chunk before are repeated, in whole sentences, within a section. */
  readonly overlap: number;
};

/** A piece of a text for an index that holds pieces. */
export type TextChunk = {
  /** The headings above it, the outermost first. */
  readonly headings: readonly string[];
  /** The id that leads to its section; null where there is none. */
  readonly anchor: string | null;
  readonly markdown: string;
  readonly tokens: number;
};

/**
 * Cuts a text into chunks: each of one section, of whole blocks while these fit. A block with more tokens than a chunk is
 * cut between the items of a list, the rows of a table (each part has its head), the lines of code (each in a fence of its
 * own), and else between sentences; a longer one of these between words. Nothing is left out but headings, which stand
 * beside.
 */
export function chunksOf(text: WholeText, limits: ChunkLimits): TextChunk[] {
  const { maxTokens } = limits;
  // A chunk has at least as much of its own as it repeats.
  const overlap = Math.min(limits.overlap, Math.floor(maxTokens / 2));
  const outline = new Outline(text);
  const chunks: TextChunk[] = [];
  let pieces: string[] = [];
  let section = 0;
  const close = (): void => {
    const markdown = pieces.join("\n\n");
    pieces = [];
    if (markdown !== "") chunks.push({ ...outline.placeOf(section), markdown, tokens: tokensOf(markdown) });
  };
  for (const block of outline.content) {
    const { kind, section: own, tokens } = outline.blocks[block]!;
    if (own !== section) close();
    section = own;
    const source = outline.sourceOf(block);
    for (const piece of tokens <= maxTokens ? [source] : cut(kind, source, maxTokens - overlap)) {
      if (pieces.length > 0 && tokensOf([...pieces, piece].join("\n\n")) > maxTokens) {
        const room = maxTokens - tokensOf(`\n\n${piece}`);
        const repeated = tailOf(pieces.at(-1) ?? "", Math.min(overlap, room));
        close();
        if (repeated !== "") pieces.push(repeated);
      }
      pieces.push(piece);
    }
  }
  close();
  return chunks;
}

const FENCE = /^\s*(`{3,}|~{3,})/;

/** Cuts a block that is too long for one chunk. */
function cut(kind: string, source: string, maxTokens: number): string[] {
  const lines = source.split("\n");
  if (kind === "table") return cutBetween(lines.slice(2), maxTokens, lines.slice(0, 2).join("\n"));
  const fence = FENCE.exec(lines[0] ?? "")?.[1];
  if (fence !== undefined) {
    const inner = lines.slice(1, lines.at(-1)?.trim() === fence ? -1 : undefined);
    return cutBetween(inner, maxTokens, lines[0] ?? "", fence);
  }
  if (kind === "code" || kind === "math") return cutBetween(lines, maxTokens);
  if (kind === "item") return cutBetween(itemsOf(lines), maxTokens);
  return packed(sentencesOf(source), maxTokens, "");
}

/** Joins units with line breaks into parts that fit, each between the same head and foot. */
function cutBetween(units: readonly string[], maxTokens: number, head = "", foot = ""): string[] {
  const around = tokensOf(`${head}\n\n${foot}`);
  if (around > maxTokens / 2) return packed(sentencesOf([head, ...units].join("\n")), maxTokens, "");
  return packed(units, maxTokens - around, "\n").map((part) =>
    [head, part, foot].filter((line, index) => index === 1 || line !== "").join("\n"),
  );
}

/** The items of a list with all their lines. */
const itemsOf = (lines: readonly string[]): string[] => {
  const items: string[] = [];
  for (const line of lines)
    if (items.length === 0 || ITEM_SIGN.test(line)) items.push(line);
    else items.push(`${items.pop()}\n${line}`);
  return items;
};

/** Joins units into as few parts as fit; a unit that is too long alone is cut between its words. */
function packed(units: readonly string[], maxTokens: number, separator: string): string[] {
  const parts: string[] = [];
  let part: string | null = null;
  for (const unit of units.flatMap((one) =>
    tokensOf(one) <= maxTokens ? [one] : wordsWithin(one, maxTokens),
  )) {
    const longer: string = part === null ? unit : `${part}${separator}${unit}`;
    if (part !== null && tokensOf(longer) > maxTokens) {
      parts.push(part);
      part = unit;
    } else part = longer;
  }
  if (part !== null) parts.push(part);
  return separator === "" ? parts.map((one) => one.trim()).filter((one) => one !== "") : parts;
}

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });
const sentencesOf = (text: string): string[] => [...sentences.segment(text)].map(({ segment }) => segment);

/** Cuts a text between words, or within a word that is too long itself. */
function wordsWithin(text: string, maxTokens: number): string[] {
  const parts: string[] = [];
  let part = "";
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
    if (part !== "" && tokensOf(part + word) > maxTokens) {
      parts.push(part);
      part = "";
    }
    part += word;
    while (tokensOf(part) > maxTokens) {
      // Not within a character of two units.
      const end = sliceEnd(part, maxTokens);
      parts.push(part.slice(0, end));
      part = part.slice(end);
    }
  }
  if (part !== "") parts.push(part);
  return parts;
}

function sliceEnd(text: string, maxTokens: number): number {
  let end = 0;
  let tokens = 0;
  for (const character of text) {
    tokens += tokensOf(character.repeat(100)) / 100;
    if (tokens > maxTokens && end > 0) break;
    end += character.length;
  }
  return end;
}

/** The last sentences of a text, as far as they fit; empty for what is no prose. */
function tailOf(text: string, maxTokens: number): string {
  if (maxTokens <= 0 || FENCE.test(text) || /^\s*\|/.test(text)) return "";
  let tail = "";
  for (const sentence of sentencesOf(text).reverse()) {
    if (tokensOf(sentence + tail) > maxTokens) break;
    tail = sentence + tail;
  }
  return tail.trim();
}
