import { prefersHtml } from "../middleware/accept.ts";
import type { Exchange, Layer } from "../middleware/exchange.ts";
import type { WebAsset, WebPages } from "./pages.ts";

/**
 * What a page may do in a browser: load its own files, send requests to its own server, and show pictures,
 * which it does only after a click. No text can become markup or script (Trusted Types), and nothing may
 * frame the page.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: https: http:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/**
 * Answers the paths of pages with them when a browser asks for HTML, and serves the files that they load. It comes
 * before the check of the API key: a browser cannot send a key with its first request, and a page itself is
 * no secret; its own requests need the key.
 */
export const servePages = (pages: WebPages): Layer => {
  const assets = new Map(Object.values(pages).flatMap((page) => [...page.assets]));
  return (next) => async (exchange) => {
    const { request, path } = exchange;
    if (request.method !== "GET" && request.method !== "HEAD") return next(exchange);
    const asset = assets.get(path.slice(1));
    if (asset) return answer(exchange, asset, "public, max-age=31536000, immutable");
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (!page) return next(exchange);
    if (!prefersHtml(request.headers.get("accept"))) return withVary(await next(exchange));
    const moved = path === "/" ? toFolder(exchange) : null;
    return withVary(moved ?? answer(exchange, page.html, "no-cache"));
  };
};

/** Redirects `/prefix` to `/prefix/`, because relative addresses need the slash. */
function toFolder({ request }: Exchange): Response | null {
  const url = URL.parse(request.url);
  if (!url || url.pathname.endsWith("/")) return null;
  const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  return new Response(null, { status: 308, headers: { location: `${name}/${url.search}` } });
}

function answer({ request }: Exchange, asset: WebAsset, cacheControl: string): Response {
  const headers = {
    "content-type": asset.contentType,
    "content-security-policy": PAGE_POLICY,
    "cache-control": cacheControl,
    etag: asset.etag,
  };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((one) => one.trim().replace(/^W\//, "") === asset.etag))
    return new Response(null, { status: 304, headers });
  return new Response(request.method === "HEAD" ? null : asset.body, { headers });
}

/** Tells caches that the page and the JSON share one address. */
function withVary(response: Response): Response {
  const varied = new Response(response.body, response);
  varied.headers.append("vary", "Accept");
  return varied;
}
