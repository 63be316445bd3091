import { announce, fill, h, snippetNodes } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import { problemMessage } from "../http.ts";
import { type Hit, type SearchPage, searchTenants } from "./api.ts";
import { type Place, placeHash, shownAddress } from "./place.ts";

/** Display names of the tenants, by codename. */
export type TenantNames = ReadonlyMap<string, string>;

/** The number of hits of each tenant when all are searched, and of all of them; a search in one tenant shows more. */
const SIZE_OF_EACH = 4;
const SIZE_OF_ALL = 60;
const SIZE_OF_ONE = 30;
/**
 * A hit with less than this share of the best score is a weaker one. Of the right documents among the first 30, .98 to 1
 * have at least this much on six labelled collections of documentation and one of abstracts, .88 and .77 on two others
 * of abstracts; of 30 hits, 9 to 22 have it on documentation.
 */
const ANSWERING = 0.5;
/** So few are shown whatever their scores are. */
const FEW = 5;
/** The highest offset that the server accepts. */
const MAX_OFFSET = 900;

type ResultsOptions = {
  readonly place: Place;
  /** They are read beside the search. */
  readonly tenants: Promise<TenantNames>;
  readonly signal: AbortSignal;
  readonly onRetry: () => void;
};

/** The hits that are on the page, by their links. */
const hitOfLink = new WeakMap<Element, Hit>();

/** The hit of a link, or of an element around or inside it; null where there is none. */
export function hitAt(
  element: Element | null,
): { readonly hit: Hit; readonly link: HTMLAnchorElement } | null {
  const link = element?.closest(".hits > li")?.querySelector<HTMLAnchorElement>("a.hit");
  const hit = link && hitOfLink.get(link);
  return link && hit ? { hit, link } : null;
}

/**
 * Searches the place's tenants and shows the results.
 * @returns false when a tenant gave no answer
 * @throws AbortError by the signal; RequestFailed when the tenants are not known
 */
export async function showResults(element: HTMLElement, options: ResultsOptions): Promise<boolean> {
  const { place, signal, onRetry } = options;
  element.setAttribute("aria-busy", "true");
  const [{ page, error }, tenants] = await Promise.all([ask(place, signal), options.tenants]).finally(() => {
    // A newer search is under way then.
    if (!signal.aborted) element.removeAttribute("aria-busy");
  });
  signal.throwIfAborted();
  const failures = page?.failures ?? [];
  const count = page?.total ?? 0;
  const nameOf = (tenant: string): string => tenants.get(tenant) ?? tenant;
  const found = page && answering(page, place);
  const title = titleOf(place, found, nameOf);
  const focused = element.contains(document.activeElement) ? document.activeElement?.id : null;
  const looser = h("div.looser");
  fill(
    element,
    h("h2", { id: "results-title" }, title),
    page && filterChips(place, page),
    page === null && problemMessage(error, onRetry),
    ...(found ? groups(found, place) : []),
    found && (place.tenant === "" ? others(found, place, nameOf) : moreButton(element, place, found)),
    looser,
    failures.length > 0 && faults(failures, tenants.size, onRetry),
  );
  // A chip that was chosen is drawn again.
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  announce(title);
  if (count === 0 && page !== null) await showLooser(looser, place, signal, nameOf);
  return page !== null && failures.length === 0;
}

/** One request for all tenants, or the one of the place; the reason where there is no answer. */
async function ask(
  place: Place,
  signal: AbortSignal,
): Promise<{ readonly page: SearchPage | null; readonly error: unknown }> {
  const isOfAll = place.tenant === "";
  const size = isOfAll ? SIZE_OF_ALL : SIZE_OF_ONE;
  const perTenant = isOfAll ? SIZE_OF_EACH : undefined;
  try {
    return { page: await searchTenants(place, { size, perTenant, offset: 0, signal }), error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { page: null, error };
  }
}

/** Hits that answer a search, and weaker hits that follow at a distance. */
type Found = SearchPage & { readonly weaker: readonly Hit[] };

/** Parts the weaker hits from those of one collection; of several collections only the best are read anyway. */
function answering(page: SearchPage, { tenant }: Place): Found {
  const { hits } = page;
  const least = ANSWERING * (hits[0]?.score ?? 0);
  const cut = tenant === "" ? -1 : hits.findIndex(({ score }, at) => at >= FEW && score < least);
  return cut < 0 ? { ...page, weaker: [] } : { ...page, hits: hits.slice(0, cut), weaker: hits.slice(cut) };
}

/** Makes the button that first shows the weaker hits below the answers, and then the next page of hits. */
function moreButton(element: HTMLElement, place: Place, { hits, weaker, total }: Found): HTMLElement | null {
  const list = (): HTMLElement | null => element.querySelector("ol.hits");
  const labelOf = (shown: number): string => `More results (${shown} of ${total})`;
  let waiting = weaker;
  if (total <= hits.length) return null;
  const label = weaker.length > 0 ? "Show weaker results" : labelOf(hits.length);
  const button = h("button", { type: "button", id: "more" }, label);
  button.addEventListener("click", async () => {
    const offset = list()?.childElementCount ?? 0;
    // The button is not disabled meanwhile, because it would lose the focus.
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      const hits =
        waiting.length > 0 ? waiting : (await searchTenants(place, { size: SIZE_OF_ONE, offset })).hits;
      const isPage = waiting.length === 0;
      waiting = [];
      const items = hits.map((hit) => hitItem(hit, place));
      list()?.append(...items);
      items[0]?.querySelector("a")?.focus();
      const shown = offset + items.length;
      announce(`${shown} of ${total} results`);
      button.textContent = labelOf(shown);
      if ((isPage && items.length < SIZE_OF_ONE) || shown >= total || shown > MAX_OFFSET) button.remove();
    } catch (error) {
      button.before(problemMessage(error, null));
    }
    button.removeAttribute("aria-disabled");
  });
  return button;
}

type NameOf = (tenant: string) => string;

function titleOf({ query, tenant }: Place, found: Found | null, nameOf: NameOf): string {
  const where = tenant === "" ? "" : ` in ${nameOf(tenant)}`;
  if (found === null) return `No results for “${query}”${where}`;
  // If all hits read so far answer, all further hits may.
  const count = found.weaker.length === 0 ? found.total : found.hits.length;
  const what = count === 0 ? "Nothing found for" : `${counted(count, "result")} for`;
  return `${what} “${query}”${where}`;
}

/** The hits of each tenant together, the tenant with the best one first. */
function groups({ hits, facets }: Found, place: Place): HTMLElement[] {
  if (place.tenant !== "") return [h("ol.hits", ...hits.map((hit) => hitItem(hit, place)))];
  return [...Map.groupBy(hits, ({ tenant }) => tenant)].map(([tenant, own]) => {
    const name = own[0]?.docs_name ?? tenant;
    const all = placeOfResults(place, tenant);
    return h(
      "section.group",
      { "aria-label": name },
      h(
        "h3",
        name,
        (facets.tenant?.[tenant] ?? 0) > own.length &&
          h("a.more", { href: all, "aria-label": `All results in ${name}` }, "All results"),
      ),
      h("ol.hits", ...own.map((hit) => hitItem(hit, place))),
    );
  });
}

const placeOfResults = (place: Place, tenant: string): string =>
  placeHash({ ...place, tenant, document: null });

/** Leads to the collections that have results, but none that answers as well. */
function others({ hits, facets }: Found, place: Place, nameOf: NameOf): HTMLElement | null {
  const shown = new Set(hits.map(({ tenant }) => tenant));
  const rest = Object.keys(facets.tenant ?? {}).filter((tenant) => !shown.has(tenant));
  if (rest.length === 0) return null;
  const links = rest.map((tenant) => h("a.chip", { href: placeOfResults(place, tenant) }, nameOf(tenant)));
  return h("nav.group.chips", { "aria-label": "More collections" }, h("span", "Also in"), ...links);
}

/** @param collection what the hit's collection is called, where nothing else says so */
function hitItem(hit: Hit, place: Place, collection = ""): HTMLElement {
  const { tenant, url, title, heading, anchor, snippet } = hit;
  const href = placeHash({ ...place, document: url, documentTenant: tenant, anchor });
  const link = h("a.hit", { href }, title || shownAddress(url));
  hitOfLink.set(link, hit);
  return h(
    "li",
    link,
    h(
      "p.fine.where",
      collection !== "" && `${collection} › `,
      shownAddress(url),
      heading !== "" && ` › ${heading}`,
    ),
    h("p.snippet", ...snippetNodes(snippet)),
  );
}

/** Says which collections gave no answer, below what the others have. */
function faults(
  failures: NonNullable<SearchPage["failures"]>,
  asked: number,
  onRetry: () => void,
): HTMLElement {
  const items = failures.map(({ docs_name: name, message }) => h("li", h("strong", name), ": ", message));
  return h(
    "details.faults.fine",
    h("summary", `${failures.length} of ${counted(asked, "collection")} did not answer`),
    h("ul", ...items),
    h("button.small", { type: "button", onclick: onRetry }, "Try again"),
  );
}

/** Moves the focus among the results. @returns false where there is nowhere to go */
export function moveAmongHits(element: HTMLElement, step: 1 | -1): boolean {
  const hits: readonly Element[] = [...element.querySelectorAll("a.hit")];
  const current = document.activeElement === null ? -1 : hits.indexOf(document.activeElement);
  const next = hits[current < 0 ? (step > 0 ? 0 : -1) : current + step];
  if (!(next instanceof HTMLElement)) return false;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

/** The names that chips are shown for, with what people call them. */
const NAMES: Readonly<Record<string, string>> = {
  kind: "Kind",
  language: "Language",
  version: "Version",
  group: "Group",
};

/** The most chips of a name. */
const MAX_CHIPS = 12;

/** The filter with another value for a name; null takes the name away. */
function withValue(filter: string, name: string, value: string | null): string {
  const others = filter.split(/\s+/).filter((word) => word !== "" && !word.startsWith(`${name}:`));
  return (value === null ? others : [...others, `${name}:${value}`]).join(" ");
}

/**
 * Links that narrow a search, with the number of documents behind each. A chip that is chosen takes its filter
 * away again.
 */
function filterChips(place: Place, { facets }: SearchPage): HTMLElement | null {
  const chosen = new Set(place.filter.split(/\s+/));
  const groups = Object.entries(NAMES).flatMap(([name, label]) => {
    // An object's whole numbers, such as versions, come before its other names, whatever their counts.
    const sorted = Object.entries(facets[name] ?? {}).sort(([, a], [, b]) => b - a);
    const values = sorted.slice(0, MAX_CHIPS);
    const isChosen = values.some(([value]) => chosen.has(`${name}:${value}`));
    if (values.length < 2 && !isChosen) return [];
    const chips = values.map(([value, count]) => {
      const isActive = chosen.has(`${name}:${value}`);
      const filter = withValue(place.filter, name, isActive ? null : value);
      const href = placeHash({ ...place, filter, document: null });
      const attributes = { href, id: `chip-${name}-${value}`, "aria-current": isActive ? "true" : null };
      return h("a.chip", attributes, value, " ", h("span.count", formatNumber(count)));
    });
    return h("div.chips", { role: "group", "aria-label": label }, h("span", label), ...chips);
  });
  const isFiltered = place.filter.trim() !== "";
  if (groups.length === 0 && !isFiltered) return null;
  const all = placeHash({ ...place, filter: "", document: null });
  return h(
    "nav.filters",
    { "aria-label": "Filters" },
    ...groups,
    isFiltered && h("a.fine", { href: all, id: "no-filter" }, `Without ${place.filter}`),
  );
}

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
function looserSearches(place: Place, nameOf: NameOf): LooserSearch[] {
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
      how: `Words starting with “${query}”`,
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
async function showLooser(
  element: HTMLElement,
  place: Place,
  signal: AbortSignal,
  nameOf: NameOf,
): Promise<void> {
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
    const inside = (hit: Hit): HTMLElement => hitItem(hit, looser, looser.tenant === "" ? hit.docs_name : "");
    return [h("section.group", { "aria-label": how }, h("h3", how, all), h("ol.hits", ...hits.map(inside)))];
  });
  const advice = "Try fewer or different words. Titles, headings, text and code are searched.";
  fill(element, ...(sections.length > 0 ? sections : [h("p.fine", advice)]));
}

/** The first hits of a search; null where it cannot be made. */
async function tried({ place }: LooserSearch, signal: AbortSignal): Promise<SearchPage | null> {
  try {
    return await searchTenants(place, { size: SIZE, offset: 0, isTry: true, signal });
  } catch {
    return null;
  }
}
