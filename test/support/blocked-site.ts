import { BLOCKED_PAGES } from "./blocked-pages.ts";
import { html } from "./crawl-site.ts";

/** The answer that stands in for a page, by its name in `BLOCKED_PAGES`. */
export function blockedAnswer(name: string): Response {
  const page = BLOCKED_PAGES[name];
  if (!page) throw new Error(`there is no ${name}`);
  const headers = Object.entries(page.headers ?? {}).map(([key, value]) => [key, value ?? ""]);
  return html(page.html, { status: page.status ?? 200, headers: Object.fromEntries(headers) });
}

/** Pages of a site: what is shown at each address, and what the failure says of it. */
export const BLOCKED_PATHS = {
  "/challenge": ["Cloudflare's challenge", "shows a challenge instead of the page (header cf-mitigated"],
  "/challenge-200": [
    "Cloudflare's challenge with the status of a page",
    'shows a challenge instead of the page (title "Just a moment...", markup _cf_chl_opt',
  ],
  "/consent": ["a consent wall at the page's address", "shows a consent wall instead"],
  "/account": ["a login page with a status", "shows a login page instead"],
  "/paywall": ["a preview with an offer", "shows the preview before a paywall instead"],
  "/region": ["a block of Europe", "shows a block of your region instead"],
  "/rate": ["a rate page with the status of a page", "shows a page that says too many requests instead"],
} as const;

/** Routes of `serveCrawlSite`. */
export const BLOCKED_ROUTES = Object.fromEntries(
  Object.entries(BLOCKED_PATHS).map(([path, [name]]) => [path, () => blockedAnswer(name)]),
);
