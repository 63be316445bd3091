/**
 * The meaning of a name from the two programs before this one: it stands for another name, or it states the default and so
 * cancels an earlier option, or the answer says what to write today.
 */
type Earlier = { readonly as: string } | { readonly takesBack: string } | { readonly say: string };
type EarlierNames = Readonly<Record<string, Earlier>>;

const OF_PAGES: EarlierNames = {
  "--headless": { takesBack: "headed" },
  "--no-random-user-agent": { takesBack: "random-user-agent" },
  "--prefer-playwright": { as: "prefer-browser" },
  "--prefer-httpx": { as: "prefer-http" },
};

/** Earlier options by the command that had them. docs/migration.md lists all of them, and a test compares. */
export const EARLIER_OPTIONS: Readonly<Record<string, EarlierNames>> = {
  extract: {
    ...OF_PAGES,
    "--stdin": { as: "-" },
    "--server": { as: "serve extractor" },
  },
  crawl: {
    ...OF_PAGES,
    "-o": { as: "output-dir" },
    "--workers": {
      say: "--concurrency N is the number of pages under way, and ARTICLE_EXTRACTOR_THREADPOOL_SIZE that of threads",
    },
  },
  serve: {
    "--workers": {
      say: "WEB_CONCURRENCY is the number of processes of serve extractor, and uvicorn_workers in the deployment file that of serve search",
    },
  },
};

/** Earlier fields of `deployment.json`, with `tenants` for each of them. */
export const EARLIER_FIELDS: EarlierNames = {
  "infrastructure.log_profile": {
    say: "log_level says how much is logged, and ARTICLE_EXTRACTOR_LOG_FORMAT in which form",
  },
  "infrastructure.trusted_hosts": {
    say: "the variable DOCS_SEARCH_ALLOWED_HOSTS names the hosts that the server answers to",
  },
  "infrastructure.search_max_segments": { say: "an index has one segment, so leave it out" },
  "infrastructure.article_proxies": {
    say: "the variable ARTICLE_EXTRACTOR_PROXY or HTTPS_PROXY names the proxy that pages are fetched through",
  },
  "tenants.markdown_url_suffix": {
    say: "Markdown beside a page is found without it, so leave it out",
  },
};

/** Earlier variables, each with the one that has its value now. */
export const EARLIER_VARIABLES: Readonly<Record<string, string>> = {
  ARTICLE_EXTRACTOR_PREFER_PLAYWRIGHT: "ARTICLE_EXTRACTOR_PREFER_BROWSER",
};
