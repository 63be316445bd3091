/**
 * Fetches pages with a browser until it is killed. Arguments: the directory for temporary files, a URL.
 * It writes a line for each page.
 */
import { openTestHost, testBrowserFetcher } from "./browser-fetcher.ts";
import { pageUrl } from "./test-fetcher.ts";

const [base = "", url = ""] = process.argv.slice(2);
const host = openTestHost({ base });
const fetcher = testBrowserFetcher({ host });
for (;;) console.log((await fetcher.fetch(pageUrl(url))).status);
