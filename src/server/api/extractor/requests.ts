import { type App, type ArticleSession, DEFAULT_NETWORK, type NetworkOptions } from "../../../app/index.ts";
import type { FetcherPreference } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import { type CrawlPlan, createCrawlPlan, parseSitemapSource } from "../../../crawler/index.ts";
import { type ExtractionOptions, STORED_RENDERINGS } from "../../../extraction/index.ts";
import { chooseProxy, type EgressCaller, parseProxyBypass } from "../../../fetching/index.ts";
import { CRAWL, EXTRACTION, NETWORK, valuesFrom } from "../../../options/index.ts";
import { notPageUrl, splitCredentials } from "../../../urls/index.ts";
import type { InvalidField } from "../../middleware/problem.ts";
import { invalidRequest } from "../openapi.ts";
import type { CrawlSpec } from "./jobs/spec.ts";
import { WEBHOOK_EVENTS, type WebhookTarget } from "./jobs/webhook-store.ts";
import { confineFile, confineNewFile, type PathRules } from "./paths.ts";
import type {
  CrawlRequestFields,
  RequestDefaults as DocumentedDefaults,
  NetworkRequestFields,
  OptionsRequestFields,
  WebhookRequestFields,
} from "./schemas/requests.ts";

/** The values for fields that a request leaves out, from the settings. */
export type RequestDefaults = DocumentedDefaults & { readonly preference: FetcherPreference };

/** @param rules the rules for `storage_state` @throws ProblemError 422, or 403 for a refused path */
export async function readNetwork(
  network: NetworkRequestFields | null | undefined,
  prefersBrowser: boolean | null | undefined,
  rules: PathRules,
): Promise<NetworkOptions> {
  const wanted = valuesFrom(NETWORK, "field", network ?? {}, DEFAULT_NETWORK);
  const { storageState, proxy } = wanted;
  requireProxy(proxy);
  return {
    ...wanted,
    proxyBypass: wanted.proxyBypass.flatMap(parseProxyBypass),
    storageState: storageState && (await confineNewFile(storageState, "network.storage_state", rules)),
    preference: preferenceOf(prefersBrowser),
  };
}

const preferenceOf = (prefersBrowser: boolean | null | undefined) =>
  typeof prefersBrowser === "boolean" ? (prefersBrowser ? "browser" : "http") : null;

function requireProxy(proxy: string | null): void {
  try {
    const environment = { http: null, https: null, bypass: [] };
    chooseProxy({ explicit: proxy, explicitSource: "caller", bypass: [], environment });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw wrong("network.proxy", error.message);
  }
}

export function readExtraction(
  options: OptionsRequestFields | null | undefined,
  renderings: ExtractionOptions["renderings"],
  defaults: RequestDefaults["extraction"],
): ExtractionOptions {
  return { ...valuesFrom(EXTRACTION, "field", options ?? {}, defaults), renderings };
}

/**
 * Reads where the events of a job go. @throws ProblemError 422 for a URL that is none, Failure `egress_refused` for one
 * that the caller may not reach
 */
export async function readWebhook(
  { url: written, events, secret }: WebhookRequestFields,
  caller: EgressCaller,
  app: App,
): Promise<WebhookTarget> {
  const split = splitCredentials(written);
  // Its path may be a secret, so the message does not repeat it.
  if (!split) throw wrong("webhook.url", "is not an absolute http or https URL", "invalid_url");
  try {
    await app.resolveHost(new URL(split.url).hostname, caller);
  } catch (error) {
    // A name that has no address now may have one when the first event comes.
    if (!(error instanceof Failure) || error.code === "egress_refused") throw error;
  }
  return { ...split, events: events ?? WEBHOOK_EVENTS, secret: secret ?? null, caller };
}

/** Splits a URL from its credentials, which go into a header. @throws ProblemError 422 */
export function readUrl(
  written: string,
  field: string,
): { readonly url: string; readonly authorization: string | null } {
  const split = splitCredentials(written);
  if (split) return split;
  throw wrong(field, notPageUrl(written), "invalid_url");
}

/**
 * Reads what a request says of a crawl itself; sitemap files become their real paths.
 * @throws ProblemError 422 for invalid values, 403 for a sitemap file that the caller may not read
 */
export async function readCrawl(
  request: CrawlRequestFields,
  defaults: RequestDefaults,
  rules: PathRules,
  seedsField = "seeds",
): Promise<Pick<CrawlSpec, "plan" | "authorizations" | "sitemapFiles">> {
  const authorizations = new Map<string, string>();
  const withAuthorization = (written: string, field: string): string => {
    const { url, authorization } = readUrl(written, field);
    if (authorization === null) return url;
    const { origin } = new URL(url);
    if ((authorizations.get(origin) ?? authorization) !== authorization)
      throw wrong(field, `two different credentials are given for ${origin}`);
    authorizations.set(origin, authorization);
    return url;
  };
  const seeds = (request.seeds ?? []).map((seed, index) => withAuthorization(seed, `${seedsField}.${index}`));
  const sitemaps: string[] = [];
  const sitemapFiles: string[] = [];
  for (const [index, written] of (request.sitemaps ?? []).entries()) {
    const field = `sitemaps.${index}`;
    const source = parseSitemapSource(written, rules.root);
    if (!source) throw wrong(field, `${notPageUrl(written)}, and not a file`);
    if (source.kind === "url") {
      sitemaps.push(withAuthorization(written, field));
      continue;
    }
    const path = await confineFile(source.path, field, rules);
    sitemaps.push(path);
    sitemapFiles.push(path);
  }
  try {
    const plan = planOf(request, { defaults, seeds, sitemaps });
    return { plan, authorizations: [...authorizations], sitemapFiles };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw invalidRequest(error.message, [{ path: "", message: error.message }]);
  }
}

/** @throws Failure `invalid_usage`, `invalid_url` */
export const planOf = (
  request: CrawlRequestFields,
  {
    defaults,
    ...places
  }: { readonly defaults: RequestDefaults; readonly seeds: string[]; readonly sitemaps: string[] },
): CrawlPlan =>
  createCrawlPlan({
    ...valuesFrom(CRAWL, "field", request, defaults),
    ...places,
    preference: preferenceOf(request.prefer_browser) ?? defaults.preference,
    extraction: readExtraction(request.options, STORED_RENDERINGS, defaults.extraction),
  });

const wrong = (path: string, message: string, code?: string) =>
  invalidRequest(`${path}: ${message}`, [{ path, message }], code);

/** The fields of a request that have selectors. */
export type SelectorFields = { readonly select: string; readonly exclude: string };

/** Tries the selectors of a request on a page of one word. @throws ProblemError 422 that names invalid ones */
export async function requireSelectors(
  extraction: ExtractionOptions,
  session: ArticleSession,
  signal: AbortSignal,
  fields: SelectorFields = { select: "options.select", exclude: "options.exclude" },
): Promise<void> {
  const { select, exclude } = extraction;
  if (select === null && exclude.length === 0) return;
  const page = { name: "selectors", kind: "html", body: "<p>word</p>", url: null, warnings: [] } as const;
  const areAllGood = async (selectors: Partial<ExtractionOptions>): Promise<boolean> => {
    try {
      await session.fromDocument(page, { ...extraction, ...selectors }, signal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.code === "invalid_usage") return false;
      // A selector that matches nothing here is still valid.
      if (error.code !== "no_content") throw error;
    }
    return true;
  };
  if (await areAllGood({})) return;
  const errors: InvalidField[] = [];
  if (select !== null && !(await areAllGood({ select, exclude: [] })))
    errors.push(invalidSelector(fields.select, select));
  for (const [index, selector] of exclude.entries())
    if (!(await areAllGood({ select: null, exclude: [selector] })))
      errors.push(invalidSelector(`${fields.exclude}.${index}`, selector));
  throw invalidRequest(errors[0]?.message ?? "a selector is not a CSS selector", errors);
}

const invalidSelector = (path: string, selector: string): InvalidField => ({
  path,
  message: `${path}: ${JSON.stringify(selector.slice(0, 200))} is not a CSS selector`,
});
