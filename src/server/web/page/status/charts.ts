import { h, s } from "../dom.ts";
import { formatDuration, formatTime } from "../format.ts";
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
