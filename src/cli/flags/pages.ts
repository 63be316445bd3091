import { FORM_NAMES } from "../output-forms.ts";
import { type Flag, type FlagTable, flagsOf, ownFlags } from "./flag.ts";

/** The flags for fetching pages, in extractions and in crawls. */
const FETCHING: FlagTable = {
  "--user-agent TEXT": "User agent to send; wins over --random-user-agent",
  "--random-user-agent": "Send a current desktop browser's user agent",
  '--header "NAME: VALUE" ...': "Send this header too; it stays with the page's own origin (repeatable)",
  "--proxy URL": "HTTP proxy; wins over HTTPS_PROXY, HTTP_PROXY and ALL_PROXY",
  "--proxy-bypass HOST ...": "Host that skips the proxy, as in NO_PROXY (repeatable)",
  "--timeout SECONDS":
    "Longest wait for one request (default 30); a page with its retries gets 60, or this if longer",
  "--retries N": "Retries after a failed connection, 408, 425, 429 or 5xx (default 3)",
  "--max-bytes SIZE": "Largest page, decompressed (default 20M)",
  "--egress POLICY":
    "Addresses that may be reached: auto (default), open, public, or a list of hosts and networks",
  "-f, --fail-on-http-error":
    "Fail for every HTTP error status; else a 404 or 410 whose body is a page is one",
  "--prefer-browser": "Fetch with the browser first (the default where one is found)",
  "--prefer-http": "Fetch with the plain HTTP client first; the browser helps with empty shells and 404",
  "--no-browser": "Never start a browser",
  "--no-system-ca": "Trust the built-in certificate authorities only, not the machine's",
  "--wait-for CSS": "Wait in the browser until an element matches",
  "--scroll": "Scroll through the page in the browser, for content that comes when it is seen",
  "--load-media": "Load images, fonts and media in the browser, too",
  "--headed": "Show the browser, to log in by hand on the first page",
  "--user-interaction-timeout SECONDS":
    "How long a headed browser waits for Enter (default 300 at a terminal, else 0)",
  "--storage-state PATH": "File that keeps cookies and sessions, for both fetchers",
};

const EXTRACTION: FlagTable = {
  "--min-words N": "Warn when the content has fewer words (default 150)",
  "--favor WORD": {
    choices: ["balanced", "precision", "recall"],
    help: "What to keep when unsure: balanced (default), precision (less noise) or recall (more content)",
  },
  "--engine NAME": {
    choices: ["article-extractor", "readability"],
    help: "Extraction engine: article-extractor (default), or readability for comparison",
  },
  "--no-images": "Leave images out",
  "--no-code": "Leave code blocks out",
  "--select CSS": "Extract only elements that match; an error if none does",
  "--exclude CSS ...": "Leave out elements that match; a warning if none does (repeatable)",
};

const FIELDS: FlagTable = {
  "--fields NAMES ...": "Only these fields of the JSON, such as title,markdown or default,links",
};

export const EXTRACT_FLAGS = flagsOf({
  Input: {
    "--file PATH ...": {
      takesBytes: true,
      help: "Extract from a local HTML, Markdown or text file (repeatable)",
    },
    "--input-file LIST ...": {
      isPath: true,
      takesBytes: true,
      help: "Extract every URL of a list, one a line ('-': standard input; repeatable)",
    },
    "--url URL": "Address of the page in --file or on stdin, for its links",
  },
  Output: {
    "--output FORMAT": {
      choices: FORM_NAMES,
      help: "json, markdown (md), text (txt), html or csv (a row each); else the ending of -o decides (default json)",
    },
    "-o, --output-file FILE": {
      takesBytes: true,
      help: "Write to this file instead of stdout, whole or not at all; DIR/ is --output-dir DIR",
    },
    "--output-dir DIR": {
      takesBytes: true,
      help: "Write a Markdown file for each URL, as a crawl does, and continue from manifest.jsonl there",
    },
    "--tables FORM": {
      choices: ["csv", "json"],
      help: "Write only the tables of the article, as csv or json",
    },
    ...FIELDS,
    "--compact": "JSON on one line; several pages have a line each anyway",
    "--resume FILE": "Append the JSON lines of pages that this file does not hold yet",
    "--retry-failed DIR|FILE": {
      isPath: true,
      help: "Try the failed pages of an earlier --output-dir or --resume again, and no others",
    },
    "--frontmatter": "Start Markdown with YAML front matter",
  },
  Extraction: EXTRACTION,
  Fetching: FETCHING,
});

/** The flags that only a crawl takes; the documentation's page lists the same. */
export const CRAWL_ONLY_FLAGS = ownFlags({
  Input: {
    "--seed URL ...": "Page to start from; --seed may be left out (repeatable)",
    "--sitemap URL|PATH ...":
      "Sitemap, index, feed or list of URLs, on the web or here; '-': standard input (repeatable)",
    "--discover-sitemaps": "Read the sitemaps named in the robots.txt of the seeds' sites",
  },
  Scope: {
    "--allow-prefix PREFIX ...":
      "Crawl only URLs that start with this; without any, links stay on the seeds' sites (repeatable)",
    "--deny-prefix PREFIX ...": "Leave out URLs that start with this (repeatable)",
    "--max-pages N": "Fetch at most N pages (default 100)",
    "--max-depth N": "Follow links up to N steps from a seed; 0: the seeds only (default 3)",
    "--follow-links": "Follow the links of pages (the default)",
    "--no-follow-links": "Take the seeds and the pages of sitemaps only",
    "--respect-meta-robots": "Obey noindex and nofollow of pages and links",
    "--ignore-robots": "Ignore robots.txt; make sure that you are allowed to",
  },
  Pace: {
    "--concurrency N": "Pages under way at once, over all hosts (default 5)",
    "--rate-limit SECONDS":
      "Least time between two requests to one host; robots.txt may ask for more (default 1)",
    "--adaptive-delay": "After each answer of a host, wait as long as it took, up to a minute",
  },
  Output: {
    "--output-dir DIR": {
      takesBytes: true,
      help: "Directory or s3://bucket/prefix for the Markdown files and manifest.json; asked for on a terminal",
    },
    "--jsonl": "Write pages to stdout, one JSON line each, instead of files",
    ...FIELDS,
    "--changed-jsonl FILE":
      "At the end write a JSON line for each page that is new, changed or gone; '-': to stdout",
    "--dry-run": "List the URLs that the crawl would start with; fetch no page",
    "--retry-failed DIR": {
      takesBytes: true,
      help: "Try the pages again that failed in the crawl of this directory, with its options, and no others",
    },
    "--fresh": "Forget an earlier crawl of this directory instead of resuming it",
    "--trust-lastmod": "When crawling again, do not ask for pages whose lastmod is the same as before",
    "--join": "Crawl together with all processes that run this command; needs ARTICLE_EXTRACTOR_DATABASE_URL",
    "--run NAME": "With --join: name of this run; a new name repeats a finished crawl",
    "--max-failures N|N%": "Tolerate up to N failed pages: exit with 0 instead of 3 (default 0)",
  },
});

export const CRAWL_FLAGS: readonly Flag[] = [
  ...CRAWL_ONLY_FLAGS,
  ...flagsOf({
    Extraction: EXTRACTION,
    Fetching: {
      ...FETCHING,
      // A page of a crawl gets more time than a page that a person waits for.
      "--timeout SECONDS":
        "Longest wait for one request (default 30); a page with its retries gets 5 minutes",
    },
  }),
];
