import type { PageFacts } from "../page/page-model.ts";
import { Tag } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import { COUNT_LIMITS } from "./count-limits.ts";
import type { PageTree } from "./page-tree.ts";

/** Names of the numbers of `readPageSigns`, in their order. */
export const PAGE_SIGNS = [
  "pageWords",
  "pageBlocks",
  "pageLinkDensity",
  "pageWordsPerBlock",
  "pageParagraphShare",
  "pageItemShare",
  "pageHeadings",
  "pageTimes",
  "pageIsArticle",
  "pageHasArticleData",
  "pageHasProductData",
  "pageHasThreadData",
  "pageHasListData",
  "pageLongBlocks",
  "pageTableShare",
  "pageCodeShare",
] as const;

/** What kind of page it is, as far as numbers say. */
export function readPageSigns({ model, candidates }: PageTree, facts: PageFacts): Float32Array {
  const { blocks, tag } = model;
  let words = 0;
  let chars = 0;
  let linkChars = 0;
  let paragraph = 0;
  let item = 0;
  let cell = 0;
  let code = 0;
  let long = 0;
  for (const block of candidates) {
    const at = block * TextStat.count;
    const count = blocks.stats[at + TextStat.words]!;
    const owner = tag[blocks.element[block]!]!;
    words += count;
    chars += blocks.stats[at + TextStat.chars]!;
    linkChars += blocks.stats[at + TextStat.linkChars]!;
    if (owner === Tag.p) paragraph += count;
    else if (owner === Tag.li) item += count;
    else if (owner === Tag.td || owner === Tag.th) cell += count;
    else if (owner === Tag.pre) code += count;
    if (count >= 20) long++;
  }
  const jsonLd = facts.jsonLd.join(" ").slice(0, 200_000);
  const count = Math.max(candidates.length, 1);
  const total = Math.max(words, 1);
  return Float32Array.of(
    Math.log2(1 + Math.min(words, COUNT_LIMITS.pageWords)),
    Math.log2(1 + Math.min(candidates.length, COUNT_LIMITS.pageBlocks)),
    linkChars / Math.max(chars, 1),
    words / count,
    paragraph / total,
    item / total,
    facts.headings.length,
    facts.times.length,
    /article/i.test(facts.meta.get("og:type") ?? "") ? 1 : 0,
    /"(?:\w*Article|BlogPosting)"/.test(jsonLd) ? 1 : 0,
    /"Product(?:Group)?"/.test(jsonLd) ? 1 : 0,
    /"(?:DiscussionForumPosting|QAPage|Question)"/.test(jsonLd) ? 1 : 0,
    /"(?:ItemList|CollectionPage)"/.test(jsonLd) ? 1 : 0,
    long / count,
    cell / total,
    code / total,
  );
}
