import type { QueriesRecord, QueryCounts } from "../../../api/search/query-log.ts";
import { fill, h } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import { parametersOf, requestJson, showProblem } from "../http.ts";
import { placeHash } from "../search/place.ts";

const SIZE = 50;

type List = "frequent" | "without_hits" | "without_click";

/** The title of each list, what it means, and what it counts of a query. */
const LISTS: readonly (readonly [List, title: string, meaning: string, (query: QueryCounts) => number])[] = [
  ["frequent", "Most frequent", "by number of searches", ({ searches }) => searches],
  ["without_hits", "Nothing found", "searches without results", (query) => query.without_hits],
  [
    "without_click",
    "Nothing opened",
    "results, but no document opened within ten minutes",
    ({ searches, without_hits: empty, followed }) => searches - empty - followed,
  ],
];

let asked = new AbortController();

/** Shows what people search for. @param days how many days count; empty for all that are kept */
export async function showQueries(element: HTMLElement, days: string): Promise<void> {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  try {
    const wish = parametersOf({ size: SIZE, days: days || undefined });
    const record = await requestJson<QueriesRecord>(`analytics?${wish}`, { signal });
    fill(
      element,
      h(
        "p.fine",
        `${counted(record.searches, "search", "searches")} for ${counted(record.queries, "query", "queries")} since ${record.since}`,
      ),
      h(
        "div.lists",
        ...LISTS.map(([list, title, meaning, count]) =>
          h(
            "section",
            { "aria-label": title },
            h("h3", title),
            h("p.fine", meaning),
            listOf(record[list], count),
          ),
        ),
      ),
    );
  } catch (error) {
    if (!signal.aborted) showProblem(element, error, () => void showQueries(element, days));
  }
}

function listOf(queries: readonly QueryCounts[], count: (query: QueryCounts) => number): HTMLElement {
  if (queries.length === 0) return h("p", "None.");
  const items = queries.map((one) =>
    h(
      "li",
      h("a", { href: `./${placeHash({ query: one.query })}` }, one.query),
      h("span.number", formatNumber(count(one))),
    ),
  );
  return h("ol", ...items);
}
