import { announce, fill, h } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import { problemMessage } from "../http.ts";
import { snippetNodes } from "../snippet.ts";
import { shownAddress } from "./addresses.ts";
import { type Hit, type SearchPage, searchTenants } from "./api.ts";
import { filterChips } from "./filters.ts";
import { showLooser } from "./looser.ts";
import { type Place, placeHash } from "./place.ts";

/** What people call the tenants, by codename. */
export type TenantNames = ReadonlyMap<string, string>;

/** The number of hits of each tenant when all are searched, and of all of them; a search in one tenant shows more. */
const SIZE_OF_EACH = 4;
const SIZE_OF_ALL = 60;
const SIZE_OF_ONE = 30;
/** Where the server's pages end. */
const MAX_OFFSET = 900;

export type ResultsOptions = {
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
  const title = titleOf(place, page, nameOf);
  const focused = element.contains(document.activeElement) ? document.activeElement?.id : null;
  const looser = h("div.looser");
  fill(
    element,
    h("h2", { id: "results-title" }, title),
    page && filterChips(place, page),
    page === null && problemMessage(error, onRetry),
    ...(page ? groups(page, place) : []),
    place.tenant === "" ? page && others(page, place, nameOf) : moreButton(element, place, count),
    looser,
    failures.length > 0 && faults(failures, tenants.size, onRetry),
  );
  // A chip that was chosen is drawn again.
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  announce(title);
  if (count === 0 && page !== null) await showLooser(looser, place, { signal, nameOf, itemOf: hitItem });
  return page !== null && failures.length === 0;
}

/** One request for all tenants, or the one of the place; the reason where there is no answer. */
async function ask(
  place: Place,
  signal: AbortSignal,
): Promise<{ readonly page: SearchPage | null; readonly error: unknown }> {
  const wish = place.tenant === "" ? { size: SIZE_OF_ALL, perTenant: SIZE_OF_EACH } : { size: SIZE_OF_ONE };
  try {
    return { page: await searchTenants({ ...place, ...wish, offset: 0, signal }), error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { page: null, error };
  }
}

/** Adds the next page of hits below those that are shown. */
function moreButton(element: HTMLElement, place: Place, total: number): HTMLElement | null {
  const list = (): HTMLElement | null => element.querySelector("ol.hits");
  const labelOf = (shown: number): string => `More results (${shown} of ${total})`;
  if (total <= SIZE_OF_ONE) return null;
  const button = h("button", { type: "button", id: "more" }, labelOf(SIZE_OF_ONE));
  button.addEventListener("click", async () => {
    const offset = list()?.childElementCount ?? 0;
    // The button is not disabled meanwhile, because it would lose the focus.
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      const { signal } = new AbortController();
      const { hits } = await searchTenants({ ...place, size: SIZE_OF_ONE, offset, signal });
      const items = hits.map((hit) => hitItem(hit, place));
      list()?.append(...items);
      items[0]?.querySelector("a")?.focus();
      const shown = offset + items.length;
      announce(`${shown} of ${total} results`);
      button.textContent = labelOf(shown);
      if (items.length < SIZE_OF_ONE || shown >= total || shown > MAX_OFFSET) button.remove();
    } catch (error) {
      button.before(problemMessage(error, null));
    }
    button.removeAttribute("aria-disabled");
  });
  return button;
}

type NameOf = (tenant: string) => string;

function titleOf({ query, tenant }: Place, page: SearchPage | null, nameOf: NameOf): string {
  const where = tenant === "" ? "" : ` in ${nameOf(tenant)}`;
  if (page === null) return `No results for “${query}”${where}`;
  const what = page.total > 0 ? `${counted(page.total, "result")} for` : "Nothing found for";
  return `${what} “${query}”${where}`;
}

/** The hits of each tenant together, the tenant with the best one first. */
function groups({ hits, facets }: SearchPage, place: Place): HTMLElement[] {
  if (place.tenant !== "") return [h("ol.hits", ...hits.map((hit) => hitItem(hit, place)))];
  return [...Map.groupBy(hits, ({ tenant }) => tenant)].map(([tenant, own]) => {
    const name = own[0]?.docs_name ?? tenant;
    const all = placeHash({ ...place, tenant, document: null });
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

/** Leads to the collections that have results, but none of the best. */
function others({ hits, facets }: SearchPage, place: Place, nameOf: NameOf): HTMLElement | null {
  const shown = new Set(hits.map(({ tenant }) => tenant));
  const rest = Object.entries(facets.tenant ?? {}).filter(([tenant]) => !shown.has(tenant));
  if (rest.length === 0) return null;
  const links = rest.map(([tenant, count]) => {
    const href = placeHash({ ...place, tenant, document: null });
    return h("a.chip", { href }, nameOf(tenant), " ", h("span.count", formatNumber(count)));
  });
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
    h("summary", `${failures.length} of ${counted(asked, "collection")} gave no answer`),
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
