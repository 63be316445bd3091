import { isRecord } from "../../base/json.ts";
import { textOf } from "../json-ld.ts";
import { firstOf, type Sourced, tidyValue } from "../meta-tags.ts";
import { foldForComparison } from "../text.ts";
import type { MetadataSource } from "../types.ts";
import type { MetadataPage } from "./metadata-page.ts";

/** What a page says it is about; empty without a source when it says nothing. */
export type Keywords = { readonly values: readonly string[]; readonly source: MetadataSource | null };

export const MAX_KEYWORDS = 100;
/** What is longer is a sentence that stands in the wrong place. */
const MAX_KEYWORD_CHARS = 100;

/** The keywords of the first place that has some: JSON-LD, `article:tag`, `<meta name="keywords">` and its likes. */
export function readKeywords({ jsonLd, facts, meta }: MetadataPage): Keywords {
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

/** schema.org: one text with commas, or a list of texts and of terms with a name. */
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

/** The part of its site that a page stands in, as the page names it. */
export function readSection({ jsonLd, meta }: MetadataPage): Sourced | null {
  for (const { articleSection } of jsonLd) {
    // Several sections stand from the widest to the closest.
    const written = Array.isArray(articleSection)
      ? articleSection.find((one) => textOf(one))
      : articleSection;
    const value = tidyValue(textOf(written) ?? "");
    if (value !== "") return { value, source: "json-ld" };
  }
  const named = firstOf(meta, ["article:section", "parsely-section", "dc.subject.section"]);
  return named === null ? null : { value: tidyValue(named), source: "meta" };
}
