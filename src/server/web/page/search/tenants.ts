import type { z } from "../../../api/openapi.ts";
import type * as schemas from "../../../api/search/schemas.ts";
import type { SearchTimesRecord } from "../../../api/search/search-times.ts";
import { announce, fill, h } from "../dom.ts";
import { counted, formatAgo, formatNumber, formatTime } from "../format.ts";
import { problemMessage, RequestFailed, request, requestJson } from "../http.ts";
import { latencyChart, syncChart } from "./charts.ts";
import { listTenants } from "./mcp.ts";
import { placeHash } from "./place.ts";

type TenantRecord = z.infer<typeof schemas.Tenant>;

const QUIET_MS = 5000;
const BUSY_MS = 1000;

/** Shows the tenants with their state, kept up to date while they are visible. */
export class TenantOverview {
  readonly #tenants: HTMLElement;
  readonly #history: HTMLElement;
  readonly #onTenants: (codenames: readonly string[]) => void;
  #descriptions: ReadonlyMap<string, string> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The answer to the last click on each sync button, by tenant, until the state changes. */
  readonly #notes = new Map<string, string>();
  /** The tenants whose files that are left out are shown. */
  readonly #unfolded = new Set<string>();

  constructor(places: {
    readonly tenants: HTMLElement;
    readonly history: HTMLElement;
    readonly onTenants: (codenames: readonly string[]) => void;
  }) {
    this.#tenants = places.tenants;
    this.#history = places.history;
    this.#onTenants = places.onTenants;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#tenants.offsetParent !== null) void this.refresh();
    });
  }

  /** Reads the state once. @returns whether a tenant is being synced @throws RequestFailed */
  async load(): Promise<boolean> {
    this.#descriptions ??= new Map((await listTenants()).map((one) => [one.codename, one.description]));
    const [{ tenants }, times] = await Promise.all([
      requestJson<z.infer<typeof schemas.Tenants>>("tenants/status"),
      readSearchTimes(),
    ]);
    this.#show(tenants, times);
    return tenants.some(isBusy);
  }

  /** Keeps the state up to date while it is visible. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    let delayMs = QUIET_MS;
    try {
      if (await this.load()) delayMs = BUSY_MS;
    } catch (error) {
      fill(
        this.#tenants,
        problemMessage(error, () => void this.refresh()),
      );
      // Without the key, nothing will change by itself.
      if (error instanceof RequestFailed && error.status === 401) return;
    }
    const isSeen = !document.hidden && this.#tenants.offsetParent !== null;
    clearTimeout(this.#timer);
    if (isSeen) this.#timer = setTimeout(() => void this.refresh(), delayMs);
  }

  #show(tenants: readonly TenantRecord[], times: SearchTimesRecord | null): void {
    this.#onTenants(tenants.map(({ tenant }) => tenant));
    const focused = document.activeElement?.id;
    const rows = tenants.map((record) => this.#row(record));
    if (rows.length === 0) fill(this.#tenants, h("p", "The deployment file names no tenants yet."));
    else fill(this.#tenants, h("ul.tenants", ...rows));
    fill(this.#history, times && latencyChart(times));
    // Redrawing must not take the focus away.
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  #row(record: TenantRecord): HTMLElement {
    const { tenant, last_error: error, counts } = record;
    const { left = 0 } = counts;
    const note = this.#notes.get(tenant);
    return h(
      "li.tenant",
      h(
        "div.name",
        h("h3", h("a", { href: placeHash({ tenant }), id: `tenant-${tenant}` }, tenant)),
        h("p.fine", this.#descriptions?.get(tenant)),
      ),
      h("p.state", stateTag(record), " ", h("span.tag", record.source_type)),
      facts(record),
      h("div.runs", syncChart(record.history)),
      h("div.act", this.#syncButton(record)),
      error !== null && h("p.trouble", `Last sync failed: ${error.message}`),
      left > 0 && h("p.trouble", `max_crawl_pages left ${counted(left, "known page")} unfetched`),
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
      if ((currentTarget as HTMLDetailsElement).open) this.#unfolded.add(tenant);
      else this.#unfolded.delete(tenant);
    };
    return h(
      "details.fine",
      { id: `left-out-${tenant}`, open: this.#unfolded.has(tenant) ? "" : null, ontoggle },
      h("summary", `${counted(total, "file")} left out`),
      h("ul", ...items),
    );
  }

  #syncButton(record: TenantRecord): HTMLButtonElement {
    const { tenant } = record;
    const onclick = (): void => void this.#sync(tenant);
    const label = isBusy(record) ? "Syncing …" : "Sync";
    const name = isBusy(record) ? `${tenant} is being synced` : `Sync ${tenant}`;
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

  async #sync(tenant: string): Promise<void> {
    this.#notes.delete(tenant);
    try {
      await request(`${encodeURIComponent(tenant)}/sync/trigger`, { method: "POST" });
      announce(`${tenant} is being synced`);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#notes.set(tenant, text);
      announce(text);
    }
    await this.refresh();
  }
}

/** The times of all searches; null for a key that may not know of every tenant's. */
async function readSearchTimes(): Promise<SearchTimesRecord | null> {
  try {
    return await requestJson<SearchTimesRecord>("search-times");
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 403) return null;
    throw error;
  }
}

const isBusy = ({ state, index }: TenantRecord): boolean => state !== "idle" || index.building;

function stateTag(record: TenantRecord): HTMLElement {
  if (record.state === "running" || record.index.building) return h("span.tag.live", "syncing");
  if (record.state === "queued") return h("span.tag.live", "waiting");
  if (record.last_error !== null) return h("span.tag.bad", "trouble");
  if (record.index.doc_count === null) return h("span.tag", "no index");
  return h("span.tag", record.index.doc_count === 0 ? "empty" : "ready");
}

function facts(record: TenantRecord): HTMLElement {
  const { index, last_completed_at: last, next_run_at: next } = record;
  return h(
    "dl.facts",
    fact("Documents", index.doc_count === null ? "—" : formatNumber(index.doc_count), null),
    fact("Last sync", formatAgo(last) ?? "never", formatTime(last)),
    fact(
      "Next sync",
      formatAgo(next) ?? (record.source_type === "filesystem" ? "when files change" : "not planned"),
      formatTime(next),
    ),
  );
}

const fact = (name: string, value: string, title: string | null): HTMLElement =>
  h("div", h("dt", name), h("dd", { title }, value));
