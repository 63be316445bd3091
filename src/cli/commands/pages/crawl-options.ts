import { type NetworkOptions, preferenceOf } from "../../../app/index.ts";
import { type ArticleField, renderingsFor } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import { CRAWL_RANGES, type CrawlPlan, createCrawlPlan, parseSitemapSource } from "../../../crawler/index.ts";
import { DEFAULT_CRAWL, type Settings } from "../../../settings/index.ts";
import { parseUrlPrefix, splitCredentials } from "../../../urls/index.ts";
import { optionValue, type Typed } from "../../arguments.ts";
import { readExtraction, readFields, readNetwork, requireUrl, showUrl } from "./page-options.ts";

/** The meaning of a crawl command. */
export type CrawlCommand = {
  readonly plan: CrawlPlan;
  readonly network: NetworkOptions;
  /** The values of Authorization headers by origin, from the typed URLs. */
  readonly authorizations: ReadonlyMap<string, string>;
  /** The output: files in the directory, lines on stdout, or a list of what would be fetched. */
  readonly makes: "files" | "lines" | "list";
  /** The destination of lines about new, changed and gone pages: a file, or stdout for `-`; null for none. */
  readonly changedLines: string | null;
  /** The fields of the JSON lines. */
  readonly fields: readonly ArticleField[];
  /** The output directory; null when none was given. */
  readonly directory: string | null;
  readonly isFresh: boolean;
  readonly allowance: FailureAllowance;
};

/** How many failed pages are tolerated, out of those that were tried. */
export type FailureAllowance = { readonly value: number; readonly isPercent: boolean };

const MAX_RATE_LIMIT_S = 3600;

/**
 * Interprets the words of a crawl command.
 * @param place.directory what relative paths start from
 * @param place.hasPerson whether somebody is there to press Enter
 * @throws Failure `invalid_usage` or `invalid_url` for values and combinations that mean nothing
 */
export function readCrawlCommand(
  typed: Typed,
  settings: Settings,
  place: { readonly directory: string; readonly hasPerson: () => boolean },
): CrawlCommand {
  if (typed.has("jsonl") && typed.has("dry-run"))
    throw new Failure("invalid_usage", "--jsonl and --dry-run exclude each other");
  const makes = typed.has("dry-run") ? "list" : typed.has("jsonl") ? "lines" : "files";
  if (typed.has("fields") && makes !== "lines")
    throw new Failure("invalid_usage", "--fields goes with --jsonl");
  const fields = readFields(typed);
  const network = readNetwork(typed, place.hasPerson);
  const authorizations = new Map<string, string>();
  const seeds = [...typed.positionals, ...optionValue.texts(typed, "seed")].map((written) => {
    const { url, authorization } = requireUrl(written);
    if (authorization !== null) addAuthorization(authorizations, url, authorization);
    return url;
  });
  const sitemaps = optionValue
    .texts(typed, "sitemap")
    .map((written) => readSitemap(written, place.directory, authorizations));
  if (seeds.length === 0 && sitemaps.length === 0)
    throw new Failure("invalid_usage", "crawl needs at least one URL to start from, or a --sitemap");
  const integer = (name: string, { min, max }: { readonly min: number; readonly max: number }) =>
    optionValue.integer(typed, name, min, max);
  const plan = createCrawlPlan({
    seeds,
    sitemaps,
    allowPrefixes: readPrefixes(typed, "allow-prefix"),
    denyPrefixes: readPrefixes(typed, "deny-prefix"),
    maxPages: integer("max-pages", CRAWL_RANGES.maxPages) ?? settings.crawlerMaxPages,
    maxDepth: integer("max-depth", CRAWL_RANGES.maxDepth) ?? DEFAULT_CRAWL.maxDepth,
    concurrency: integer("concurrency", CRAWL_RANGES.concurrency) ?? settings.crawlerConcurrency,
    hostDelayMs: Math.round(
      (optionValue.decimal(typed, "rate-limit", 0, MAX_RATE_LIMIT_S) ?? settings.crawlerRateLimit) * 1000,
    ),
    hasAdaptiveDelay: typed.has("adaptive-delay"),
    followsLinks: !typed.has("no-follow-links"),
    obeysRobots: !typed.has("ignore-robots"),
    respectsMetaRobots: typed.has("respect-meta-robots"),
    discoversSitemaps: typed.has("discover-sitemaps"),
    trustsLastModified: typed.has("trust-lastmod"),
    preference: preferenceOf(network, settings),
    extraction: readExtraction(
      typed,
      makes === "lines" ? [...new Set(["markdown" as const, ...renderingsFor(fields)])] : ["markdown"],
      settings,
    ),
  });
  return {
    plan,
    network,
    authorizations,
    makes,
    fields,
    changedLines: readChangedLines(typed, makes),
    directory: optionValue.path(typed, "output-dir"),
    isFresh: typed.has("fresh"),
    allowance: readAllowance(typed.one("max-failures")),
  };
}

function readChangedLines(typed: Typed, makes: CrawlCommand["makes"]): string | null {
  const target = optionValue.text(typed, "changed-jsonl");
  if (target === null) return null;
  if (makes === "list")
    throw new Failure("invalid_usage", "--changed-jsonl and --dry-run exclude each other");
  if (makes === "lines" && target === "-")
    throw new Failure("invalid_usage", "--jsonl and --changed-jsonl - both write to stdout: name a file");
  return target;
}

/** Tells whether this many failures out of the tried pages are tolerated. */
export const isWithin = ({ value, isPercent }: FailureAllowance, failed: number, tried: number): boolean =>
  isPercent ? failed * 100 <= value * tried : failed <= value;

function readAllowance(written: string | null): FailureAllowance {
  if (written === null) return { value: 0, isPercent: false };
  const match = /^(\d{1,9})$|^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(written.trim());
  const value = Number(match?.[1] ?? match?.[2]);
  const isPercent = match?.[2] !== undefined;
  if (match && !(isPercent && value > 100)) return { value, isPercent };
  throw new Failure(
    "invalid_usage",
    `--max-failures must be a number of pages or a percentage such as 5%, not ${JSON.stringify(written.slice(0, 100))}`,
  );
}

function readPrefixes(typed: Typed, name: string): string[] {
  return optionValue.texts(typed, name).map((written) => {
    if (parseUrlPrefix(written) !== null) return written;
    throw new Failure(
      "invalid_usage",
      `--${name} must be the beginning of an http or https URL, not ${showUrl(written)}`,
    );
  });
}

function readSitemap(written: string, directory: string, authorizations: Map<string, string>): string {
  const source = parseSitemapSource(written.trim() === "-" ? "/dev/stdin" : written, directory);
  if (!source) {
    throw new Failure(
      "invalid_usage",
      `--sitemap must be an http or https URL or a file, not ${showUrl(written)}`,
    );
  }
  if (source.kind === "file") return source.path;
  const authorization = splitCredentials(written)?.authorization ?? null;
  if (authorization !== null) addAuthorization(authorizations, source.url, authorization);
  return source.url;
}

function addAuthorization(authorizations: Map<string, string>, url: string, authorization: string): void {
  const { origin } = new URL(url);
  const known = authorizations.get(origin);
  if (known !== undefined && known !== authorization)
    throw new Failure("invalid_usage", `two different credentials are given for ${origin}`);
  authorizations.set(origin, authorization);
}
