import { announce, fill, h } from "../dom.ts";
import { counted } from "../format.ts";
import { problemMessage } from "../http.ts";
import { snippetNodes } from "../snippet.ts";
import { shownAddress } from "./addresses.ts";
import { type Hit, type SearchPage, searchTenants } from "./api.ts";
import { filterChips } from "./filters.ts";
import { showLooser } from "./looser.ts";
import { type Place, placeHash } from "./place.ts";

/** The answer of one tenant: hits, or the reason why there are none. */
type Answer = {
  readonly tenant: string;
  readonly page: SearchPage | null;
  readonly hits: readonly Hit[];
  readonly error: unknown;
};

/** What people call the tenants, by codename. */
export type TenantNames = ReadonlyMap<string, string>;

/** The number of hits of each tenant when all are searched; a search in one tenant shows more. */
const SIZE_OF_MANY = 4;
const SIZE_OF_ONE = 30;
/** Where the server's pages end. */
const MAX_OFFSET = 900;
/** The number of simultaneous requests, because the server has other callers. */
const AT_ONCE = 4;

export type ResultsOptions = {
  readonly place: Place;
  readonly tenants: TenantNames;
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
 * @throws AbortError by the signal
 */
export async function showResults(element: HTMLElement, options: ResultsOptions): Promise<boolean> {
  const { place, tenants, signal, onRetry } = options;
  element.setAttribute("aria-busy", "true");
  const overview = place.tenant === "" ? await askEverywhere(place, signal) : null;
  // A tenant that has nothing of what is asked for would refuse the filter.
  const known = place.filter === "" ? [...tenants.keys()] : Object.keys(overview?.facets.tenant ?? {});
  const asked = place.tenant === "" ? known : [place.tenant];
  const answers = await askAll(asked, place, signal);
  signal.throwIfAborted();
  element.removeAttribute("aria-busy");
  const found = answers.filter(({ hits }) => hits.length > 0).sort(byBestScore);
  const failed = answers.filter(({ error }) => error !== null);
  const shown = overview ?? (place.tenant === "" ? null : (answers[0]?.page ?? null));
  const count = shown?.total ?? found.reduce((sum, { hits }) => sum + hits.length, 0);
  const nameOf = (tenant: string): string => tenants.get(tenant) ?? tenant;
  const isRefused = failed.length === asked.length && failed.length > 0;
  const title = titleOf(place, { count, isRefused, nameOf });
  const focused = element.contains(document.activeElement) ? document.activeElement?.id : null;
  const looser = h("div.looser");
  fill(
    element,
    h("h2", { id: "results-title" }, title),
    shown && filterChips(place, shown),
    isRefused && problemMessage(failed[0]?.error, onRetry),
    ...found.map((answer) => group(answer, place, nameOf)),
    place.tenant !== "" && moreButton(element, place, count),
    looser,
    !isRefused && failed.length > 0 && faults(failed, { asked: asked.length, nameOf, onRetry }),
  );
  // A chip that was chosen is drawn again.
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  announce(title);
  if (count === 0 && !isRefused) await showLooser(looser, { place, signal, nameOf, itemOf: hitItem });
  return failed.length === 0;
}

/**
 * What all tenants have together; null where that cannot be said, as each tenant will tell for itself.
 * @throws RequestFailed for a filter that nothing meets
 */
async function askEverywhere(place: Place, signal: AbortSignal): Promise<SearchPage | null> {
  try {
    return await searchTenants({ ...place, size: 1, offset: 0, signal });
  } catch (error) {
    if (place.filter !== "" || signal.aborted) throw error;
    return null;
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

async function askAll(tenants: readonly string[], place: Place, signal: AbortSignal): Promise<Answer[]> {
  const answers: Answer[] = [];
  const waiting = tenants.values();
  const size = tenants.length > 1 ? SIZE_OF_MANY : SIZE_OF_ONE;
  const ask = async (): Promise<void> => {
    for (const tenant of waiting) {
      try {
        const page = await searchTenants({ ...place, tenant, size, offset: 0, signal });
        answers.push({ tenant, page, hits: page.hits, error: null });
      } catch (error) {
        if (signal.aborted) return;
        answers.push({ tenant, page: null, hits: [], error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return answers;
}

const byBestScore = (a: Answer, b: Answer): number => (b.hits[0]?.score ?? 0) - (a.hits[0]?.score ?? 0);

type NameOf = (tenant: string) => string;

function titleOf(
  { query, tenant }: Place,
  {
    count,
    isRefused,
    nameOf,
  }: { readonly count: number; readonly isRefused: boolean; readonly nameOf: NameOf },
): string {
  const where = tenant === "" ? "" : ` in ${nameOf(tenant)}`;
  if (count > 0) return `${counted(count, "result")} for “${query}”${where}`;
  return isRefused ? `No results for “${query}”${where}` : `Nothing found for “${query}”${where}`;
}

function group({ tenant, hits }: Answer, place: Place, nameOf: NameOf): HTMLElement {
  const list = h("ol.hits", ...hits.map((hit) => hitItem(hit, place)));
  if (place.tenant !== "") return list;
  const name = nameOf(tenant);
  const more = placeHash({ ...place, tenant, document: null });
  return h(
    "section.group",
    { "aria-label": name },
    h(
      "h3",
      name,
      hits.length === SIZE_OF_MANY &&
        h("a.more", { href: more, "aria-label": `All results in ${name}` }, "All results"),
    ),
    list,
  );
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
  failed: readonly Answer[],
  {
    asked,
    nameOf,
    onRetry,
  }: { readonly asked: number; readonly nameOf: NameOf; readonly onRetry: () => void },
): HTMLElement {
  const items = failed.map(({ tenant, error }) =>
    h("li", h("strong", nameOf(tenant)), ": ", error instanceof Error ? error.message : String(error)),
  );
  return h(
    "details.faults.fine",
    h("summary", `${failed.length} of ${counted(asked, "collection")} gave no answer`),
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
