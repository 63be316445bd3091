import type { SearchTimesRecord, StretchTimes } from "../../../api/search/search-times.ts";
import { fill, h, s } from "../dom.ts";
import { formatDuration, formatTime } from "../format.ts";
import type { TenantRecord } from "../search/api.ts";

type SyncRun = TenantRecord["history"][number];

const RUNS = 20;
const RUN_WIDTH = 6;
const RUN_HEIGHT = 24;

/** Draws the last syncs of a tenant as bars whose heights show their durations; null when there were none. */
export function syncChart(runs: readonly SyncRun[]): Element | null {
  const shown = runs.slice(-RUNS);
  if (shown.length === 0) return null;
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
        x: (RUNS - shown.length + place) * RUN_WIDTH,
        y: RUN_HEIGHT - height,
        width: RUN_WIDTH - 2,
        height,
        class: error === null ? "bar" : "bar bad",
      },
      s("title", {}, `${formatTime(at)}: ${what}`),
    );
  });
  const size = { width: RUNS * RUN_WIDTH, height: RUN_HEIGHT };
  return s("svg", { ...size, role: "img", "aria-label": label, class: "chart" }, ...bars);
}

const durationOf = ({ started_at: start, completed_at: end }: SyncRun): number =>
  Math.max(0, Date.parse(end) - Date.parse(start)) || 0;

const countsOf = ({ counts }: SyncRun): string =>
  Object.entries(counts ?? {})
    .filter(([, count = 0]) => count > 0)
    .map(([name, count]) => `, ${count} ${name}`)
    .join("");

const WIDTH = 720;
const HEIGHT = 120;

/**
 * Draws how long searches took, bucket by bucket: the dark part of a bar covers half of them, the whole bar 95 %.
 */
function latencyChart({ queries, bucket_seconds: seconds, span_seconds: span }: SearchTimesRecord): Element {
  const title = h("h2", { id: "latency-title" }, "Search times");
  const total = queries.reduce((sum, { count }) => sum + count, 0);
  if (total === 0)
    return h(
      "section",
      { "aria-labelledby": "latency-title" },
      title,
      h("p.fine", "No searches in the last day."),
    );
  const most = Math.max(...queries.map(({ p95_ms: ms }) => ms), 1);
  const buckets = Math.round(span / seconds);
  const step = WIDTH / buckets;
  const end = Math.floor(Date.now() / 1000 / seconds);
  const bars = queries.flatMap((bucket) => {
    const place = buckets - 1 - (end - Math.floor(Date.parse(bucket.at) / 1000 / seconds));
    return place < 0 ? [] : [bucketBars(bucket, place * step, Math.max(1.5, step - 1), most)];
  });
  const label = `Search times of the last ${formatDuration(span * 1000)}, ${total} searches; the slowest bar is ${formatDuration(most)}`;
  return h(
    "section",
    { "aria-labelledby": "latency-title" },
    title,
    h(
      "p.fine.scale",
      `${formatDuration(most)}, strong part of a bar: half of the searches, whole bar: 95 % of them`,
    ),
    s(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": label,
        class: "chart wide",
        preserveAspectRatio: "none",
      },
      s("line", { x1: 0, y1: HEIGHT - 0.5, x2: WIDTH, y2: HEIGHT - 0.5, class: "axis" }),
      ...bars,
    ),
    h("p.fine.axis-labels", h("span", `${formatDuration(span * 1000)} ago`), h("span", "now")),
    summary(queries, total, seconds),
  );
}

function bucketBars(bucket: StretchTimes, x: number, width: number, most: number): Element {
  const { at, count, errors, p50_ms: half, p95_ms: nearly } = bucket;
  const bar = (ms: number, kind: string): Element => {
    const height = Math.max(2, (ms / most) * (HEIGHT - 4));
    return s("rect", { x, y: HEIGHT - height, width, height, class: kind });
  };
  const failed = errors === 0 ? "" : `, ${errors} failed`;
  const text = `${formatTime(at)}: ${count} searches${failed}, half within ${formatDuration(half)}, 95 % within ${formatDuration(nearly)}`;
  return s("g", {}, s("title", {}, text), bar(nearly, "bar faint"), bar(half, "bar"));
}

function summary(queries: readonly StretchTimes[], total: number, seconds: number): Element {
  const last = queries.at(-1);
  const slowest = Math.max(...queries.map(({ p95_ms: ms }) => ms));
  const errors = queries.reduce((sum, bucket) => sum + bucket.errors, 0);
  return h(
    "p.fine.number",
    `${total} searches in the last day${errors > 0 ? `, ${errors} failed` : ""}. `,
    last &&
      // The start of a stretch is known, but not the times of its searches.
      `Latest stretch of ${formatDuration(seconds * 1000)} (from ${formatTime(last.at)}): half within ${formatDuration(last.p50_ms)}, 95 % within ${formatDuration(last.p95_ms)}. `,
    `Slowest stretch: 95 % within ${formatDuration(slowest)}.`,
  );
}

/** Shows how long searches took. */
export const showTimes = (element: HTMLElement, times: SearchTimesRecord): void => {
  fill(element, latencyChart(times));
};
