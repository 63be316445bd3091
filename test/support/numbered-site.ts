import { serveLocal } from "./local.ts";
/** A request as the site saw it. */
export type SiteVisit = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** When it came and when it was answered, in ms. */
  readonly at: number;
  readonly until: number;
};

export type SiteAnswer = {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

export type NumberedSite = ReturnType<typeof serveNumberedSite>;

export type NumberedSiteOptions = {
  readonly pages: number;
  /** Links of each page to the pages below it; 10 unless given. */
  readonly fanOut?: number;
  /** How long each page takes. */
  readonly answerMs?: number;
  /** What the answer to a request waits for besides; `earlier` counts the requests that were answered before. */
  readonly until?: (path: string, earlier: number) => Promise<void> | undefined;
  /** These answers add paths or replace the site's own; `{origin}` in a body becomes the site's origin. */
  readonly answers?: Readonly<Record<string, SiteAnswer>>;
};

const HTML = { "content-type": "text/html; charset=utf-8" };

/** Writes a page of some words with `links` in its text. */
export function crawlPage(title: string, links: readonly string[] = [], words = 60): string {
  const anchors = links.map((link) => `<a href="${link}">${link}</a>`).join(", ");
  const sentence = `${title} tells of the gate that opens at low water. `;
  return `<html><head><title>${title}</title></head><body><article><h1>${title}</h1>
<p>${sentence.repeat(Math.ceil(words / 10))}</p><p>See ${anchors || "nothing"}.</p></article></body></html>`;
}

/**
 * Serves a tree of pages on loopback: `/` links to `/p/1` … `/p/fanOut`, page n to the pages
 * `n * fanOut + 1` … `(n + 1) * fanOut` as far as there are pages, each a level deeper.
 */
export function serveNumberedSite(options: NumberedSiteOptions) {
  const { pages, fanOut = 10, answerMs = 0, until, answers = {} } = options;
  const visits: SiteVisit[] = [];
  let open = 0;
  let peak = 0;
  const server = serveLocal(async (request) => {
    const at = performance.now();
    const { pathname, search, origin } = new URL(request.url);
    open++;
    peak = Math.max(peak, open);
    const path = pathname + search;
    if (answerMs > 0) await Bun.sleep(answerMs);
    await until?.(path, visits.length);
    open--;
    visits.push({ path, headers: Object.fromEntries(request.headers), at, until: performance.now() });
    const answer = answers[path] ?? numberedPage(pathname, pages, fanOut);
    const { body = "", status = 200, headers = HTML } = answer;
    const sent = typeof body === "string" ? body.replaceAll("{origin}", origin) : body;
    return new Response(sent, { status, headers: { ...headers } });
  });
  return {
    origin: server.url.origin,
    /** Every answered request so far, in order of arrival. */
    visits,
    /** How often a path was asked for. */
    count: (path: string) => visits.filter((visit) => visit.path === path).length,
    /** Requests that are under way. */
    get open() {
      return open;
    },
    /** Most requests that were under way at the same time. */
    get peak() {
      return peak;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function numberedPage(pathname: string, pages: number, fanOut: number): SiteAnswer {
  const number = pathname === "/" ? 0 : Number(/^\/p\/(\d+)$/.exec(pathname)?.[1] ?? Number.NaN);
  if (!(number < pages)) return { status: 404, body: "Not found" };
  const children = Array.from({ length: fanOut }, (_, index) => number * fanOut + 1 + index);
  const links = children.filter((child) => child < pages).map((child) => `/p/${child}`);
  return { body: crawlPage(`Page ${number}`, links) };
}
