import {
  CHUNKS,
  CRAWL,
  EXTRACTION,
  FETCHING,
  meaningOf,
  NETWORK,
  type Option,
  type OptionTable,
  QUESTION,
  unmarked,
  writeValue,
} from "../../options/index.ts";
import { FORM_NAMES } from "../output-forms.ts";
import { type Flag, type FlagTable, flagsOf, ownFlags } from "./flag.ts";

/** The flags of a table of options that stand under a heading of the help. */
const flagsUnder = (group: string, table: OptionTable, heading: string): FlagTable =>
  Object.fromEntries(
    Object.values(table)
      .filter((option) => option.flag !== undefined && (option.group ?? heading) === group)
      .map((option) => [unmarked(option.flag ?? "").name, aboutOf(option)]),
  );

function aboutOf(option: Option): { readonly help: string; readonly choices?: readonly string[] } {
  const { kind, byDefault, flag = "" } = option;
  const isSaid = byDefault !== null && !["switch", "texts", "headers"].includes(kind.type);
  const ofDefault = isSaid ? ` (default ${option.defaultNote ?? writeValue(kind, byDefault)})` : "";
  const ofMany = flag.endsWith(" ...") ? " (repeatable)" : "";
  const help = `${meaningOf(option, flag)}${ofDefault}${ofMany}`;
  return kind.type === "choice" ? { choices: kind.words, help } : { help };
}

/** The flags for fetching pages, in extractions and in crawls. */
const FETCHING_FLAGS: FlagTable = {
  ...flagsUnder("Fetching", NETWORK, "Fetching"),
  ...flagsUnder("Fetching", FETCHING, "Fetching"),
  ...flagsUnder("Fetching", EXTRACTION, "Extraction"),
  "--prefer-browser": "Fetch with the browser first (the default where one is found)",
  "--prefer-http": "Fetch with the plain HTTP client first; the browser helps with empty shells and 404",
  "--no-browser": "Never start a browser",
};

const EXTRACTION_FLAGS = flagsUnder("Extraction", EXTRACTION, "Extraction");
const crawlFlags = (group: string): FlagTable => flagsUnder(group, CRAWL, "Scope");

const CHUNK_FLAGS: FlagTable = {
  "--chunks": "A JSON line for each chunk of the text, for an index of vectors or words",
  ...flagsUnder("Output", CHUNKS, "Output"),
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
      help: "json, markdown (md), text (txt), html, csv (a row each) or chunks (a line each); else the ending of -o decides (default json)",
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
    ...CHUNK_FLAGS,
    "--compact": "JSON on one line; several pages have a line each anyway",
    "--resume FILE": "Append the JSON lines of pages that this file does not hold yet",
    "--retry-failed DIR|FILE": {
      isPath: true,
      help: "Try the failed pages of an earlier --output-dir or --resume again, and no others",
    },
    "--save-images": meaningOf(CRAWL.savesPictures, "--save-images"),
    "--frontmatter": "Start Markdown with YAML front matter",
    ...flagsUnder("Output", QUESTION, "Output"),
  },
  Extraction: EXTRACTION_FLAGS,
  Fetching: FETCHING_FLAGS,
});

/** The flags that only a crawl takes; the documentation's page lists the same. */
export const CRAWL_ONLY_FLAGS = ownFlags({
  Input: crawlFlags("Input"),
  Scope: { "--follow-links": "Follow the links of pages (the default)", ...crawlFlags("Scope") },
  Pace: crawlFlags("Pace"),
  Output: {
    "--output-dir DIR": {
      takesBytes: true,
      help: "Directory or s3://bucket/prefix for the Markdown files and manifest.json; asked for on a terminal",
    },
    "--jsonl": "Write pages to stdout, one JSON line each, instead of files",
    ...FIELDS,
    ...CHUNK_FLAGS,
    ...flagsUnder("Output", QUESTION, "Output"),
    "--changed-jsonl FILE":
      "At the end write a JSON line for each page that is new, changed or gone; '-': to stdout",
    "--dry-run": "List the URLs that the crawl would start with; fetch no page",
    "--retry-failed DIR": {
      takesBytes: true,
      help: "Try the pages again that failed in the crawl of this directory, with its options, and no others",
    },
    "--fresh": "Forget an earlier crawl of this directory instead of resuming it",
    ...crawlFlags("Output"),
    "--join": "Crawl together with all processes that run this command; needs ARTICLE_EXTRACTOR_DATABASE_URL",
    "--run NAME": "With --join: name of this run; a new name repeats a finished crawl",
    "--max-failures N|N%": "Tolerate up to N failed pages: exit with 0 instead of 3 (default 0)",
  },
});

const { allowPrefixes, denyPrefixes, includeUrls, excludeUrls, maxPages, followsLinks, obeysRobots } = CRAWL;
const ADDRESSES = { allowPrefixes, denyPrefixes, includeUrls, excludeUrls, followsLinks, obeysRobots };

export const MAP_FLAGS = flagsOf({
  Input: flagsUnder("Input", { sitemaps: CRAWL.sitemaps }, "Input"),
  Scope: {
    ...flagsUnder("Scope", ADDRESSES, "Scope"),
    [maxPages.flag]: "List at most N addresses (default 10000)",
  },
  Pace: flagsUnder("Pace", { hostDelayMs: CRAWL.hostDelayMs }, "Pace"),
  Output: {
    "--json": "A JSON line for each address: url, title, lastmod and source",
    "--left-out": "List what a crawl would leave out instead, each address after its reason",
  },
  Fetching: FETCHING_FLAGS,
});

export const CRAWL_FLAGS: readonly Flag[] = [
  ...CRAWL_ONLY_FLAGS,
  ...flagsOf({
    Extraction: EXTRACTION_FLAGS,
    Fetching: {
      ...FETCHING_FLAGS,
      // A page of a crawl gets more time than a page that a person waits for.
      "--timeout SECONDS":
        "Longest wait for one request (default 30); a page with its retries gets 5 minutes",
    },
  }),
];
