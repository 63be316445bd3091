import type { PageFacts } from "../page/page-model.ts";
import { countText, type StatSink, TextStat, WORD_BUCKETS } from "../page/word-stats.ts";
import type { PageTree } from "./page-tree.ts";

/** One byte per word bucket: which of the page's words mean something to the choice. */
export type PageWords = { readonly marks: Uint8Array };

export const WordMark = { frequent: 1, title: 2, description: 4 } as const;

const FREQUENT_WORDS = 30;
const FEWEST_OCCURRENCES = 4;

/**
 * Finds the words that the page repeats most, which stand in for a stop-word list in every language, and
 * those of its title and description.
 */
export function markPageWords({ model, candidates }: PageTree, facts: PageFacts): PageWords {
  const { firstWord, endWord, words } = model.blocks;
  const counts = new Uint16Array(WORD_BUCKETS);
  for (const block of candidates) {
    for (let word = firstWord[block]!; word < endWord[block]!; word++) {
      if (counts[words[word]!]! < 65535) counts[words[word]!]!++;
    }
  }
  const marks = new Uint8Array(WORD_BUCKETS);
  const frequent: number[] = [];
  for (let bucket = 0; bucket < WORD_BUCKETS; bucket++) {
    if (counts[bucket]! >= FEWEST_OCCURRENCES) frequent.push(bucket);
  }
  frequent.sort((a, b) => counts[b]! - counts[a]! || a - b);
  for (const bucket of frequent.slice(0, FREQUENT_WORDS)) marks[bucket]! |= WordMark.frequent;
  markText(marks, `${facts.meta.get("og:title") ?? ""} ${facts.title}`, WordMark.title);
  const described = facts.meta.get("og:description") ?? facts.meta.get("description") ?? "";
  markText(marks, described, WordMark.description);
  return { marks };
}

function markText(marks: Uint8Array, text: string, mark: number): void {
  const sink: StatSink = {
    stats: new Float32Array(TextStat.count),
    at: 0,
    words: new Uint16Array(512),
    wordCount: 0,
  };
  countText(text.slice(0, 2000), sink, [], []);
  for (let word = 0; word < sink.wordCount; word++) marks[sink.words[word]!]! |= mark;
}
