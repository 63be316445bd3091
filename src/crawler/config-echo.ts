import type { ExtractionOptions } from "../extraction/index.ts";
import type { CrawlJobOptions, CrawlOutput, CrawlPlan } from "./types.ts";

/** Settings as the manifest shows them, by their names there. */
type Shown = Readonly<Record<string, unknown>>;

/** Says of every field what is shown of it: a field that is added later cannot be forgotten. */
type Echo<Settings> = { readonly [Name in keyof Settings]-?: (value: Settings[Name]) => Shown };

const EXTRACTION: Echo<ExtractionOptions> = {
  minWordCount: (min_word_count) => ({ min_word_count }),
  favor: (favor) => ({ favor }),
  engine: (engine) => ({ engine }),
  includeImages: (include_images) => ({ include_images }),
  includeCode: (include_code) => ({ include_code }),
  select: (select) => ({ select }),
  exclude: (exclude) => ({ exclude }),
  // The kind of output decides it; nobody sets it.
  renderings: () => ({}),
};

const PLAN: Echo<CrawlPlan> = {
  seeds: (seeds) => ({ seeds }),
  sitemaps: (sitemaps) => ({ sitemaps }),
  allowPrefixes: (allow_prefixes) => ({ allow_prefixes }),
  denyPrefixes: (deny_prefixes) => ({ deny_prefixes }),
  maxPages: (max_pages) => ({ max_pages }),
  maxDepth: (max_depth) => ({ max_depth }),
  concurrency: (concurrency) => ({ concurrency }),
  hostDelayMs: (ms) => ({ rate_limit_delay: ms / 1000 }),
  hasAdaptiveDelay: (adaptive_delay) => ({ adaptive_delay }),
  followsLinks: (follow_links) => ({ follow_links }),
  obeysRobots: (obey_robots) => ({ obey_robots }),
  respectsMetaRobots: (respect_meta_robots) => ({ respect_meta_robots }),
  discoversSitemaps: (discover_sitemaps) => ({ discover_sitemaps }),
  trustsLastModified: (trust_lastmod) => ({ trust_lastmod }),
  preference: (fetcher_preference) => ({ fetcher_preference }),
  extraction: (options) => ({ options: shown(options, EXTRACTION) }),
};

export type ConfigParts = {
  readonly plan: CrawlPlan;
  readonly options: Pick<CrawlJobOptions, "output" | "isFresh" | "shellSettings">;
  /** Network options without secrets. */
  readonly network: Shown;
};

/** The manifest's `config`: every setting of a crawl but secrets (credentials, values of headers). */
export const configEcho = ({ plan, options, network }: ConfigParts): Shown => ({
  ...shown(plan, PLAN),
  output_dir: directoryOf(options.output),
  fresh: options.isFresh,
  ...options.shellSettings,
  network,
});

function shown<Settings extends object>(settings: Settings, echo: Echo<Settings>): Shown {
  const names = Object.keys(echo) as (keyof Settings)[]; // the fields of the type, no others
  return Object.assign({}, ...names.map((name) => echo[name](settings[name])));
}

const directoryOf = (output: CrawlOutput): string | null =>
  output.kind === "directory" ? output.path : null;
