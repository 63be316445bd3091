import type { Choice } from "../classification/choose.ts";
import { type JsonLdObject, textOf } from "../json-ld.ts";
import { firstOf, type MetaTags, readMetaTags, tidyValue } from "../meta-tags.ts";
import type { PageFacts, ScannedPage } from "../page/page-model.ts";
import { foldForComparison } from "../text.ts";
import type { PageType } from "../types.ts";
import { Places } from "./places.ts";

/** A page as the metadata readers see it: what it says about itself, and where things stand. */
export type MetadataPage = {
  readonly facts: PageFacts;
  readonly meta: MetaTags;
  readonly jsonLd: readonly JsonLdObject[];
  readonly places: Places;
  readonly pageType: PageType | null;
  readonly siteName: string | null;
  /** The BCP 47 language tag that the page declares. */
  readonly lang: string | null;
  /** Today as an ISO 8601 day; a page's dates lie before it. */
  readonly today: string;
  readonly url: URL | null;
};

/** The input that the metadata of a page is read from. */
export type MetadataInput = {
  readonly page: ScannedPage;
  readonly choice: Pick<Choice, "blocks" | "pageType">;
  readonly jsonLd: readonly JsonLdObject[];
  readonly url: string | null;
};

export function viewPage({ page, choice, jsonLd, url }: MetadataInput): MetadataPage {
  const meta = readMetaTags(page.facts);
  return {
    facts: page.facts,
    meta,
    jsonLd,
    places: new Places(page.model, choice),
    pageType: choice.pageType,
    siteName: readSiteName(page.facts, meta, jsonLd),
    lang: readLang(page.facts, meta),
    today: new Date().toISOString().slice(0, 10),
    url: url === null ? null : new URL(url),
  };
}

function readSiteName(facts: PageFacts, meta: MetaTags, jsonLd: readonly JsonLdObject[]): string | null {
  const named = firstOf(meta, ["og:site_name", "application-name", "twitter:site:name"]);
  // Some pages declare their own title as the site's name.
  const isTitle = named !== null && facts.headings.some(({ text }) => sameWords(text, named));
  if (named && !isTitle) return named;
  for (const object of jsonLd) {
    const publisher = textOf(object.publisher);
    if (publisher && !publisher.startsWith("http")) return tidyValue(publisher);
  }
  return named;
}

const sameWords = (one: string, other: string): boolean =>
  foldForComparison(one) === foldForComparison(other);

function readLang(facts: PageFacts, meta: MetaTags): string | null {
  const written =
    facts.htmlLang?.trim() ||
    facts.bodyLang?.trim() ||
    firstOf(meta, ["content-language", "og:locale", "dc.language"]);
  // No registered language has a longer first subtag, such as "english".
  if (!written || !/^[a-z]{2,3}(?![a-z])/i.test(written)) return null;
  try {
    return Intl.getCanonicalLocales(written.replace(/_/g, "-"))[0] ?? null;
  } catch {
    return null;
  }
}
