import type { FetchedArticle } from "./articles/index.ts";
import { composeMarkdown, textOfMarkdown } from "./extraction/index.ts";
import type { QUESTION, Values } from "./options/index.ts";
import { chooseParts } from "./search/index.ts";
import { DEFAULT_SEARCH } from "./settings/index.ts";

/** What is asked of one page. */
export type Question = Values<typeof QUESTION>;

/**
 * Leaves of an article's Markdown and text only the parts that answer a question; all else of it stays, its count of words
 * among it. Without a question it stays whole. A warning tells where no part answers, and the beginning stands instead.
 * @param fetched with the renderings of `withStored`
 * @param namesOffsets whether marks of what is left out say where that begins in title and Markdown together
 */
export async function partsFor(
  fetched: FetchedArticle,
  { query, maxTokens }: Question,
  namesOffsets = false,
): Promise<FetchedArticle> {
  const { title, markdown, anchors, language } = fetched.article;
  if (query === null || markdown === null) return fetched;
  const offset = namesOffsets ? composeMarkdown(title, markdown).length - markdown.length : null;
  const inside = anchors?.filter(({ start }) => start >= 0) ?? null;
  const chosen = await chooseParts(
    { markdown, anchors: inside, language },
    { query, maxTokens, offset },
    DEFAULT_SEARCH,
  );
  const article = {
    ...fetched.article,
    markdown: chosen.markdown,
    text: textOfMarkdown(chosen.markdown),
    // They lead to places in the whole.
    anchors: null,
  };
  const warnings = chosen.isMatched ? fetched.warnings : [...fetched.warnings, NO_MATCH];
  return { ...fetched, article, warnings };
}

const NO_MATCH = "no part of the text has words of the query: this is its beginning";
