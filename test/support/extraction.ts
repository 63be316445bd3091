import {
  type Article,
  type BodyKind,
  createExtractor,
  type Extraction,
  type ExtractionOptions,
  type Extractor,
  extractBody,
} from "../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION, EXTRACTION_LIMITS } from "../../src/settings/index.ts";
import { type PageUrl, parsePageUrl } from "../../src/urls/index.ts";
import { WORKER_URL } from "./workers.ts";

/** These options remove nothing, warn of nothing and ask for both renderings. */
export const OPTIONS: ExtractionOptions = {
  ...DEFAULT_EXTRACTION,
  minWordCount: 0,
  renderings: ["content", "markdown"],
};

/** What a test says about its page besides the body; null as URL is a page without an address. */
export type PageCase = Partial<ExtractionOptions> & {
  readonly url?: string | null;
  readonly kind?: BodyKind;
};

export const PAGE_URL = "https://site.test/dir/page";

/** This paragraph is long enough to be content. */
export const PROSE =
  "The mill at the river mouth has turned again since the spring, and the people who live beside it say that they sleep better with its sound. ".repeat(
    3,
  );

export const pageUrl = (text: string): PageUrl => {
  const url = parsePageUrl(text);
  if (!url) throw new Error(`${text} is no page URL`);
  return url;
};

export function extract(body: string, { url, kind, ...options }: PageCase = {}): Promise<Extraction> {
  return extractBody({
    kind: kind ?? "html",
    body,
    url: url === null ? null : pageUrl(url ?? PAGE_URL),
    options: { ...OPTIONS, ...options },
  });
}

/** The article of a page that has one. */
export async function articleOf(body: string, page: PageCase = {}): Promise<Article> {
  const { article } = await extract(body, page);
  if (!article) throw new Error("the page holds no article");
  return article;
}

/** A page whose content is `inner` between two paragraphs of prose. */
export const pageWith = (inner: string, head = ""): string =>
  `<!doctype html><html><head>${head}</head><body><article><p>${PROSE}</p>${inner}<p>${PROSE}</p></article></body></html>`;

/** The article of a page with this in its head. */
export const articleWithHead = (head: string, page: PageCase = {}): Promise<Article> =>
  articleOf(pageWith("", head), page);

export const jsonLd = (value: unknown): string =>
  `<script type="application/ld+json">${typeof value === "string" ? value : JSON.stringify(value)}</script>`;

/** The text between the two paragraphs of prose. */
export const innerText = (text: string): string =>
  text.slice(PROSE.trim().length, text.length - PROSE.trim().length).replace(/^\n\n|\n\n$/g, "");

/** In a worker, because its stack is another one and because what hangs there would hang all tests. */
export const openWorker = (timeLimitMs: number): Extractor =>
  createExtractor({ ...EXTRACTION_LIMITS, workers: 1, workerUrl: WORKER_URL, timeLimitMs });
