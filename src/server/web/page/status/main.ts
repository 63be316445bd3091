import { byId, fill, h } from "../dom.ts";
import { formatBytes, formatNumber } from "../format.ts";
import { RequestFailed, requestJson, showProblem } from "../http.ts";
import { listTenants, type TenantRecord } from "../search/api.ts";
import { isBusy } from "../search/collections.ts";
import { showQueries } from "./queries.ts";
import { TenantTable } from "./tenants.ts";

type Service = { readonly infrastructure: { readonly query_log_days?: number } };

const QUIET_MS = 5000;
const BUSY_MS = 1000;

const problem = byId("problem", HTMLElement);
const table = new TenantTable(byId("tenants", HTMLElement), () => void refresh());
let timer: ReturnType<typeof setTimeout> | undefined;
let areQueriesShown = false;

/** Reads the state, shows it, and does so again while the page is seen. */
async function refresh(): Promise<void> {
  clearTimeout(timer);
  let delayMs = QUIET_MS;
  try {
    const tenants = await listTenants();
    table.show(tenants);
    if (!areQueriesShown) showQueriesOf((await requestJson<Service>("health")).infrastructure);
    areQueriesShown = true;
    fill(problem);
    showSums(tenants);
    if (tenants.some(isBusy)) delayMs = BUSY_MS;
  } catch (error) {
    showProblem(problem, error, () => void refresh());
    // Without the key, nothing will change by itself.
    if (error instanceof RequestFailed && error.status === 401) return;
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(() => void refresh(), delayMs);
}

/** That nothing is counted, or not for this key, is a setting and no fault. */
function showQueriesOf({ query_log_days: kept }: Service["infrastructure"]): void {
  const lists = byId("lists", HTMLElement);
  byId("choice", HTMLFormElement).hidden = !kept;
  if (kept) void showQueries(lists, days.value);
  else if (kept === 0)
    fill(
      lists,
      h(
        "p.fine",
        "Query logging is off. Set ",
        h("code", "infrastructure.query_log_days"),
        " to turn it on.",
      ),
    );
  else fill(lists, h("p.fine", "Only keys for all collections can see this."));
}

/** The few numbers that tell most. */
function showSums(tenants: readonly TenantRecord[]): void {
  const total = (of: (record: TenantRecord) => number | null): number =>
    tenants.reduce((sum, record) => sum + (of(record) ?? 0), 0);
  const troubled = tenants.filter(
    ({ problem: trouble, index }) => trouble !== null || index.doc_count === null,
  ).length;
  const sums: readonly (readonly [string, string, string?])[] = [
    ["Collections", formatNumber(tenants.length), troubled === 0 ? "all well" : `${troubled} in trouble`],
    ["Documents", formatNumber(total(({ index }) => index.doc_count))],
    ["Indexes", formatBytes(total(({ index }) => index.bytes))],
  ];
  fill(
    byId("sums", HTMLElement),
    ...sums.map(([name, value, note]) =>
      h("div", h("dt", name), h("dd.number", value, note !== undefined && h("span.fine", ` ${note}`))),
    ),
  );
}

type Why = { readonly answers: readonly { readonly tenant: string; readonly sentence: string }[] };

/** Says what became of a page that somebody misses. */
async function ask(form: HTMLFormElement): Promise<void> {
  const place = byId("why-answer", HTMLElement);
  const words = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  try {
    const { answers } = await requestJson<Why>(`tenants/why?${words}`);
    const lines = answers.map(({ tenant, sentence }) => h("p", h("code", tenant), `: ${sentence}`));
    fill(place, ...(lines.length > 0 ? lines : [h("p", "No collection covers this address.")]));
  } catch (error) {
    showProblem(place, error, () => void ask(form));
  }
}

byId("why-form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  void ask(event.currentTarget as HTMLFormElement);
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void refresh();
});
const days = byId("days", HTMLSelectElement);
days.addEventListener("change", () => void showQueries(byId("lists", HTMLElement), days.value));
void refresh();
