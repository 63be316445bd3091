import type { Database } from "../../base/database/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import { isTransient404 } from "../manifest.ts";
import type { LinkRefusal } from "../types.ts";
import type { KnownPage, Settlement } from "./frontier.ts";
import { SOURCES, STATE } from "./schema.ts";

type StoredRow = {
  readonly run: number;
  readonly file_path: string | null;
  readonly title: string | null;
  readonly word_count: number | null;
  readonly content_hash: string | null;
  readonly told_hash: string | null;
  readonly warnings: string | null;
  readonly etag: string | null;
  readonly last_modified: string | null;
  readonly sitemap_modified: string | null;
  readonly missed_in: number | null;
  readonly is_transient: number;
  readonly is_gone: number;
  readonly urls: Uint8Array | null;
  readonly fetcher: string | null;
};

/** A page whose links were not followed because they are too deep. */
type DeepPage = { readonly id: number; readonly depth: number; readonly links: readonly PageUrl[] };

/** Keeps what is stored of each page, and the links of pages, from run to run. */
export class PageMemory {
  readonly #run: number;
  readonly #asksAnew: number;
  readonly #sql: ReturnType<typeof prepare>;

  /** @param asksAnew what runs before this one stored is asked for without a condition */
  constructor(db: Database, { run, asksAnew }: { readonly run: number; readonly asksAnew: number }) {
    this.#run = run;
    this.#asksAnew = asksAnew;
    this.#sql = prepare(db);
  }

  /** Returns what an earlier run stored for a page. */
  known(pageId: number): KnownPage | null {
    const row = this.#sql.known.get(pageId);
    if (!row) return null;
    const isTrusted = row.run >= this.#asksAnew;
    return {
      validators: { etag: isTrusted ? row.etag : null, lastModified: isTrusted ? row.last_modified : null },
      lastModified: isTrusted ? row.sitemap_modified : null,
      links: row.urls === null ? [] : unpackLinks(row.urls),
      toldHash: row.told_hash,
      isTransient404: row.is_transient === 1,
      wasMissed: row.missed_in !== null && row.missed_in < this.#run,
      outcome: {
        filePath: row.file_path,
        title: row.title,
        wordCount: row.word_count,
        contentHash: row.content_hash,
        warnings: row.warnings === null ? [] : JSON.parse(row.warnings),
        fetcher: row.fetcher as KnownPage["outcome"]["fetcher"], // nothing else writes the table
      },
    };
  }

  /** Tells whether an earlier run found that the page is gone and none has stored it since. */
  wasGone(pageId: number): boolean {
    return this.#sql.departed.get(pageId) !== null;
  }

  /** Stores what later runs need of a settled page. */
  keep(pageId: number, settlement: Settlement): void {
    const { outcome } = settlement;
    if (outcome.status === "success") this.#store(pageId, settlement);
    else if (outcome.reason === "gone") this.#sql.setGone.run(pageId);
    else if (outcome.httpStatus === 404) this.#sql.setMissed.run(pageId, this.#run);
    this.#keepLinks(pageId, settlement);
  }

  /** Returns this run's pages whose links were too deep and no longer are, in the order of settling. */
  deepPages(maxDepth: number): number[] {
    return this.#sql.deepPages.all(this.#run, maxDepth).map(({ page }) => page);
  }

  /** Takes the links of such a page in order to follow them. */
  takeDeepPage(pageId: number): DeepPage | null {
    const row = this.#sql.takeDeepPage.get(pageId);
    const place = this.#sql.depth.get(pageId);
    return row && place ? { id: pageId, depth: place.depth, links: unpackLinks(row.urls) } : null;
  }

  /** Counts the links of this run that were found and not followed. */
  leftLinks(): { reason: LinkRefusal; count: number }[] {
    const countOf = (state: number): number => this.#sql.leftLinks.get(state, SITEMAP)?.count ?? 0;
    const tooDeep = (this.#sql.tooDeep.get(this.#run)?.count ?? 0) + countOf(STATE.deep);
    const counts = [
      { reason: "max_pages" as const, count: countOf(STATE.left) },
      { reason: "too_deep" as const, count: tooDeep },
    ];
    return counts.filter(({ count }) => count > 0);
  }

  /** Returns stored pages that this run has not met, limited by depth and number. */
  unmet(maxDepth: number, count: number): number[] {
    return this.#sql.unmet.all(this.#run, maxDepth, count).map(({ page }) => page);
  }

  /** From now on, changes count from this crawl. */
  finish(): void {
    this.#sql.tell.run();
    this.#sql.depart.run();
    this.#sql.forgetGone.run();
  }

  #store(pageId: number, { page, outcome, validators }: Settlement): void {
    if (page.wasGone) this.#sql.comeBack.run(pageId);
    this.#sql.store.run(
      pageId,
      this.#run,
      outcome.filePath,
      outcome.title,
      outcome.wordCount,
      outcome.contentHash,
      outcome.warnings.length > 0 ? JSON.stringify(outcome.warnings) : null,
      validators?.etag ?? null,
      validators?.lastModified ?? null,
      page.lastModified,
      wasTransient(page, outcome) ? 1 : 0,
    );
  }

  #keepLinks(pageId: number, settlement: Settlement): void {
    const { links, outcome } = settlement;
    const kept = keptLinks(settlement);
    if (kept)
      this.#sql.keepLinks.run(pageId, this.#run, kept === "too_deep" ? links.length : 0, packLinks(links));
    else if (outcome.status === "success") this.#sql.dropLinks.run(pageId);
  }
}

/** Tells whether the links of a page are kept: for a larger limit of depth, or for an answer "not modified". */
export function keptLinks({
  page,
  outcome,
  validators,
  links,
  follow,
}: Pick<Settlement, "page" | "outcome" | "validators" | "links" | "follow">):
  | "too_deep"
  | "unmodified"
  | null {
  if (links.length === 0) return null;
  if (follow === "too_deep") return "too_deep";
  // A "not modified" answer has no links of its own.
  const canBeUnmodified = (validators?.etag ?? validators?.lastModified ?? page.lastModified) != null;
  return outcome.status === "success" && canBeUnmodified ? "unmodified" : null;
}

/** A page that was not requested, or not modified, is as it was. */
export function wasTransient(page: Settlement["page"], outcome: Settlement["outcome"]): boolean {
  const isAsBefore = outcome.httpStatus === null || outcome.httpStatus === 304;
  return isAsBefore ? (page.known?.isTransient404 ?? false) : isTransient404(outcome);
}

export const packLinks = (links: readonly PageUrl[]): Uint8Array =>
  Bun.zstdCompressSync(Buffer.from(links.join("\n")), { level: 1 });

export const unpackLinks = (packed: Uint8Array): PageUrl[] =>
  Buffer.from(Bun.zstdDecompressSync(packed)).toString().split("\n") as PageUrl[]; // packed as PageUrls

const SITEMAP = SOURCES.indexOf("sitemap");

type Text = string | null;

function prepare(db: Database) {
  type Page = { readonly page: number };
  return {
    known: db.prepare<StoredRow, [number]>(
      `SELECT stored.*, link.urls, outcome.fetcher FROM stored LEFT JOIN link ON link.page = stored.page
        LEFT JOIN outcome ON outcome.page = stored.page WHERE stored.page = ?1`,
    ),
    store: db.prepare<
      unknown,
      [number, number, Text, Text, number | null, Text, Text, Text, Text, Text, number]
    >(
      `INSERT INTO stored (page, run, file_path, title, word_count, content_hash, warnings, etag, last_modified,
        sitemap_modified, is_transient) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        ON CONFLICT (page) DO UPDATE SET run = ?2, file_path = ?3, title = ?4, word_count = ?5, content_hash = ?6,
          warnings = ?7, etag = ?8, last_modified = ?9, sitemap_modified = ?10, is_transient = ?11, missed_in = NULL,
          is_gone = 0`,
    ),
    setGone: db.prepare<unknown, [number]>("UPDATE stored SET is_gone = 1 WHERE page = ?1"),
    setMissed: db.prepare<unknown, [number, number]>(
      "UPDATE stored SET missed_in = ?2 WHERE page = ?1 AND missed_in IS NULL",
    ),
    keepLinks: db.prepare<unknown, [number, number, number, Uint8Array]>(
      "INSERT OR REPLACE INTO link (page, run, too_deep, urls) VALUES (?1, ?2, ?3, ?4)",
    ),
    dropLinks: db.prepare<unknown, [number]>("DELETE FROM link WHERE page = ?1"),
    deepPages: db.prepare<Page, [number, number]>(
      `SELECT link.page FROM link JOIN page ON page.id = link.page JOIN outcome ON outcome.page = link.page
        WHERE link.run = ?1 AND too_deep > 0 AND page.depth < ?2 ORDER BY outcome.seq`,
    ),
    takeDeepPage: db.prepare<{ urls: Uint8Array }, [number]>(
      "UPDATE link SET too_deep = 0 WHERE page = ?1 AND too_deep > 0 RETURNING urls",
    ),
    depth: db.prepare<{ depth: number }, [number]>("SELECT depth FROM page WHERE id = ?1"),
    tooDeep: db.prepare<{ count: number }, [number]>(
      "SELECT ifnull(sum(too_deep), 0) AS count FROM link WHERE run = ?1 AND too_deep > 0",
    ),
    leftLinks: db.prepare<{ count: number }, [number, number]>(
      "SELECT count(*) AS count FROM page WHERE state >= 5 AND state = ?1 AND source > ?2",
    ),
    unmet: db.prepare<Page, [number, number, number]>(
      `SELECT stored.page FROM stored JOIN page ON page.id = stored.page
        WHERE page.run < ?1 AND page.depth <= ?2 ORDER BY stored.page LIMIT ?3`,
    ),
    tell: db.prepare(
      "UPDATE stored SET told_hash = content_hash WHERE told_hash IS NOT content_hash AND is_gone = 0",
    ),
    departed: db.prepare<Page, [number]>("SELECT page FROM departed WHERE page = ?1"),
    depart: db.prepare("INSERT OR IGNORE INTO departed SELECT page FROM stored WHERE is_gone = 1"),
    comeBack: db.prepare<unknown, [number]>("DELETE FROM departed WHERE page = ?1"),
    forgetGone: db.prepare("DELETE FROM stored WHERE is_gone = 1"),
  };
}
