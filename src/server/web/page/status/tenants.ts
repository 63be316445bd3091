import { announce, h } from "../dom.ts";
import { counted, formatAgo, formatBytes, formatNumber, formatTime } from "../format.ts";
import { request } from "../http.ts";
import type { TenantRecord } from "../search/api.ts";
import { isBusy, showList, stateTag } from "../search/collections.ts";
import { placeHash } from "../search/place.ts";
import { syncChart } from "./charts.ts";

/** Shows the tenants with their state. */
export class TenantTable {
  readonly #element: HTMLElement;
  readonly #onChange: () => void;
  /** The answer to the last click on each sync button, by tenant, until the state changes. */
  readonly #notes = new Map<string, string>();
  /** The parts that somebody unfolded, by their ids. */
  readonly #unfolded = new Set<string>();

  /** @param onChange is told when a click has changed the state */
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
    const { tenant, docs_name: name, last_error: error, counts } = record;
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
    fact("Documents", index.doc_count === null ? "—" : formatNumber(index.doc_count), null),
    h(
      "div",
      h("dt", "Index"),
      h(
        "dd",
        index.bytes === null ? "—" : formatBytes(index.bytes),
        index.bytes !== null && sizeBar(index.bytes / largest),
      ),
    ),
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

/** A bar beside others of its kind; the number is written above it. */
function sizeBar(share: number): HTMLElement {
  const bar = h("span", { class: "size", "aria-hidden": "true" });
  bar.style.width = `${Math.max(2, share * 100)}%`;
  return bar;
}
