import type { QueriesRecord, QueryCounts } from "../../../src/server/api/search/query-log.ts";
import type {
  Article,
  CrawledPage,
  Job,
  JobOutcomes,
  PageBlock,
} from "../../../src/server/web/page/extractor/api.ts";

const HOST = "https://mill.example";
const START = Date.parse("2026-11-21T09:00:00Z");
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

/** The time of day at which every page is looked at. */
export const NOW = new Date("2026-11-21T12:00:00Z");

const MARKDOWN = `# The wheel

A mill's wheel takes its strength from water that falls or flows. **Overshot** wheels take it from above, *undershot*
ones from below, and both need a [weir](${HOST}/weir) to hold the water back.

## Kinds of wheels

| Wheel | Fall | Use |
| --- | --: | --- |
| overshot | 3 m | grain |
| undershot | 1 m | saws |

- Oak lasts longest under water.
- Elm is easier to cut.

\`\`\`sh
mill --wheel overshot --fall 3
\`\`\`

> A wheel that stands still rots on one side.
`;

const ARTICLE: Article = {
  url: `${HOST}/wheel`,
  final_url: `${HOST}/wheel`,
  canonical_url: `${HOST}/wheel`,
  status_code: 200,
  http_status: 200,
  fetcher: "http",
  title: "The wheel",
  byline: "Ada Miller",
  siteName: "The mill",
  published_date: "2026-03-04T08:00:00Z",
  modified_date: null,
  lang: "en",
  language: "en",
  dir: "ltr",
  excerpt: "A mill's wheel takes its strength from water.",
  image: null,
  image_width: null,
  image_height: null,
  keywords: [],
  section: null,
  page_type: "article",
  confidence: 0.93,
  sources: {
    title: "h1",
    byline: "meta",
    published_date: "meta",
    modified_date: null,
    language: "html",
    keywords: null,
    section: null,
    markdown: null,
  },
  content: "<h1>The wheel</h1>",
  markdown: MARKDOWN,
  text: "A mill's wheel takes its strength from water.",
  length: 480,
  word_count: 82,
  success: true,
  warnings: ["the article has 82 words, fewer than 150"],
};

const block = (text: string, more: Partial<PageBlock>): PageBlock => ({
  text,
  tag: "p",
  landmark: "article",
  selector: "article.post p",
  word_count: text.split(" ").length,
  hidden: false,
  kept: true,
  unsure: false,
  probability: 0.97,
  reason: "likely",
  step: "likely",
  ...more,
});

const OUT = { kept: false, reason: "unlikely", probability: 0.02 } as const;

/** What became of the blocks of the article's page: each state, and each form. */
const BLOCKS: readonly PageBlock[] = [
  ...["Home", "Wheels", "Weirs", "Contact"].map((text) =>
    block(text, { ...OUT, tag: "li", landmark: "nav", selector: "nav.menu li" }),
  ),
  block("The wheel", { tag: "h1", selector: "article.post h1", reason: "title" }),
  block("A mill's wheel takes its strength from water that falls or flows.", {}),
  block("Kinds of wheels", { tag: "h2", selector: "article.post h2" }),
  block("Oak lasts longest under water.", { tag: "li", selector: "article.post li", reason: "context" }),
  block("mill --wheel overshot --fall 3", { tag: "pre", selector: "article.post pre", reason: "code" }),
  block("Written with the help of the millers of three rivers.", { unsure: true, probability: 0.41 }),
  block("Read more about weirs and how they are built.", { ...OUT, landmark: "aside", unsure: true }),
  block("Imprint", { ...OUT, tag: "li", landmark: "footer", selector: "footer li" }),
];

/** The answer to the page, which asks for blocks besides. */
export const EXTRACTED = { ...ARTICLE, blocks: BLOCKS };

const job = (more: Partial<Job> & Pick<Job, "job_id">): Job => ({
  status: "completed",
  progress: 0,
  total: 0,
  successful: 0,
  failed: 0,
  skipped: 0,
  created_at: at(0),
  started_at: at(1),
  completed_at: at(91),
  cancel_requested: false,
  output_dir: "mill-example",
  seeds: [`${HOST}/`],
  sitemaps: [],
  warnings: null,
  error: null,
  ...more,
});

export const FINISHED = job({
  job_id: "finished",
  progress: 240,
  total: 240,
  successful: 214,
  failed: 14,
  skipped: 12,
});

export const RUNNING = job({
  job_id: "running",
  status: "running",
  progress: 1208,
  total: 5000,
  successful: 1180,
  failed: 20,
  skipped: 8,
  started_at: at(10_500),
  completed_at: null,
  seeds: ["https://weirs.example/docs/a-rather-long-path-to-a-part-of-the-documentation/", `${HOST}/`],
});

const REFUSED = job({
  job_id: "refused",
  status: "failed",
  completed_at: at(40),
  error: { code: "unwritable_output", message: "could not make the output directory: no space is left" },
});

export const JOBS = { jobs: [RUNNING, FINISHED, REFUSED], queued: 0, running: 1 };

export const PAGES_OF_JOB: CrawledPage[] = Array.from({ length: 240 }, (_, number) => {
  const isFailed = number % 18 === 5;
  const isSkipped = !isFailed && number % 20 === 7;
  const isFine = !isFailed && !isSkipped;
  return {
    url: `${HOST}/pages/${number}`,
    file_path: isFine ? `pages-${number}.md` : null,
    status: isFailed ? "failed" : isSkipped ? "skipped" : "success",
    word_count: isFine ? 300 + number : null,
    title: isFine ? `Page ${number} of the mill` : null,
    http_status: isFailed ? 503 : 200,
    final_url: `${HOST}/pages/${number}`,
    depth: 1,
    parent: `${HOST}/`,
    duration_ms: 120 + (number % 7) * 40,
    content_hash: null,
    warnings: null,
    error: isFailed ? { code: "http_status", message: "GET answered with status 503" } : null,
    reason: isSkipped ? "robots" : null,
    unchanged: false,
    change: isFine ? "new" : null,
    transient_404: false,
  };
});

export const OUTCOMES: JobOutcomes = {
  reasons: [
    { status: "failed", reason: "http_status", pages: 12 },
    { status: "failed", reason: "network", pages: 2 },
    { status: "skipped", reason: "robots", pages: 12 },
  ],
  hosts: [
    { host: "mill.example", successful: 200, failed: 14, skipped: 12 },
    { host: "docs.mill.example", successful: 14, failed: 0, skipped: 0 },
  ],
};

const query = (text: string, searches: number, withoutHits = 0, followed = 0): QueryCounts => ({
  query: text,
  searches,
  without_hits: withoutHits,
  followed,
});

export const QUERIES: QueriesRecord = {
  since: "2026-11-01",
  searches: 31,
  queries: 4,
  frequent: [
    query("open a gate", 17, 0, 9),
    query("weir", 8),
    query("zeppelin", 5, 5),
    query("wheel", 1, 0, 1),
  ],
  without_hits: [query("zeppelin", 5, 5)],
  without_click: [query("weir", 8), query("open a gate", 17, 0, 9)],
};
