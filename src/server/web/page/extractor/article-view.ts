import { copyButton, download, h } from "../dom.ts";
import { counted, formatNumber, formatTime } from "../format.ts";
import { renderMarkdown } from "../markdown/render.ts";
import type { Article } from "./api.ts";
import { tabs } from "./tabs.ts";

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
    : [
        h(
          "div",
          { class: "message" },
          h("strong", {}, "Worth knowing"),
          ...texts.map((text) => h("p", {}, text)),
        ),
      ];

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
    "header",
    { class: "about" },
    title !== null && h("h2", { class: "title" }, title),
    h("p", { class: "fine" }, about.filter((part) => part).join(" · ")),
  );
  return h("article", { lang, dir, class: "reader" }, header, prose);
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
    "div",
    { class: "source" },
    h(
      "p",
      { class: "actions" },
      copyButton("Copy", () => text),
      h(
        "button",
        { type: "button", class: "small", onclick: () => download(file.name, file.type, text) },
        "Save",
      ),
      h(
        "span",
        { class: "fine number" },
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
  const from = (field: string): string => (sources[field] ? ` — from ${sources[field]}` : "");
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
  return h(
    "dl",
    { class: "metadata" },
    ...shown.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

/** Makes a link if the address leads to the web; a page may claim any text as its address. */
function address(url: string | null): Node | string | null {
  if (url === null || !/^https?:\/\//i.test(url)) return url;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow ugc" }, url);
}
