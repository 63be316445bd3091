import { fill, h, keepInStep } from "../dom.ts";
import { formatNumber } from "../format.ts";
import { type CrawledPage, type JobOutcomes, type PagesWish, readOutcomes, readPages } from "./api.ts";
import { PageList, pageRow, REASONS } from "./page-list.ts";

/** The most pages in the list of a crawl under way. */
const SHOWN = 100;
/** The most hosts with numbers of their own. */
const SHOWN_HOSTS = 20;

/** The outcomes of a crawl's pages: the reasons and hosts with their numbers, and the pages themselves. */
export class Outcomes {
  readonly element = h("div.outcomes");
  readonly #problem: (error: unknown) => void;
  readonly #reasons = h("section", { "aria-label": "Reasons", hidden: true });
  readonly #hosts = h("section", { "aria-label": "Hosts", hidden: true });
  readonly #latest = h("ol.pages");
  readonly #list: PageList;
  readonly #pages: HTMLElement;
  readonly #counts = new Map<string, number>();
  /** The crawl that is over, whose pages the server lists. */
  #ended: { readonly id: string; readonly outcomes: JobOutcomes } | null = null;
  #wish: PagesWish = {};
  #recent: CrawledPage[] = [];
  #isDrawing = false;
  /** The filters by their ids: they are changed and not replaced, so that a slow click still meets them. */
  readonly #filters = new Map<
    string,
    { readonly element: HTMLElement; readonly button: HTMLButtonElement }
  >();
  readonly #reasonList = h("ul.reasons");

  constructor(onProblem: (error: unknown) => void) {
    this.#problem = onProblem;
    this.#list = new PageList(onProblem);
    this.#pages = h("section", { hidden: true }, h("h3", "Pages"), this.#latest, this.#list.element);
    this.#reasons.append(h("h3", "Not extracted, by reason"), this.#reasonList);
    this.element.append(this.#reasons, this.#hosts, this.#pages);
  }

  /** Takes a page that a crawl under way has just finished. */
  add(page: CrawledPage): void {
    const key = keyOf(page);
    if (key !== null) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#recent.unshift(page);
    this.#recent.length = Math.min(this.#recent.length, 500);
    this.#drawSoon();
  }

  /** Forgets all pages before they come again. */
  clear(): void {
    this.#recent = [];
    this.#counts.clear();
    this.#ended = null;
    this.#wish = {};
    this.#drawSoon();
  }

  /** Shows what the server knows of a crawl that is over, in place of what was seen of it. */
  async complete(id: string, signal: AbortSignal): Promise<void> {
    this.#ended = { id, outcomes: await readOutcomes(id, signal) };
    this.#choose({});
  }

  #choose(wish: PagesWish): void {
    this.#wish = wish;
    const { id } = this.#ended ?? {};
    if (id !== undefined)
      void this.#list.show((offset, limit) => readPages(id, { ...wish, offset, limit })).catch(this.#problem);
    this.#drawSoon();
  }

  /** Draws soon, once for the hundreds of pages that may come together. */
  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const focused = document.activeElement?.id;
    const { outcomes } = this.#ended ?? {};
    const counts = outcomes
      ? outcomes.reasons.map(({ status, reason, pages }) => ({ status, reason, pages }))
      : [...this.#counts].map(([key, pages]) => {
          const [status = "", reason = ""] = key.split(" ");
          return { status, reason, pages };
        });
    this.#reasons.hidden = counts.length === 0;
    const buttons = counts
      .sort((a, b) => b.pages - a.pages)
      .map(({ status, reason, pages }) => {
        const text = `${formatNumber(pages)} ${status}: ${REASONS[reason] ?? reason}`;
        return this.#filterButton(`reason-${status}-${reason}`, { status, reason }, text, reason);
      });
    keepInStep(this.#reasonList, [...this.#allButtons(counts), ...buttons]);
    this.#showHosts(outcomes?.hosts ?? []);
    this.#latest.hidden = outcomes !== undefined;
    this.#list.element.hidden = outcomes === undefined;
    this.#pages.hidden = outcomes === undefined && this.#recent.length === 0;
    const { status, reason } = this.#wish;
    const wanted = this.#recent.filter(
      (page) => !status || (reason ? keyOf(page) === `${status} ${reason}` : page.status === status),
    );
    keepInStep(this.#latest, outcomes ? [] : wanted.slice(0, SHOWN).map(pageRow));
    if (focused?.startsWith("reason-") || focused?.startsWith("host-"))
      document.getElementById(focused)?.focus({ preventScroll: true });
  }

  /** One button for all pages that failed or were skipped, where there are several reasons. */
  #allButtons(counts: readonly { readonly status: string; readonly pages: number }[]): HTMLElement[] {
    return ["failed", "skipped"].flatMap((status) => {
      const own = counts.filter((one) => one.status === status);
      const pages = own.reduce((sum, one) => sum + one.pages, 0);
      const text = `All ${formatNumber(pages)} ${status}`;
      return own.length < 2 ? [] : [this.#filterButton(`reason-${status}`, { status }, text, null)];
    });
  }

  #showHosts(hosts: JobOutcomes["hosts"]): void {
    this.#hosts.hidden = hosts.length < 2;
    const number = (value: number, kind = ""): HTMLElement =>
      h("td", { class: `number ${value > 0 ? kind : ""}` }, value > 0 ? formatNumber(value) : "–");
    const rows = hosts.slice(0, SHOWN_HOSTS).map(({ host, successful, failed, skipped }) => {
      const button = this.#filterButton(`host-${host}`, { host }, host);
      return h(
        "tr",
        h("th", { scope: "row" }, button),
        number(successful),
        number(failed, "bad"),
        number(skipped),
      );
    });
    const head = ["Host", "Extracted", "Failed", "Skipped"].map((name) => h("th", { scope: "col" }, name));
    fill(
      this.#hosts,
      h("h3", "By host"),
      h("table.hosts", h("thead", h("tr", ...head)), h("tbody", ...rows)),
      hosts.length > SHOWN_HOSTS &&
        h("p.fine", `The ${SHOWN_HOSTS} hosts with the most pages, of ${hosts.length}.`),
    );
  }

  /** @param code what programs call it; null for none, and nothing where the button is no item of a list */
  #filterButton(id: string, wish: PagesWish, text: string, code?: string | null): HTMLElement {
    const isChosen = (): boolean =>
      (["status", "reason", "host"] as const).every((name) => this.#wish[name] === wish[name]);
    let filter = this.#filters.get(id);
    if (!filter) {
      const onclick = (): void => this.#choose(isChosen() ? {} : wish);
      const button = h("button.small", { type: "button", id, onclick });
      filter = { element: h(code === undefined ? "span" : "li", button), button };
      this.#filters.set(id, filter);
    }
    const { element, button } = filter;
    button.setAttribute("aria-pressed", String(isChosen()));
    if (button.dataset.text !== text) fill(button, text, code && " ", code && h("code.fine", code));
    button.dataset.text = text;
    return element;
  }
}

/** Status and reason; null for a page that was extracted. */
function keyOf({ status, error, reason }: CrawledPage): string | null {
  if (status === "success") return null;
  return `${status} ${status === "failed" ? (error?.code ?? "unknown") : (reason ?? "unknown")}`;
}
