import { fill, h, message } from "../dom.ts";
import { counted, estimateTokens, formatDuration, formatNumber, formatTime } from "../format.ts";
import { renderMarkdown } from "../markdown/render.ts";
import type { Article, ExtractedPage } from "./api.ts";
import { type BlockActions, blocksView } from "./blocks-view.ts";
import { jsonView, markdownView, source } from "./source-view.ts";
import { tabs } from "./tabs.ts";

/**
 * Shows an article as a reader sees it, with views of its blocks and their reasons, its Markdown, its JSON and its
 * metadata. Each view is made when it is first opened.
 */
export function articleView({ article, blocks }: ExtractedPage, actions: BlockActions): HTMLElement[] {
  const markdown = article.markdown ?? "";
  const json = JSON.stringify(article, null, 2);
  const name = fileName(article);
  const view = tabs("Article formats", [
    { id: "reader", label: "Article", isPrimary: true, content: reader(article) },
    late("blocks", "Blocks", () => blocksView(blocks, actions)),
    late("markdown", "Markdown", () =>
      source(markdown, markdownView(markdown), `${name}.md`, "text/markdown"),
    ),
    late("json", "JSON", () => source(json, jsonView(article), `${name}.json`, "application/json")),
    { id: "metadata", label: "Metadata", content: metadata(article) },
  ]);
  return [...warnings(article), view];
}

/** A tab whose content is made when it is seen for the first time. */
function late(id: string, label: string, make: () => HTMLElement) {
  const content = h("div");
  return { id, label, content, onFirstShown: () => fill(content, make()) };
}

const warnings = ({ warnings: texts }: Article): HTMLElement[] =>
  texts === null || texts.length === 0 ? [] : [message("Note", ...texts)];

function reader(article: Article): HTMLElement {
  const { title, byline, published_date: published, siteName, lang, dir } = article;
  const base = article.final_url ?? article.url;
  const { element: prose } = renderMarkdown(article.markdown ?? "", { base });
  const about = [byline, formatDay(published), siteName ?? (base && URL.parse(base)?.host)];
  // The first heading of an article is usually its title, which is already shown above.
  const first = prose.firstElementChild;
  if (first?.matches("h1") && first.textContent?.trim() === title?.trim()) first.remove();
  const header = h(
    "header.about",
    title !== null && h("h2.title", title),
    h("p.fine", about.filter((part) => part).join(" · ")),
    chips(article),
  );
  return h("article.reader", { lang, dir }, header, prose);
}

/** Below this confidence a reader should look at the page itself. */
const DOUBTFUL = 0.5;

/** Short notes of the extraction about its result. */
function chips(article: Article): HTMLElement {
  const { page_type: type, confidence, fetcher, word_count: words } = article;
  const isDoubtful = confidence !== null && confidence < DOUBTFUL;
  const sure = confidence === null ? null : `${Math.round(confidence * 100)} % sure`;
  const list: readonly (readonly [label: string, explanation: string, kind?: string] | null)[] = [
    type && [type, "Page type"],
    sure === null ? null : [sure, "Confidence that this is the content", isDoubtful ? "bad" : ""],
    [FETCHERS[fetcher], "How the page was fetched"],
    [`${counted(words, "word")}, ${readingTime(words)}`, "Words in the content, and reading time"],
    [
      `about ${counted(estimateTokens(article.markdown ?? ""), "token")}`,
      "Estimated tokens of the Markdown for a language model",
    ],
  ];
  return h(
    "ul.chips",
    { "aria-label": "About this extraction" },
    ...list.map((chip) => chip && h("li", { class: `tag ${chip[2] ?? ""}`, title: chip[1] }, chip[0])),
  );
}

const FETCHERS: Readonly<Record<Article["fetcher"], string>> = {
  http: "plain HTTP",
  browser: "browser",
  file: "file",
};

/** Reading time at 230 words a minute (Brysbaert 2019, for silent reading of English). */
const readingTime = (words: number): string => formatDuration(Math.max(1, Math.round(words / 230)) * 60_000);

const formatDay = (iso: string | null): string | null => {
  const time = Date.parse(iso ?? "");
  return Number.isNaN(time) ? iso : new Date(time).toLocaleDateString("en-GB", { dateStyle: "long" });
};

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
  const time = (field: "published_date" | "modified_date"): string | null =>
    article[field] && `${formatTime(article[field]) ?? article[field]}${from(field)}`;
  const rows: readonly (readonly [string, string | Node | null])[] = [
    ["Title", article.title && article.title + from("title")],
    ["By", article.byline && article.byline + from("byline")],
    ["Site", article.siteName],
    ["Published", time("published_date")],
    ["Modified", time("modified_date")],
    ["Language", article.lang],
    ["Excerpt", article.excerpt],
    ["Page type", article.page_type],
    ["Confidence", confidence === null ? null : `${Math.round(confidence * 100)} %`],
    ["Words", `${formatNumber(article.word_count)} (${formatNumber(article.length)} characters)`],
    ["Address", address(article.url)],
    ["Answered by", article.final_url === article.url ? null : address(article.final_url)],
    ["Canonical", article.canonical_url === article.final_url ? null : address(article.canonical_url)],
    ["Picture", address(image)],
    ["Status", status === null ? null : String(status)],
    ["Fetched with", FETCHERS[article.fetcher]],
  ];
  const shown = rows.filter(([, value]) => value !== null && value !== "");
  return h("dl.metadata", ...shown.flatMap(([name, value]) => [h("dt", name), h("dd", value)]));
}

/** Makes a link if the address leads to the web; a page may claim any text as its address. */
function address(url: string | null): Node | string | null {
  if (url === null || !/^https?:\/\//i.test(url)) return url;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow ugc" }, url);
}
