import { type Exchange, type Layer, prefersHtml } from "../middleware/exchange.ts";
import { docsPage, serveSwagger } from "./api-docs.ts";
import { answer, assetOf, createWebPage, type WebAsset, type WebPage } from "./assets.ts";
import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import commonStyle from "./page/base.css" with { type: "text" };
import embedStyle from "./page/embed/embed.css" with { type: "text" };
import embedHtml from "./page/embed/embed.html" with { type: "text" };
import extractStyle from "./page/extractor/extract.css" with { type: "text" };
import extractorStyle from "./page/extractor/extractor.css" with { type: "text" };
import extractorHtml from "./page/extractor/extractor.html" with { type: "text" };
import mastheadStyle from "./page/masthead.css" with { type: "text" };
import proseStyle from "./page/prose.css" with { type: "text" };
import searchStyle from "./page/search/search.css" with { type: "text" };
import searchHtml from "./page/search/search.html" with { type: "text" };
import statusStyle from "./page/status/status.css" with { type: "text" };
import statusHtml from "./page/status/status.html" with { type: "text" };

const baseStyle = `${mastheadStyle}${commonStyle}`;

/** The files of `serve extractor`: a page for articles and crawls, and the API's documentation. */
export const extractorFiles = () =>
  filesOf({
    "/": createWebPage(extractorHtml, {
      "extractor.css": baseStyle + proseStyle + extractStyle + extractorStyle,
      "part.js": bundlePageScript("extractor/part.ts", "iife"),
      "extractor.js": bundlePageScript("extractor/main.ts"),
    }),
    "/docs": docsPage,
  });

/** The files of `serve search`: pages for search, documents and the state of the collections, and the API's documentation. */
export const searchFiles = () =>
  filesOf({
    "/": createWebPage(searchHtml, {
      "search.css": baseStyle + proseStyle + searchStyle,
      "view.js": bundlePageScript("search/view.ts", "iife"),
      "search.js": bundlePageScript("search/main.ts"),
    }),
    "/status": createWebPage(statusHtml, {
      "status.css": baseStyle + statusStyle,
      "status.js": bundlePageScript("status/main.ts"),
    }),
    "/embed": createWebPage(embedHtml, {
      "embed.css": baseStyle + proseStyle + embedStyle,
      "embed.js": bundlePageScript("embed/main.ts"),
    }),
    "/docs": docsPage,
    "/docs-search.js": { file: assetOf("docs-search.js", bundlePageScript("box/main.ts", "iife")) },
    // Its address of earlier versions; programs are answered with JSON there.
    "/analytics": { movedTo: "status#queries" },
  });

const filesOf = (pages: WebPages): readonly Layer[] => [servePages(pages), serveSwagger];

/**
 * Pages by their paths. `file` is loaded by pages of other sites, so its path stays while it changes; `movedTo` is where
 * a page is now, relative to where it was.
 */
type WebPages = Readonly<
  Record<string, WebPage | { readonly file: WebAsset } | { readonly movedTo: string }>
>;

/**
 * Answers the paths of pages with them when a browser asks for HTML, and serves the files that they load. It comes
 * before the check of the API key: a browser cannot send a key with its first request, and a page itself is
 * no secret; its own requests need the key.
 */
const servePages = (pages: WebPages): Layer => {
  const assets = new Map(Object.values(pages).flatMap((page) => ("assets" in page ? [...page.assets] : [])));
  return (next) => async (exchange) => {
    const { request, path } = exchange;
    if (request.method !== "GET" && request.method !== "HEAD") return next(exchange);
    const asset = assets.get(path.slice(1));
    if (asset) return await answer(exchange, asset, "public, max-age=31536000, immutable");
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (!page) return next(exchange);
    if ("file" in page) return forOthers(await answer(exchange, page.file, "public, max-age=3600"));
    if (!prefersHtml(request.headers.get("accept"))) return withVary(await next(exchange));
    if ("movedTo" in page)
      return withVary(new Response(null, { status: 308, headers: { location: page.movedTo } }));
    const moved = path === "/" ? toFolder(exchange) : null;
    return withVary(moved ?? (await answer(exchange, page.html, "no-cache")));
  };
};

/** Lets pages of other sites load a file, even cross-origin isolated pages. */
function forOthers(response: Response): Response {
  response.headers.set("cross-origin-resource-policy", "cross-origin");
  return response;
}

/** Redirects `/prefix` to `/prefix/`, because relative addresses need the slash. */
function toFolder({ request }: Exchange): Response | null {
  const url = URL.parse(request.url);
  if (!url || url.pathname.endsWith("/")) return null;
  const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  return new Response(null, { status: 308, headers: { location: `${name}/${url.search}` } });
}

/** Tells caches that the page and the JSON share one address. */
function withVary(response: Response): Response {
  const varied = new Response(response.body, response);
  varied.headers.append("vary", "Accept");
  return varied;
}
