import { isRecord } from "../base/json.ts";
import { type PageUrl, resolveHref } from "../urls/index.ts";
import { loadTrees, predict, type Trees } from "./classification/trees.ts";
import { pixels } from "./links.ts";
import { BYLINE_FEATURES, describeBylines } from "./metadata/byline.ts";
import {
  DATE_FEATURES,
  type DateMention,
  describeDates,
  MODIFIED_KINDS,
  saysModified,
  sourceOfKind,
} from "./metadata/date.ts";
import {
  firstOf,
  type MetadataInput,
  type MetadataPage,
  type Sourced,
  textOf,
  viewPage,
} from "./metadata/metadata-page.ts";
import { BYLINE_TREES, DATE_TREES, TITLE_TREES } from "./metadata/metadata-trees.ts";
import { describeTitles, TITLE_FEATURES } from "./metadata/title.ts";
import type { PageFacts } from "./page/page-model.ts";
import { detached, foldForComparison, tidyValue } from "./text.ts";
import type { Article, MetadataSource } from "./types.ts";

/** The language in `sources` is null here, because it is found in the content later. */
export type Metadata = Pick<
  Article,
  | "title"
  | "byline"
  | "siteName"
  | "publishedDate"
  | "modifiedDate"
  | "lang"
  | "dir"
  | "excerpt"
  | "image"
  | "imageWidth"
  | "imageHeight"
  | "keywords"
  | "section"
  | "sources"
>;

/** Reads what the page says about its main content, and where each value was found. */
export function readMetadata(input: MetadataInput, base: PageUrl | null): Metadata {
  const page = viewPage(input);
  const { facts, meta, siteName, lang } = page;
  const titles = describeTitles(page);
  const title = titles.candidates[pickTitle(titles.rows)] ?? null;
  const byline = chooseByline(describeBylines(page, titles.block));
  const { published, modified } = chooseDates(describeDates(page, titles.block));
  const keywords = readKeywords(page);
  const section = readSection(page);
  return {
    title: ownCopy(title?.text),
    byline: ownCopy(byline?.value),
    siteName: ownCopy(siteName),
    publishedDate: ownCopy(published?.value),
    modifiedDate: ownCopy(modified?.value),
    lang,
    dir: readDir(facts),
    excerpt: ownCopy(firstOf(meta, ["description", "og:description", "twitter:description"])),
    ...readLeadImage(page, base),
    keywords: keywords.values,
    section: section?.value ?? null,
    sources: {
      title: title?.source ?? null,
      byline: byline?.source ?? null,
      publishedDate: published?.source ?? null,
      modifiedDate: modified?.source ?? null,
      language: null,
      keywords: keywords.source,
      section: section?.source ?? null,
    },
  };
}

// A substring would keep its whole page in memory.
const ownCopy = (text: string | null | undefined): string | null => (text ? detached(text) : null);

function readDir({ dir: written }: PageFacts): "ltr" | "rtl" | null {
  const dir = written?.trim().toLowerCase();
  return dir === "ltr" || dir === "rtl" ? dir : null;
}

type LeadImage = Pick<Article, "image" | "imageWidth" | "imageHeight">;
type Offered = { readonly url: string | null; readonly width: number | null; readonly height: number | null };

const NO_IMAGE: LeadImage = { image: null, imageWidth: null, imageHeight: null };

/** Reads the image offered for link previews: its absolute URL, and its size in pixels where stated. */
function readLeadImage(page: MetadataPage, base: PageUrl | null): LeadImage {
  const offered = [...offeredByMeta(page), ...page.jsonLd.flatMap(({ image }) => offeredByJsonLd(image))];
  const absolute = ({ url }: Offered): string | null => (url ? resolveHref(url, base) : null);
  const chosen = offered.find((one) => /^https?:/.test(absolute(one) ?? ""));
  const address = chosen && absolute(chosen);
  if (!address) return NO_IMAGE;
  // Another declaration may give the size of the same image.
  const sized = offered.find((one) => (one.width ?? one.height) !== null && absolute(one) === address);
  return { image: detached(address), imageWidth: sized?.width ?? null, imageHeight: sized?.height ?? null };
}

const META_NAMES = ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"];

function offeredByMeta({ meta, facts }: MetadataPage): Offered[] {
  const size = sizeOfFirst(facts.properties);
  const addressOf = (name: string): string | null => meta.get(name) ?? null;
  return META_NAMES.map((name) => ({
    url: addressOf(name),
    ...(name.startsWith("og:") ? size : { width: null, height: null }),
  }));
}

/** Reads the size given between the first `og:image` and the next one, which has a size of its own. */
function sizeOfFirst(properties: MetadataPage["facts"]["properties"]): Omit<Offered, "url"> {
  let [width, height]: (number | null)[] = [null, null];
  let images = 0;
  for (const [property, content] of properties) {
    if (property === "og:image" && ++images > 1) break;
    if (property === "og:image:width") width ??= pixels(content);
    if (property === "og:image:height") height ??= pixels(content);
  }
  return { width: width ?? null, height: height ?? null };
}

/** Reads a schema.org image: a URL, an ImageObject, or a list of either. */
function offeredByJsonLd(image: unknown): Offered[] {
  return [image]
    .flat()
    .slice(0, MAX_IMAGES)
    .flatMap((one) => {
      if (typeof one === "string") return [{ url: one, width: null, height: null }];
      if (!isRecord(one)) return [];
      return [
        {
          url: textOf(one.url) ?? textOf(one.contentUrl),
          width: pixels(one.width),
          height: pixels(one.height),
        },
      ];
    });
}

const MAX_IMAGES = 20;

/** The keywords of a page; empty and without a source when it declares none. */
type Keywords = { readonly values: readonly string[]; readonly source: MetadataSource | null };

const MAX_KEYWORDS = 100;
/** Longer entries are sentences in the wrong place. */
const MAX_KEYWORD_CHARS = 100;

/** Reads the first source with keywords: JSON-LD, `article:tag`, `<meta name="keywords">` and the like. */
function readKeywords({ jsonLd, facts, meta }: MetadataPage): Keywords {
  const places: readonly (readonly [MetadataSource, readonly string[]])[] = [
    ["json-ld", jsonLd.flatMap(({ keywords }) => termsOf(keywords))],
    ["meta", facts.properties.flatMap(([name, content]) => (name === "article:tag" ? [content] : []))],
    ["meta", listed(firstOf(meta, ["keywords", "news_keywords", "parsely-tags", "sailthru.tags"]) ?? "")],
  ];
  for (const [source, written] of places) {
    const values = eachOnce(written);
    if (values.length > 0) return { values, source };
  }
  return { values: [], source: null };
}

/** Reads schema.org keywords: one text with commas, or a list of texts and of terms with a name. */
function termsOf(keywords: unknown): string[] {
  const all = Array.isArray(keywords) ? keywords.slice(0, MAX_READ) : [keywords];
  return all.flatMap((one) =>
    typeof one === "string" ? listed(one) : isRecord(one) ? [textOf(one) ?? ""] : [],
  );
}

const MAX_READ = 1000;

const listed = (written: string): string[] => written.slice(0, MAX_READ * 10).split(/[,;、，]/, MAX_READ);

function eachOnce(written: readonly string[]): string[] {
  const values = new Map<string, string>();
  for (const one of written) {
    const value = one.length <= 4 * MAX_KEYWORD_CHARS ? tidyValue(one) : "";
    const folded = foldForComparison(value);
    if (folded === "" || value.length > MAX_KEYWORD_CHARS || values.has(folded)) continue;
    values.set(folded, value);
    if (values.size === MAX_KEYWORDS) break;
  }
  return [...values.values()];
}

/** Reads the section of the site that the page says it belongs to. */
function readSection({ jsonLd, meta }: MetadataPage): Sourced | null {
  for (const { articleSection } of jsonLd) {
    // Several sections are listed from the widest to the narrowest.
    const written = Array.isArray(articleSection)
      ? articleSection.find((one) => textOf(one))
      : articleSection;
    const value = tidyValue(textOf(written) ?? "");
    if (value !== "") return { value, source: "json-ld" };
  }
  const named = firstOf(meta, ["article:section", "parsely-section", "dc.subject.section"]);
  return named === null ? null : { value: tidyValue(named), source: "meta" };
}

/**
 * The least share of the odds that a publication date needs. Out of fold, dates at this threshold are right on 87 %
 * of the pages that have one, and 8 % of those without one get one.
 */
const pickDate = picker(DATE_TREES, DATE_FEATURES.length, 0.28);

/** Chooses the dates of publication and of the last change; null rather than a guess. */
function chooseDates({ days, rows, mentions }: ReturnType<typeof describeDates>): {
  readonly published: Sourced | null;
  readonly modified: Sourced | null;
} {
  const chosen = days[pickDate(rows)];
  const published = chosen ? mostPrecise(chosen.mentions) : null;
  const modified = lastChange(mentions);
  // A page cannot change before it is published, so one of the two dates is wrong.
  const isOrdered = !published || !modified || modified.value.slice(0, 10) >= published.value.slice(0, 10);
  return {
    published: published && sourced(published),
    modified: modified && isOrdered ? sourced(modified) : null,
  };
}

const sourced = ({ value, kind }: DateMention): Sourced => ({ value, source: sourceOfKind(kind) });

function lastChange(mentions: readonly DateMention[]): DateMention | null {
  for (const kind of MODIFIED_KINDS) {
    const found = mentions.find((mention) => mention.kind === kind);
    if (found) return found;
  }
  return (
    mentions.find(({ kind, shown }) => kind !== "ambiguous" && saysModified(shown?.before ?? "")) ?? null
  );
}

/** The kinds that give the day of publication, the most reliable first. */
const BY_TRUST: readonly string[] =
  `jsonLdPublished metaPublished timePublished jsonLdPagePublished jsonLdCreated
  timeCreated time metaOther text ambiguous url state timeModified jsonLdModified metaModified`.split(/\s+/);

const mostPrecise = (mentions: readonly DateMention[]): DateMention | null =>
  [...mentions].sort((one, other) => BY_TRUST.indexOf(one.kind) - BY_TRUST.indexOf(other.kind))[0] ?? null;

const pickTitle = picker(TITLE_TREES, TITLE_FEATURES.length, 0);

/**
 * The least share of the odds that a byline needs. Out of fold, bylines at this threshold are right on 81 % of the
 * pages that have one, and 9 % of those without one get one.
 */
const pickByline = picker(BYLINE_TREES, BYLINE_FEATURES.length, 0.2);

/** Chooses the byline that names who wrote the content; null rather than a guess. */
function chooseByline({ candidates, rows }: ReturnType<typeof describeBylines>): Sourced | null {
  const chosen = candidates[pickByline(rows)];
  return chosen ? { value: chosen.name, source: chosen.source } : null;
}

/**
 * Makes the function that takes a row of numbers for each candidate and returns the number of the likeliest one, or
 * -1 when none reaches the threshold. A candidate's odds are weighed against those of all others and of none being
 * right, which are 1. The trees are decoded when a page first needs them.
 * @param threshold least share of the odds, 0–1
 */
function picker(base64: string, width: number, threshold: number): (rows: Float32Array) => number {
  let trees: Trees | null = null;
  return (rows) => {
    trees ??= loadTrees(base64, width);
    const p = predict(trees, rows);
    let best = -1;
    let allOdds = 1;
    for (let index = 0; index < p.length; index++) {
      allOdds += oddsOf(p[index]!);
      if (best < 0 || p[index]! > p[best]!) best = index;
    }
    return best >= 0 && oddsOf(p[best]!) >= threshold * allOdds ? best : -1;
  };
}

/** A probability of 1 was rounded to 32 bits. */
const oddsOf = (p: number): number => p / Math.max(1 - p, 1e-7);
