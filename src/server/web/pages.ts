import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptedTypes, type Exchange, type Layer, prefersHtml } from "../middleware/exchange.ts";
import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import baseStyle from "./page/base.css" with { type: "text" };
import chartStyle from "./page/chart.css" with { type: "text" };
import embedStyle from "./page/embed/embed.css" with { type: "text" };
import embedHtml from "./page/embed/embed.html" with { type: "text" };
import extractStyle from "./page/extractor/extract.css" with { type: "text" };
import extractorStyle from "./page/extractor/extractor.css" with { type: "text" };
import extractorHtml from "./page/extractor/extractor.html" with { type: "text" };
import icon from "./page/icon.svg" with { type: "text" };
import proseStyle from "./page/prose.css" with { type: "text" };
import searchStyle from "./page/search/search.css" with { type: "text" };
import searchHtml from "./page/search/search.html" with { type: "text" };
import statusStyle from "./page/status/status.css" with { type: "text" };
import statusHtml from "./page/status/status.html" with { type: "text" };

// A macro's arguments are taken as they are written, so each bundle is named here in full.
const extractorScript = bundlePageScript("extractor/main.ts");
const extractorPart = bundlePageScript("extractor/part.ts", "iife");
const chartScript = bundlePageScript("chart.ts");
const searchScript = bundlePageScript("search/main.ts");
const searchView = bundlePageScript("search/view.ts", "iife");
const embedScript = bundlePageScript("embed/main.ts");
const boxScript = bundlePageScript("box/main.ts", "iife");
const statusScript = bundlePageScript("status/main.ts");

/** The page of `serve extractor`: articles of addresses, and crawls. */
export const extractorPages = (): WebPages => ({
  "/": createWebPage(textOf(extractorHtml), {
    "icon.svg": icon,
    "extractor.css": baseStyle + proseStyle + extractStyle + chartStyle + extractorStyle,
    "part.js": extractorPart,
    "chart.js": chartScript,
    "extractor.js": extractorScript,
  }),
});

/** The pages of `serve search`: search and documents; and what became of syncs and searches. */
export const searchPages = (): WebPages => ({
  "/": createWebPage(textOf(searchHtml), {
    "icon.svg": icon,
    "search.css": baseStyle + proseStyle + searchStyle,
    "view.js": searchView,
    "search.js": searchScript,
  }),
  "/status": createWebPage(textOf(statusHtml), {
    "icon.svg": icon,
    "status.css": baseStyle + chartStyle + statusStyle,
    "chart.js": chartScript,
    "status.js": statusScript,
  }),
  "/embed": createWebPage(textOf(embedHtml), {
    "icon.svg": icon,
    "embed.css": baseStyle + proseStyle + embedStyle,
    "embed.js": embedScript,
  }),
  "/docs-search.js": { file: assetOf("docs-search.js", boxScript) },
  // Its address of earlier versions; programs are answered with JSON there.
  "/analytics": { movedTo: "status#queries" },
});

/** The types of Bun know imported HTML as the page of a server only; imported as text it is text. */
const textOf = (html: unknown): string => String(html);

/** A file that a browser may request. */
type WebAsset = {
  readonly body: string;
  /** What the file may do in a browser. */
  readonly policy: string;
  readonly contentType: string;
  /** The ETag as in the header; weak, because it stands for the file with and without compression. */
  readonly etag: string;
  /** Compresses the body, once. */
  readonly gzipped: () => Promise<Uint8Array<ArrayBuffer>>;
};

/** Pages by their paths. */
export type WebPages = Readonly<Record<string, WebPage | MovedPage | SharedFile>>;

/** A file that pages of other sites load by its path, which stays the same while the file changes. */
type SharedFile = { readonly file: WebAsset };

/** Where a page is now, relative to where it was. */
type MovedPage = { readonly movedTo: string };

/** A page with everything that it loads. */
type WebPage = {
  readonly html: WebAsset;
  /** Files by path below the page. A path contains the hash of the content, so the content never changes. */
  readonly assets: ReadonlyMap<string, WebAsset>;
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Assembles a page: `{{name}}` in the HTML becomes the asset's relative address, `assets/HASH.name`. A script that others
 * import comes before them. `{{style name}}` and `{{script name}}` become the file itself in its element, so that the
 * first picture waits for no second request.
 * @throws Error for a placeholder that names no asset
 */
function createWebPage(html: string, files: Readonly<Record<string, string>>): WebPage {
  const assets = new Map<string, WebAsset>();
  const paths = new Map<string, string>();
  for (const [name, source] of Object.entries(files)) {
    if (html.includes(` ${name}}}`)) continue;
    // A script imports another one by the path that it has in the tree; here both are in one folder.
    const body = source.replaceAll(/(["'])\.\.\/([\w-]+)\.ts\1/g, (written, _, module: string) => {
      const found = paths.get(`${module}.js`);
      return found === undefined ? written : JSON.stringify(found.replace("assets/", "./"));
    });
    const path = `assets/${hashOf(body)}.${name}`;
    paths.set(name, path);
    assets.set(path, assetOf(name, body));
  }
  const inlined: string[] = [];
  const filled = html.replace(
    /\{\{(?:(style|script) )?([\w.-]+)\}\}/g,
    (_, element: string | undefined, name: string) => {
      const text = element === undefined ? paths.get(name) : files[name];
      if (text === undefined) throw new Error(`the page names ${name}, which is no asset`);
      if (element === undefined) return text;
      inlined.push(text);
      return `<${element}>${text}</${element}>`;
    },
  );
  return { html: assetOf("page.html", filled, policyWith(inlined)), assets };
}

/** @throws Error for an asset of an unknown kind */
function assetOf(name: string, body: string, policy: string = policyWith([])): WebAsset {
  const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)];
  if (contentType === undefined) throw new Error(`no content type is known for ${name}`);
  let compressed: ReturnType<WebAsset["gzipped"]> | undefined;
  const gzipped: WebAsset["gzipped"] = () => {
    compressed ??= promisify(gzip)(body);
    return compressed;
  };
  return { body, policy, contentType, etag: `W/"${hashOf(body)}"`, gzipped };
}

const hashOf = (body: string): string =>
  createHash("sha256").update(body).digest("base64url").slice(0, 16).replaceAll(/[-_]/g, "0");

/**
 * What a page may do in a browser: load its own files, send requests to its own server, and show pictures,
 * which it does only after a click. No text can become markup or script (Trusted Types), and nothing may
 * frame the page.
 * @param inlined the styles and scripts that stand in the page itself
 */
function policyWith(inlined: readonly string[]): string {
  const hashes = inlined.map((text) => ` 'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  return [
    "default-src 'none'",
    `script-src 'self'${hashes.join("")}`,
    `style-src 'self'${hashes.join("")}`,
    "connect-src 'self'",
    "img-src 'self' data: https: http:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/**
 * Answers the paths of pages with them when a browser asks for HTML, and serves the files that they load. It comes
 * before the check of the API key: a browser cannot send a key with its first request, and a page itself is
 * no secret; its own requests need the key.
 */
export const servePages = (pages: WebPages): Layer => {
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

/** Lets pages of other sites load a file, also those that are isolated from others. */
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

async function answer({ request }: Exchange, asset: WebAsset, cacheControl: string): Promise<Response> {
  const headers = {
    "content-type": asset.contentType,
    "content-security-policy": asset.policy,
    "cache-control": cacheControl,
    etag: asset.etag,
    vary: "Accept-Encoding",
  };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  const isKnown = known.some((one) => one.trim().replace(/^(?!W\/)/, "W/") === asset.etag);
  if (isKnown) return new Response(null, { status: 304, headers });
  if (!takesGzip(request)) return new Response(asset.body, { headers });
  return new Response(await asset.gzipped(), { headers: { ...headers, "content-encoding": "gzip" } });
}

const takesGzip = ({ headers }: Request): boolean =>
  acceptedTypes(headers.get("accept-encoding")).some(({ type, weight }) => type === "gzip" && weight > 0);

/** Tells caches that the page and the JSON share one address. */
function withVary(response: Response): Response {
  const varied = new Response(response.body, response);
  varied.headers.append("vary", "Accept");
  return varied;
}
