import { foldForComparison } from "../text.ts";
import type { MetadataPage } from "./metadata-page.ts";
import { TITLE_TREES } from "./metadata-trees.ts";
import { Picker } from "./picker.ts";
import { foldedWords, shareIn } from "./text-overlap.ts";
import { findTitleCandidates, type TitleCandidate } from "./title-candidates.ts";
import { computeTitleFeatures, TITLE_FEATURES } from "./title-features.ts";

/**
 * The candidates for a page's title, with a row of `TITLE_FEATURES` for each, and the block where the page shows its
 * title.
 */
export type DescribedTitles = {
  readonly candidates: readonly TitleCandidate[];
  readonly rows: Float32Array;
  /** The block of the heading that matches the page's title best; -1 when no heading comes close. */
  readonly block: number;
};

const picker = new Picker(TITLE_TREES, TITLE_FEATURES.length);

export function describeTitles(page: MetadataPage): DescribedTitles {
  const { facts, meta, siteName, url, pageType, places } = page;
  const candidates = findTitleCandidates(page);
  const rows = computeTitleFeatures(candidates, {
    pageTitle: facts.title,
    openGraph: meta.get("og:title") ?? meta.get("twitter:title") ?? "",
    siteName,
    url,
    headingCount: facts.headings.length,
    pageType,
    places,
  });
  return { candidates, rows, block: titleBlock(page, candidates) };
}

/** Chooses the likeliest title; null when the page has no candidate. */
export function chooseTitle({ candidates, rows }: DescribedTitles): TitleCandidate | null {
  return candidates[picker.pick(rows, 0)] ?? null;
}

// A rule finds this block, not the trees, so that features measured from it do not depend on the trees.
function titleBlock({ facts, places }: MetadataPage, candidates: readonly TitleCandidate[]): number {
  const said = foldedWords(facts.title);
  const headings = candidates.filter(({ element }) => element >= 0);
  const agreeing = headings.find(({ text }) => shareIn(foldedWords(text), said) >= 0.5) ?? headings[0];
  if (agreeing) return places.blockOf(agreeing.element);
  const folded = candidates[0]?.folded;
  const { text, count } = places.model.blocks;
  const end = Math.min(Math.max(places.first, 0) + 10, count);
  for (let block = Math.max(0, places.first - 40); block < end; block++) {
    if (text[block]!.length < 400 && foldForComparison(text[block]!) === folded) return block;
  }
  return -1;
}
