/**
 * Counts above these say no more than these. Features that grow with the page leave the range that the trees
 * were trained in: the 400th of 800 equal paragraphs had a probability of .31, of 300 paragraphs .92. Nine in
 * ten blocks of content in the training stay below each limit.
 */
export const COUNT_LIMITS = {
  /** Words and blocks inside one element, and words up to the end of the page. */
  words: 5000,
  blocks: 400,
  /** Siblings of the same tag and class. */
  twins: 150,
  /** Blocks and words since the heading above. */
  blocksSinceHeading: 50,
  wordsSinceHeading: 400,
  /** Words and blocks of the whole page. */
  pageWords: 8000,
  pageBlocks: 600,
} as const;
