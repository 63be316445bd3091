import { Failure } from "../../base/failure.ts";
import type { FetchOptions, StreamFetcher } from "../../fetching/index.ts";
import { parsePageUrl, withoutCredentials } from "../../urls/index.ts";
import type { ReadSitemaps, SitemapNews, SitemapUrl } from "../types.ts";
import {
  childSource,
  decodeStream,
  MAX_LOC_LENGTH,
  type OpenSitemap,
  openSitemap,
  parseSitemapSource,
  type RecordReader,
  type SitemapLimits,
  type SitemapRecord,
  type SitemapSource,
  sitemapName,
} from "./open.ts";
import { createXmlReader } from "./xml.ts";

type SitemapReaderParts = { readonly fetcher: StreamFetcher; readonly limits: SitemapLimits };

/** Adapts `readSitemaps` to a crawl; a text that is neither a URL nor a path is a failure like any other. */
export const createSitemapReader = (parts: SitemapReaderParts): ReadSitemaps =>
  async function* (sitemaps, { signal, beforeRequest, authorizations }) {
    const sources: SitemapSource[] = [];
    for (const written of sitemaps) {
      const source = parseSitemapSource(written, "/");
      if (source) sources.push(source);
      else {
        const sitemap = withoutCredentials(written);
        const message = `sitemap ${sitemap} is neither an http or https URL nor a path`;
        yield { kind: "failed", sitemap, failure: { code: "invalid_url", message } };
      }
    }
    yield* readSitemaps(sources, { ...parts, fetch: { signal, beforeRequest }, authorizations });
  };

type ReadSitemapsOptions = SitemapReaderParts & {
  /** The options for fetching sitemaps of the web; the signal cancels the reading. */
  readonly fetch?: FetchOptions;
  readonly authorizations?: ReadonlyMap<string, string>;
};

/**
 * Reads sitemaps and the sitemaps that indexes among them name, each once: `urlset`, `sitemapindex`, RSS, Atom, lists
 * of URLs, plain or gzipped. Reading is streamed: memory grows with the number of sitemaps, not of pages. A sitemap that
 * fails becomes an event, and the others are still read.
 * @throws Failure `cancelled` only
 */
export async function* readSitemaps(
  sources: readonly SitemapSource[],
  options: ReadSitemapsOptions,
): AsyncGenerator<SitemapNews> {
  const queue = new SitemapQueue(options.limits);
  for (const source of sources) queue.add({ source, depth: 0 });
  const { fruitless, sitemaps } = options.limits;
  const enoughPages = sitemaps * PAGES_EACH;
  // A page that is listed repeatedly counts once.
  const pages = new Set<unknown>();
  let readCount = 0;
  for (let next = queue.take(); next; next = queue.take()) {
    if (readCount >= fruitless + pages.size / PAGES_EACH) {
      const message = `${queue.length + 1} sitemaps are not read: the ${readCount} before lead to ${pages.size} pages only`;
      yield { kind: "failed", sitemap: sitemapName(next.source), failure: { code: "too_large", message } };
      break;
    }
    readCount++;
    for await (const news of readOne(next, queue, { fetch: {}, authorizations: new Map(), ...options })) {
      if (news.kind === "pages")
        for (const { url } of news.pages) if (pages.size < enoughPages) pages.add(Bun.hash(url));
      yield news;
    }
  }
  const { refusedCount } = queue;
  if (refusedCount > 0) {
    const message = `${refusedCount} sitemaps are not read: the limit is ${options.limits.sitemaps} sitemaps`;
    yield { kind: "failed", sitemap: queue.firstRefused, failure: { code: "too_large", message } };
  }
}

/** A sitemap with fewer pages than this is hardly worth its request. */
const PAGES_EACH = 10;

/** A sitemap to read, and how many indexes lead to it. */
type Queued = { readonly source: SitemapSource; readonly depth: number };

class SitemapQueue {
  refusedCount = 0;
  firstRefused = "";
  private readonly limits: SitemapLimits;
  private readonly known = new Set<string>();
  private queued: Queued[] = [];

  constructor(limits: SitemapLimits) {
    this.limits = limits;
  }

  /** Adds a sitemap, unless it is already known, as in a cycle of indexes. */
  add(queued: Queued): void {
    const name = sitemapName(queued.source);
    if (this.known.has(name)) return;
    if (this.known.size >= this.limits.sitemaps) {
      this.refusedCount++;
      this.firstRefused ||= name;
      return;
    }
    this.known.add(name);
    this.queued.push(queued);
  }

  get length(): number {
    return this.queued.length;
  }

  take(): Queued | undefined {
    return this.queued.shift();
  }
}

type Reading = Required<ReadSitemapsOptions>;

async function* readOne(
  { source, depth }: Queued,
  queue: SitemapQueue,
  options: Reading,
): AsyncGenerator<SitemapNews> {
  const sitemap = sitemapName(source);
  const counts = { pageCount: 0, sitemapCount: 0, invalidCount: 0 };
  try {
    const opened = await openSitemap(source, options);
    for await (const records of readRecords(opened, sitemap)) {
      const { pages, children, invalidCount } = resolveRecords(records, source, opened);
      counts.pageCount += pages.length;
      counts.sitemapCount += children.length;
      counts.invalidCount += invalidCount;
      if (children.length > 0 && depth >= options.limits.indexDepth) throw tooDeep(sitemap, options.limits);
      for (const child of children) queue.add({ source: child, depth: depth + 1 });
      if (pages.length > 0) yield { kind: "pages", pages };
    }
    yield { kind: "read", sitemap, ...counts };
  } catch (error) {
    if (!(error instanceof Failure) || error.code === "cancelled") throw error;
    yield { kind: "failed", sitemap, failure: error.toRecord() };
  }
}

const tooDeep = (sitemap: string, { indexDepth }: SitemapLimits): Failure =>
  new Failure("unsupported_content", `sitemap ${sitemap} is an index more than ${indexDepth} indexes deep`);

type Resolved = {
  readonly pages: readonly SitemapUrl[];
  readonly children: readonly SitemapSource[];
  readonly invalidCount: number;
};

function resolveRecords(
  records: readonly SitemapRecord[],
  source: SitemapSource,
  { base }: OpenSitemap,
): Resolved {
  const pages: SitemapUrl[] = [];
  const children: SitemapSource[] = [];
  for (const { names, loc, mayBeRelative, lastModified, base: inner } of records) {
    if (names === "sitemap") {
      const child = childSource(loc, source, base);
      if (child) children.push(child);
    } else {
      const outer = (mayBeRelative && base) || undefined;
      const url = parsePageUrl(loc, (inner && parsePageUrl(inner, outer)) || outer);
      if (url) pages.push({ url, lastModified });
    }
  }
  return { pages, children, invalidCount: records.length - pages.length - children.length };
}

/**
 * Yields the records of one open sitemap, piece by piece; its first character tells XML from a text list.
 * @param name of the sitemap, for messages
 * @throws Failure `unsupported_content`, and what reading the bytes throws; what came before has been yielded
 */
export async function* readRecords(
  { bytes, charset }: OpenSitemap,
  name: string,
): AsyncGenerator<readonly SitemapRecord[]> {
  let reader: RecordReader | null = null;
  try {
    for await (const piece of decodeStream(bytes, charset)) {
      const text: string = reader === null ? piece.replace(/^[\ufeff\s]+/, "") : piece;
      if (text === "") continue;
      reader ??= text.startsWith("<") ? createXmlReader(name) : createTextListReader(name);
      reader.read(text);
      yield reader.take();
    }
    reader ??= createTextListReader(name);
    reader.finish();
  } catch (error) {
    yield reader?.take() ?? [];
    throw error;
  }
  yield reader.take();
}

/**
 * Reads a plain text sitemap with one URL a line (sitemaps.org, "Text file"). Blank lines and lines that start with
 * `#` are skipped.
 * @param name of the sitemap, for messages
 */
export function createTextListReader(name: string): RecordReader {
  let records: SitemapRecord[] = [];
  let carry = "";
  let isSkipping = false;
  let hasUrl = false;

  const readLine = (line: string): void => {
    const loc = line.trim();
    if (loc === "" || loc.startsWith("#")) return;
    hasUrl ||= /^https?:\/\//i.test(loc);
    records.push({ names: "page", loc, mayBeRelative: false, lastModified: null });
  };

  return {
    read(piece) {
      const lines = (carry + piece).split(/\r\n|\r|\n/);
      carry = lines.pop() ?? "";
      if (isSkipping && lines.length > 0) {
        lines.shift();
        isSkipping = false;
      }
      for (const line of lines) readLine(line);
      if (isSkipping || carry.length > MAX_LOC_LENGTH) {
        isSkipping = true;
        carry = "";
      }
    },
    finish() {
      if (!isSkipping) readLine(carry);
      if (hasUrl) return;
      records = [];
      throw new Failure(
        "unsupported_content",
        `sitemap ${name} is neither XML nor a list of URLs, one a line`,
      );
    },
    take() {
      const taken = records;
      records = [];
      return taken;
    },
  };
}
