import { byId, fill, h } from "../dom.ts";
import { requestJson, showProblem } from "../http.ts";
import { type Hit, listTenants } from "./api.ts";
import { isBusy, showCollections } from "./collections.ts";
import { type Neighbours, openInside, showDocument } from "./document-view.ts";
import { type Place, placeHash, readPlace, viewOf } from "./place.ts";
import { Preview } from "./preview.ts";
import { hitAt, moveAmongHits, showResults, type TenantNames } from "./results.ts";

/** The pause in typing that starts a search, in ms. */
const PAUSE_MS = 180;
const QUIET_MS = 10_000;
const BUSY_MS = 1000;
const TITLE = "Documentation search";

const form = byId("search-form", HTMLFormElement);
const input = byId("query", HTMLInputElement);
const choice = byId("tenant", HTMLSelectElement);
const exact = byId("exact", HTMLInputElement);
const problem = byId("problem", HTMLElement);
const results = byId("results", HTMLElement);
const documentPlace = byId("document", HTMLElement);
const overview = byId("overview", HTMLElement);

/** Display names of the collections; null before the server was asked. */
let names: TenantNames | null = null;
let underWay = new AbortController();
/** The search whose results are on the page, so that returning from a document needs no request. */
let shownSearch = "";
/** The address that the field stands for. */
let typedLast = placeHash(readPlace());
/** The result that was opened last, to which the reader returns. */
let lastHit: string | null = null;
let refreshTimer: ReturnType<typeof setTimeout> | undefined;

const preview = new Preview(byId("preview", HTMLElement), (address: string, { tenant, url }: Hit) =>
  openInside(address, url, { ...readPlace(), documentTenant: tenant }),
);

/** Reads which collections there are. @returns whether one is being synced @throws RequestFailed */
async function loadTenants(): Promise<boolean> {
  const tenants = await listTenants();
  names = new Map(tenants.map(({ tenant, docs_name: name }) => [tenant, name]));
  showChoice(readPlace().tenant);
  showCollections(byId("tenants", HTMLElement), tenants);
  return tenants.some(isBusy);
}

async function tenantNames(): Promise<TenantNames> {
  if (names === null) await loadTenants();
  return names ?? new Map();
}

/** Keeps the collections up to date while they are seen. */
async function showOverview(signal: AbortSignal): Promise<void> {
  clearTimeout(refreshTimer);
  const isAnyBusy = await loadTenants();
  if (signal.aborted) return;
  const again = (): void => void showOverview(signal).catch(() => {});
  refreshTimer = setTimeout(again, isAnyBusy ? BUSY_MS : QUIET_MS);
}

async function show(): Promise<void> {
  underWay.abort();
  underWay = new AbortController();
  const { signal } = underWay;
  const place = readPlace();
  syncForm(place);
  const kind = viewOf(place);
  fill(problem);
  documentPlace.hidden = kind !== "document";
  overview.hidden = kind !== "overview";
  document.documentElement.dataset.view = kind;
  if (kind !== "results") {
    results.hidden = true;
    preview.clear();
  }
  // The names only fill the choice; without them the requested document can still be shown.
  if (names === null && kind === "document") void loadTenants().catch(() => {});
  try {
    if (kind === "document") await openDocument(place, signal);
    else if (kind === "results") await search(place, signal);
    else await showOverview(signal);
  } catch (error) {
    if (signal.aborted) return;
    fill(byId("tenants", HTMLElement));
    showProblem(problem, error, () => void show());
  }
}

function syncForm(place: Place): void {
  // While somebody types, the field is newer than the address, but for the address that Back leads to.
  const hash = placeHash(place);
  if (document.activeElement !== input || hash !== typedLast) input.value = place.query;
  typedLast = hash;
  showChoice(place.tenant);
  exact.checked = place.isExact;
  document.title = place.query === "" ? TITLE : `${place.query} – ${TITLE}`;
}

/** Offers all collections, and the chosen one even before their names are known, so that it is not lost. */
function showChoice(tenant: string): void {
  const known: [string, string][] = [["", "Everywhere"], ...(names ?? [])];
  const options = known.some(([value]) => value === tenant) ? known : [...known, [tenant, tenant] as const];
  const written = (all: readonly (readonly [string, string])[]): string => JSON.stringify(all);
  const present = Array.from(choice.options, ({ value, label }) => [value, label] as const);
  // Replacing the options would close a list that somebody has open.
  if (written(options) !== written(present))
    fill(choice, ...options.map(([value, name]) => h("option", { value }, name)));
  choice.value = tenant;
}

async function openDocument(place: Place, signal: AbortSignal): Promise<void> {
  const showNeighbours = await showDocument(documentPlace, place, signal);
  const heading = documentPlace.querySelector("h1")?.textContent;
  if (heading) document.title = `${heading} – ${TITLE}`;
  if (!showNeighbours || place.query.trim() === "") return;
  // Opening a document's URL also runs its search in the background, for the neighbouring results.
  await searchFor(place, signal).catch(() => {});
  if (!signal.aborted) showNeighbours(neighboursOf(placeHash(place)));
}

/** Returns an opened document's position among the results; null if it is not a result. */
function neighboursOf(hash: string): Neighbours | null {
  const links = [...results.querySelectorAll<HTMLAnchorElement>("a.hit")];
  const at = links.findIndex((link) => link.hash === hash);
  const neighbour = (link: HTMLAnchorElement | undefined) =>
    link ? { hash: link.hash, title: link.textContent } : null;
  if (at < 0) return null;
  return {
    position: at + 1,
    count: links.length,
    before: neighbour(links[at - 1]),
    after: neighbour(links[at + 1]),
  };
}

async function search(place: Place, signal: AbortSignal): Promise<void> {
  await searchFor(place, signal);
  signal.throwIfAborted();
  results.hidden = false;
  if (!returnToHit()) preview.show(hitAt(results.querySelector("a.hit")));
}

async function searchFor(place: Place, signal: AbortSignal): Promise<void> {
  const asked = placeHash({ ...place, document: null, documentTenant: "" });
  if (asked === shownSearch) return;
  const onRetry = (): void => void show();
  shownSearch = "";
  const options = { place: { ...place, document: null }, tenants: tenantNames(), signal, onRetry };
  if (await showResults(results, options)) shownSearch = asked;
}

/** Goes back to the result that was opened. @returns whether there is one */
function returnToHit(): boolean {
  const links = [...results.querySelectorAll<HTMLAnchorElement>("a.hit")];
  const hit = links.find(({ hash }) => hash === lastHit);
  lastHit = null;
  hit?.focus();
  hit?.scrollIntoView({ block: "center" });
  return hit !== undefined;
}

const typed = (): string =>
  placeHash({
    query: input.value.trim(),
    tenant: choice.value,
    isExact: exact.checked,
    filter: readPlace().filter,
  });

/** @param isStep whether Back comes back to what was shown before */
function go(hash: string, isStep: boolean): void {
  typedLast = hash;
  if (isStep) location.hash = hash;
  else history.replaceState(null, "", hash);
  if (!isStep) void show();
}

let pause: ReturnType<typeof setTimeout> | undefined;
input.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(() => go(typed(), readPlace().document !== null || readPlace().query === ""), PAUSE_MS);
});
for (const field of [choice, exact])
  field.addEventListener("change", () => {
    clearTimeout(pause);
    go(typed(), readPlace().document !== null);
  });
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(pause);
  if (typed() === placeHash(readPlace())) moveAmongHits(results, 1);
  else go(typed(), false);
});
results.addEventListener("click", (event) => {
  const hit = event.target instanceof Element ? event.target.closest("a.hit") : null;
  if (hit instanceof HTMLAnchorElement) lastHit = hit.hash;
});
for (const kind of ["focusin", "pointerover"] as const)
  results.addEventListener(kind, ({ target }) => {
    if (target instanceof Element) preview.show(hitAt(target));
  });
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !overview.hidden) void show();
  else clearTimeout(refreshTimer);
});

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "/" && !isTyping(event.target)) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === "Escape") leave(event);
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
  else if ((event.key === "n" || event.key === "p") && !isTyping(event.target)) step(event.key);
});

/** Goes to the next or the previous result of the search that the open document is from. */
function step(key: "n" | "p"): void {
  const [before, after] = documentPlace.querySelectorAll<HTMLElement>(".neighbours .step");
  if (!documentPlace.hidden) (key === "n" ? after : before)?.click();
}

function move(event: KeyboardEvent): void {
  if (results.hidden || event.target === choice || event.target === byId("preview", HTMLElement)) return;
  const isDown = event.key === "ArrowDown";
  if (!isDown && event.target === input) return;
  event.preventDefault();
  // The field is above the first result.
  if (!moveAmongHits(results, isDown ? 1 : -1) && !isDown) input.focus();
}

/** Goes one step back: from the document to the results, from a result to the field, from there to the start. */
function leave(event: KeyboardEvent): void {
  const place = readPlace();
  if (place.document !== null) {
    event.preventDefault();
    lastHit = placeHash(place);
    location.hash = placeHash({ ...place, document: null });
  } else if (results.contains(document.activeElement) || lastHit !== null) {
    event.preventDefault();
    lastHit = null; // A return that is under way counts as made, and would take the focus back.
    input.focus();
    input.select();
  } else if (place.query !== "" || input.value !== "") {
    event.preventDefault();
    clearTimeout(pause);
    input.value = "";
    location.hash = placeHash({ tenant: place.tenant });
  }
}

/** Shows which service this is, above all whether it may sync. */
async function showService(): Promise<void> {
  type Health = { readonly infrastructure: { readonly operation_mode: string; readonly version: string } };
  const { infrastructure } = await requestJson<Health>("health");
  const { operation_mode: mode, version } = infrastructure;
  const isOffline = mode === "offline";
  fill(byId("mode", HTMLElement), isOffline && h("span.tag", "offline: no syncs"), ` ${version}`);
}

window.addEventListener("hashchange", () => void show());
void show();
// The page works as well without it.
void showService().catch(() => {});
