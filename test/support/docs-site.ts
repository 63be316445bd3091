import { serveLocal } from "./local.ts";
/** How a page of the site answers. */
export type DocsPage = {
  readonly body: string;
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

const WORDS =
  "harbour sluice lantern tide gauge keeper chart signal mooring barge current channel beacon ferry".split(
    " ",
  );

/** Writes a text that differs for each name and is long enough to be an article. */
export function proseOf(name: string, length = 220): string {
  let state = Number(Bun.hash(name) & 0x7fff_ffffn);
  const words: string[] = [];
  for (let index = 0; index < length; index++) {
    state = (state * 48_271) % 0x7fff_ffff;
    words.push(`${WORDS[state % WORDS.length]}${state % 7 === 0 ? (state % 97).toString(36) : ""}`);
  }
  return words.join(" ");
}

export const htmlPage = (
  title: string,
  text: string,
  links: readonly string[] = [],
): string => `<!doctype html>
<html lang="en"><head><title>${title}</title></head><body>
<nav>${links.map((href) => `<a href="${href}">${href}</a>`).join(" ")}</nav>
<main><article><h1>${title}</h1><p>${text.replaceAll("\n\n", "</p><p>")}</p></article></main></body></html>`;

/** A website of documentation that changes as a test wants it to. */
export class DocsSite implements AsyncDisposable {
  readonly pages = new Map<string, DocsPage>();
  /** The sitemap tells these dates as lastmod; a path that is missing here has none. */
  readonly lastModified = new Map<string, string>();
  /** Method is always GET or POST; path and query of each request, and what was answered. */
  readonly requests: { readonly path: string; readonly status: number; readonly headers: Headers }[] = [];
  sentBytes = 0;
  /** Answers every request instead, until it is null again. */
  intercept: ((request: Request) => Response | null | Promise<Response | null>) | null = null;
  /** Whether pages carry an ETag and answer 304. */
  hasEtags = true;
  /** The sitemap lists these paths; null lists all HTML pages. */
  listed: readonly string[] | null = null;
  readonly #server: ReturnType<typeof Bun.serve>;

  constructor() {
    this.#server = serveLocal(async (request) => {
      const response = (await this.intercept?.(request)) ?? this.#answer(request);
      const url = new URL(request.url);
      this.requests.push({
        path: url.pathname + url.search,
        status: response.status,
        headers: request.headers,
      });
      return response;
    });
  }

  get origin(): string {
    return this.#server.url.origin;
  }

  get sitemap(): string {
    return `${this.origin}/sitemap.xml`;
  }

  /** Adds pages `/docs/p0` and so on, each with text of its own. */
  fill(count: number): void {
    for (let index = 0; index < count; index++) this.write(`/docs/p${index}`, `Page ${index}`);
  }

  write(path: string, title: string, links: readonly string[] = []): void {
    this.pages.set(path, { body: htmlPage(title, proseOf(`${path} ${title}`), links) });
  }

  /** Gives the paths that were asked for since the last call, without robots.txt and the sitemap. */
  takeRequests(): string[] {
    const paths = this.requests.splice(0).map(({ path }) => path);
    return paths.filter(
      (path) => !/^\/(?:robots\.txt|sitemap\.xml|llms\.txt)$/.test(path) && !/\.md$|no-such-page/.test(path),
    );
  }

  #answer(request: Request): Response {
    const { pathname } = new URL(request.url);
    if (pathname === "/sitemap.xml" && !this.pages.has(pathname)) return this.#sitemap();
    const page = this.pages.get(pathname);
    if (!page) return new Response("not found", { status: 404, headers: { "content-type": "text/plain" } });
    const etag = `"${Bun.hash(page.body).toString(36)}"`;
    const headers = {
      "content-type": page.type ?? "text/html; charset=utf-8",
      ...(this.hasEtags && { etag }),
      ...page.headers,
    };
    if (this.hasEtags && request.headers.get("if-none-match") === etag)
      return new Response(null, { status: 304, headers });
    this.sentBytes += page.body.length;
    return new Response(page.body, { status: page.status ?? 200, headers });
  }

  #sitemap(): Response {
    const html = [...this.pages].filter(([, { type, status }]) => !type && !status).map(([path]) => path);
    const entries = (this.listed ?? html).map((path) => {
      const lastmod = this.lastModified.get(path);
      return `<url><loc>${this.origin}${path}</loc>${lastmod ? `<lastmod>${lastmod}</lastmod>` : ""}</url>`;
    });
    const body = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("")}</urlset>`;
    this.sentBytes += body.length;
    return new Response(body, { headers: { "content-type": "application/xml" } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}
