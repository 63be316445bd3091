import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import baseStyle from "./page/base.css" with { type: "text" };
import extractorStyle from "./page/extractor/extractor.css" with { type: "text" };
import extractorHtml from "./page/extractor/extractor.html" with { type: "text" };
import icon from "./page/icon.svg" with { type: "text" };
import proseStyle from "./page/prose.css" with { type: "text" };
import searchStyle from "./page/search/search.css" with { type: "text" };
import searchHtml from "./page/search/search.html" with { type: "text" };
import { createWebPage, type WebPage } from "./web-page.ts";

// A macro's arguments are taken as they are written, so each bundle is named here in full.
const extractorScript = bundlePageScript("extractor/main.ts");
const searchScript = bundlePageScript("search/main.ts");

/** The page of `serve extractor`: articles of addresses, and crawls. */
export const extractorPage = (): WebPage =>
  createWebPage(textOf(extractorHtml), {
    "icon.svg": icon,
    "extractor.css": baseStyle + proseStyle + extractorStyle,
    "extractor.js": extractorScript,
  });

/** The page of `serve search`: tenants, search and documents. */
export const searchPage = (): WebPage =>
  createWebPage(textOf(searchHtml), {
    "icon.svg": icon,
    "search.css": baseStyle + proseStyle + searchStyle,
    "search.js": searchScript,
  });

/** The types of Bun know imported HTML as the page of a server only; imported as text it is text. */
const textOf = (html: unknown): string => String(html);
