import { traced } from "../../../base/tracing.ts";
import {
  facetsOf,
  LOOSE_NOTE,
  type MatchCounts,
  parseFilter,
  SNIPPET_STYLES,
} from "../../../search/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import type { FetchOptions } from "./fetch-document.ts";
import {
  ArgumentError,
  choice,
  flag,
  integer,
  names,
  optionalText,
  type RawArguments,
  textOrDigits,
} from "./tool.ts";

/** The parts of a server that a search needs. */
export type SearchCallOptions = Pick<FetchOptions, "registry" | "queryLog" | "onSearched"> & {
  readonly searchTimeoutMs: number;
};

/** How many results are given. */
export const SIZE = { min: 1, max: 100, fallback: 10 };
/** The highest offset. Results beyond it are not answers; a caller should narrow the search. */
const MAX_OFFSET = 900;

/**
 * Runs the search that a call of `root_search` or a request for `/search` describes.
 * @param more what is asked for besides the arguments, and who asks, for the log of queries
 * @throws ArgumentError, Failure
 */
export async function runSearchCall(
  raw: RawArguments,
  { registry, searchTimeoutMs, queryLog, onSearched }: SearchCallOptions,
  more: {
    readonly client: () => string;
    readonly isCounted: boolean;
    readonly withSections?: boolean;
    readonly perTenant?: number | undefined;
  },
) {
  const query = textOrDigits(raw, "query");
  if (query === "") throw new ArgumentError("query is required");
  const { codenames, resolved } = chosenTenants(raw, registry);
  const size = integer(raw, "size", SIZE);
  const offset = integer(raw, "offset", { min: 0, max: MAX_OFFSET, fallback: 0 });
  const wish = {
    isCounted: more.isCounted,
    withSections: more.withSections ?? false,
    perTenant: more.perTenant,
    size,
    offset,
    filter: parseFilter(optionalText(raw, "filter") ?? ""),
    wordMatch: flag(raw, "word_match"),
    snippetStyle: choice(raw, "snippet_style", SNIPPET_STYLES),
    timeoutMs: searchTimeoutMs,
  };
  // The query may be private, so traces do not contain it.
  const answer = await traced({ name: "search" }, async (span) => {
    const found = await registry.searchTogether(codenames, query, wish);
    span.set({ tenants: found.tenants.length, documents: found.documentCount, hits: found.hits.length });
    return found;
  });
  onSearched(answer.tenants);
  // Further results are of a search that was counted.
  if (offset === 0)
    queryLog?.searched({ client: more.client(), query, urls: answer.hits.map(({ url }) => url) });
  const messages = answer.failures.map(({ failure }) => failure.message);
  const skipped = messages.length > 0 ? messages : undefined;
  const note = answer.hits[0]?.isLoose ? LOOSE_NOTE : undefined;
  return { query, size, offset, resolved, answer, skipped, note };
}

/** Counts as both give them. */
export const countsOf = ({ total, isExact, values }: MatchCounts) => ({
  total,
  is_total_exact: isExact,
  facets: facetsOf(values),
});

/** A score as both give it. */
export const rounded = (score: number): number => Math.round(score * 1e4) / 1e4;

/** The tenants to search, null for all, and which version they are of when one was asked for. */
function chosenTenants(
  raw: RawArguments,
  registry: TenantRegistry,
): { readonly codenames: readonly string[] | null; readonly resolved?: string } {
  const codenames = names(raw, "tenant_codename");
  // Some clients send an empty text for what is left out.
  const library = optionalText(raw, "library") || null;
  const version = optionalText(raw, "version") || null;
  if (library === null) {
    if (version !== null) throw new ArgumentError("version needs library");
    return { codenames };
  }
  if (codenames) throw new ArgumentError("give tenant or library, not both");
  const { codenames: chosen, resolved } = registry.chooseVersion(library, version);
  return { codenames: chosen, resolved };
}
