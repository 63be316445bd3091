import type { Database } from "../../base/database/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import { isTransient404 } from "../manifest.ts";
import type { LinkRefusal } from "../types.ts";
import type { KnownPage, Settlement } from "./frontier.ts";
import { SOURCES, STATE, Statements } from "./schema.ts";

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

type PageRow = { readonly page: number };
type Count = { readonly count: number };

/** Keeps what is stored of each page, and the links of pages, from run to run. */
export class PageMemory {
  readonly #run: number;
  readonly #asksAnew: number;
  readonly #sql: Statements;

  /** @param asksAnew what runs before this one stored is asked for without a condition */
  constructor(db: Database, { run, asksAnew }: { readonly run: number; readonly asksAnew: number }) {
    this.#run = run;
    this.#asksAnew = asksAnew;
    this.#sql = new Statements(db);
  }

  /** Returns what an earlier run stored for a page. */
  known(pageId: number): KnownPage | null {
    const row = this.#sql.get<StoredRow>`
      SELECT stored.*, link.urls, outcome.fetcher FROM stored LEFT JOIN link ON link.page = stored.page
        LEFT JOIN outcome ON outcome.page = stored.page WHERE stored.page = ${pageId}`;
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
    return this.#sql.get`SELECT page FROM departed WHERE page = ${pageId}` !== null;
  }

  /** Stores what later runs need of a settled page. */
  keep(pageId: number, settlement: Settlement): void {
    const { outcome } = settlement;
    if (outcome.status === "success") this.#store(pageId, settlement);
    else if (outcome.reason === "gone") this.#sql.run`UPDATE stored SET is_gone = 1 WHERE page = ${pageId}`;
    else if (outcome.httpStatus === 404)
      this.#sql.run`UPDATE stored SET missed_in = ${this.#run} WHERE page = ${pageId} AND missed_in IS NULL`;
    this.#keepLinks(pageId, settlement);
  }

  /** Returns this run's pages whose links were too deep and no longer are, in the order of settling. */
  deepPages(maxDepth: number): number[] {
    const rows = this.#sql.all<PageRow>`
      SELECT link.page FROM link JOIN page ON page.id = link.page JOIN outcome ON outcome.page = link.page
        WHERE link.run = ${this.#run} AND too_deep > 0 AND page.depth < ${maxDepth} ORDER BY outcome.seq`;
    return rows.map(({ page }) => page);
  }

  /** Takes the links of such a page in order to follow them. */
  takeDeepPage(pageId: number) {
    const row = this.#sql.get<{ urls: Uint8Array }>`
      UPDATE link SET too_deep = 0 WHERE page = ${pageId} AND too_deep > 0 RETURNING urls`;
    const place = this.#sql.get<{ depth: number }>`SELECT depth FROM page WHERE id = ${pageId}`;
    return row && place ? { id: pageId, depth: place.depth, links: unpackLinks(row.urls) } : null;
  }

  /** Counts the links of this run that were found and not followed. */
  leftLinks(): { reason: LinkRefusal; count: number }[] {
    const countOf = (state: number): number =>
      this.#sql.get<Count>`
        SELECT count(*) AS count FROM page WHERE state >= 5 AND state = ${state} AND source > ${SITEMAP}`
        ?.count ?? 0;
    const kept = this.#sql.get<Count>`
      SELECT ifnull(sum(too_deep), 0) AS count FROM link WHERE run = ${this.#run} AND too_deep > 0`;
    const counts = [
      { reason: "max_pages" as const, count: countOf(STATE.left) },
      { reason: "too_deep" as const, count: (kept?.count ?? 0) + countOf(STATE.deep) },
    ];
    return counts.filter(({ count }) => count > 0);
  }

  /** Returns stored pages that this run has not met, limited by depth and number. */
  unmet(maxDepth: number, count: number): number[] {
    const rows = this.#sql.all<PageRow>`
      SELECT stored.page FROM stored JOIN page ON page.id = stored.page
        WHERE page.run < ${this.#run} AND page.depth <= ${maxDepth} ORDER BY stored.page LIMIT ${count}`;
    return rows.map(({ page }) => page);
  }

  /** From now on, changes count from this crawl. */
  finish(): void {
    this.#sql
      .run`UPDATE stored SET told_hash = content_hash WHERE told_hash IS NOT content_hash AND is_gone = 0`;
    this.#sql.run`INSERT OR IGNORE INTO departed SELECT page FROM stored WHERE is_gone = 1`;
    this.#sql.run`DELETE FROM stored WHERE is_gone = 1`;
  }

  #store(pageId: number, { page, outcome, validators }: Settlement): void {
    if (page.wasGone) this.#sql.run`DELETE FROM departed WHERE page = ${pageId}`;
    const warnings = outcome.warnings.length > 0 ? JSON.stringify(outcome.warnings) : null;
    this.#sql.run`INSERT INTO stored (page, run, file_path, title, word_count, content_hash, warnings, etag,
        last_modified, sitemap_modified, is_transient)
      VALUES (${pageId}, ${this.#run}, ${outcome.filePath}, ${outcome.title}, ${outcome.wordCount},
        ${outcome.contentHash}, ${warnings}, ${validators?.etag ?? null}, ${validators?.lastModified ?? null},
        ${page.lastModified}, ${wasTransient(page, outcome) ? 1 : 0})
      ON CONFLICT (page) DO UPDATE SET run = excluded.run, file_path = excluded.file_path, title = excluded.title,
        word_count = excluded.word_count, content_hash = excluded.content_hash, warnings = excluded.warnings,
        etag = excluded.etag, last_modified = excluded.last_modified,
        sitemap_modified = excluded.sitemap_modified, is_transient = excluded.is_transient, missed_in = NULL,
        is_gone = 0`;
  }

  #keepLinks(pageId: number, settlement: Settlement): void {
    const { links, outcome } = settlement;
    const kept = keptLinks(settlement);
    const tooDeep = kept === "too_deep" ? links.length : 0;
    if (kept)
      this.#sql.run`INSERT OR REPLACE INTO link (page, run, too_deep, urls)
        VALUES (${pageId}, ${this.#run}, ${tooDeep}, ${packLinks(links)})`;
    else if (outcome.status === "success") this.#sql.run`DELETE FROM link WHERE page = ${pageId}`;
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
