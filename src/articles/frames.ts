import { Away, Failure } from "../base/failure.ts";
import { escapeHtml } from "../base/text.ts";
import {
  type Article,
  composeDocument,
  countWords,
  type Extraction,
  type ExtractionOptions,
  warningsFor,
} from "../extraction/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { PageVisit } from "./fetched-article.ts";

/** Framesets of real manuals have two to four frames; each one read is a request. */
const MAX_FRAMES = 8;
/** The most frames that are named one by one when they were not read. */
const MAX_NAMED = 8;

type FrameParts = {
  readonly options: ExtractionOptions;
  readonly signal: AbortSignal | undefined;
  /** Visits a frame as any page, without its own frames. */
  readonly visitFrame: (url: PageUrl) => Promise<PageVisit>;
};

/**
 * Gives a page that is only a frameset the content of its frames, in their order: of the first eight of its own origin,
 * one level deep. Those that were not read are named. The page of a browser is returned as it is, since a browser has
 * written the frames into it.
 * @throws Failure `cancelled` when the caller is; `Away`
 */
export async function withFrames(visit: PageVisit, parts: FrameParts): Promise<PageVisit> {
  const { page, extraction } = visit;
  const frameset = extraction?.frameset;
  if (!extraction || !frameset || page.status >= 400 || page.fetchedBy === "browser") return visit;
  const origin = originOf(page.finalUrl);
  const isOwn = (url: PageUrl): boolean => originOf(url) === origin && url !== page.finalUrl;
  const chosen = new Set(frameset.frames.filter(isOwn).slice(0, MAX_FRAMES));
  const frames: PageVisit[] = [];
  const unread: string[] = [];
  for (const url of frameset.frames) {
    const frame = chosen.has(url) ? await read(url, parts) : reasonAgainst(url, origin);
    if (typeof frame === "string") unread.push(`The frame ${url} was not read: ${frame}`);
    else frames.push(frame);
  }
  const more = unread.length - MAX_NAMED;
  const notes = more > 0 ? [...unread.slice(0, MAX_NAMED), `${more} more frames were not read`] : unread;
  return frames.length === 0 ? visit : joinedVisit(visit, frames, { notes, options: parts.options });
}

const reasonAgainst = (url: PageUrl, origin: string): string =>
  originOf(url) === origin ? `it is beyond the first ${MAX_FRAMES}` : "it is of another origin";

/** Returns a frame that was read, or why it was not. */
async function read(url: PageUrl, { signal, visitFrame }: FrameParts): Promise<PageVisit | string> {
  try {
    const frame = await visitFrame(url);
    const { status } = frame.page;
    if (frame.extraction === null || status >= 400) return `it answered HTTP ${status}`;
    return frame.extraction.frameset ? "it is a frameset itself" : frame;
  } catch (error) {
    if (!(error instanceof Failure) || error instanceof Away || signal?.aborted) throw error;
    return error.message;
  }
}

type JoinOptions = { readonly notes: readonly string[]; readonly options: ExtractionOptions };

function joinedVisit(
  visit: PageVisit,
  frames: readonly PageVisit[],
  { notes, options }: JoinOptions,
): PageVisit {
  const { page } = visit;
  const visits = [visit, ...frames];
  const extractions = visits.flatMap(({ extraction }) => extraction ?? []);
  const [frameset] = extractions;
  if (!frameset) return visit;
  const { scripts: _, ...own } = frameset;
  const articles = extractions.flatMap(({ article }) => article ?? []);
  const contents = extractions.flatMap(({ article, linkPage }) => article ?? linkPage ?? []);
  const title = frameset.frameset?.title ?? null;
  const joined = contents.length === 0 ? null : joinedArticle(title, contents, options);
  // The frameset's validators say nothing of its frames.
  const { etag: __, "last-modified": ___, ...headers } = page.headers;
  const robotsTags = visits.flatMap(({ page: { headers: of } }) => of["x-robots-tag"] ?? []);
  return {
    page: {
      ...page,
      // Each header counts for all agents again, unless it names one.
      headers: robotsTags.length === 0 ? headers : { ...headers, "x-robots-tag": robotsTags.join(", *:, ") },
      warnings: [...new Set(visits.flatMap(({ page: { warnings } }) => warnings))],
      durationMs: sum(visits.map(({ page: { durationMs } }) => durationMs)),
    },
    extraction: {
      ...own,
      article: articles.length === 0 ? null : joined,
      linkPage: articles.length === 0 ? joined : null,
      links: linksOf(extractions),
      robots: {
        noindex: extractions.some(({ robots }) => robots.noindex),
        nofollow: extractions.some(({ robots }) => robots.nofollow),
      },
    },
    extractionMs: sum(visits.map(({ extractionMs }) => extractionMs)),
    blocked: visit.blocked,
    notes: [...visit.notes, ...notes],
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The links of all parts, each once; one that any part lets follow may be followed. */
function linksOf(extractions: readonly Extraction[]): Extraction["links"] {
  const links = new Map<PageUrl, Extraction["links"][number]>();
  for (const link of extractions.flatMap((extraction) => extraction.links)) {
    const known = links.get(link.url);
    if (!known || (known.isNofollow && !link.isNofollow)) links.set(link.url, link);
  }
  return [...links.values()];
}

/** Joins articles under one title. Each brings its own as a heading; what is one value only is the longest one's. */
function joinedArticle(named: string | null, found: readonly Article[], options: ExtractionOptions): Article {
  const main = found.reduce((longest, part) => (part.wordCount > longest.wordCount ? part : longest));
  const title = named ?? main.title;
  // A part with the title of the whole does not repeat it.
  const parts = found.map((part) => (part.title === title ? { ...part, title: null } : part));
  const all = <Item>(of: (part: Article) => readonly Item[] | null): readonly Item[] | null =>
    of(main) === null ? null : parts.flatMap((part) => of(part) ?? []);
  const markdown: string[] = [];
  const anchors: { id: string; start: number }[] = [];
  let at = 0;
  for (const part of parts) {
    const document = composeDocument(part);
    for (const { id, start } of document.anchors ?? []) anchors.push({ id, start: start + at });
    markdown.push(document.markdown);
    at += document.markdown.length + 2;
  }
  const text = parts
    .flatMap((part) => [part.title ?? "", part.text])
    .filter(Boolean)
    .join("\n\n");
  const wordCount = countWords(text);
  const html = parts.map(({ title: heading, content }) =>
    heading === null ? (content ?? "") : `<h1>${escapeHtml(heading)}</h1>\n${content ?? ""}`,
  );
  return {
    ...main,
    title,
    content: main.content === null ? null : html.join("\n"),
    markdown: main.markdown === null ? null : markdown.join("\n\n"),
    anchors: main.anchors === null ? null : anchors,
    links: all((part) => part.links),
    images: all((part) => part.images),
    blocks: all((part) => part.blocks),
    text,
    wordCount,
    warnings: [
      ...new Set([
        ...parts.flatMap(({ warnings }) => warnings),
        ...warningsFor({ wordCount, mainPart: null }, options),
      ]),
    ],
  };
}
