import { announce, fill, h } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import { problemMessage } from "../http.ts";
import { type Hit, type SearchPage, searchTenants } from "./mcp.ts";
import { type Place, placeHash } from "./place.ts";

/** The answer of one tenant: hits, or the reason why there are none. */
type Answer = {
  readonly tenant: string;
  readonly page: SearchPage | null;
  readonly hits: readonly Hit[];
  readonly error: unknown;
};

/** The number of hits of each tenant when all are searched; a search in one tenant shows more. */
const SIZE_OF_MANY = 4;
const SIZE_OF_ONE = 30;
/** Where the server's pages end. */
const MAX_OFFSET = 900;
/** The number of simultaneous requests, because the server has other callers. */
const AT_ONCE = 4;

/**
 * Searches the place's tenants and shows the results.
 * @returns false when a tenant gave no answer
 * @throws AbortError by the signal
 */
export async function showResults(
  element: HTMLElement,
  options: {
    readonly place: Place;
    readonly tenants: readonly string[];
    readonly signal: AbortSignal;
    readonly onRetry: () => void;
  },
): Promise<boolean> {
  const { place, tenants, signal, onRetry } = options;
  element.setAttribute("aria-busy", "true");
  const overview = place.tenant === "" ? await askEverywhere(place, signal) : null;
  // A tenant that has nothing of what is asked for would refuse the filter.
  const known = place.filter === "" ? tenants : Object.keys(overview?.facets.tenant ?? {});
  const asked = place.tenant === "" ? known : [place.tenant];
  const answers = await askAll(asked, place, signal);
  signal.throwIfAborted();
  element.removeAttribute("aria-busy");
  const found = answers.filter(({ hits }) => hits.length > 0).sort(byBestScore);
  const failed = answers.filter(({ error }) => error !== null);
  const shown = overview ?? (place.tenant === "" ? null : (answers[0]?.page ?? null));
  const count = shown?.total ?? found.reduce((sum, { hits }) => sum + hits.length, 0);
  const title = titleOf(place, count, failed.length);
  const focused = element.contains(document.activeElement) ? document.activeElement?.id : null;
  fill(
    element,
    h("h2", { id: "results-title" }, title),
    shown && filterChips(place, shown),
    ...found.map((answer) => group(answer, place)),
    place.tenant !== "" && moreButton(element, place, count),
    ...failures(failed, asked.length, onRetry),
    count === 0 && failed.length === 0 && advice(place),
  );
  // A chip that was chosen is drawn again.
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  announce(title);
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
      const items = hits.map((hit) => hitItem(hit, place.tenant, place));
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

function titleOf({ query, tenant }: Place, count: number, failures: number): string {
  const where = tenant === "" ? "" : ` in ${tenant}`;
  if (count > 0) return `${counted(count, "result")} for “${query}”${where}`;
  return failures > 0 ? `No results for “${query}”${where}` : `Nothing found for “${query}”${where}`;
}

function group({ tenant, hits }: Answer, place: Place): HTMLElement {
  const list = h("ol.hits", ...hits.map((hit) => hitItem(hit, tenant, place)));
  if (place.tenant !== "") return list;
  const more = placeHash({ ...place, tenant, document: null });
  return h(
    "section.group",
    { "aria-label": tenant },
    h("h3", tenant, hits.length === SIZE_OF_MANY && h("a.more", { href: more }, `All results in ${tenant}`)),
    list,
  );
}

function hitItem(hit: Hit, tenant: string, place: Place): HTMLElement {
  const { url, title, heading, anchor, snippet } = hit;
  const href = placeHash({ ...place, document: url, documentTenant: tenant, anchor });
  return h(
    "li",
    h("a.hit", { href }, title || url),
    h("p.fine.where", shortUrl(url), heading !== "" && ` › ${heading}`),
    h("p.snippet", ...snippetNodes(snippet)),
  );
}

/** Formats an address for people. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, "");

/** Shows failures; one that all tenants share, such as an unreachable server, is shown once. */
function failures(failed: readonly Answer[], asked: number, onRetry: () => void): HTMLElement[] {
  const texts = new Set(failed.map(({ error }) => String(error)));
  if (failed.length === asked && texts.size === 1) return [problemMessage(failed[0]?.error, onRetry)];
  return failed.map(({ tenant, error }) => {
    const message = problemMessage(error, null);
    message.querySelector("strong")?.append(` in ${tenant}`);
    return message;
  });
}

const advice = ({ isExact, tenant, filter }: Place): HTMLElement =>
  h(
    "p.fine",
    [
      "Fewer or other words may find more.",
      isExact ? " Words are matched exactly now; without that, their other forms count too." : "",
      filter === "" ? "" : ` Only ${filter} is searched now.`,
      tenant === "" ? "" : " Other collections may have it: search everywhere.",
    ].join(""),
  );

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

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/**
 * Turns a snippet of the server (escaped text, `<mark>` around matches) into nodes; any other tag stays text.
 */
function snippetNodes(snippet: string): Node[] {
  const nodes: Node[] = [];
  for (const [place, part] of snippet.split(/<mark>|<\/mark>/).entries()) {
    const text = part.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
    if (text !== "") nodes.push(place % 2 === 1 ? h("mark", text) : document.createTextNode(text));
  }
  return nodes;
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
function filterChips(place: Place, { facets }: Pick<SearchPage, "facets">): HTMLElement | null {
  const chosen = new Set(place.filter.split(/\s+/));
  const groups = Object.entries(NAMES).flatMap(([name, label]) => {
    // An object's whole numbers, such as versions, come before its other names, whatever their counts.
    const sorted = Object.entries(facets[name] ?? {}).sort(([, a], [, b]) => b - a);
    const values = sorted.slice(0, MAX_CHIPS);
    const isChosen = values.some(([value]) => chosen.has(`${name}:${value}`));
    if (values.length < 2 && !isChosen) return [];
    const chips = values.map(([value, count]) => chip(place, { name, value, count, chosen }));
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

type Chip = {
  readonly name: string;
  readonly value: string;
  readonly count: number;
  readonly chosen: ReadonlySet<string>;
};

function chip(place: Place, { name, value, count, chosen }: Chip): HTMLElement {
  const isChosen = chosen.has(`${name}:${value}`);
  const filter = withValue(place.filter, name, isChosen ? null : value);
  return h(
    "a",
    {
      href: placeHash({ ...place, filter, document: null }),
      class: "chip",
      id: `chip-${name}-${value}`,
      "aria-current": isChosen ? "true" : null,
    },
    value,
    " ",
    h("span.count", formatNumber(count)),
  );
}
