import { isRecord } from "../base/json.ts";
import { type PageUrl, parsePageUrl, resolveHref } from "../urls/index.ts";
import { loadTrees, predict, type Trees } from "./classification/trees.ts";
import { pixels } from "./links.ts";
import { BYLINE_FEATURES, describeBylines, listsPeople } from "./metadata/byline.ts";
import {
  DATE_FEATURES,
  type DateMention,
  describeDates,
  MODIFIED_KINDS,
  saysModified,
} from "./metadata/date.ts";
import {
  firstOf,
  type MetadataInput,
  type MetadataPage,
  propertyText,
  type Sourced,
  sourceOf,
  viewPage,
} from "./metadata/metadata-page.ts";
import { BYLINE_TREES, DATE_TREES, TITLE_TREES } from "./metadata/metadata-trees.ts";
import { describeTitles, ownTitle, TITLE_FEATURES } from "./metadata/title.ts";
import type { PageFacts } from "./page/page-model.ts";
import { detached, foldForComparison, tidyValue } from "./text.ts";
import type { MetadataSource, PageType } from "./types.ts";

export type Metadata = ReturnType<typeof readMetadata>;

/**
 * Reads what the page says about its main content, and where each value was found. The language's source is null,
 * because it is found in the content later.
 */
export function readMetadata(input: MetadataInput, base: PageUrl | null) {
  const page = viewPage(input);
  const { facts, meta, siteName, lang } = page;
  const titles = describeTitles(page);
  const titleHere = titleOf(page, titles);
  const titleInContent = titleByPage(page) ?? titleHere;
  // A heading that the content leaves out is not lost.
  const title = [titleHere, titleInContent].find((one) => (one?.headingIndex ?? -1) >= 0) ?? titleHere;
  const byline = chooseByline(describeBylines(page, titles.block), page.pageType);
  const { published, modified } = chooseDates(describeDates(page, titles.block), page.pageType);
  const keywords = readKeywords(page);
  const section = readSection(page);
  return {
    title: ownCopy(title?.text),
    titleInContent: ownCopy(titleInContent?.text),
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

const titleOf = (page: MetadataPage, { candidates, rows }: ReturnType<typeof describeTitles>) =>
  ownTitle(page, candidates, pickTitle(rows, 0));

/** An address that names nothing. */
const NO_ADDRESS = "https://site.example/tide-table";

/** The address that a page gives itself wherever it stands. */
const declaredAddress = ({ canonicalHref, meta }: PageFacts): string =>
  parsePageUrl(canonicalHref ?? "") ?? parsePageUrl(meta.get("og:url") ?? "") ?? NO_ADDRESS;

/** The title by what the page says alone; null where it is the one at this address. */
function titleByPage(page: MetadataPage) {
  const said = declaredAddress(page.facts);
  if (said === page.url?.href) return null;
  const alone = { ...page, url: new URL(said) };
  return titleOf(alone, describeTitles(alone));
}

// A substring would keep its whole page in memory.
const ownCopy = (text: string | null | undefined): string | null => (text ? detached(text) : null);

function readDir({ dir: written }: PageFacts): "ltr" | "rtl" | null {
  const dir = written?.trim().toLowerCase();
  return dir === "ltr" || dir === "rtl" ? dir : null;
}

type Offered = { readonly url: string | null; readonly width: number | null; readonly height: number | null };

/** Reads the image offered for link previews: its absolute URL, and its size in pixels where stated. */
function readLeadImage(page: MetadataPage, base: PageUrl | null) {
  const offered = [...offeredByMeta(page), ...page.jsonLd.flatMap(({ image }) => offeredByJsonLd(image))];
  const absolute = ({ url }: Offered): string | null => (url ? resolveHref(url, base) : null);
  const chosen = offered.find((one) => /^https?:/.test(absolute(one) ?? ""));
  const address = chosen && absolute(chosen);
  if (!address) return { image: null, imageWidth: null, imageHeight: null };
  // Another declaration may give the size of the same image.
  const sized = offered.find((one) => (one.width ?? one.height) !== null && absolute(one) === address);
  return { image: detached(address), imageWidth: sized?.width ?? null, imageHeight: sized?.height ?? null };
}

const META_NAMES = ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"];

function offeredByMeta({ meta, facts }: MetadataPage): Offered[] {
  const size = sizeOfFirst(facts.properties);
  const sizeOf = (name: string) => (name.startsWith("og:") ? size : { width: null, height: null });
  return META_NAMES.map((name) => ({ url: meta.get(name) ?? null, ...sizeOf(name) }));
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
      const url = propertyText(one.url) ?? propertyText(one.contentUrl);
      return [{ url, width: pixels(one.width), height: pixels(one.height) }];
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
    typeof one === "string" ? listed(one) : isRecord(one) ? [propertyText(one) ?? ""] : [],
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
    const value = tidyValue(propertyText([articleSection].flat().find((one) => propertyText(one))) ?? "");
    if (value !== "") return { value, source: "json-ld" };
  }
  const named = firstOf(meta, ["article:section", "parsely-section", "dc.subject.section"]);
  return named === null ? null : { value: tidyValue(named), source: "meta" };
}

/**
 * The least share of the odds that a publication date needs. Out of fold, dates at this threshold are right on 87 %
 * of the pages that have one, and 8 % of those without one get one.
 */
const DATE_SHARE = 0.28;
const pickDate = picker(DATE_TREES, DATE_FEATURES.length);

type Dates = ReturnType<typeof describeDates>;
type Day = Dates["days"][number] | undefined;

/** Chooses the dates of publication and of the last change; null rather than a guess. */
function chooseDates(dates: Dates, pageType: PageType | null) {
  const { days, rows, mentions } = dates;
  const chosen = withDeclaration(days[pickDate(rows, DATE_SHARE)], dates, pageType);
  const published = chosen ? mostPrecise(chosen.mentions) : null;
  const modified = lastChange(mentions);
  // A page cannot change before it is published, so one of the two dates is wrong.
  const isOrdered = !published || !modified || modified.value.slice(0, 10) >= published.value.slice(0, 10);
  return {
    published: published && sourced(published),
    modified: modified && isOrdered ? sourced(modified) : null,
  };
}

const DECLARED_KINDS: readonly string[] = ["jsonLdPublished", "metaPublished", "jsonLdPagePublished"];
const NEVER_DECLINED: readonly string[] = ["jsonLdPublished", "metaPublished", "metaOther"];

/** Types of pages whose declared date belongs to their template or to an entry in a catalogue. */
const UNDATED_TYPES: readonly (PageType | null)[] = ["listing", "collection", "product", "service"];

/**
 * A declared day of publication beats the day of a change, and pages of text never decline it, although a `WebPage`
 * only declares when its URL came to be. A page that shows another day, without calling it a day of change, contradicts
 * itself; then the trees decide.
 */
function withDeclaration(chosen: Day, { days }: Dates, pageType: PageType | null): Day {
  if (chosen ? !isOfChange(chosen.mentions) : UNDATED_TYPES.includes(pageType)) return chosen;
  for (const kind of chosen ? DECLARED_KINDS : NEVER_DECLINED) {
    const declared = days.find(({ mentions }) => mentions.some((one) => one.kind === kind));
    if (declared) return chosen && declared.day > chosen.day ? chosen : declared;
  }
  return chosen;
}

const isOfChange = (mentions: readonly DateMention[]): boolean =>
  mentions.some(({ kind, shown }) => MODIFIED_KINDS.includes(kind) || saysModified(shown?.before ?? "")) &&
  !mentions.some(({ kind }) => DECLARED_KINDS.includes(kind));

const sourced = ({ value, kind }: DateMention): Sourced => ({ value, source: sourceOf(kind) });

function lastChange(mentions: readonly DateMention[]): DateMention | null {
  const [declared] = MODIFIED_KINDS.flatMap(
    (kind) => mentions.find((mention) => mention.kind === kind) ?? [],
  );
  const isSaid = ({ kind, shown }: DateMention) => kind !== "ambiguous" && saysModified(shown?.before ?? "");
  return declared ?? mentions.find(isSaid) ?? null;
}

/** The kinds that give the day of publication, the most reliable first. */
const BY_TRUST: readonly string[] =
  `jsonLdPublished metaPublished timePublished jsonLdPagePublished jsonLdCreated
  timeCreated time metaOther text ambiguous url state timeModified jsonLdModified metaModified`.split(/\s+/);

const mostPrecise = (mentions: readonly DateMention[]): DateMention | null =>
  [...mentions].sort((one, other) => BY_TRUST.indexOf(one.kind) - BY_TRUST.indexOf(other.kind))[0] ?? null;

const pickTitle = picker(TITLE_TREES, TITLE_FEATURES.length);

/**
 * The least share of the odds that a byline needs. Out of fold, bylines at this threshold are right on 81 % of the
 * pages that have one, and 9 % of those without one get one.
 */
const BYLINE_SHARE = 0.2;
const pickByline = picker(BYLINE_TREES, BYLINE_FEATURES.length);

/** The share above which no other name of a thread is preferred. */
const SURE_SHARE = 0.55;

/** Chooses the byline that names who wrote the content; null rather than a guess. */
function chooseByline(
  { candidates, rows }: ReturnType<typeof describeBylines>,
  pageType: PageType | null,
): Sourced | null {
  const likeliest = candidates[pickByline(rows, BYLINE_SHARE)];
  // A thread's first marked author asked; others, shown above, may have edited the question or spoken last.
  const isUnsure = pageType === "forum" && pickByline(rows, SURE_SHARE) < 0;
  const asked = isUnsure && candidates.find(({ mentions }) => mentions.some(({ kind }) => kind === "marked"));
  const chosen = likeliest && (asked || likeliest);
  // The trees may prefer the first of several authors to the list of them.
  const list = candidates.find((other) => chosen !== undefined && listsPeople(other, chosen.name));
  const named = list ?? chosen;
  return named ? { value: named.name, source: named.source } : null;
}

/**
 * Makes the function that takes a row of numbers for each candidate and returns the number of the likeliest one, or
 * -1 when it does not reach the threshold, the least share of the odds (0–1). A candidate's odds are weighed against those of all others and of none being
 * right, which are 1. The trees are decoded when a page first needs them.
 */
function picker(base64: string, width: number): (rows: Float32Array, threshold: number) => number {
  let trees: Trees | null = null;
  return (rows, threshold) => {
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
