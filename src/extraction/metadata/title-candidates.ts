import { type JsonLdObject, textOf } from "../json-ld.ts";
import { type MetaTags, visibleLine } from "../meta-tags.ts";
import { ElementFlag, type PageFacts } from "../page/page-model.ts";
import { foldForComparison } from "../text.ts";
import type { MetadataSource } from "../types.ts";
import { unescapeTwice } from "./escaped.ts";
import type { Places } from "./places.ts";
import { foldedWords, shareIn } from "./text-overlap.ts";

/** The sources of a candidate's words, one bit each; a text may come from several. */
export const TitleOrigin = {
  heading: 1,
  openGraph: 2,
  twitter: 4,
  page: 8,
  jsonLd: 16,
  block: 32,
  /** A part of og:title or a similar property, and of `<title>`. */
  openGraphPart: 64,
  pagePart: 128,
  otherMeta: 256,
} as const;

/** Describes how a candidate was cut out of a longer text. */
export type TitleCut = {
  /** The part that was removed. */
  readonly removed: string;
  readonly keepsFront: boolean;
  /** The kind of separator: 0 for a bar or similar, 1 for a dash, 2 for a colon. */
  readonly separator: number;
};

/** A text that may be the title; texts that differ only in case or punctuation are one candidate. */
export type TitleCandidate = {
  text: string;
  readonly folded: string;
  source: MetadataSource;
  origins: number;
  /** The number among the level-1 headings, and the element; -1 for none. */
  headingIndex: number;
  element: number;
  cut: TitleCut | null;
};

export type TitleSources = {
  readonly facts: PageFacts;
  readonly meta: MetaTags;
  readonly jsonLd: readonly JsonLdObject[];
  readonly places: Places;
  readonly siteName: string | null;
};

const SHOWN = TitleOrigin.heading | TitleOrigin.block;
const MAX_CANDIDATES = 24;
const MAX_HEADINGS = 6;
const MAX_BLOCK_HEADINGS = 3;
/** Longer texts are only searched for parts up to this length. */
const MAX_SPLIT_CHARS = 400;
const OTHER_META = ["title", "dc.title", "dcterms.title", "headline", "parsely-title", "sailthru.title"];

/** Finds the texts of a page that may be its title, each once. */
export function findTitleCandidates(page: TitleSources): TitleCandidate[] {
  const { facts, meta, jsonLd, siteName } = page;
  const found = new Candidates();
  facts.headings.slice(0, MAX_HEADINGS).forEach(({ text, element }, index) => {
    const candidate = found.add(text, "heading", TitleOrigin.heading);
    if (candidate === null || candidate.headingIndex >= 0) return;
    candidate.headingIndex = index;
    candidate.element = element;
  });
  const openGraph = meta.get("og:title") ?? "";
  const twitter = meta.get("twitter:title") ?? "";
  found.add(openGraph, "meta", TitleOrigin.openGraph);
  found.add(twitter, "meta", TitleOrigin.twitter);
  found.add(facts.title, "title", TitleOrigin.page);
  for (const object of jsonLd.slice(0, 4)) {
    found.add(textOf(object.headline) ?? "", "json-ld", TitleOrigin.jsonLd);
    found.add(textOf(object.name) ?? "", "json-ld", TitleOrigin.jsonLd);
  }
  for (const name of OTHER_META) found.add(meta.get(name) ?? "", "meta", TitleOrigin.otherMeta);
  addParts(found, openGraph, { source: "meta", origin: TitleOrigin.openGraphPart });
  addParts(found, facts.title, { source: "title", origin: TitleOrigin.pagePart });
  if (twitter !== openGraph) addParts(found, twitter, { source: "meta", origin: TitleOrigin.openGraphPart });
  addBlockHeadings(found, page);
  return withoutSiteName(found.list, foldForComparison(siteName ?? ""));
}

/** Drops the site's name, and texts that contain it when the rest is a candidate too. */
function withoutSiteName(candidates: readonly TitleCandidate[], site: string): TitleCandidate[] {
  const wholes = new Set<string>();
  for (const { folded, cut } of candidates) {
    if (cut && foldForComparison(cut.removed) === site)
      wholes.add(`${site} ${folded}`).add(`${folded} ${site}`);
  }
  return candidates.filter(
    ({ folded, origins }) => (origins & SHOWN) !== 0 || (folded !== site && !wholes.has(folded)),
  );
}

/** Collects the candidates in the order in which they are found. */
class Candidates {
  readonly list: TitleCandidate[] = [];
  readonly #byText = new Map<string, TitleCandidate>();

  add(
    written: string,
    source: MetadataSource,
    origin: number,
    cut: TitleCut | null = null,
  ): TitleCandidate | null {
    const shows = source === "heading" || source === "title";
    const text = shows ? visibleLine(written) : visibleLine(unescapeTwice(written));
    const folded = foldForComparison(text);
    if (folded === "") return null;
    const known = this.#byText.get(folded);
    if (known) {
      known.origins |= origin;
      known.cut ??= cut;
      return known;
    }
    if (this.list.length >= MAX_CANDIDATES) return null;
    const candidate = { text, folded, source, origins: origin, headingIndex: -1, element: -1, cut };
    this.list.push(candidate);
    this.#byText.set(folded, candidate);
    return candidate;
  }
}

// Matches separators in a line with single spaces.
const SEPARATOR = /\s?[|｜•·»«›‹]+\s?|\s[-–—−~/\\:]+\s|(?<=[^\s\d]): /g;
const MAX_SEPARATORS = 6;

type Part = { readonly source: MetadataSource; readonly origin: number };

/** Adds what precedes and what follows each separator of a text. */
function addParts(found: Candidates, written: string, { source, origin }: Part): void {
  const text = visibleLine(written).slice(0, MAX_SPLIT_CHARS);
  const separators = [...text.matchAll(SEPARATOR)];
  if (separators.length > MAX_SEPARATORS) separators.splice(3, separators.length - MAX_SEPARATORS);
  for (const match of separators) {
    const front = text.slice(0, match.index);
    const back = text.slice(match.index + match[0].length);
    if (front === "" || back === "") continue;
    const separator = /[|｜•·»«›‹]/.test(match[0]) ? 0 : match[0].includes(":") ? 2 : 1;
    found.add(front, source, origin, { removed: back, keepsFront: true, separator });
    found.add(back, source, origin, { removed: front, keepsFront: false, separator });
  }
}

/**
 * Adds headings of any level near the start of the content that also appear in the page's declared titles.
 */
function addBlockHeadings(found: Candidates, { facts, meta, places }: TitleSources): void {
  const { blocks } = places.model;
  if (places.first < 0) return;
  const said = foldedWords(`${facts.title} ${meta.get("og:title") ?? ""}`);
  let count = 0;
  const end = Math.min(places.first + 6, blocks.count);
  for (let block = Math.max(0, places.first - 12); block < end && count < MAX_BLOCK_HEADINGS; block++) {
    if ((blocks.flags[block]! & ElementFlag.heading) === 0) continue;
    if (shareIn(foldedWords(blocks.text[block]!), said) < 0.5) continue;
    const candidate = found.add(blocks.text[block]!, "heading", TitleOrigin.block);
    if (candidate === null) continue;
    count++;
    if (candidate.element >= 0) continue;
    candidate.element = places.elementOf(block);
    // A visible heading has the spelling that readers see.
    candidate.source = "heading";
    candidate.text = visibleLine(blocks.text[block]!);
  }
}
