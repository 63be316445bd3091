import { createHash } from "node:crypto";
import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import analyticsStyle from "./page/analytics/analytics.css" with { type: "text" };
import analyticsHtml from "./page/analytics/analytics.html" with { type: "text" };
import baseStyle from "./page/base.css" with { type: "text" };
import extractorStyle from "./page/extractor/extractor.css" with { type: "text" };
import extractorHtml from "./page/extractor/extractor.html" with { type: "text" };
import icon from "./page/icon.svg" with { type: "text" };
import proseStyle from "./page/prose.css" with { type: "text" };
import searchStyle from "./page/search/search.css" with { type: "text" };
import searchHtml from "./page/search/search.html" with { type: "text" };

// A macro's arguments are taken as they are written, so each bundle is named here in full.
const extractorScript = bundlePageScript("extractor/main.ts");
const searchScript = bundlePageScript("search/main.ts");
const analyticsScript = bundlePageScript("analytics/main.ts");

/** The page of `serve extractor`: articles of addresses, and crawls. */
export const extractorPages = (): WebPages => ({
  "/": createWebPage(textOf(extractorHtml), {
    "icon.svg": icon,
    "extractor.css": baseStyle + proseStyle + extractorStyle,
    "extractor.js": extractorScript,
  }),
});

/** The pages of `serve search`: tenants, search and documents; and what people search for. */
export const searchPages = (): WebPages => ({
  "/": createWebPage(textOf(searchHtml), {
    "icon.svg": icon,
    "search.css": baseStyle + proseStyle + searchStyle,
    "search.js": searchScript,
  }),
  "/analytics": createWebPage(textOf(analyticsHtml), {
    "icon.svg": icon,
    "analytics.css": baseStyle + analyticsStyle,
    "analytics.js": analyticsScript,
  }),
});

/** The types of Bun know imported HTML as the page of a server only; imported as text it is text. */
const textOf = (html: unknown): string => String(html);

/** A file that a browser may request. */
export type WebAsset = {
  readonly body: string;
  readonly contentType: string;
  /** The ETag with its quotes, as in the header. */
  readonly etag: string;
};

/** Pages by their paths. */
export type WebPages = Readonly<Record<string, WebPage>>;

/** A page with everything that it loads. */
type WebPage = {
  readonly html: WebAsset;
  /** Files by path below the page. A path contains the hash of the content, so the content never changes. */
  readonly assets: ReadonlyMap<string, WebAsset>;
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Assembles a page: `{{name}}` in the HTML becomes the asset's relative address, `assets/HASH.name`.
 * @throws Error for an asset of an unknown kind, and for a placeholder that names no asset
 */
function createWebPage(html: string, files: Readonly<Record<string, string>>): WebPage {
  const assets = new Map<string, WebAsset>();
  const paths = new Map<string, string>();
  for (const [name, body] of Object.entries(files)) {
    const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (contentType === undefined) throw new Error(`no content type is known for ${name}`);
    const path = `assets/${hashOf(body)}.${name}`;
    paths.set(name, path);
    assets.set(path, { body, contentType, etag: `"${hashOf(body)}"` });
  }
  const filled = html.replace(/\{\{([\w.-]+)\}\}/g, (_, name: string) => {
    const path = paths.get(name);
    if (path === undefined) throw new Error(`the page names ${name}, which is no asset`);
    return path;
  });
  const page = { body: filled, contentType: "text/html; charset=utf-8", etag: `"${hashOf(filled)}"` };
  return { html: page, assets };
}

const hashOf = (body: string): string =>
  createHash("sha256").update(body).digest("base64url").slice(0, 16).replaceAll(/[-_]/g, "0");
