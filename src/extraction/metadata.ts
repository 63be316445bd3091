import type { PageUrl } from "../urls/index.ts";
import { detached, firstOf } from "./meta-tags.ts";
import { chooseByline, describeBylines } from "./metadata/choose-byline.ts";
import { chooseDates, describeDates } from "./metadata/choose-dates.ts";
import { chooseTitle, describeTitles } from "./metadata/choose-title.ts";
import { readLeadImage } from "./metadata/lead-image.ts";
import { type MetadataInput, viewPage } from "./metadata/metadata-page.ts";
import { readKeywords, readSection } from "./metadata/topics.ts";
import type { PageFacts } from "./page/page-model.ts";
import type { Article } from "./types.ts";

/** `sources` without the language's, which is found in the content. */
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

// A cut-out would keep its whole page in memory.
const ownCopy = (text: string | null | undefined): string | null => (text ? detached(text) : null);

function readDir({ dir: written }: PageFacts): "ltr" | "rtl" | null {
  const dir = written?.trim().toLowerCase();
  return dir === "ltr" || dir === "rtl" ? dir : null;
}
