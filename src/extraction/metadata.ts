import { type PageUrl, resolveHref } from "../urls/index.ts";
import { textOf } from "./json-ld.ts";
import { detached, firstOf } from "./meta-tags.ts";
import { chooseByline, describeBylines } from "./metadata/choose-byline.ts";
import { chooseDates, describeDates } from "./metadata/choose-dates.ts";
import { chooseTitle, describeTitles } from "./metadata/choose-title.ts";
import { type MetadataInput, type MetadataPage, viewPage } from "./metadata/metadata-page.ts";
import type { PageFacts } from "./page/page-model.ts";
import type { Article } from "./types.ts";

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
  return {
    title: ownCopy(title?.text),
    byline: ownCopy(byline?.value),
    siteName: ownCopy(siteName),
    publishedDate: ownCopy(published?.value),
    modifiedDate: ownCopy(modified?.value),
    lang,
    dir: readDir(facts),
    excerpt: ownCopy(firstOf(meta, ["description", "og:description", "twitter:description"])),
    image: readImage(page, base),
    sources: {
      title: title?.source ?? null,
      byline: byline?.source ?? null,
      publishedDate: published?.source ?? null,
      modifiedDate: modified?.source ?? null,
    },
  };
}

// A cut-out would keep its whole page in memory.
const ownCopy = (text: string | null | undefined): string | null => (text ? detached(text) : null);

const IMAGE_NAMES = ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"];

/** The image that the page offers for links to it, absolute. */
function readImage({ meta, jsonLd }: MetadataPage, base: PageUrl | null): string | null {
  const offered = [
    ...IMAGE_NAMES.map((name) => meta.get(name)),
    ...jsonLd.map(({ image }) => imageOf(image)),
  ];
  for (const reference of offered) {
    const absolute = reference ? resolveHref(reference, base) : null;
    if (absolute !== null && /^https?:/.test(absolute)) return absolute;
  }
  return null;
}

/** A schema.org image: a URL, an ImageObject, or a list of either. */
function imageOf(image: unknown): string | null {
  const [first] = [image].flat();
  if (typeof first === "string") return first;
  return typeof first === "object" && first !== null && "url" in first ? textOf(first.url) : null;
}

function readDir({ dir: written }: PageFacts): "ltr" | "rtl" | null {
  const dir = written?.trim().toLowerCase();
  return dir === "ltr" || dir === "rtl" ? dir : null;
}
