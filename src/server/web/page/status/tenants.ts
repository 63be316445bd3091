import { announce, type Child, h, s } from "../dom.ts";
import { counted, formatAgo, formatBytes, formatDuration, formatNumber, formatTime } from "../format.ts";
import { request } from "../http.ts";
import type { TenantRecord } from "../search/api.ts";
import { isBusy, showList, stateTag } from "../search/collections.ts";
import { placeHash } from "../search/place.ts";

/** Shows the tenants with their state. */
export class TenantTable {
  readonly #element: HTMLElement;
  readonly #onChange: () => void;
  /** The answer to the last click on each sync button, by tenant, until the state changes. */
  readonly #notes = new Map<string, string>();
  /** The parts that somebody unfolded, by their ids. */
  readonly #unfolded = new Set<string>();

  /** @param onChange is called after a click that has changed the state */
  constructor(element: HTMLElement, onChange: () => void) {
    this.#element = element;
    this.#onChange = onChange;
  }

  show(tenants: readonly TenantRecord[]): void {
    const largest = Math.max(...tenants.map(({ index }) => index.bytes ?? 0), 1);
    const rows = tenants.map((record) => this.#row(record, largest));
    showList(this.#element, h("ul.tenants", ...rows));
  }

  #row(record: TenantRecord, largest: number): HTMLElement {
    const { tenant, docs_name: name, last_error: error, problem, counts } = record;
    const { left = 0 } = counts;
    const note = this.#notes.get(tenant);
    return h(
      "li.tenant",
      h(
        "div.name",
        h("h3", h("a", { href: `./${placeHash({ tenant })}`, id: `tenant-${tenant}` }, name)),
        h("p.fine", h("code", tenant), ` · ${record.source_type}`),
      ),
      h("p.state", stateTag(record) ?? h("span.tag", "ready")),
      facts(record, largest),
      h("div.runs", syncChart(record.history)),
      h("div.act", this.#syncButton(record)),
      error !== null && h("p.trouble", `Last sync failed: ${error.message}`),
      problem?.code === "pages_lost" && h("p.trouble", problem.message),
      left > 0 && h("p.trouble", `max_crawl_pages: ${counted(left, "known page")} not fetched`),
      this.#leftOut(record),
      note !== undefined && h("p.trouble", note),
    );
  }

  #leftOut({ tenant, left_out: leftOut }: TenantRecord): HTMLElement | null {
    const reasons = Object.entries(leftOut);
    if (reasons.length === 0) return null;
    const total = reasons.reduce((sum, [, { count }]) => sum + count, 0);
    const items = reasons.map(([reason, { count, examples }]) => {
      const rest = count - examples.length;
      const more = rest > 0 ? `, and ${formatNumber(rest)} more` : "";
      return h("li", `${formatNumber(count)} ${reason.replaceAll("_", " ")}: ${examples.join(", ")}${more}`);
    });
    const ontoggle = ({ currentTarget }: Event): void => {
      const { open, id } = currentTarget as HTMLDetailsElement;
      if (open) this.#unfolded.add(id);
      else this.#unfolded.delete(id);
    };
    return h(
      "details.fine",
      { id: `left-out-${tenant}`, open: this.#unfolded.has(`left-out-${tenant}`) ? "" : null, ontoggle },
      h("summary", `${counted(total, "file")} left out`),
      h("ul", ...items),
    );
  }

  #syncButton(record: TenantRecord): HTMLButtonElement {
    const { tenant, docs_name } = record;
    const onclick = (): void => void this.#sync(record);
    const label = isBusy(record) ? "Syncing …" : "Sync";
    const name = isBusy(record) ? `${docs_name} is being synced` : `Sync ${docs_name}`;
    return h(
      "button",
      // The button is not disabled while it runs, because it would lose the focus.
      {
        type: "button",
        class: "small",
        id: `sync-${tenant}`,
        "aria-label": name,
        "aria-disabled": isBusy(record) ? "true" : null,
        onclick,
      },
      label,
    );
  }

  async #sync({ tenant, docs_name }: TenantRecord): Promise<void> {
    this.#notes.delete(tenant);
    try {
      await request(`${encodeURIComponent(tenant)}/sync/trigger`, { method: "POST" });
      announce(`${docs_name} is being synced`);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#notes.set(tenant, text);
      announce(text);
    }
    this.#onChange();
  }
}

function facts(record: TenantRecord, largest: number): HTMLElement {
  const { index, last_completed_at: last, next_run_at: next } = record;
  return h(
    "dl.facts",
    fact("Documents", null, index.doc_count === null ? "—" : formatNumber(index.doc_count)),
    index.bytes === null
      ? fact("Index", null, "—")
      : fact("Index", null, formatBytes(index.bytes), sizeBar(index.bytes / largest)),
    fact("Last sync", formatTime(last), formatAgo(last) ?? "never"),
    fact("Next sync", formatTime(next), nextSync(record)),
  );
}

/** When the next sync is, in agreement with what the tenant is doing now. */
function nextSync(record: TenantRecord): string {
  const { next_run_at: next, source_type: source } = record;
  if (isBusy(record)) return "under way";
  if (next === null) return source === "filesystem" ? "when files change" : "not scheduled";
  return Date.parse(next) <= Date.now() ? "due" : (formatAgo(next) ?? "");
}

const fact = (name: string, title: string | null, ...value: Child[]): HTMLElement =>
  h("div", h("dt", name), h("dd", { title }, ...value));

/** A bar beside others of its kind; the number is written above it. */
function sizeBar(share: number): HTMLElement {
  const bar = h("span", { class: "size", "aria-hidden": "true" });
  bar.style.width = `${Math.max(2, share * 100)}%`;
  return bar;
}

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
function syncChart(runs: readonly SyncRun[]): Element | null {
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
  const y = RUN_HEIGHT - 0.5;
  const axis = s("line", { x1: 0, y1: y, x2: RUNS_WIDTH, y2: y, class: "axis" });
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
    .flatMap(([name, value = 0]) => {
      if (typeof value === "number") return value > 0 ? [`${value} ${name}`] : [];
      return Array.isArray(value) ? value : [];
    })
    .map((note) => `, ${note}`)
    .join("");
