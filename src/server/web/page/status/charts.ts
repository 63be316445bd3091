import type { SearchTimesRecord } from "../../../api/search/search-times.ts";
import { type TimeChart, timeChart } from "../chart.ts";
import { fill, h, s } from "../dom.ts";
import { formatDuration, formatNumber, formatTime } from "../format.ts";
import type { TenantRecord } from "../search/api.ts";

type SyncRun = TenantRecord["history"][number];

const RUNS = 20;
const RUN_WIDTH = 4;
/** The width of the whole chart; also in status.css. */
const RUNS_WIDTH = 120;
const RUN_HEIGHT = 24;

/**
 * Draws the last syncs of a tenant as bars whose heights show their durations, with the longest duration and the days
 * of the first and the last one beside them; null when there were none.
 */
export function syncChart(runs: readonly SyncRun[]): Element | null {
  const shown = runs.slice(-RUNS);
  const [first] = shown;
  if (!first) return null;
  const longest = Math.max(...shown.map(durationOf), 1);
  const failures = shown.filter(({ error }) => error !== null).length;
  const label = `Last ${shown.length} syncs: ${failures} failed, the longest took ${formatDuration(longest)}`;
  const bars = shown.map((run, place) => {
    const { error, started_at: at } = run;
    const ms = durationOf(run);
    // The square root keeps short syncs visible beside a long one.
    const height = Math.max(3, Math.sqrt(ms / longest) * RUN_HEIGHT);
    const what = error === null ? `${formatDuration(ms)}${countsOf(run)}` : `failed: ${error.message}`;
    return s(
      "rect",
      {
        // The first one is above its date at the left, the last one above its own at the right.
        x: (place * (RUNS_WIDTH - RUN_WIDTH)) / Math.max(1, shown.length - 1),
        y: RUN_HEIGHT - height,
        width: RUN_WIDTH,
        height,
        class: error === null ? "bar" : "bar bad",
      },
      s("title", {}, `${formatTime(at)}: ${what}`),
    );
  });
  const size = { width: RUNS_WIDTH, height: RUN_HEIGHT };
  const axis = s("line", {
    x1: 0,
    y1: RUN_HEIGHT - 0.5,
    x2: size.width,
    y2: RUN_HEIGHT - 0.5,
    class: "axis",
  });
  return h(
    "figure.syncs",
    h("span.most", { "aria-hidden": "true" }, formatDuration(longest)),
    s("svg", { ...size, role: "img", "aria-label": label, class: "chart" }, axis, ...bars),
    h("span.first", { "aria-hidden": "true" }, dayOf(first)),
    h("span.last", { "aria-hidden": "true" }, shown.length > 1 && dayOf(shown.at(-1) ?? first)),
  );
}

/** The day of a sync, or its time when it was today. */
function dayOf({ started_at: at }: SyncRun): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday
    ? time.toLocaleTimeString("en-GB", { timeStyle: "short" })
    : time.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

const durationOf = ({ started_at: start, completed_at: end }: SyncRun): number =>
  Math.max(0, Date.parse(end) - Date.parse(start)) || 0;

const countsOf = ({ counts }: SyncRun): string =>
  Object.entries(counts ?? {})
    .filter(([, count = 0]) => count > 0)
    .map(([name, count]) => `, ${count} ${name}`)
    .join("");

/** Shows how long the searches of the last day took, and how many there were. */
export class SearchTimesView {
  readonly #element: HTMLElement;
  #charts: { readonly times: TimeChart; readonly counts: TimeChart; readonly summary: HTMLElement } | null =
    null;

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  show(record: SearchTimesRecord): void {
    const total = record.queries.reduce((sum, { count }) => sum + count, 0);
    if (total === 0) {
      this.#charts = null;
      fill(this.#element, title(), h("p.fine", "No searches in the last day."));
      return;
    }
    // The charts stay while the page does, so that what the pointer is over stays too.
    this.#charts ??= this.#draw();
    const { times, counts, summary } = this.#charts;
    const stretches = allStretches(record);
    const at = stretches.map(({ seconds }) => seconds);
    times.show(at, [
      {
        name: "95 % within",
        kind: "bars",
        colour: "--edge",
        values: stretches.map(({ found }) => found?.p95_ms ?? null),
      },
      {
        name: "half within",
        kind: "bars",
        colour: "--accent",
        values: stretches.map(({ found }) => found?.p50_ms ?? null),
      },
    ]);
    counts.show(at, [
      {
        name: "searches",
        kind: "bars",
        colour: "--accent",
        values: stretches.map(({ found }) => found?.count ?? 0),
      },
      {
        name: "failed",
        kind: "bars",
        colour: "--bad",
        values: stretches.map(({ found }) => found?.errors ?? 0),
      },
    ]);
    summary.textContent = summaryOf(record, total);
  }

  #draw() {
    const times = timeChart({
      label: "How long searches took in the last day",
      height: 180,
      format: formatDuration,
    });
    const counts = timeChart({
      label: "How many searches there were in the last day",
      height: 130,
      format: formatWhole,
    });
    const summary = h("p.fine.number");
    fill(
      this.#element,
      title(),
      summary,
      h(
        "div.charts",
        h("div", h("h3", "How long they took"), times.element),
        h("div", h("h3", "How many there were"), counts.element),
      ),
    );
    return { times, counts, summary };
  }
}

const title = (): HTMLElement => h("h2", { id: "times-title" }, "Search times");

/** Half a search is none. */
const formatWhole = (value: number): string => (Number.isInteger(value) ? formatNumber(value) : "");

/** Every stretch of the span, also those without searches, which the record leaves out. */
function allStretches({ queries, bucket_seconds: length, span_seconds: span }: SearchTimesRecord) {
  const found = new Map(queries.map((one) => [Date.parse(one.at) / 1000, one]));
  const last = Math.floor(Date.now() / 1000 / length) * length;
  const count = Math.round(span / length);
  return Array.from({ length: count }, (_, place) => {
    const seconds = last - (count - 1 - place) * length;
    return { seconds, found: found.get(seconds) };
  });
}

function summaryOf({ queries, bucket_seconds: seconds }: SearchTimesRecord, total: number): string {
  const last = queries.at(-1);
  const slowest = Math.max(...queries.map(({ p95_ms: ms }) => ms));
  const errors = queries.reduce((sum, bucket) => sum + bucket.errors, 0);
  return [
    `${formatNumber(total)} searches in the last day${errors > 0 ? `, ${formatNumber(errors)} failed` : ""}.`,
    // The start of a stretch is known, but not the times of its searches.
    last &&
      `Latest stretch of ${formatDuration(seconds * 1000)} (from ${formatTime(last.at)}): half within ${formatDuration(last.p50_ms)}, 95 % within ${formatDuration(last.p95_ms)}.`,
    `Slowest stretch: 95 % within ${formatDuration(slowest)}.`,
  ]
    .filter(Boolean)
    .join(" ");
}
