import type { Database } from "../../base/database/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { ClaimedPage, NextTry } from "./frontier.ts";
import type { PageMemory } from "./memory.ts";
import { waitsFor } from "./rules.ts";
import { NEVER, SOURCES, STATE, Statements, TAKEN_OVER } from "./schema.ts";

type At = { readonly at: number | null };
type HostRow = { readonly id: number; readonly name: string };
type PageRow = {
  readonly url: string;
  readonly depth: number;
  readonly parent: string | null;
  readonly source: number;
  readonly last_modified: string | null;
  readonly tries: number;
  readonly spent_ms: number;
  readonly ready_at: number;
};

/** A claim at a time, in ms since 1970, of a limited number of pages without a try. */
type QueueClaim = {
  readonly now: number;
  readonly count: number;
  readonly untried: number;
  readonly isHostExclusive: boolean;
};

/** The maximum number of hosts whose ids are cached; a page links to few. */
const MAX_HOST_IDS = 10_000;

/** The waiting pages by host and depth. Call its methods inside a transaction that ends with `flush`. */
export class PageQueue {
  readonly #run: number;
  readonly #memory: PageMemory;
  readonly #sql: Statements;
  readonly #hostIds = new Map<string, number>();
  // The changes of the transaction by host, so that each host is updated once and not for each of a page's links.
  readonly #added = new Map<number, { queued: number; depth: number }>();

  constructor(db: Database, run: number, memory: PageMemory) {
    this.#run = run;
    this.#memory = memory;
    this.#sql = new Statements(db);
  }

  hostId(name: string): number {
    const known = this.knownHost(name);
    if (known !== undefined) return known;
    const added = this.#sql.get<{ id: number }>`INSERT INTO host (name) VALUES (${name}) RETURNING id`;
    return this.#remember(name, added?.id ?? 0);
  }

  knownHost(name: string): number | undefined {
    const cached = this.#hostIds.get(name);
    if (cached !== undefined) return cached;
    const found = this.#sql.get<{ id: number }>`SELECT id FROM host WHERE name = ${name}`;
    return found === null ? undefined : this.#remember(name, found.id);
  }

  #remember(name: string, id: number): number {
    if (this.#hostIds.size >= MAX_HOST_IDS) this.#hostIds.clear();
    this.#hostIds.set(name, id);
    return id;
  }

  /** @param queued 0 for a queued page that was found at this smaller depth */
  noteQueued(host: number, depth: number, queued = 1): void {
    const added = this.#added.get(host) ?? { queued: 0, depth };
    this.#added.set(host, { queued: added.queued + queued, depth: Math.min(added.depth, depth) });
  }

  /** Notes that a queued page leaves the queue without a claim; its row changes later in this transaction. */
  noteTaken(pageId: number, host: number): void {
    this.#sql.run`UPDATE page SET state = ${STATE.settled} WHERE id = ${pageId}`;
    this.#sql.run`UPDATE host SET queued = queued - 1,
      head_depth = (SELECT min(depth) FROM page WHERE state = 0 AND page.host = ${host}) WHERE id = ${host}`;
  }

  /** Writes what the transaction added to the hosts. */
  flush(): void {
    if (this.#added.size === 0) return;
    for (const [host, { queued, depth }] of this.#added)
      this.#sql.run`UPDATE host SET queued = queued + ${queued},
        head_depth = min(ifnull(head_depth, ${depth}), ${depth}) WHERE id = ${host}`;
    this.#added.clear();
  }

  /** Discards the changes after the transaction was rolled back. */
  forget(): void {
    this.#added.clear();
    this.#hostIds.clear();
  }

  setHostTime(name: string, nextAt: number): void {
    this.#sql.run`UPDATE host SET next_at = ${nextAt} WHERE name = ${name}`;
  }

  /** @returns false when the page is not claimed */
  giveBack(page: ClaimedPage, at: number, next: NextTry): boolean {
    const { tries, spentMs } = next;
    const state = waitsFor(page, next) ? STATE.waiting : STATE.queued;
    const readyAt = state === STATE.waiting && tries === 0 ? TAKEN_OVER : at;
    const row = this.#sql.get<{ host: number; depth: number }>`UPDATE page
      SET state = ${state}, ready_at = ${readyAt}, tries = ${tries}, spent_ms = ${spentMs}
      WHERE id = ${page.id} AND state = 1 RETURNING host, depth`;
    if (row && state === STATE.queued) this.noteQueued(row.host, row.depth);
    return row !== null;
  }

  /** Gives back what is claimed and does not count as fetched; the hosts learn of it when the file is opened again. */
  giveBackUntried(): void {
    try {
      this.#sql.run`UPDATE page SET state = 0 WHERE state = 1 AND tries = 0 AND ready_at <> ${TAKEN_OVER}`;
    } catch {
      // On a full disk they stay claimed, as if the process had been killed.
    }
  }

  /** @returns pages, how many without a try may still be claimed, and how long it is worth waiting for more */
  claim(options: QueueClaim) {
    const claimed: ClaimedPage[] = this.#claimWaiting(options);
    const retried = claimed.length;
    const count = Math.min(options.count, retried + options.untried);
    let depth = this.#nextDepth(-1);
    while (depth !== null && claimed.length < count) {
      // Hosts that wait for shallower pages under way are skipped; there are at most as many of them as pages under way.
      const hosts = this.#sql.all<HostRow>`SELECT id, name FROM host
        WHERE queued > 0 AND head_depth = ${depth} AND next_at <= ${options.now}
        ORDER BY next_at LIMIT ${count + MAX_BLOCKED}`;
      this.#claimFrom(hosts, depth, { options: { ...options, count }, claimed });
      depth = claimed.length < count ? this.#nextDepth(depth) : null;
    }
    const untried = options.untried - (claimed.length - retried);
    // A process that got all it asked for has no room for more, and waits for its own pages.
    const waitMs = claimed.length < options.count ? this.#waitMs(options.now, untried) : null;
    return { pages: claimed, untried, waitMs };
  }

  /** Tells whether a claimable page waits, at any time, if `untried` pages without a try may be claimed. */
  hasPages(untried: number): boolean {
    return (untried > 0 && this.#nextDepth(-1) !== null) || this.#nextWaiting(TAKEN_OVER) !== null;
  }

  /** Returns the depth of the shallowest queued pages that are deeper than this. */
  #nextDepth(depth: number): number | null {
    const row = this.#sql.get<{ depth: number | null }>`
      SELECT min(head_depth) AS depth FROM host WHERE queued > 0 AND head_depth > ${depth}`;
    return row?.depth ?? null;
  }

  /** Returns when the first of the waiting pages may be tried that may be so after this time. */
  #nextWaiting(after: number): number | null {
    const row = this.#sql.get<At>`
      SELECT min(max(page.ready_at, host.next_at)) AS at FROM page JOIN host ON host.id = page.host
        WHERE state = 2 AND max(page.ready_at, host.next_at) > ${after}`;
    return row?.at ?? null;
  }

  #waitMs(now: number, untried: number): number | null {
    const host =
      untried > 0
        ? this.#sql.get<At>`SELECT min(next_at) AS at FROM host WHERE queued > 0 AND next_at > ${now}`
        : null;
    const first = Math.min(host?.at ?? NEVER, this.#nextWaiting(now) ?? NEVER);
    return first < NEVER ? first - now : null;
  }

  #claimWaiting({ now, count, isHostExclusive }: QueueClaim): ClaimedPage[] {
    if (this.#nextWaiting(TAKEN_OVER) === null) return [];
    const claimed: ClaimedPage[] = [];
    const taken = new Set<number>();
    const waiting = this.#sql.all<{ id: number; host: number; name: string }>`
      SELECT page.id, page.host, name FROM page JOIN host ON host.id = page.host
        WHERE state = 2 AND ready_at <= ${now} AND host.next_at <= ${now} ORDER BY ready_at LIMIT ${MAX_BLOCKED}`;
    for (const { id, host, name } of waiting) {
      if (claimed.length >= count) break;
      if (isHostExclusive && taken.has(host)) continue;
      taken.add(host);
      this.#sql.run`UPDATE host SET next_at = ${isHostExclusive ? NEVER : now} WHERE id = ${host}`;
      claimed.push(...this.#claim(id, name));
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
      const shallower = this.#sql
        .get`SELECT 1 FROM page WHERE state = 1 AND host = ${host.id} AND depth < ${depth}`;
      if (shallower !== null) continue;
      // The pages are shared among the hosts that can take them.
      const share = options.isHostExclusive ? 1 : Math.ceil(wanted / (hosts.length - index));
      const rows = this.#sql.all<{ id: number }>`
        SELECT id FROM page WHERE state = 0 AND host = ${host.id} AND depth = ${depth} ORDER BY id LIMIT ${share}`;
      claimed.push(...rows.flatMap(({ id }) => this.#claim(id, host.name)));
      this.#sql.run`UPDATE host SET queued = queued - ${rows.length},
        next_at = ${options.isHostExclusive ? NEVER : options.now},
        head_depth = (SELECT min(depth) FROM page WHERE state = 0 AND page.host = ${host.id})
        WHERE id = ${host.id}`;
    }
  }

  #claim(id: number, host: string): ClaimedPage[] {
    const rows = this.#sql.all<PageRow>`UPDATE page SET state = 1 WHERE id = ${id} RETURNING
      (SELECT url FROM address WHERE address.id = page.id) AS url, depth,
      (SELECT url FROM address WHERE address.id = page.parent) AS parent, source, last_modified, tries, spent_ms, ready_at`;
    return rows.map((row) => ({
      id,
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
      known: this.#run > 1 ? this.#memory.known(id) : null,
      wasGone: this.#run > 1 && this.#memory.wasGone(id),
    }));
  }
}

/** The maximum number of pages under way. */
const MAX_BLOCKED = 600;
