import { isRecord } from "../base/json.ts";
import { type PageUrl, resolveHref } from "../urls/index.ts";
import { pixels } from "./links.ts";
import {
  chooseByline,
  chooseDates,
  chooseTitle,
  describeBylines,
  describeDates,
  describeTitles,
} from "./metadata/choose.ts";
import { firstOf, type Sourced, textOf } from "./metadata/declared.ts";
import { type MetadataInput, type MetadataPage, viewPage } from "./metadata/metadata-page.ts";
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
  const title = chooseTitle(titles);
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

/**
 * Reads the image that the page offers for link previews: its absolute URL, and its size in pixels where the page
 * states it.
 */
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

/**
 * Reads the keywords from the first source that has any: JSON-LD, `article:tag`, `<meta name="keywords">` and similar
 * names.
 */
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
