import { byId, fill, h } from "../dom.ts";
import { problemMessage, requestJson } from "../http.ts";
import { showDocument } from "./document-view.ts";
import { type Place, placeHash, readPlace } from "./place.ts";
import { moveAmongHits, showResults } from "./results.ts";
import { TenantOverview } from "./tenants.ts";

/** The pause in typing that starts a search, in ms. */
const PAUSE_MS = 180;
const TITLE = "Documentation search";

const form = byId("search-form", HTMLFormElement);
const input = byId("query", HTMLInputElement);
const choice = byId("tenant", HTMLSelectElement);
const exact = byId("exact", HTMLInputElement);
const problem = byId("problem", HTMLElement);
const results = byId("results", HTMLElement);
const documentPlace = byId("document", HTMLElement);
const overview = byId("overview", HTMLElement);

let codenames: readonly string[] = [];
let underWay = new AbortController();
/** The search whose results are on the page, so that returning from a document needs no request. */
let shownSearch = "";
/** The result that was opened last, to which the reader returns. */
let lastHit: string | null = null;

const tenants = new TenantOverview({
  tenants: byId("tenants", HTMLElement),
  history: byId("history", HTMLElement),
  onTenants: (names) => {
    if (names.join() === codenames.join()) return;
    codenames = names;
    const place = readPlace();
    showChoice(place.tenant);
    // Only a search in all collections has waited for the names.
    if (place.query !== "" && place.tenant === "" && place.document === null) void show();
  },
});

async function show(): Promise<void> {
  underWay.abort();
  underWay = new AbortController();
  const { signal } = underWay;
  const place = readPlace();
  syncForm(place);
  const kind = place.document !== null ? "document" : place.query.trim() !== "" ? "results" : "overview";
  fill(problem);
  documentPlace.hidden = kind !== "document";
  overview.hidden = kind !== "overview";
  if (kind !== "results") results.hidden = true;
  // The names only fill the choice; without them the requested place can still be shown.
  if (codenames.length === 0 && (kind === "document" || (kind === "results" && place.tenant !== "")))
    void tenants.load().catch(() => {});
  try {
    if (kind === "document") await openDocument(place, signal);
    else if (kind === "results") await search(place, signal);
    else await tenants.refresh();
  } catch (error) {
    if (!signal.aborted)
      fill(
        problem,
        problemMessage(error, () => void show()),
      );
  }
}

function syncForm(place: Place): void {
  // While somebody types, the field is newer than the address.
  if (document.activeElement !== input) input.value = place.query;
  showChoice(place.tenant);
  exact.checked = place.isExact;
  document.title = place.query === "" ? TITLE : `${place.query} – ${TITLE}`;
}

/**
 * Offers all collections. The chosen one is listed before their names are known; otherwise the choice would be lost.
 */
function showChoice(tenant: string): void {
  const known = ["", ...codenames];
  const values = known.includes(tenant) ? known : [...known, tenant];
  // Replacing the options would close a list that somebody has open.
  if (values.join() !== Array.from(choice.options, ({ value }) => value).join())
    fill(choice, ...values.map((value) => h("option", { value }, value || "Everywhere")));
  choice.value = tenant;
}

async function openDocument(place: Place, signal: AbortSignal): Promise<void> {
  await showDocument(documentPlace, place, signal);
  const heading = documentPlace.querySelector("h1")?.textContent;
  if (heading) document.title = `${heading} – ${TITLE}`;
}

async function search(place: Place, signal: AbortSignal): Promise<void> {
  const asked = placeHash({ ...place, document: null });
  // The tenants arrive a moment after the page, and then this runs again.
  if (place.tenant === "" && codenames.length === 0) return void (await tenants.load());
  if (asked !== shownSearch) {
    const onRetry = (): void => void show();
    shownSearch = "";
    if (await showResults(results, { place, tenants: codenames, signal, onRetry })) shownSearch = asked;
  }
  results.hidden = false;
  returnToHit();
}

function returnToHit(): void {
  if (lastHit === null) return;
  const hit = [...results.querySelectorAll<HTMLAnchorElement>("a.hit")].find(({ hash }) => hash === lastHit);
  lastHit = null;
  hit?.focus();
  hit?.scrollIntoView({ block: "center" });
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
});

function move(event: KeyboardEvent): void {
  if (results.hidden || event.target === choice) return;
  const isDown = event.key === "ArrowDown";
  if (!isDown && event.target === input) return;
  event.preventDefault();
  // The field is above the first result.
  if (!moveAmongHits(results, isDown ? 1 : -1) && !isDown) input.focus();
}

/**
 * Goes one step back: from the document to the results, from a result to the field, from the field to the start.
 */
function leave(event: KeyboardEvent): void {
  const place = readPlace();
  if (place.document !== null) {
    event.preventDefault();
    location.hash = placeHash({ ...place, document: null });
  } else if (results.contains(document.activeElement)) {
    event.preventDefault();
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
  fill(byId("mode", HTMLElement), isOffline && h("span.tag", "offline: nothing is synced"), ` ${version}`);
}

window.addEventListener("hashchange", () => void show());
void show();
// The page works as well without it.
void showService().catch(() => {});
