import { fill, h } from "../dom.ts";
import { counted } from "../format.ts";
import { type Hit, type SearchPage, searchTenants } from "./api.ts";
import { type Place, placeHash } from "./place.ts";

/** A search that may find something where another found nothing. */
type LooserSearch = { readonly place: Place; readonly how: string };

/** How many hits of each are shown. */
const SIZE = 3;
/** A shorter beginning of a word would find anything. */
const MIN_BEGINNING = 4;
const MAX_SEARCHES = 6;

/**
 * The searches to try, the nearest first: with all forms of the words, without the filter, without quotes, in other
 * collections, and with the beginnings of long words.
 */
function looserSearches(place: Place, nameOf: (tenant: string) => string): LooserSearch[] {
  const where = place.tenant === "" ? "" : ` in ${nameOf(place.tenant)}`;
  const bare = { ...place, document: null, anchor: null };
  const unquoted = place.query.replace(/["\u201c\u201d\u201e\u00ab\u00bb]/g, " ").trim();
  const inexact = { ...bare, isExact: false };
  const words = unquoted.split(/\s+/).filter((word) => word.length > MIN_BEGINNING);
  const beginnings = words.flatMap((word) =>
    [2 / 3, 1 / 2].map((share) => word.slice(0, Math.max(MIN_BEGINNING, Math.ceil(word.length * share)))),
  );
  const searches: LooserSearch[] = [
    { place: inexact, how: `With other forms of the words${where}` },
    { place: { ...inexact, filter: "" }, how: `Without ${place.filter}${where}` },
    { place: { ...inexact, filter: "", query: unquoted }, how: `Without quotes${where}` },
    { place: { ...inexact, filter: "", query: unquoted, tenant: "" }, how: "In other collections" },
    ...beginnings.map((query) => ({
      place: { ...inexact, filter: "", query, tenant: "" },
      how: `Words that begin with “${query}”`,
    })),
  ];
  const seen = new Set([placeHash(bare)]);
  const isNew = ({ place: one }: LooserSearch): boolean => {
    const hash = placeHash(one);
    return !seen.has(hash) && Boolean(seen.add(hash));
  };
  return searches.filter((search) => search.place.query !== "" && isNew(search)).slice(0, MAX_SEARCHES);
}

/** Shows what looser searches find, and what to do when they find nothing either. @throws AbortError by the signal */
export async function showLooser(
  element: HTMLElement,
  place: Place,
  options: {
    readonly signal: AbortSignal;
    readonly nameOf: (tenant: string) => string;
    readonly itemOf: (hit: Hit, place: Place, collection: string) => HTMLElement;
  },
): Promise<void> {
  const { signal, nameOf, itemOf } = options;
  const searches = looserSearches(place, nameOf);
  const pages = await Promise.all(searches.map((search) => tried(search, signal)));
  signal.throwIfAborted();
  const shown = new Set<string>();
  const sections = searches.flatMap(({ place: looser, how }, at) => {
    const page = pages[at];
    const hits = (page?.hits ?? []).filter(({ url }) => !shown.has(url));
    if (!page || hits.length === 0) return [];
    for (const { url } of hits) shown.add(url);
    const all = h("a.more", { href: placeHash(looser) }, `Show ${counted(page.total, "result")}`);
    const inside = (hit: Hit): HTMLElement => itemOf(hit, looser, looser.tenant === "" ? hit.docs_name : "");
    return [h("section.group", { "aria-label": how }, h("h3", how, all), h("ol.hits", ...hits.map(inside)))];
  });
  const advice =
    "Fewer or other words may find more; every word is looked for in titles, headings, text and code.";
  fill(element, ...(sections.length > 0 ? sections : [h("p.fine", advice)]));
}

/** The first hits of a search; null where it cannot be made. */
async function tried({ place }: LooserSearch, signal: AbortSignal): Promise<SearchPage | null> {
  try {
    return await searchTenants({ ...place, size: SIZE, offset: 0, isTry: true, signal });
  } catch {
    return null;
  }
}
