import { fill, h } from "../dom.ts";
import { counted, formatAgo, formatTime } from "../format.ts";
import type { TenantRecord } from "./api.ts";
import { placeHash } from "./place.ts";

/** How many example queries of a collection are shown. */
const MAX_EXAMPLES = 3;

/** Shows what can be searched: the collections with what they are about, and queries to begin with. */
export const showCollections = (element: HTMLElement, tenants: readonly TenantRecord[]): void =>
  showList(element, h("ul.collections", ...tenants.map(card)));

/** Shows a list of tenants, or a note that it is empty. */
export function showList(element: HTMLElement, list: HTMLUListElement): void {
  const focused = document.activeElement?.id;
  fill(element, list.hasChildNodes() ? list : h("p", "The deployment file has no tenants yet."));
  // Redrawing must not take the focus away.
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function card(record: TenantRecord): HTMLElement {
  const { tenant, docs_name: name, description, index, last_completed_at: last } = record;
  const examples = record.test_queries.filter(({ hits }) => hits > 0).slice(0, MAX_EXAMPLES);
  const state = stateTag(record);
  return h(
    "li.collection.panel",
    h("h3", h("a", { href: placeHash({ tenant }), id: `tenant-${tenant}` }, name), state && " ", state),
    description !== name && h("p", description),
    examples.length > 0 &&
      h(
        "p.examples",
        ...examples.flatMap(({ query }) => [h("a.chip", { href: placeHash({ tenant, query }) }, query), " "]),
      ),
    h(
      "p.fine.number",
      index.doc_count === null ? "Nothing to search yet" : counted(index.doc_count, "document"),
      last !== null && h("span", { title: formatTime(last) }, ` · updated ${formatAgo(last)}`),
    ),
  );
}

export const isBusy = ({ state, index }: TenantRecord): boolean => state !== "idle" || index.building;

/** Returns a tag for a tenant's unusual state; null for the usual state. */
export function stateTag(record: TenantRecord): HTMLElement | null {
  if (record.state === "running" || record.index.building) return h("span.tag.live", "syncing");
  if (record.state === "queued") return h("span.tag.live", "waiting");
  if (record.last_error !== null) return h("span.tag.bad", "trouble");
  if (record.index.doc_count === null) return h("span.tag", "no index");
  if (record.problem !== null) return h("span.tag.bad", "trouble");
  return record.index.doc_count === 0 ? h("span.tag", "empty") : null;
}
