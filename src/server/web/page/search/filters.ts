import { h } from "../dom.ts";
import { formatNumber } from "../format.ts";
import type { SearchPage } from "./api.ts";
import { type Place, placeHash } from "./place.ts";

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
export function filterChips(place: Place, { facets }: Pick<SearchPage, "facets">): HTMLElement | null {
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
