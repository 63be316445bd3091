import { typesOf } from "../json-ld.ts";
import type { MetadataPage } from "./metadata-page.ts";

/** Names of the numbers that say whether a page is of a kind that names its day and its author. */
export const PAGE_CUES = [
  "cue.articleLd",
  "cue.productLd",
  "cue.pageLd",
  "cue.personLd",
  "cue.openGraphType",
  "cue.publishedMeta",
  "cue.pathDepth",
  "cue.pathPost",
  "cue.pathReference",
  "cue.pathShop",
  "cue.slugWords",
  "cue.titleWords",
  "cue.contentBlocks",
  "cue.contentChars",
  "cue.commented",
  "cue.marked",
] as const;

const POST =
  /\/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|press|insights?|magazine|journal|reviews?|podcast)\b|\/20\d\d\//i;
const REFERENCE =
  /^docs?\.|\/(?:docs?|documentation|manual|reference|api|help|support|wiki|handbook|tutorials?)\b/i;
const SHOP = /\/(?:products?|shop|store|items?|categor(?:y|ies)|collections?|services?|pricing|p|dp)\b/i;
const COMMENT_GROUP = 1 << 4;

/** A row of `PAGE_CUES`. */
export function describeCues({ jsonLd, meta, url, facts, places }: MetadataPage): number[] {
  const types = new Set(jsonLd.flatMap(typesOf));
  const has = (pattern: RegExp): number => Number([...types].some((type) => pattern.test(type)));
  const kind = meta.get("og:type") ?? "";
  const address = url === null ? "" : url.hostname + url.pathname;
  const steps = url === null ? [] : url.pathname.split("/").filter(Boolean);
  const { text } = places.model.blocks;
  return [
    has(/Article$|Posting$|^Report$/),
    has(/^Product/),
    has(/Page$/),
    Number(jsonLd.some(({ author }) => author !== undefined)),
    kind === "" ? -1 : /article/i.test(kind) ? 2 : /product/i.test(kind) ? 1 : 0,
    Number(meta.has("article:published_time")),
    url === null ? -1 : steps.length,
    Number(POST.test(address)),
    Number(REFERENCE.test(address)),
    Number(SHOP.test(address)),
    (steps.at(-1) ?? "").split(/[-_]+/).length,
    facts.title.split(/\s+/).length,
    places.contentBlocks.length,
    places.contentBlocks.reduce((sum, block) => sum + text[block]!.length, 0),
    Number(places.model.groups.some((groups) => (groups & COMMENT_GROUP) !== 0)),
    facts.authors.length,
  ];
}
