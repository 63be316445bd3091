import type { QueriesRecord, QueryCounts } from "../../../api/search/query-log.ts";
import { fill, h } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import { requestJson, showProblem } from "../http.ts";
import { placeHash } from "../search/place.ts";

const SIZE = 50;

/** The lists, each with what it counts. */
const LISTS: readonly {
  readonly title: string;
  readonly meaning: string;
  readonly of: (record: QueriesRecord) => readonly QueryCounts[];
  readonly count: (query: QueryCounts) => number;
}[] = [
  {
    title: "Most frequent",
    meaning: "by the number of searches",
    of: ({ frequent }) => frequent,
    count: ({ searches }) => searches,
  },
  {
    title: "Nothing found",
    meaning: "searches without a hit",
    of: (record) => record.without_hits,
    count: (query) => query.without_hits,
  },
  {
    title: "Nothing opened",
    meaning: "hits, but no document opened within ten minutes",
    of: (record) => record.without_click,
    count: ({ searches, without_hits: empty, followed }) => searches - empty - followed,
  },
];

let asked = new AbortController();

/** Shows what people search for. @param days how many days count; empty for all that are kept */
export async function showQueries(element: HTMLElement, days: string): Promise<void> {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  try {
    const wish = new URLSearchParams({ size: String(SIZE), ...(days !== "" && { days }) });
    const record = await requestJson<QueriesRecord>(`analytics?${wish}`, { signal });
    fill(
      element,
      h(
        "p.fine",
        `${counted(record.searches, "search", "searches")} for ${counted(record.queries, "query", "queries")} since ${record.since}`,
      ),
      h("div.lists", ...LISTS.map((list) => section(list, record))),
    );
  } catch (error) {
    if (!signal.aborted) showProblem(element, error, () => void showQueries(element, days));
  }
}

const section = ({ title, meaning, of, count }: (typeof LISTS)[number], record: QueriesRecord): HTMLElement =>
  h("section", { "aria-label": title }, h("h3", title), h("p.fine", meaning), listOf(of(record), count));

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
