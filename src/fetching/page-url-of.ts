import { type PageUrl, parsePageUrl } from "../urls/index.ts";

/** The URL of a hop as pages are named; one too long to be canonical is reported as the URL that was asked for. */
export const pageUrlOf = (url: URL, fallback: PageUrl): PageUrl => parsePageUrl(url.href) ?? fallback;
