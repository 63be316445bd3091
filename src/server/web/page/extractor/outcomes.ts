import { fill, h } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import type { CrawledPage } from "./api.ts";

/** The most pages in the list; older ones are in the manifest. */
const SHOWN = 100;

const REASONS: Readonly<Record<string, string>> = {
  http_status: "the site answered with an error",
  network: "no connection",
  timeout: "took too long",
  rate_limited: "the site asked for fewer requests",
  no_content: "no article on the page",
  unsupported_content: "neither a page nor text",
  too_large: "larger than allowed",
  too_complex: "too complex to extract",
  egress_refused: "an address that is not allowed",
  robots: "robots.txt forbids it",
  out_of_scope: "outside of what was asked for",
  duplicate: "the same page under another address",
  trap: "looks like an endless maze",
  noindex: "the page asks not to be kept",
  content_type: "a file, not a page",
  gone: "not there any more",
  max_pages: "enough pages were fetched",
};

/** The outcomes of a crawl's pages: the reasons with their numbers, and the latest pages. */
export class Outcomes {
  readonly element = h("div.outcomes");
  readonly #reasons = h("section", { "aria-label": "Reasons", hidden: true });
  readonly #pages = h("ol.pages");
  readonly #note = h("p.fine", { hidden: true });
  readonly #section: HTMLElement;
  readonly #counts = new Map<string, number>();
  #filter: string | null = null;
  #latest: CrawledPage[] = [];
  #all: readonly CrawledPage[] | null = null;
  #isDrawing = false;
  count = 0;

  constructor() {
    this.#section = h("section", { hidden: true }, h("h3", "Pages"), this.#note, this.#pages);
    this.element.append(this.#reasons, this.#section);
  }

  add(page: CrawledPage): void {
    this.#tally(page);
    this.#latest.unshift(page);
    this.#latest.length = Math.min(this.#latest.length, 500);
    this.#drawSoon();
  }

  /** Forgets all pages before they come again. */
  clear(): void {
    this.#latest = [];
    this.replace([]);
    this.#all = null;
  }

  /** Replaces the pages so far by all pages of the manifest. */
  replace(pages: readonly CrawledPage[]): void {
    this.count = 0;
    this.#counts.clear();
    for (const page of pages) this.#tally(page);
    this.#all = pages;
    this.#drawSoon();
  }

  note(text: string): void {
    this.#note.textContent = text;
    this.#note.hidden = false;
  }

  #tally(page: CrawledPage): void {
    this.count++;
    const key = keyOf(page);
    if (key !== null) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
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
    this.#section.hidden = this.count === 0;
    this.#reasons.hidden = this.#counts.size === 0;
    const rows = [...this.#counts]
      .sort(([, a], [, b]) => b - a)
      .map(([key, count]) => this.#reasonButton(key, count));
    fill(this.#reasons, h("h3", "Not extracted, by reason"), h("ul.reasons", ...rows));
    const pages = this.#all ?? this.#latest;
    const wanted = this.#filter === null ? pages : pages.filter((page) => keyOf(page) === this.#filter);
    fill(this.#pages, ...wanted.slice(0, SHOWN).map(pageRow));
    if (wanted.length > SHOWN)
      this.note(`The ${this.#all ? "first" : "latest"} ${SHOWN} of ${formatNumber(wanted.length)}.`);
    else if (this.#all) this.#note.hidden = true;
    if (focused?.startsWith("reason-")) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  #reasonButton(key: string, count: number): HTMLElement {
    const [status = "", reason = ""] = key.split(" ");
    const isChosen = this.#filter === key;
    const onclick = (): void => {
      this.#filter = isChosen ? null : key;
      this.#draw();
    };
    const text = `${formatNumber(count)} ${status}: ${REASONS[reason] ?? reason}`;
    const name = h("code.fine", reason);
    const id = `reason-${status}-${reason}`;
    return h(
      "li",
      h("button.small", { type: "button", id, "aria-pressed": String(isChosen), onclick }, text, " ", name),
    );
  }
}

/** Status and reason; null for a page that was extracted. */
function keyOf({ status, error, reason }: CrawledPage): string | null {
  if (status === "success") return null;
  return `${status} ${status === "failed" ? (error?.code ?? "unknown") : (reason ?? "unknown")}`;
}

function pageRow(page: CrawledPage): HTMLElement {
  const { url, status, title } = page;
  const label = status === "success" ? "extracted" : status;
  return h(
    "li",
    h("span", { class: status === "failed" ? "tag bad" : "tag" }, label),
    h(
      "span.what",
      h("span", title ?? url),
      h("span.fine", title === null ? whatCame(page) : `${url} · ${whatCame(page)}`),
    ),
  );
}

function whatCame({ status, error, reason, word_count: words }: CrawledPage): string {
  if (status === "success") return counted(words ?? 0, "word");
  if (status === "failed") return error?.message ?? "unknown reason";
  return REASONS[reason ?? ""] ?? reason ?? "unknown reason";
}
