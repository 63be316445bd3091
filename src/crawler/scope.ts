import type { Link } from "../extraction/index.ts";
import { compileUrlRules, originOf, type PageUrl } from "../urls/index.ts";
import type { ClaimedPage } from "./frontier/frontier.ts";
import { EchoedPages, withoutSession } from "./sessions.ts";
import { isTrap } from "./traps.ts";
import type { CrawlPlan, LinkRefusal, SkipReason } from "./types.ts";

/** Which URLs belong to a crawl (docs/crawl.md, "Which pages"). */
export interface Scope {
  /** Why a seed or sitemap URL is skipped, null when it is crawled. */
  refuseStart(url: PageUrl): SkipReason | null;
  /** Whether a page of this source may answer from another URL. */
  admitsTarget(url: PageUrl, source: ClaimedPage["source"]): boolean;
  /** Follows links to an origin from now on: that of a sitemap's URL, or one where a seed redirected to. */
  addOrigin(origin: string): void;
  /** Takes note of a page that was stored, with its text. */
  noteStored(url: PageUrl, text: string): void;
  /** Whether the site has answered pages of this pattern with one and the same text. */
  isEcho(url: PageUrl): boolean;
  /** Parts the links of a page into those of the crawl, however deep, and the reasons against the others. */
  chooseLinks(links: readonly Link[], page: LinkContext): ChosenLinks;
}

export type LinkContext = {
  /** Whether the page asks that none of its links be followed. */
  readonly isNofollow: boolean;
};

export type ChosenLinks = {
  readonly links: readonly PageUrl[];
  readonly refused: ReadonlyMap<LinkRefusal, number>;
};

/** @param now decides which calendars are far away, in ms since 1970; one time for the whole crawl */
export function createScope(plan: CrawlPlan, now: number): Scope {
  const refusalOf = compileUrlRules(plan);
  const origins = new Set(plan.seeds.map(originOf));

  const echoes = new EchoedPages();

  const refuseLink = (link: Link, page: LinkContext): LinkRefusal | null => {
    const refusal = refusalOf(link.url, origins);
    if (refusal !== null) return refusal;
    if (plan.respectsMetaRobots && (page.isNofollow || link.isNofollow)) return "nofollow";
    return isTrap(link.url, now) || echoes.has(link.url) ? "trap" : null;
  };

  return {
    refuseStart(url) {
      if (refusalOf(url, null) !== null) return "out_of_scope";
      return isTrap(url, now) ? "trap" : null;
    },
    admitsTarget: (url, source) =>
      refusalOf(url, source === "link" || source === "memory" ? origins : null) === null,
    noteStored: (url, text) => echoes.note(url, text),
    isEcho: (url) => echoes.has(url),
    addOrigin: (origin) => void origins.add(origin),
    chooseLinks(links, page) {
      const chosen = new Set<PageUrl>();
      const refused = new Map<LinkRefusal, number>();
      if (!plan.followsLinks) return { links: [], refused };
      for (const written of links) {
        const link = { ...written, url: withoutSession(written.url) };
        const refusal = refuseLink(link, page);
        if (refusal === null) chosen.add(link.url);
        else refused.set(refusal, (refused.get(refusal) ?? 0) + 1);
      }
      return { links: [...chosen], refused };
    },
  };
}
