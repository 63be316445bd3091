import type { Database } from "../../base/database/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { KnownPage, Settlement } from "./frontier.ts";
import { keptLinks, memoryOf, wasTransient } from "./rules.ts";
import { SOURCES, STATE, Statements } from "./schema.ts";

/** A stored page as the frontiers' databases return it; nothing else writes their texts. */
export type StoredRow = {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly isTrusted: boolean | number;
  readonly sitemapModified: string | null;
  readonly wasMissed: boolean | number;
  readonly isTransient404: boolean | number;
  readonly warnings: string | null;
} & Pick<KnownPage, "toldHash"> &
  Omit<KnownPage["outcome"], "warnings">;

type PageRow = { readonly page: number };

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
    const row = this.#sql.get<StoredRow & { urls: Uint8Array | null }>`
      SELECT etag, last_modified AS lastModified, kept.run >= ${this.#asksAnew} AS isTrusted,
        sitemap_modified AS sitemapModified, ifnull(missed_in < ${this.#run}, 0) AS wasMissed,
        is_transient AS isTransient404, warnings, told_hash AS toldHash, file_path AS filePath,
        title, word_count AS wordCount, content_hash AS contentHash, fetcher, urls
      FROM kept LEFT JOIN link ON link.page = kept.page WHERE kept.page = ${pageId}`;
    return row && toKnownPage(row, row.urls);
  }

  /** Tells whether an earlier run found that the page is gone and none has stored it since. */
  wasGone(pageId: number): boolean {
    return this.#sql.get`SELECT page FROM departed WHERE page = ${pageId}` !== null;
  }

  /** Stores what later runs need of a settled page. */
  keep(pageId: number, settlement: Settlement): void {
    const memory = memoryOf(settlement);
    if (memory === "stored") this.#store(pageId, settlement);
    else if (memory === "gone") this.#sql.run`UPDATE stored SET is_gone = 1 WHERE page = ${pageId}`;
    else if (memory === "missed")
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
  leftLinks() {
    return this.#sql.all<{ reason: string; count: number }>`
      SELECT reason, count FROM skipped_link
      UNION ALL SELECT iif(state = ${STATE.left}, 'max_pages', 'too_deep'), count(*) FROM page
        WHERE state >= 5 AND source > ${SITEMAP} GROUP BY state
      UNION ALL SELECT 'too_deep', sum(too_deep) FROM link WHERE run = ${this.#run} AND too_deep > 0 GROUP BY run`;
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
    this.#sql.run`UPDATE stored SET told_hash = '' WHERE told_hash IS NOT '' AND is_gone = 0`;
    this.#sql.run`INSERT OR IGNORE INTO departed SELECT page FROM stored WHERE is_gone = 1`;
    this.#sql.run`DELETE FROM stored WHERE is_gone = 1`;
  }

  #store(pageId: number, { page, outcome, validators }: Settlement): void {
    if (page.wasGone) this.#sql.run`DELETE FROM departed WHERE page = ${pageId}`;
    const warnings = outcome.warnings.length > 0 ? JSON.stringify(outcome.warnings) : null;
    this.#sql.run`INSERT INTO stored (page, run, file_path, title, word_count, content_hash, warnings, etag,
        last_modified, sitemap_modified, is_transient)
      VALUES (${pageId}, ${this.#run}, ${packedPath(outcome.filePath, page.url)}, ${outcome.title},
        ${outcome.wordCount}, ${packedHash(outcome.contentHash)}, ${warnings}, ${validators?.etag ?? null},
        ${validators?.lastModified ?? null}, ${page.lastModified}, ${wasTransient(page, outcome) ? 1 : 0})
      ON CONFLICT (page) DO UPDATE SET run = excluded.run, file_path = excluded.file_path, title = excluded.title,
        told_hash = iif(told_hash = '' AND content_hash IS NOT excluded.content_hash, content_hash, told_hash),
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

/** @param links packed; null when none were kept */
export const toKnownPage = (row: StoredRow, links: Uint8Array | null): KnownPage => ({
  validators: {
    etag: row.isTrusted ? row.etag : null,
    lastModified: row.isTrusted ? row.lastModified : null,
  },
  lastModified: row.isTrusted ? row.sitemapModified : null,
  links: links === null ? [] : unpackLinks(links),
  toldHash: row.toldHash,
  wasMissed: Boolean(row.wasMissed),
  isTransient404: Boolean(row.isTransient404),
  outcome: {
    filePath: row.filePath,
    title: row.title,
    wordCount: row.wordCount,
    contentHash: row.contentHash,
    warnings: row.warnings === null ? [] : JSON.parse(row.warnings),
    fetcher: row.fetcher,
  },
});

/** Packs a hash; the view `kept` unpacks it. */
const packedHash = (hash: string | null): string | Uint8Array | null =>
  hash !== null && SHA256.test(hash) ? Buffer.from(hash.slice("sha256:".length), "hex") : hash;
const packedPath = (path: string | null, url: PageUrl): string | null =>
  path === `${url.slice(url.indexOf("//") + 2).replace(/[/:]/g, (mark) => (mark === "/" ? "__" : "_"))}.md`
    ? ""
    : path;
const SHA256 = /^sha256:[0-9a-f]{64}$/;

export const packLinks = (links: readonly PageUrl[]): Uint8Array =>
  Bun.zstdCompressSync(Buffer.from(links.join("\n")), { level: 1 });

export const unpackLinks = (packed: Uint8Array): PageUrl[] =>
  Buffer.from(Bun.zstdDecompressSync(packed)).toString().split("\n") as PageUrl[]; // packed as PageUrls

const SITEMAP = SOURCES.indexOf("sitemap");
