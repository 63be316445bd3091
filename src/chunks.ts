import { createHash } from "node:crypto";
import type { FetchedArticle } from "./articles/index.ts";
import type { CHUNKS, Values } from "./options/index.ts";
import { chunksOf } from "./search/index.ts";

export type ChunkOptions = Values<typeof CHUNKS>;

/** A chunk of an article on the wire. */
export type ArticleChunk = ReturnType<typeof chunksOfArticle>[number];

/**
 * The article of a page as chunks, for an index that holds pieces of texts. The id of a chunk is that of its address,
 * headings and text, so that a page that is read again changes only the chunks that changed.
 * @param fetched with the renderings of `withStored`
 */
export function chunksOfArticle(fetched: FetchedArticle, options: ChunkOptions) {
  const { title, markdown, anchors, language } = fetched.article;
  const url = fetched.finalUrl ?? fetched.url;
  const inside = anchors?.filter(({ start }) => start >= 0) ?? null;
  const seen = new Map<string, number>();
  return chunksOf({ markdown: markdown ?? "", anchors: inside, language }, options).map(
    ({ headings, anchor, markdown: text, tokens }, index) => {
      const key = hashOf(JSON.stringify([url, headings, text]));
      const count = seen.get(key) ?? 0;
      seen.set(key, count + 1);
      return {
        id: count === 0 ? key : `${key}-${count}`,
        url,
        title,
        lang: language,
        index,
        heading_path: headings,
        anchor,
        page: pageOf(anchor),
        text,
        tokens,
        hash: hashOf(text),
      };
    },
  );
}

/** The page of a printed document to which an anchor leads (RFC 8118); null for all others. */
const pageOf = (anchor: string | null): number | null => {
  const page = /^page=(\d{1,6})$/.exec(anchor ?? "")?.[1];
  return page === undefined ? null : Number(page);
};

const HASH_CHARACTERS = 24;
const hashOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARACTERS);
