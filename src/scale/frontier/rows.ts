import type { ClaimedPage, OutcomeRow, PageOutcome, Settlement, StoredRow } from "../../crawler/index.ts";
import {
  countedBy,
  keptLinks,
  memoryOf,
  packLinks,
  SOURCES,
  STATUSES,
  toKnownPage,
  toPageOutcome,
  wasTransient,
} from "../../crawler/index.ts";
import { hostOf, type PageUrl } from "../../urls/index.ts";
import type { Queries } from "../postgres/postgres.ts";

/** A claimed page as `crawl_claimed` (crawl-functions.sql) answers: the last two only from the second run on. */
export type ClaimedRow = readonly [
  id: number,
  url: string,
  depth: number,
  parent: string | null,
  source: number,
  lastModified: string | null,
  tries: number,
  spentMs: number,
  isLost: boolean,
  wasGone?: boolean | null,
  known?: (StoredRow & { readonly links: string | null }) | null,
];

// The table's texts have these types, because nothing else writes it.
export function toClaimedPage(row: ClaimedRow, fence: number): ClaimedPage {
  const [id, url, depth, parent, source, lastModified, tries, spentMs, isTakenOver, wasGone, known] = row;
  return {
    id,
    fence,
    isTakenOver,
    url: url as PageUrl,
    host: hostOf(url as PageUrl),
    depth,
    parent: parent as PageUrl | null,
    source: SOURCES[source] ?? "link",
    lastModified,
    tries,
    spentMs,
    known: known
      ? toKnownPage(known, known.links === null ? null : Buffer.from(known.links, "base64"))
      : null,
    wasGone: wasGone ?? false,
  };
}

/** The columns of an outcome with its page, as `toOutcome` reads them. */
export const OUTCOME_COLUMNS = `json_build_array(p.url, p.depth, q.url, o.status, o.file_path, o.word_count, o.title,
  o.http_status, o.final_url, o.duration_ms, o.content_hash, o.warnings, o.error_code, o.error_message, o.reason, o.change,
  o.fetcher, o.error_block)`;

/** Their names, in this order also in `crawl_take_recorded` (crawl-functions.sql). */
const OUTCOME_NAMES =
  "url depth parent status file_path word_count title http_status final_url duration_ms content_hash warnings error_code error_message reason change fetcher error_block".split(
    " ",
  );

/** Outcomes with their pages, for `OUTCOME_COLUMNS`; $1 is the crawl. */
export const OUTCOME_TABLES = `crawl_outcome o JOIN crawl_page p ON p.crawl = o.crawl AND p.id = o.page
  LEFT JOIN crawl_page q ON q.crawl = o.crawl AND q.id = p.parent`;

export type OutcomeValues = readonly unknown[];

export const toOutcome = (values: OutcomeValues): PageOutcome =>
  toPageOutcome(Object.fromEntries(OUTCOME_NAMES.map((name, place) => [name, values[place]])) as OutcomeRow);

/** A settlement as `crawl_record` reads it; `o` numbers it within its statement. */
export function toSettleRow(
  settlement: Settlement,
  { o, hostId }: { readonly o: number; readonly hostId: number },
) {
  const { page, outcome, validators, links, skippedLinks } = settlement;
  const kept = keptLinks(settlement);
  return {
    o,
    page: page.id,
    host: hostId,
    depth: page.depth,
    fence: page.fence,
    fetched: countedBy(settlement),
    memory: memoryOf(settlement),
    status: STATUSES.indexOf(outcome.status),
    reason: outcome.reason,
    code: outcome.error?.code ?? null,
    message: outcome.error?.message ?? null,
    file: outcome.filePath,
    title: outcome.title,
    words: outcome.wordCount,
    http: outcome.httpStatus,
    final: outcome.finalUrl,
    ms: outcome.durationMs === null ? null : Math.round(outcome.durationMs),
    hash: outcome.contentHash,
    warnings: outcome.warnings.length > 0 ? JSON.stringify(outcome.warnings.map(storable)) : null,
    change: outcome.change,
    fetcher: outcome.fetcher,
    block: outcome.error?.block ? toStorableJson(outcome.error.block) : null,
    etag: validators?.etag ?? null,
    modified: validators?.lastModified ?? null,
    sitemap: page.lastModified,
    transient: wasTransient(page, outcome),
    links: kept ? Buffer.from(packLinks(links)).toString("base64") : null,
    deep: kept === "too_deep" ? links.length : 0,
    refused: skippedLinks.size > 0 ? Object.fromEntries(skippedLinks) : undefined,
  };
}

/** The origins whose pages a crawl takes. */
export async function originsOf(db: Queries, crawl: number): Promise<readonly string[]> {
  const sql = "SELECT name FROM crawl_origin WHERE crawl = $1";
  return (await db.query<{ name: string }>(sql, [crawl])).map(({ name }) => name);
}

/** A text as PostgreSQL takes it: without NUL and unpaired surrogates. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** JSON whose texts PostgreSQL takes. */
export function toStorableJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\u0000") && !json.includes("\\ud")) return json;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part));
}

/** The key of a URL: half of its SHA-256, so that nobody can find a URL that is taken for another. */
export const keyOf = (url: string): string => Bun.SHA256.hash(url, "hex").slice(0, 32);

/** A list of numbers or keys as PostgreSQL reads it, at less cost than the driver's lists. */
export const toArray = (values: readonly (number | string)[]): string => `{${values.join()}}`;
