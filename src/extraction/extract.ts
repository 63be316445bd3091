import { Failure } from "../base/failure.ts";
import { decodeLoosely, titleOfName } from "../base/text.ts";
import type { PageUrl } from "../urls/index.ts";
import { type RenderedContent, type RenderingContext, renderChosen, renderPage } from "./article-content.ts";
import { blockOf } from "./blocked.ts";
import { type Choice, type ChoiceOptions, chooseBlocks } from "./classification/choose.ts";
import {
  baseOf,
  canonicalOf,
  linksOf,
  markdownPointersOf,
  refreshOf,
  robotsOf,
  translationsOf,
} from "./links.ts";
import { readJsonLd } from "./metadata/metadata-page.ts";
import { type Metadata, readMetadata } from "./metadata.ts";
import { firstHeading, linksUnder, MAX_NOTICE_WORDS, sayMissing } from "./no-article.ts";
import { ElementFlag, type PageFacts, type ScannedPage } from "./page/page-model.ts";
import { htmlOfXhtml, readPage, scanPage } from "./page/scan.ts";
import { scriptProfileOf } from "./script-profile.ts";
import { selectGiven } from "./selection/selection.ts";
import { findTitle } from "./selection/title.ts";
import { countWords, tidyValue, unmatchedExclusion, warningsFor } from "./text.ts";
import { extractMarkdown, extractPlainText } from "./text-body.ts";
import type {
  AnswerFacts,
  Article,
  Extraction,
  ExtractionOptions,
  ExtractionTask,
  MetadataSource,
} from "./types.ts";

/** Extracts a body of any kind; throws as `extractHtml` of `pool.ts`. */
export function extractBody({
  kind,
  body,
  url,
  options,
  tellsScripts = false,
  encoding = "utf-8",
  answer,
}: ExtractionTask): Promise<Extraction> {
  return withinPage(async () => {
    if (typeof body !== "string") return await extractFile(body, url, options);
    switch (kind) {
      case "html":
        return extractPage(body, url, { options, tellsScripts, encoding, answer });
      case "xhtml":
        return extractPage(htmlOfXhtml(body), url, { options, tellsScripts, encoding, answer });
      case "markdown":
        return extractMarkdown(body, url, options);
      case "plain":
      case "file":
        return extractPlainText(body, options);
    }
  });
}

/** Extracts a document that is a file: all that it holds is content. */
async function extractFile(
  bytes: Uint8Array,
  url: PageUrl | null,
  options: ExtractionOptions,
): Promise<Extraction> {
  // The readers of files are slow to load and rarely needed.
  const { html, warnings } = await (await import("./files/read-file.ts")).readFile(bytes);
  const context = { options, tellsScripts: false, encoding: "utf-8", isWhole: true };
  const extraction = await extractPage(html, url, context);
  const { article } = extraction;
  if (article === null) return extraction;
  const title = article.title ?? (titleOfName(decodeLoosely(URL.parse(url ?? "")?.pathname ?? "")) || null);
  return { ...extraction, article: { ...article, title, warnings: [...article.warnings, ...warnings] } };
}

// A page can make the libraries throw anything; here it becomes a failure of that page.
async function withinPage(extract: () => Extraction | Promise<Extraction>): Promise<Extraction> {
  try {
    return await withLanguage(await extract());
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (error instanceof RangeError)
      throw new Failure("too_large", "the page is nested too deeply to extract", { cause: error });
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new Failure("internal", `extraction stopped with ${what.slice(0, 300)}`, { cause: error });
  }
}

/** Adds the language of the content, which can only be detected once its text exists. */
async function withLanguage(extraction: Extraction): Promise<Extraction> {
  const { article } = extraction;
  if (article === null) return extraction;
  const { language, source } = await findLanguage(article);
  const sources = { ...article.sources, language: source };
  return { ...extraction, article: { ...article, language, sources } };
}

async function extractPage(
  html: string,
  url: PageUrl | null,
  {
    options,
    tellsScripts,
    encoding,
    isWhole = false,
    answer = null,
  }: Required<Pick<ExtractionTask, "options" | "tellsScripts" | "encoding">> & {
    readonly isWhole?: boolean;
    readonly answer?: AnswerFacts | null | undefined;
  },
): Promise<Extraction> {
  const page = readPage(html);
  const base = baseOf(page.facts, url);
  const jsonLd = readJsonLd(page.facts);
  const choose = isWhole ? chooseWhole : chooseBlocks;
  const choice = choose(page, choiceOptions(options));
  const { titleInContent, ...metadata } = readMetadata({ page, choice, jsonLd, url }, base);
  const context = {
    url,
    base,
    encoding,
    jsonLd,
    title: titleInContent,
    image: metadata.image,
    options,
    choose,
  };
  const extracted = await extractArticle(page, choice, context, metadata);
  const blocked = blockOf(page, extracted.article, { jsonLd, kept: choice.blocks, answer: answer ?? null });
  return {
    ...extracted,
    ...(blocked !== null && { blocked }),
    saysMissing: saysMissing(page, extracted.article),
    links: linksOf(page.facts, base, encoding),
    robots: robotsOf(page.facts),
    canonical: canonicalOf(page.facts, base),
    translations: translationsOf(page.facts, base),
    markdownPointers: markdownPointersOf(page.facts, base),
    refresh: refreshOf(page.facts.refresh, { url, base }),
    noscriptRefresh: refreshOf(page.facts.noscriptRefresh, { url, base }),
    frameset:
      extracted.article === null ? framesetOf(page.facts, metadata.title, { base, encoding }) : undefined,
    ...(tellsScripts && { scripts: scriptProfileOf(page, base, url) }),
  };
}

function framesetOf(
  { frames }: PageFacts,
  title: string | null,
  { base, encoding }: { readonly base: PageUrl | null; readonly encoding: string },
): Extraction["frameset"] {
  if (frames.length === 0) return undefined;
  return { title, frames: linksOf({ links: frames }, base, encoding).map(({ url }) => url) };
}

function saysMissing({ model, facts }: ScannedPage, article: Article | null): boolean {
  if (article === null || article.wordCount > MAX_NOTICE_WORDS) return false;
  const { text, flags } = model.blocks;
  const headings = text.filter((_, block) => (flags[block]! & ElementFlag.heading) !== 0);
  return sayMissing([facts.title, article.title ?? "", ...headings]);
}

const choiceOptions = ({ favor, renderings }: ExtractionOptions): ChoiceOptions => ({
  favor,
  hasVerdicts: renderings.includes("blocks"),
});

type Choose = typeof chooseBlocks;
type ExtractionContext = RenderingContext & { readonly choose: Choose };

/** Keeps every block of a page. */
const chooseWhole: Choose = (page, options) => {
  const choice = chooseBlocks(page, options);
  const all = Int32Array.from({ length: page.model.blocks.count }, (_, block) => block);
  const { tree } = choice.selection.draft;
  return { ...choice, confidence: null, selection: selectGiven(tree, all, options.hasVerdicts) };
};

type ArticleMetadata = Omit<Metadata, "titleInContent">;

async function extractArticle(
  page: ScannedPage,
  choice: Choice,
  context: ExtractionContext,
  metadata: ArticleMetadata,
): Promise<Pick<Extraction, "article" | "emptySelection" | "linkPage">> {
  const { options } = context;
  const { rendered, elements, unmatched } = await (options.engine === "readability"
    ? renderClassic(page, context)
    : renderContent(page, choice, context));
  const articleOf = (content: RenderedContent) =>
    composeArticle(page, content, { metadata, options, unmatched });
  if (rendered !== null && countWords(rendered.text) > 0)
    return { article: await articleOf(rendered), emptySelection: null, linkPage: null };
  const { select: selector } = options;
  if (selector !== null) return { article: null, emptySelection: { selector, elements }, linkPage: null };
  const titled = findTitle(page.model, context.title);
  const heading = titled < 0 ? firstHeading(page.model) : titled;
  const blocks = heading < 0 ? null : linksUnder(page.model, heading);
  const { tree } = choice.selection.draft;
  const selection = blocks && selectGiven(tree, blocks, choiceOptions(options).hasVerdicts);
  const linkPage = selection && (await articleOf(renderPage(page, { ...choice, selection }, context)));
  return { article: null, emptySelection: null, linkPage };
}

async function composeArticle(
  page: ScannedPage,
  { firstParagraph, mainPart, omissions, ...content }: RenderedContent,
  {
    metadata,
    options,
    unmatched,
  }: Pick<RenderingContext, "options"> &
    Pick<PageContent, "unmatched"> & { readonly metadata: ArticleMetadata },
): Promise<Article> {
  const wordCount = countWords(content.text);
  const structured = options.renderings.includes("structuredData") ? await readStructured(page) : null;
  return {
    ...metadata,
    // This is what the page declares; `withLanguage` checks it against the content.
    language: metadata.lang,
    excerpt: metadata.excerpt ?? (tidyValue(firstParagraph ?? "") || null),
    ...content,
    structuredData: structured?.data ?? null,
    wordCount,
    warnings: [
      ...warningsFor({ wordCount, mainPart }, options),
      ...unmatched.map(unmatchedExclusion),
      ...omissions,
      ...(structured?.warnings ?? []),
    ],
  };
}

// The microdata reader is slow to load and rarely needed.
const readStructured = async (page: ScannedPage) =>
  (await import("./structured-data.ts")).readStructuredData(page);

type PageContent = {
  /** Null when nothing is left after the selectors. */
  readonly rendered: RenderedContent | null;
  /** The number of elements that `select` matches. */
  readonly elements: number;
  /** The selectors of `exclude` that match nothing. */
  readonly unmatched: readonly string[];
};

const renderContent = (page: ScannedPage, choice: Choice, context: ExtractionContext): Promise<PageContent> =>
  renderWithSelectors(page, context, (rest) => {
    const chosen = rest === page ? choice : context.choose(rest, choiceOptions(context.options));
    return renderPage(rest, chosen, context);
  });

/** Works like `renderContent`, but with the classic engine's content and the Markdown that it writes. */
async function renderClassic(page: ScannedPage, context: RenderingContext): Promise<PageContent> {
  const { findClassicContent, writeClassicMarkdown } = await loadClassic();
  const asked = context.options.renderings;
  // The Markdown is made from the sanitised HTML, so that both hold the same things.
  const renderings = asked.map((name) => (name === "markdown" ? "content" : name));
  const options = { ...context.options, renderings };
  const inner = { ...context, options };
  const { rendered, ...selected } = await renderWithSelectors(page, inner, ({ model }) => {
    const found = findClassicContent(model.html);
    return found && { ...renderChosen(found.html, model, inner), firstParagraph: found.excerpt };
  });
  if (rendered === null) return { rendered, ...selected };
  const html = rendered.content ?? "";
  const content = asked.includes("content") ? html : null;
  const markdown = asked.includes("markdown") ? writeClassicMarkdown(html) : null;
  return { rendered: { ...rendered, content, markdown }, ...selected };
}

/** Loads the engine only when asked for: its packages cost time, and users of the library may lack them. */
async function loadClassic(): Promise<typeof import("./classic.ts")> {
  try {
    return await import("./classic.ts");
  } catch (cause) {
    const message = "the engine readability needs the packages @mozilla/readability and node-html-markdown";
    throw new Failure("invalid_usage", message, { cause });
  }
}

/** @param render finds and renders the content of a page, or of the rest of it after the exclusions */
async function renderWithSelectors(
  page: ScannedPage,
  context: RenderingContext,
  render: (rest: ScannedPage) => RenderedContent | null,
): Promise<PageContent> {
  const { options } = context;
  if (options.select === null && options.exclude.length === 0)
    return { rendered: render(page), elements: 0, unmatched: [] };
  // Selectors are rarely used, and their code is slow to load.
  const { applySelectors } = await import("./parse.ts");
  const { html, elements, unmatched } = applySelectors(page.model.html, options);
  if (html === null) return { rendered: null, elements, unmatched };
  if (options.select !== null)
    return { rendered: renderChosen(html, page.model, context), elements, unmatched };
  // The rest after the selectors is scanned as a page of its own.
  return { rendered: render(scanPage(html)), elements, unmatched };
}

/**
 * Determines the language of an article's content: what the page declares, or else what its text shows. A page that
 * declares English is not believed when its text is surely in another language, because templates are written in
 * English and copied unchanged. Of 451 pages in eight languages, 2 % wrongly declare English, and none declares
 * another wrong language.
 */
async function findLanguage({ lang, text }: Article): Promise<{
  readonly language: string | null;
  readonly source: MetadataSource | null;
}> {
  if (lang !== null && !isDoubtful(lang, text)) return { language: lang, source: "lang" };
  const detected = await detectIn(text);
  if (detected !== null && detected !== "en") return { language: detected, source: "text" };
  if (lang !== null) return { language: lang, source: "lang" };
  return { language: detected, source: detected && "text" };
}

/** Shorter texts are names and labels. The detector reads the first 1000 characters. */
const FEWEST_TO_DETECT = 100;
const DETECTED_CHARS = 1000;
const NO_PROSE = /\b(?:https?:\/\/|www\.)\S+|[\w.+-]{1,64}@\S+/g;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The language of a text by its words; null where they are too few, or too mixed to tell. */
async function detectIn(text: string): Promise<string | null> {
  const prose = text
    .slice(0, 4 * DETECTED_CHARS)
    .replace(NO_PROSE, " ")
    .replace(/\s+/g, " ")
    .trim();
  // One character of a dense script carries as much information as three letters.
  if (prose.length + 2 * (prose.match(DENSE)?.length ?? 0) < FEWEST_TO_DETECT) return null;
  // The language tables take 60 ms and 40 MB to load, and only one page in 25 needs them.
  return (await import("../base/detect-language.ts")).detectLanguage(prose);
}

/** A shorter text is no evidence that the page's declaration is wrong. */
const FEWEST_CHARS = 400;
const READ_CHARS = 2000;
const FUNCTION_WORDS = /\b(?:the|of|and|to|is|for|that|with|this|are|you|from|by)\b/gi;
/** English prose has at least one function word per this many characters; a list of names has hardly any. */
const CHARS_PER_WORD = 100;

const FOREIGN_LETTERS = /[^\p{Script=Latin}\P{L}]/gu;

/**
 * Tells whether a text that is declared English is mostly in another script, or lacks the words that every English
 * text has.
 */
function isDoubtful(lang: string, text: string): boolean {
  if (!/^en(?:-|$)/i.test(lang)) return false;
  const read = text.slice(0, READ_CHARS);
  if ((read.match(FOREIGN_LETTERS)?.length ?? 0) > read.length / 2) return true;
  if (text.length < FEWEST_CHARS) return false;
  return (read.match(FUNCTION_WORDS)?.length ?? 0) < read.length / CHARS_PER_WORD;
}
