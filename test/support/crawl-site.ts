import { serveLocal } from "./local.ts";

/** A request as the site saw it. */
export type CrawlVisit = {
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** When it came, in ms of `performance.now`. */
  readonly at: number;
};

export type CrawlRoute = string | ((visit: CrawlVisit, times: number) => Response | Promise<Response>);

export type CrawlSite = ReturnType<typeof serveCrawlSite>;

const HTML = { "content-type": "text/html; charset=utf-8" };

/** A page of about 60 words with links. */
export function page(title: string, links: readonly string[] = [], head = ""): string {
  const anchors = links
    .map((link) => `<li><a href="${link}">a link to ${link.slice(0, 60)}</a></li>`)
    .join("\n");
  const sentence = `${title} is about the gate that opens when the water is low enough. `;
  return `<!doctype html><html><head><title>${title}</title>${head}</head><body><article><h1>${title}</h1>
<p>${sentence.repeat(5)}</p></article><nav><ul>${anchors}</ul></nav></body></html>`;
}

export const html = (body: string, init: ResponseInit = {}): Response =>
  new Response(body, { ...init, headers: { ...HTML, ...init.headers } });

export const redirect = (to: string): Response =>
  new Response(null, { status: 302, headers: { location: to } });

/**
 * Serves the routes of a test on loopback, by path with query, then by path: a text is a page's HTML, `{origin}`
 * in it becomes the site's. Anything else is `*`, or 404 without words.
 */
export function serveCrawlSite(routes: Readonly<Record<string, CrawlRoute>>, hostname = "127.0.0.1") {
  const visits: CrawlVisit[] = [];
  let open = 0;
  let peak = 0;
  const server = serveLocal(async (request) => {
    const { pathname, search, origin } = new URL(request.url);
    const visit = {
      path: pathname + search,
      headers: Object.fromEntries(request.headers),
      at: performance.now(),
    };
    visits.push(visit);
    const route = routes[visit.path] ?? routes[pathname] ?? routes["*"];
    if (route === undefined) return new Response(null, { status: 404 });
    if (typeof route === "string") return html(route.replaceAll("{origin}", origin));
    open++;
    peak = Math.max(peak, open);
    try {
      return await route(visit, visits.filter(({ path }) => path === visit.path).length);
    } finally {
      open--;
    }
  }, hostname);
  return {
    origin: `http://${hostname}:${server.port}`,
    visits,
    /** How often a path (with query) was asked for. */
    count: (path: string) => visits.filter((visit) => visit.path === path).length,
    /** Most requests that were under way at the same time. */
    peak: () => peak,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
