import { expect, test } from "bun:test";
import { CRAWL_COMMAND } from "../../src/cli/commands.ts";
import { crawlDirectory } from "../support/crawl-run.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";

/** What each option is given here, and what `config` must then show; null for those without a trace in a manifest. */
const shownBy = (
  origin: string,
): Readonly<Record<string, readonly [words: string[], shown: object] | null>> => ({
  seed: [[`${origin}/p/1`], { seeds: [`${origin}/`, `${origin}/p/1`] }],
  sitemap: [[`${origin}/map.txt`], { sitemaps: [`${origin}/map.txt`] }],
  "discover-sitemaps": [[], { discover_sitemaps: true }],
  "allow-prefix": [[`${origin}/`], { allow_prefixes: [`${origin}/`] }],
  "deny-prefix": [[`${origin}/x`], { deny_prefixes: [`${origin}/x`] }],
  "one-language": [["en"], { one_language: "en" }],
  "one-version": [["latest"], { one_version: "latest" }],
  since: [["2026-01-31"], { since: "2026-01-31" }],
  "include-url": [["/**"], { include_urls: ["/**"] }],
  "exclude-url": [["*.pdf"], { exclude_urls: ["*.pdf"] }],
  "max-pages": [["9"], { max_pages: 9 }],
  "max-depth": [["1"], { max_depth: 1 }],
  "no-follow-links": [[], { follow_links: false }],
  "respect-meta-robots": [[], { respect_meta_robots: true }],
  "ignore-robots": [[], { obey_robots: false }],
  concurrency: [["2"], { concurrency: 2 }],
  "rate-limit": [["0.001"], { rate_limit_delay: 0.001 }],
  "adaptive-delay": [[], { adaptive_delay: true }],
  // Given below.
  "output-dir": null,
  // It shows the crawl whose pages it tries again.
  "retry-failed": null,
  fresh: [[], { fresh: true }],
  documents: [[], { documents: true }],
  "save-images": [[], { save_images: true }],
  "trust-lastmod": [[], { trust_lastmod: true }],
  "changed-jsonl": [["changed.jsonl"], { changed_jsonl: "changed.jsonl" }],
  "max-failures": [["50%"], { max_failures: "50%" }],
  "min-words": [["3"], { options: { min_word_count: 3 } }],
  favor: [["recall"], { options: { favor: "recall" } }],
  engine: [["readability"], { options: { engine: "readability" } }],
  "no-images": [[], { options: { include_images: false } }],
  "no-code": [[], { options: { include_code: false } }],
  select: [["article"], { options: { select: "article" } }],
  exclude: [["aside"], { options: { exclude: ["aside"] } }],
  "no-native-markdown": [[], { options: { native_markdown: false } }],
  "keep-blocked": [[], { options: { keep_blocked: true } }],
  "fail-on-http-error": [[], { options: { fail_on_http_error: true } }],
  "user-agent": [["reader/9"], { network: { user_agent: "reader/9" } }],
  "random-user-agent": [[], { network: { random_user_agent: true } }],
  header: [["X-Token: s3cret"], { network: { header_names: ["x-token"] } }],
  "proxy-bypass": [["127.0.0.1"], { network: { proxy_bypass: ["127.0.0.1"] } }],
  proxy: [
    ["http://user:s3cret@127.0.0.1:9"],
    { network: { proxy: expect.stringMatching(/127\.0\.0\.1:9/) } },
  ],
  timeout: [["7"], { network: { request_timeout_seconds: 7 } }],
  retries: [["1"], { network: { tries: 2 } }],
  "max-bytes": [["1M"], { network: { max_bytes: 1_048_576 } }],
  egress: [["open"], { network: { egress: "open" } }],
  "storage-state": [
    ["/tmp/no-such-dir/state.json"],
    { network: { storage_state: "/tmp/no-such-dir/state.json" } },
  ],
  cookies: [["/dev/null"], { network: { cookies: "/dev/null" } }],
  "no-browser": [[], { fetcher_preference: "http_only" }],
  // Whom a machine trusts is not the crawl's, which may go on elsewhere.
  "no-system-ca": null,
  // These exclude --no-browser, and two of them one another.
  "prefer-http": null,
  "prefer-browser": null,
  "follow-links": null,
  // They need a browser: the types hold every network option to the echo.
  "wait-for": null,
  scroll: null,
  "load-media": null,
  headed: null,
  "user-interaction-timeout": null,
  // It makes no manifest.
  "dry-run": null,
  // They say who crawls along and which crawl it is, whose id the manifest has.
  join: null,
  run: null,
  // Lines or files: a crawl is asked for one of them.
  jsonl: null,
  // They shape the lines of --jsonl.
  fields: null,
  chunks: null,
  query: null,
  "max-tokens": null,
  "chunk-tokens": null,
  "chunk-overlap": null,
});

test("config in the manifest shows what every option of the crawl was, without secrets", async () => {
  await using site = serveNumberedSite({ pages: 3, answers: { "/map.txt": { body: "{origin}/p/1\n" } } });
  const shown = shownBy(site.origin);
  const names = CRAWL_COMMAND.flags.filter(({ group }) => group !== "General").map(({ name }) => name);
  expect(names.filter((name) => !(name in shown))).toEqual([]);
  const words = Object.entries(shown).flatMap(([name, use]) => (use ? [`--${name}`, ...use[0]] : []));
  await using directory = await crawlDirectory();
  const run = await directory.crawl([`${site.origin}/`, ...words]);
  expect(run.manifest?.config).toMatchObject({ output_dir: directory.output });
  for (const use of Object.values(shown)) if (use) expect(run.manifest?.config).toMatchObject(use[1]);
  expect(JSON.stringify(run.manifest)).not.toContain("s3cret");
});
