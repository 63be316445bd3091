import { features, flag, rowsOf } from "../features.ts";
import type { PageFacts } from "../page/page-model.ts";
import { Tag } from "../page/tags.ts";
import { countText, type StatSink, TextStat, WORD_BUCKETS } from "../page/word-stats.ts";
import type { PageTree } from "./page-tree.ts";

/**
 * Counts are limited to these numbers. Features that grow with the page leave the range that the trees were trained
 * in: the 400th of 800 equal paragraphs had a probability of .31, of 300 paragraphs .92. Nine in ten content blocks
 * of the training stay below each limit.
 */
export const COUNT_LIMITS = {
  /** The words and blocks inside one element, and the words up to the end of the page. */
  words: 5000,
  blocks: 400,
  /** The siblings of the same tag and class. */
  twins: 150,
  /** The blocks and words since the heading above. */
  blocksSinceHeading: 50,
  wordsSinceHeading: 400,
  /** The words and blocks of the whole page. */
  pageWords: 8000,
  pageBlocks: 600,
} as const;

const SIGNS = features<Sums>({
  pageWords: ({ words }) => Math.log2(1 + Math.min(words, COUNT_LIMITS.pageWords)),
  pageBlocks: ({ blocks }) => Math.log2(1 + Math.min(blocks, COUNT_LIMITS.pageBlocks)),
  pageLinkDensity: ({ linkChars, chars }) => linkChars / Math.max(chars, 1),
  pageWordsPerBlock: ({ words, blocks }) => words / Math.max(blocks, 1),
  pageParagraphShare: ({ paragraph, words }) => paragraph / Math.max(words, 1),
  pageItemShare: ({ item, words }) => item / Math.max(words, 1),
  pageHeadings: ({ facts }) => facts.headings.length,
  pageTimes: ({ facts }) => facts.times.length,
  pageIsArticle: ({ facts }) => flag(/article/i.test(facts.meta.get("og:type") ?? "")),
  pageHasArticleData: ({ jsonLd }) => flag(/"(?:\w*Article|BlogPosting)"/.test(jsonLd)),
  pageHasProductData: ({ jsonLd }) => flag(/"Product(?:Group)?"/.test(jsonLd)),
  pageHasThreadData: ({ jsonLd }) => flag(/"(?:DiscussionForumPosting|QAPage|Question)"/.test(jsonLd)),
  pageHasListData: ({ jsonLd }) => flag(/"(?:ItemList|CollectionPage)"/.test(jsonLd)),
  pageLongBlocks: ({ long, blocks }) => long / Math.max(blocks, 1),
  pageTableShare: ({ cell, words }) => cell / Math.max(words, 1),
  pageCodeShare: ({ code, words }) => code / Math.max(words, 1),
});

/** The names of the numbers of `readPageSigns`, in their order. */
export const PAGE_SIGNS = SIGNS.names;

/** Computes numbers that show what kind of page it is. */
export const readPageSigns = (tree: PageTree, facts: PageFacts): Float32Array =>
  rowsOf(SIGNS, [sumsOf(tree, facts)]);

type Sums = ReturnType<typeof sumsOf>;

/** Sums up the words of a page by the elements that they are in. */
function sumsOf({ model, candidates }: PageTree, facts: PageFacts) {
  const { blocks, tag } = model;
  const sums = { words: 0, chars: 0, linkChars: 0, paragraph: 0, item: 0, cell: 0, code: 0, long: 0 };
  for (const block of candidates) {
    const at = block * TextStat.count;
    const count = blocks.stats[at + TextStat.words]!;
    const owner = tag[blocks.element[block]!]!;
    sums.words += count;
    sums.chars += blocks.stats[at + TextStat.chars]!;
    sums.linkChars += blocks.stats[at + TextStat.linkChars]!;
    if (owner === Tag.p) sums.paragraph += count;
    else if (owner === Tag.li) sums.item += count;
    else if (owner === Tag.td || owner === Tag.th) sums.cell += count;
    else if (owner === Tag.pre) sums.code += count;
    if (count >= 20) sums.long++;
  }
  return { ...sums, facts, blocks: candidates.length, jsonLd: facts.jsonLd.join(" ").slice(0, 200_000) };
}

/** One byte per word bucket, which marks the words of the page that matter to the classifier. */
export type PageWords = { readonly marks: Uint8Array };

export const WordMark = { frequent: 1, title: 2, description: 4 } as const;

const FREQUENT_WORDS = 30;
const FEWEST_OCCURRENCES = 4;

/**
 * Marks the words that the page repeats most, which serve as a stop-word list in every language, and those of its
 * title and description.
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
