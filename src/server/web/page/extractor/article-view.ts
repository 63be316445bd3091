import { copyButton, download, h } from "../dom.ts";
import { counted, formatNumber, formatTime } from "../format.ts";
import { renderMarkdown } from "../markdown/render.ts";
import type { Article } from "./api.ts";

/** The most characters of source that are shown; the buttons give all of it. */
const MAX_SOURCE = 400_000;

/** Shows an article as a reader sees it, and beside it its Markdown, its JSON and its metadata. */
export function articleView(article: Article): HTMLElement[] {
  const markdown = article.markdown ?? "";
  const json = JSON.stringify(article, null, 2);
  const name = fileName(article);
  const view = tabs("Forms of the article", [
    { id: "reader", label: "Article", isPrimary: true, content: reader(article) },
    {
      id: "markdown",
      label: "Markdown",
      content: source(markdown, { name: `${name}.md`, type: "text/markdown" }),
    },
    { id: "json", label: "JSON", content: source(json, { name: `${name}.json`, type: "application/json" }) },
    { id: "metadata", label: "Metadata", content: metadata(article) },
  ]);
  return [...warnings(article), view];
}

const warnings = ({ warnings: texts }: Article): HTMLElement[] =>
  texts === null || texts.length === 0
    ? []
    : [h("div.message", h("strong", "Worth knowing"), ...texts.map((text) => h("p", text)))];

function reader(article: Article): HTMLElement {
  const { title, byline, published_date: published, siteName, word_count: words, lang, dir } = article;
  const base = article.final_url ?? article.url;
  const { element: prose } = renderMarkdown(article.markdown ?? "", { base });
  const about = [
    byline,
    formatDay(published),
    siteName ?? (base && URL.parse(base)?.host),
    `${counted(words, "word")}, ${minutes(words)}`,
  ];
  // The first heading of an article is usually its title, which is already shown above.
  const first = prose.firstElementChild;
  if (first?.matches("h1") && first.textContent?.trim() === title?.trim()) first.remove();
  const header = h(
    "header.about",
    title !== null && h("h2.title", title),
    h("p.fine", about.filter((part) => part).join(" · ")),
  );
  return h("article.reader", { lang, dir }, header, prose);
}

/** Reading time at 230 words a minute (Brysbaert 2019, for silent reading of English). */
const minutes = (words: number): string => `${Math.max(1, Math.round(words / 230))} min`;

const formatDay = (iso: string | null): string | null => {
  const time = Date.parse(iso ?? "");
  return Number.isNaN(time) ? iso : new Date(time).toLocaleDateString("en-GB", { dateStyle: "long" });
};

function source(text: string, file: { readonly name: string; readonly type: string }): HTMLElement {
  const isCut = text.length > MAX_SOURCE;
  const shown = isCut ? `${text.slice(0, MAX_SOURCE)}\n…` : text;
  return h(
    "div.source",
    h(
      "p.actions",
      copyButton("Copy", () => text),
      h("button.small", { type: "button", onclick: () => download(file.name, file.type, text) }, "Save"),
      h(
        "span.fine.number",
        `${formatNumber(text.length)} characters${isCut ? ", the first of them here" : ""}`,
      ),
    ),
    h("pre", { tabindex: "0", "aria-label": "Source" }, shown),
  );
}

const fileName = ({ title, url }: Article): string =>
  (title ?? url ?? "article")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 80)
    .toLowerCase() || "article";

function metadata(article: Article): HTMLElement {
  const { sources, confidence, status_code: status, image } = article;
  const from = (field: keyof Article["sources"]): string =>
    sources[field] ? ` — from ${sources[field]}` : "";
  const rows: readonly (readonly [string, string | Node | null])[] = [
    ["Title", article.title && article.title + from("title")],
    ["By", article.byline && article.byline + from("byline")],
    ["Site", article.siteName],
    [
      "Published",
      article.published_date &&
        `${formatTime(article.published_date) ?? article.published_date}${from("published_date")}`,
    ],
    [
      "Modified",
      article.modified_date &&
        `${formatTime(article.modified_date) ?? article.modified_date}${from("modified_date")}`,
    ],
    ["Language", article.lang],
    ["Excerpt", article.excerpt],
    ["Kind of page", article.page_type],
    ["Confidence", confidence === null ? null : `${Math.round(confidence * 100)} %`],
    ["Words", `${formatNumber(article.word_count)} (${formatNumber(article.length)} characters)`],
    ["Address", address(article.url)],
    ["Answered by", article.final_url === article.url ? null : address(article.final_url)],
    ["Canonical", article.canonical_url === article.final_url ? null : address(article.canonical_url)],
    ["Picture", address(image)],
    ["Status", status === null ? null : String(status)],
    ["Fetched with", article.fetcher === "http" ? "plain HTTP" : article.fetcher],
  ];
  const shown = rows.filter(([, value]) => value !== null && value !== "");
  return h("dl.metadata", ...shown.flatMap(([name, value]) => [h("dt", name), h("dd", value)]));
}

/** Makes a link if the address leads to the web; a page may claim any text as its address. */
function address(url: string | null): Node | string | null {
  if (url === null || !/^https?:\/\//i.test(url)) return url;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow ugc" }, url);
}

type Tab = {
  readonly id: string;
  readonly label: string;
  readonly content: HTMLElement;
  /** The panel stands beside the others when there is room, and is an ordinary tab otherwise. */
  readonly isPrimary?: boolean;
};

/** From this width on the first panel has its own column; the style sheet has the same width. */
const WIDE = "(min-width: 64rem)";

/**
 * Creates panels with tabs (WAI-ARIA Authoring Practices, Tabs): arrows move between them, Home and End to the ends.
 */
function tabs(label: string, list: readonly Tab[]): HTMLElement {
  const wide = matchMedia(WIDE);
  const buttons = list.map(({ id, label: text }) =>
    h("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, text),
  );
  const panels = list.map(({ id, content, isPrimary }) =>
    h(
      "div",
      {
        role: "tabpanel",
        id: `panel-${id}`,
        "aria-labelledby": `tab-${id}`,
        class: isPrimary ? "panel primary" : "panel",
      },
      content,
    ),
  );
  let chosen = 0;
  const isApart = (place: number): boolean => wide.matches && list[place]?.isPrimary === true;
  const update = (): void => {
    if (isApart(chosen)) chosen = list.findIndex(({ isPrimary }) => !isPrimary);
    for (const [place, button] of buttons.entries()) {
      button.hidden = isApart(place);
      button.setAttribute("aria-selected", String(place === chosen));
      button.tabIndex = place === chosen ? 0 : -1;
      panels[place]!.hidden = place !== chosen && !isApart(place);
    }
  };
  const choose = (place: number, takesFocus: boolean): void => {
    chosen = place;
    update();
    if (takesFocus) buttons[place]?.focus();
  };
  const bar = h("div", { role: "tablist", "aria-label": label }, ...buttons);
  for (const [place, button] of buttons.entries())
    button.addEventListener("click", () => choose(place, false));
  bar.addEventListener("keydown", (event) => {
    const open = buttons.flatMap((button, place) => (button.hidden ? [] : [place]));
    const at = open.indexOf(chosen);
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1 + open.length, Home: 0, End: open.length - 1 }[
      event.key
    ];
    if (target === undefined) return;
    event.preventDefault();
    choose(open[target % open.length]!, true);
  });
  const element = h("div.tabs", bar, ...panels);
  const onChange = (): void => {
    if (!element.isConnected) wide.removeEventListener("change", onChange);
    else {
      if (!wide.matches) chosen = 0;
      update();
    }
  };
  wide.addEventListener("change", onChange);
  update();
  return element;
}
