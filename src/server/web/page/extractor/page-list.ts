import { h, keepInStep } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import type { CrawledPage } from "./api.ts";

export const REASONS: Readonly<Record<string, string>> = {
  http_status: "the site returned an error",
  network: "no connection",
  timeout: "took too long",
  blocked: "the site shows something else instead",
  rate_limited: "the site limits requests",
  no_content: "no article on the page",
  unsupported_content: "neither a page nor text",
  too_large: "larger than allowed",
  too_complex: "too complex to extract",
  egress_refused: "an address that is not allowed",
  robots: "robots.txt forbids it",
  out_of_scope: "outside the scope of the crawl",
  duplicate: "the same page under another address",
  trap: "looks like an endless series of generated pages",
  noindex: "the page asks not to be kept",
  content_type: "a file, not a page",
  gone: "no longer there",
  max_pages: "the page limit was reached",
};

/** Pages of a crawl are strangers to this one. */
const OUTSIDE = "noopener noreferrer nofollow";

/** The height of a row, in CSS pixels; the style sheet has the same. */
const ROW = 44;
/** How many pages are read at once. */
const BATCH = 100;
/** Browsers cut elements that are higher than some millions of pixels. */
const MAX_ROWS = 150_000;

type ReadPages = (
  offset: number,
  limit: number,
) => Promise<{ readonly pages: readonly CrawledPage[]; readonly total: number }>;

/**
 * A list that reads and renders only the pages in sight, so that a hundred thousand pages cost as much as twenty.
 */
export class PageList {
  readonly #rows = h("ol.pages");
  readonly #spacer = h("div.page-spacer", this.#rows);
  readonly #window = h(
    "div.page-window",
    { tabindex: "0", role: "region", "aria-label": "Pages" },
    this.#spacer,
  );
  readonly #count = h("p.fine.number", { role: "status" });
  readonly element = h("div", this.#count, this.#window);
  readonly #onProblem: (error: unknown) => void;
  #read: ReadPages = async () => ({ pages: [], total: 0 });
  #batches = new Map<number, readonly CrawledPage[] | null>();
  #total = 0;
  #drawn = "";

  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem;
    this.#window.addEventListener("scroll", () => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(this.#window);
  }

  /** Shows other pages, from the first one on. */
  async show(read: ReadPages): Promise<void> {
    this.#read = read;
    this.#batches = new Map();
    this.#drawn = "";
    this.#window.scrollTop = 0;
    await this.#load(0);
  }

  async #load(batch: number): Promise<void> {
    const read = this.#read;
    const batches = this.#batches;
    if (batches.has(batch)) return;
    batches.set(batch, null);
    try {
      const { pages, total } = await read(batch * BATCH, BATCH);
      if (read !== this.#read) return;
      batches.set(batch, pages);
      this.#total = total;
      const rows = Math.min(total, MAX_ROWS);
      this.#spacer.style.height = `${rows * ROW}px`;
      this.#window.hidden = total === 0;
      this.#count.textContent =
        total > MAX_ROWS
          ? `The first ${formatNumber(MAX_ROWS)} of ${formatNumber(total)}; the downloads contain all.`
          : counted(total, "page");
      this.#drawn = "";
      this.#draw();
    } catch (error) {
      batches.delete(batch);
      if (read === this.#read) this.#onProblem(error);
    }
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.#window;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - 4);
    const end = Math.min(this.#total, MAX_ROWS, Math.ceil((scrollTop + clientHeight) / ROW) + 4);
    const known: (CrawledPage | undefined)[] = [];
    for (let index = first; index < end; index++) {
      const batch = Math.floor(index / BATCH);
      known.push(this.#batches.get(batch)?.[index % BATCH]);
      if (!this.#batches.has(batch)) void this.#load(batch);
    }
    const state = `${first} ${end} ${known.filter((page) => page).length}`;
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.#rows.style.transform = `translateY(${first * ROW}px)`;
    this.#rows.start = first + 1;
    const hadFocus = this.#rows.contains(document.activeElement);
    keepInStep(
      this.#rows,
      known.map((page) => (page ? pageRow(page) : h("li", h("span.fine", "…")))),
    );
    // When the focused link scrolls out of sight, the list takes the focus.
    if (hadFocus && !this.#rows.contains(document.activeElement)) this.#window.focus({ preventScroll: true });
  }
}

const rows = new WeakMap<CrawledPage, HTMLElement>();

/** The row of a page, the same one each time. */
export function pageRow(page: CrawledPage): HTMLElement {
  const row = rows.get(page) ?? makeRow(page);
  rows.set(page, row);
  return row;
}

/** Only exceptions are marked. */
function makeRow(page: CrawledPage): HTMLElement {
  const { url, status, title } = page;
  const mark =
    status === "success" ? null : h("span", { class: status === "failed" ? "tag bad" : "tag" }, status);
  return h(
    "li",
    { title: url },
    h(
      "span.what",
      h("a", { href: url, target: "_blank", rel: OUTSIDE }, title ?? url),
      h("span.fine", `${title === null ? "" : `${url} · `}${whatCame(page)}`),
    ),
    mark,
  );
}

function whatCame({ status, error, reason, word_count: words }: CrawledPage): string {
  if (status === "success") return counted(words ?? 0, "word");
  if (status === "failed") return error?.message ?? "unknown reason";
  return REASONS[reason ?? ""] ?? reason ?? "unknown reason";
}
