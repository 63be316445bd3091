import { FETCHING_FLAGS, type Flag, inGroup } from "./flag.ts";

/** The forms of a result, by the words for them. */
export const OUTPUT_FORMATS = {
  json: "json",
  markdown: "markdown",
  text: "text",
  html: "html",
  md: "markdown",
  txt: "text",
} as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[keyof typeof OUTPUT_FORMATS];

/** The flags that every command takes. */
export const GENERAL_FLAGS: readonly Flag[] = inGroup("General", [
  {
    name: "env-file",
    placeholder: "PATH",
    isPath: true,
    help: "Read settings from this file instead of the .env beside the program",
  },
  {
    name: "log-level",
    placeholder: "LEVEL",
    choices: ["debug", "info", "warning", "error", "critical"],
    help: "Least severe level logged to stderr (default critical; servers: info)",
  },
  {
    name: "log-format",
    placeholder: "FORMAT",
    choices: ["json", "text"],
    help: "Form of a log line (default json)",
  },
  { name: "quiet", short: "q", help: "No notices on stderr, only errors" },
  { name: "verbose", short: "v", help: "Log what is done (level info; servers, which do: debug)" },
  { name: "no-color", help: "No colours on stderr; NO_COLOR does the same" },
  { name: "version", short: "V", help: "Print the version" },
  { name: "help", short: "h", help: "Print this help" },
]);

const EXTRACTION_FLAGS: readonly Flag[] = inGroup("Extraction", [
  { name: "min-words", placeholder: "N", help: "Warn when the content has fewer words (default 150)" },
  {
    name: "favor",
    placeholder: "WORD",
    choices: ["balanced", "precision", "recall"],
    help: "Where content is unsure: balanced (default), precision (less beside it) or recall (less lost)",
  },
  {
    name: "engine",
    placeholder: "NAME",
    choices: ["article-extractor", "readability"],
    help: "What finds the content: article-extractor (default), or readability to compare with",
  },
  { name: "no-images", help: "Leave images out" },
  { name: "no-code", help: "Leave code blocks out" },
  {
    name: "select",
    placeholder: "CSS",
    help: "The content is in the elements that match; an error where none does",
  },
  {
    name: "exclude",
    placeholder: "CSS",
    isRepeatable: true,
    help: "Leave out elements that match; a warning where none does (repeatable)",
  },
]);

const FIELDS_FLAG: Omit<Flag, "group"> = {
  name: "fields",
  placeholder: "NAMES",
  isRepeatable: true,
  insteadOf: { field: "--fields", keys: "--fields" },
  help: "Only these fields of the JSON, such as title,markdown or default,links",
};

export const EXTRACT_FLAGS: readonly Flag[] = [
  ...inGroup("Input", [
    {
      name: "file",
      placeholder: "PATH",
      isPath: true,
      takesBytes: true,
      isRepeatable: true,
      help: "Extract from a local HTML, Markdown or text file (repeatable)",
    },
    {
      name: "input-file",
      placeholder: "LIST",
      isPath: true,
      takesBytes: true,
      isRepeatable: true,
      help: "Extract every URL of a list, one a line ('-': standard input; repeatable)",
    },
    { name: "url", placeholder: "URL", help: "Address of the page in --file or on stdin, for its links" },
  ]),
  ...inGroup("Output", [
    {
      name: "output",
      placeholder: "FORMAT",
      choices: [...new Set(Object.values(OUTPUT_FORMATS))],
      insteadOf: {
        format: "--output",
        out: "--output",
        to: "--output",
        json: "--output json",
        markdown: "--output markdown",
        md: "--output markdown",
        text: "--output text",
        txt: "--output text",
        html: "--output html",
      },
      help: "json, markdown (md), text (txt) or html; else the ending of -o decides (default json)",
    },
    {
      name: "output-file",
      short: "o",
      placeholder: "FILE",
      isPath: true,
      takesBytes: true,
      help: "Write to this file instead of stdout, whole or not at all",
    },
    FIELDS_FLAG,
    {
      name: "compact",
      insteadOf: { "one-line": "--compact", minify: "--compact" },
      help: "JSON on one line; several pages have a line each anyway",
    },
    {
      name: "resume",
      placeholder: "FILE",
      isPath: true,
      insteadOf: { continue: "--resume" },
      help: "Append the JSON lines of pages that this file does not hold yet",
    },
    { name: "frontmatter", help: "Start Markdown with YAML front matter" },
  ]),
  ...EXTRACTION_FLAGS,
  ...FETCHING_FLAGS,
  ...GENERAL_FLAGS,
];

/** The flags that only a crawl takes; the documentation's page lists the same. */
export const CRAWL_ONLY_FLAGS: readonly Flag[] = [
  ...inGroup("Input", [
    {
      name: "seed",
      placeholder: "URL",
      isRepeatable: true,
      help: "Page to start from; --seed may be left out (repeatable)",
    },
    {
      name: "sitemap",
      placeholder: "URL|PATH",
      isRepeatable: true,
      isPath: true,
      help: "Sitemap, index, feed or list of URLs, on the web or here; '-': standard input (repeatable)",
    },
    { name: "discover-sitemaps", help: "Read the sitemaps that the robots.txt of the seeds' sites name" },
  ]),
  ...inGroup("Scope", [
    {
      name: "allow-prefix",
      placeholder: "PREFIX",
      isRepeatable: true,
      help: "Crawl only URLs that start with this; without any, links stay on the seeds' sites (repeatable)",
    },
    {
      name: "deny-prefix",
      placeholder: "PREFIX",
      isRepeatable: true,
      help: "Leave out URLs that start with this (repeatable)",
    },
    { name: "max-pages", placeholder: "N", help: "Fetch at most so many pages (default 100)" },
    {
      name: "max-depth",
      placeholder: "N",
      help: "Links away from a seed at most; 0 takes the seeds only (default 3)",
    },
    { name: "follow-links", help: "Follow the links of pages (the default)" },
    { name: "no-follow-links", help: "Take the seeds and the pages of sitemaps only" },
    { name: "respect-meta-robots", help: "Obey noindex and nofollow of pages and links" },
    { name: "ignore-robots", help: "Do not ask for robots.txt; be sure that you may" },
  ]),
  ...inGroup("Pace", [
    { name: "concurrency", placeholder: "N", help: "Pages under way at once, over all hosts (default 5)" },
    {
      name: "rate-limit",
      placeholder: "SECONDS",
      help: "Least time between two requests to one host; robots.txt may ask for more (default 1)",
    },
    { name: "adaptive-delay", help: "Let a host rest as long as it took to answer, up to a minute" },
  ]),
  ...inGroup("Output", [
    {
      name: "output-dir",
      placeholder: "DIR",
      isPath: true,
      takesBytes: true,
      help: "Directory for the Markdown files and manifest.json; asked for on a terminal",
    },
    { name: "jsonl", help: "Write pages to stdout, one JSON line each, instead of files" },
    FIELDS_FLAG,
    {
      name: "changed-jsonl",
      placeholder: "FILE",
      isPath: true,
      help: "At the end write a JSON line for each page that is new, changed or gone; '-': to stdout",
    },
    { name: "dry-run", help: "List the URLs that the crawl would start with; fetch no page" },
    { name: "fresh", help: "Forget an earlier crawl of this directory instead of going on with it" },
    {
      name: "trust-lastmod",
      help: "When crawling again, do not ask for pages whose lastmod is the same as before",
    },
    {
      name: "max-failures",
      placeholder: "N|N%",
      help: "Failed pages up to which the exit code is 0, not 3 (default 0)",
    },
  ]),
];

// A page of a crawl gets more time than a page that a person waits for.
const CRAWL_FETCHING_FLAGS = FETCHING_FLAGS.map((flag) =>
  flag.name === "timeout"
    ? { ...flag, help: "Longest wait for one request (default 30); a page with its retries gets 5 minutes" }
    : flag,
);

export const CRAWL_FLAGS: readonly Flag[] = [
  ...CRAWL_ONLY_FLAGS,
  ...EXTRACTION_FLAGS,
  ...CRAWL_FETCHING_FLAGS,
  ...GENERAL_FLAGS,
];
