import type { Database } from "../../base/database/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { ClaimedPage, NextTry } from "./frontier.ts";
import type { PageMemory } from "./memory.ts";
import { NEVER, SOURCES, STATE, TAKEN_OVER } from "./schema.ts";

type HostRow = { readonly id: number; readonly name: string };
type PageRow = {
  readonly id: number;
  readonly url: string;
  readonly depth: number;
  readonly parent: string | null;
  readonly source: number;
  readonly last_modified: string | null;
  readonly tries: number;
  readonly spent_ms: number;
  readonly ready_at: number;
};

/** A claim at a time, in ms since 1970, of at most so many pages without a try. */
type QueueClaim = {
  readonly now: number;
  readonly count: number;
  readonly untried: number;
  readonly isHostExclusive: boolean;
};

type QueueClaims = {
  readonly pages: readonly ClaimedPage[];
  readonly untried: number;
  readonly waitMs: number | null;
};

/** The maximum number of hosts whose ids are cached; a page links to few. */
const MAX_HOST_IDS = 10_000;

/** The waiting pages by host and depth. Call its methods inside a transaction that ends with `flush`. */
export class PageQueue {
  readonly #run: number;
  readonly #memory: Pick<PageMemory, "known" | "wasGone">;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #hostIds = new Map<string, number>();
  // The changes of the transaction by host, so that each host is updated once and not for each of a page's links.
  readonly #added = new Map<number, { queued: number; depth: number }>();

  constructor(db: Database, run: number, memory: Pick<PageMemory, "known" | "wasGone">) {
    this.#run = run;
    this.#memory = memory;
    this.#sql = prepare(db);
  }

  hostId(name: string): number {
    const cached = this.#hostIds.get(name);
    if (cached !== undefined) return cached;
    const id = this.#sql.findHost.get(name)?.id ?? this.#sql.addHost.get(name)?.id ?? 0;
    if (this.#hostIds.size >= MAX_HOST_IDS) this.#hostIds.clear();
    this.#hostIds.set(name, id);
    return id;
  }

  noteQueued(host: number, depth: number): void {
    const added = this.#added.get(host);
    if (!added) this.#added.set(host, { queued: 1, depth });
    else {
      added.queued++;
      added.depth = Math.min(added.depth, depth);
    }
  }

  /** Notes that a queued page was found at a smaller depth. */
  noteLowered(pageId: number, depth: number): void {
    const host = this.#sql.hostOfPage.get(pageId)?.host;
    if (host === undefined) return;
    this.noteQueued(host, depth);
    const added = this.#added.get(host);
    if (added) added.queued--;
  }

  /** Notes that a page leaves the queue without a claim; its row changes later in this transaction. */
  noteTaken(pageId: number): void {
    const host = this.#sql.hostOfPage.get(pageId)?.host;
    this.#sql.setState.run(pageId, STATE.settled);
    if (host !== undefined) this.#sql.hostTaken.run(host, 1);
  }

  /** Writes what the transaction added to the hosts. */
  flush(): void {
    if (this.#added.size === 0) return;
    for (const [host, { queued, depth }] of this.#added) this.#sql.hostAdded.run(host, queued, depth);
    this.#added.clear();
  }

  /** Discards the changes after the transaction was rolled back. */
  forget(): void {
    this.#added.clear();
    this.#hostIds.clear();
  }

  setHostTime(name: string, nextAt: number): void {
    this.#sql.setHostTime.run(name, nextAt);
  }

  /** @returns false when the page is not claimed */
  giveBack(page: ClaimedPage, at: number, { tries, spentMs, isAsked = false }: NextTry): boolean {
    const state = isAsked || isCounted(page) || tries > 0 ? STATE.waiting : STATE.queued;
    const readyAt = state === STATE.waiting && tries === 0 ? TAKEN_OVER : at;
    const row = this.#sql.giveBack.get(page.id, state, readyAt, tries, spentMs);
    if (row && state === STATE.queued) this.noteQueued(row.host, row.depth);
    return row !== null;
  }

  /** Gives back what is claimed and does not count as fetched; the hosts learn of it when the file is opened again. */
  giveBackUntried(): void {
    try {
      this.#sql.giveBackUntried.run();
    } catch {
      // On a full disk they stay claimed, as if the process had been killed.
    }
  }

  /** @returns pages, how many without a try may still be claimed, and how long it is worth waiting for more */
  claim(options: QueueClaim): QueueClaims {
    const claimed: ClaimedPage[] = this.#claimWaiting(options);
    const retried = claimed.length;
    const count = Math.min(options.count, retried + options.untried);
    let depth = this.#sql.nextDepth.get(-1)?.depth ?? null;
    while (depth !== null && claimed.length < count) {
      // Hosts that wait for shallower pages under way are skipped; there are at most as many of them as pages under way.
      const hosts = this.#sql.readyHosts.all(depth, options.now, count + MAX_BLOCKED);
      this.#claimFrom(hosts, depth, { options: { ...options, count }, claimed });
      depth = this.#sql.nextDepth.get(depth)?.depth ?? null;
    }
    const untried = options.untried - (claimed.length - retried);
    return { pages: claimed, untried, waitMs: this.#waitMs(options.now, untried) };
  }

  /** Tells whether a page waits, whatever the time, that may be claimed if so many without a try may be. */
  hasPages(untried: number): boolean {
    if (untried > 0 && this.#sql.nextDepth.get(-1)?.depth != null) return true;
    return this.#hasWaiting();
  }

  #hasWaiting(): boolean {
    return this.#sql.nextWaiting.get(TAKEN_OVER)?.at != null;
  }

  #waitMs(now: number, untried: number): number | null {
    const host = (untried > 0 ? this.#sql.nextHost.get(now)?.at : null) ?? NEVER;
    const page = this.#sql.nextWaiting.get(now)?.at ?? NEVER;
    const first = Math.min(host, page);
    return first < NEVER ? first - now : null;
  }

  #claimWaiting({ now, count, isHostExclusive }: QueueClaim): ClaimedPage[] {
    if (!this.#hasWaiting()) return [];
    const claimed: ClaimedPage[] = [];
    const taken = new Set<number>();
    for (const row of this.#sql.waiting.all(now, MAX_BLOCKED)) {
      if (claimed.length >= count) break;
      if (isHostExclusive && taken.has(row.host)) continue;
      taken.add(row.host);
      this.#sql.claim.run(row.id);
      this.#sql.setHostTimeById.run(row.host, isHostExclusive ? NEVER : now);
      claimed.push(this.#toClaimed(row, row.host_name));
    }
    return claimed;
  }

  #claimFrom(
    hosts: readonly HostRow[],
    depth: number,
    { options, claimed }: { options: QueueClaim; claimed: ClaimedPage[] },
  ): void {
    for (const [index, host] of hosts.entries()) {
      const wanted = options.count - claimed.length;
      if (wanted <= 0) return;
      const shallowest = this.#sql.shallowestClaimed.get(host.id)?.depth ?? null;
      if (shallowest !== null && shallowest < depth) continue;
      // The pages are shared among the hosts that can take them.
      const share = options.isHostExclusive ? 1 : Math.ceil(wanted / (hosts.length - index));
      const rows = this.#sql.head.all(host.id, depth, share);
      for (const row of rows) {
        this.#sql.claim.run(row.id);
        claimed.push(this.#toClaimed(row, host.name));
      }
      this.#sql.hostClaimed.run(host.id, rows.length, options.isHostExclusive ? NEVER : options.now);
    }
  }

  #toClaimed(row: PageRow, host: string): ClaimedPage {
    return {
      id: row.id,
      fence: 0,
      isTakenOver: row.ready_at === TAKEN_OVER,
      url: row.url as PageUrl, // rows are made of PageUrls
      host,
      depth: row.depth,
      parent: row.parent as PageUrl | null,
      source: SOURCES[row.source] ?? "link",
      lastModified: row.last_modified,
      tries: row.tries,
      spentMs: row.spent_ms,
      known: this.#run > 1 ? this.#memory.known(row.id) : null,
      wasGone: this.#run > 1 && this.#memory.wasGone(row.id),
    };
  }
}

/** The maximum number of pages under way. */
const MAX_BLOCKED = 600;

function prepare(db: Database) {
  type At = { readonly at: number | null };
  type Depth = { readonly depth: number | null };
  return {
    findHost: db.prepare<{ id: number }, [string]>("SELECT id FROM host WHERE name = ?1"),
    addHost: db.prepare<{ id: number }, [string]>("INSERT INTO host (name) VALUES (?1) RETURNING id"),
    hostOfPage: db.prepare<{ host: number }, [number]>("SELECT host FROM page WHERE id = ?1"),
    setState: db.prepare<unknown, [number, number]>("UPDATE page SET state = ?2 WHERE id = ?1"),
    hostAdded: db.prepare<unknown, [number, number, number]>(
      `UPDATE host SET queued = queued + ?2, head_depth = min(ifnull(head_depth, ?3), ?3) WHERE id = ?1`,
    ),
    hostTaken: db.prepare<unknown, [number, number]>(
      `UPDATE host SET queued = queued - ?2,
        head_depth = (SELECT min(depth) FROM page WHERE state = 0 AND page.host = ?1) WHERE id = ?1`,
    ),
    hostClaimed: db.prepare<unknown, [number, number, number]>(
      `UPDATE host SET queued = queued - ?2, next_at = ?3,
        head_depth = (SELECT min(depth) FROM page WHERE state = 0 AND page.host = ?1) WHERE id = ?1`,
    ),
    setHostTime: db.prepare<unknown, [string, number]>("UPDATE host SET next_at = ?2 WHERE name = ?1"),
    nextDepth: db.prepare<Depth, [number]>(
      "SELECT min(head_depth) AS depth FROM host WHERE queued > 0 AND head_depth > ?1",
    ),
    readyHosts: db.prepare<HostRow, [number, number, number]>(
      `SELECT id, name FROM host WHERE queued > 0 AND head_depth = ?1 AND next_at <= ?2
        ORDER BY next_at LIMIT ?3`,
    ),
    nextHost: db.prepare<At, [number]>(
      "SELECT min(next_at) AS at FROM host WHERE queued > 0 AND next_at > ?1",
    ),
    shallowestClaimed: db.prepare<Depth, [number]>(
      "SELECT min(depth) AS depth FROM page WHERE state = 1 AND host = ?1",
    ),
    head: db.prepare<PageRow, [number, number, number]>(
      `SELECT id, url, depth, (SELECT url FROM page AS p WHERE p.id = page.parent) AS parent, source,
        last_modified, tries, spent_ms, ready_at
        FROM page WHERE state = 0 AND host = ?1 AND depth = ?2 ORDER BY id LIMIT ?3`,
    ),
    claim: db.prepare<unknown, [number]>("UPDATE page SET state = 1 WHERE id = ?1"),
    waiting: db.prepare<PageRow & { readonly host: number; readonly host_name: string }, [number, number]>(
      `SELECT page.id, page.url, page.depth, (SELECT url FROM page AS p WHERE p.id = page.parent) AS parent,
        source, last_modified, tries, spent_ms, ready_at, page.host, host.name AS host_name
        FROM page JOIN host ON host.id = page.host
        WHERE state = 2 AND ready_at <= ?1 AND host.next_at <= ?1 ORDER BY ready_at LIMIT ?2`,
    ),
    nextWaiting: db.prepare<At, [number]>(
      `SELECT min(max(page.ready_at, host.next_at)) AS at FROM page JOIN host ON host.id = page.host
        WHERE state = 2 AND max(page.ready_at, host.next_at) > ?1`,
    ),
    giveBack: db.prepare<{ host: number; depth: number }, [number, number, number, number, number]>(
      `UPDATE page SET state = ?2, ready_at = ?3, tries = ?4, spent_ms = ?5
        WHERE id = ?1 AND state = 1 RETURNING host, depth`,
    ),
    giveBackUntried: db.prepare(
      `UPDATE page SET state = 0 WHERE state = 1 AND tries = 0 AND ready_at <> ${TAKEN_OVER}`,
    ),
    setHostTimeById: db.prepare<unknown, [number, number]>("UPDATE host SET next_at = ?2 WHERE id = ?1"),
  };
}

/**
 * Whether a page counts towards `maxPages` before it is claimed. One that a lost process had under way does: it is the
 * one that is asked for again, and no other takes its place.
 */
export const isCounted = ({ tries, isTakenOver }: ClaimedPage): boolean => tries > 0 || isTakenOver;

/** Number of pages towards `maxPages` that a settlement adds. */
export const countedBy = (page: ClaimedPage, isFetched: boolean): number => {
  if (isFetched) return isCounted(page) ? 0 : 1;
  return page.tries === 0 && page.isTakenOver ? -1 : 0;
};
