import { Failure } from "../base/failure.ts";
import type { Extraction } from "../extraction/index.ts";
import type { FetchedPage } from "../fetching/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";

/** A page's answer, and everything that one pass over it yields. */
export type PageVisit = {
  readonly page: FetchedPage;
  /**
   * Null when there is no page, by its status alone or because it only says so, and for 304, when the known one is
   * still valid.
   */
  readonly extraction: Extraction | null;
  readonly extractionMs: number;
  /** Warnings about fetching the page. */
  readonly notes: readonly string[];
};

const MAX_REFRESHES = 3;

/**
 * Follows a page's `<meta http-equiv=refresh>` at most three times, like a browser without scripts. The pages
 * on the way count as redirects of the last one. Secrets are sent only to the origin of the first page, and
 * an error page's refresh is not followed.
 * @param visitNext visits the next page; `isForeign` as in `FetchOptions`
 * @throws Failure as `visitNext`; when a target is no page, the page that led to it is returned
 */
export async function followRefreshes(
  first: PageVisit,
  visitNext: (url: PageUrl, isForeign: boolean) => Promise<PageVisit>,
): Promise<PageVisit> {
  let visit = first;
  for (let hops = 0; ; hops++) {
    const target = targetOf(visit);
    if (target === null) return visit;
    if (hops === MAX_REFRESHES)
      return warned(visit, `The page refreshes to ${target}, which is one refresh too many to follow`);
    const isForeign = [...seenBy(visit.page), target].some(
      (url) => originOf(url) !== originOf(first.page.url),
    );
    try {
      visit = joined(visit, await visitNext(target, isForeign));
    } catch (error) {
      // The target is a download, for which a browser would stay on the page.
      if (!(error instanceof Failure) || error.code !== "unsupported_content") throw error;
      return warned(visit, `The page refreshes to ${target}, which is no page`);
    }
  }
}

const seenBy = ({ redirects, finalUrl }: FetchedPage): PageUrl[] => [...redirects, finalUrl];

function targetOf({ page, extraction }: PageVisit): PageUrl | null {
  if (page.fetchedBy === "browser" || page.status >= 400) return null;
  return extraction?.refresh ?? null;
}

const warned = (visit: PageVisit, warning: string): PageVisit => ({
  ...visit,
  notes: [...visit.notes, warning],
});

function joined(before: PageVisit, after: PageVisit): PageVisit {
  // The last page's validators cannot tell whether the first page still leads to it.
  const { etag: _, "last-modified": __, ...headers } = after.page.headers;
  const page = {
    ...after.page,
    headers,
    url: before.page.url,
    redirects: [...seenBy(before.page), ...after.page.redirects],
    tries: before.page.tries + after.page.tries - 1,
    durationMs: before.page.durationMs + after.page.durationMs,
  };
  return {
    page,
    extraction: after.extraction,
    extractionMs: before.extractionMs + after.extractionMs,
    notes: [...before.notes, `Read from ${page.finalUrl}, to which ${before.page.finalUrl} refreshes`],
  };
}
