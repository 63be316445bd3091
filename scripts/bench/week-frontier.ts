/** The shared frontier of the simulated week, in memory: pages, their hosts and crawls, and the rules that hold. */
import { type Random, TimeHeap } from "./week-parts.ts";

export type WeekSite = {
  readonly urls: number;
  readonly hosts: number;
  readonly crawls: number;
  /** A crawl's `max_pages`. */
  readonly maxPages: number;
  /** Sizes of hosts go with rank ** -skew. */
  readonly skew: number;
  readonly delayMs: number;
};

const FAN_OUT = 10;
const MAX_DEPTH = 12;
/** The share of hosts that another crawl may ask too. */
const SHARED_HOSTS = 0.02;
/** Front pages link to other sites more than deep ones. */
const FRONT_PAGES = 100;

const STATE = { unknown: 0, queued: 1, claimed: 2, settled: 3, left: 4 } as const;
/** Where a host stands: nowhere while it is held or has no page, else in a line of its crawl. */
const PLACE = { nowhere: 0, resting: 1, due: 2 } as const;

type Crawl = {
  isRunning: boolean;
  queued: number;
  claimed: number;
  settled: number;
  found: number;
  readonly resting: TimeHeap;
  /** Hosts whose time has come, by the depth of their first page. */
  readonly due: { hosts: number[]; from: number }[];
};

export class BrokenRule extends Error {}

export type Claim = { readonly page: number; readonly fence: number; readonly startAt: number };

export class WeekFrontier {
  readonly #site: WeekSite;
  readonly #crawls: Crawl[];
  // Pages of a host have numbers in a row; behind the last host stands the number of pages.
  readonly #firstPage: Int32Array;
  readonly #hostOf: Int32Array;
  readonly #state: Uint8Array;
  readonly #fence: Uint16Array;
  readonly #outcomes: Uint8Array;
  readonly #nextInLine: Int32Array;
  /** The first host that a page links to, and the next one of the same page. */
  readonly #linkedHost: Int32Array;
  readonly #nextLinked: Int32Array;
  readonly #crawlOf: Uint8Array;
  readonly #head: Int32Array;
  readonly #tail: Int32Array;
  readonly #waiting: Int32Array;
  readonly #isHeld: Uint8Array;
  readonly #place: Uint8Array;
  readonly #readyAt: Float64Array;
  /** Hosts of one name, in two crawls, share a pace. */
  readonly #paceOf: Int32Array;
  readonly #turnAt: Float64Array;
  readonly #lastStart: Float64Array;
  #now = 0;

  constructor(site: WeekSite, random: Random) {
    const { hosts, crawls } = site;
    this.#site = site;
    this.#firstPage = firstPages(site);
    const pages = this.#firstPage[hosts]!;
    this.#hostOf = new Int32Array(pages);
    this.#state = new Uint8Array(pages);
    this.#fence = new Uint16Array(pages);
    this.#outcomes = new Uint8Array(pages);
    this.#nextInLine = new Int32Array(pages).fill(-1);
    this.#linkedHost = new Int32Array(pages).fill(-1);
    this.#nextLinked = new Int32Array(hosts).fill(-1);
    this.#crawlOf = new Uint8Array(hosts);
    this.#head = new Int32Array(hosts).fill(-1);
    this.#tail = new Int32Array(hosts).fill(-1);
    this.#waiting = new Int32Array(hosts);
    this.#isHeld = new Uint8Array(hosts);
    this.#place = new Uint8Array(hosts);
    this.#readyAt = new Float64Array(hosts);
    this.#paceOf = new Int32Array(hosts);
    this.#turnAt = new Float64Array(hosts);
    this.#lastStart = new Float64Array(hosts).fill(Number.NEGATIVE_INFINITY);
    this.#crawls = Array.from({ length: crawls }, () => ({
      isRunning: false,
      queued: 0,
      claimed: 0,
      settled: 0,
      found: 0,
      resting: new TimeHeap(),
      due: Array.from({ length: MAX_DEPTH }, () => ({ hosts: [], from: 0 })),
    }));
    this.#layOut(random);
  }

  /** Gives each host its crawl, and the page of an earlier host of that crawl which links to it. */
  #layOut(random: Random): void {
    const earlier: number[][] = this.#crawls.map(() => []);
    for (let host = 0; host < this.#site.hosts; host++) {
      const crawl = random.below(this.#crawls.length);
      this.#crawlOf[host] = crawl;
      this.#paceOf[host] = host > 0 && random.next() < SHARED_HOSTS ? this.#paceOf[host - 1]! : host;
      this.#hostOf.fill(host, this.#firstPage[host]!, this.#firstPage[host + 1]!);
      const before = earlier[crawl]!;
      if (before.length > 0) {
        const parent = before[random.below(before.length)]!;
        const page = this.#firstPage[parent]! + random.below(Math.min(this.sizeOf(parent), FRONT_PAGES));
        this.#nextLinked[host] = this.#linkedHost[page]!;
        this.#linkedHost[page] = host;
      }
      before.push(host);
    }
  }

  sizeOf(host: number): number {
    return this.#firstPage[host + 1]! - this.#firstPage[host]!;
  }

  crawl(crawl: number): Readonly<Omit<Crawl, "resting" | "due">> {
    return this.#crawls[crawl]!;
  }

  /** Sets the clock. */
  at(now: number): void {
    this.#now = now;
  }

  start(crawl: number): void {
    this.#crawls[crawl]!.isRunning = true;
    const first = this.#crawlOf.indexOf(crawl);
    if (first >= 0) this.#find(this.#firstPage[first]!);
  }

  /** Ends a crawl of which nothing is under way and nothing may be claimed. @returns whether it is over */
  endIfOver(crawl: number): boolean {
    const record = this.#crawls[crawl]!;
    const isSpent = record.settled >= this.#site.maxPages;
    if (!record.isRunning || record.claimed > 0 || (record.queued > 0 && !isSpent)) return !record.isRunning;
    record.isRunning = false;
    for (let host = 0; host < this.#site.hosts; host++) {
      if (this.#crawlOf[host] !== crawl) continue;
      for (let page = this.#head[host]!; page >= 0; page = this.#nextInLine[page]!) {
        this.#state[page] = STATE.left;
        record.queued--;
      }
      this.#head[host] = -1;
      this.#waiting[host] = 0;
    }
    if (record.queued !== 0) throw new BrokenRule(`${record.queued} pages of crawl ${crawl} are in no line`);
    return true;
  }

  /** @param startAt when the database is free to give the host's turn */
  claim(crawl: number, startAt: number): Claim | null {
    const record = this.#crawls[crawl]!;
    if (record.claimed + record.settled >= this.#site.maxPages) return null;
    const host = this.#nextDue(record);
    if (host < 0) return null;
    const page = this.#head[host]!;
    if (this.#state[page] !== STATE.queued) throw new BrokenRule(`page ${page} is claimed, and was not free`);
    if (this.#isHeld[host] === 1) throw new BrokenRule(`host ${host} is handed out twice`);
    this.#head[host] = this.#nextInLine[page]!;
    this.#waiting[host]!--;
    this.#state[page] = STATE.claimed;
    this.#isHeld[host] = 1;
    record.queued--;
    record.claimed++;
    if (record.claimed + record.settled > this.#site.maxPages)
      throw new BrokenRule(`crawl ${crawl} has more pages than its budget`);
    const fence = (this.#fence[page]! + 1) & 0xff_ff;
    this.#fence[page] = fence;
    return { page, fence, startAt: this.#takeTurn(host, startAt) };
  }

  /** Takes the host's turn, which hosts of several crawls share. @returns when the request starts */
  #takeTurn(host: number, earliest: number): number {
    const pace = this.#paceOf[host]!;
    const startAt = Math.ceil(Math.max(earliest, this.#turnAt[pace]!));
    if (startAt - this.#lastStart[pace]! < this.#site.delayMs)
      throw new BrokenRule(`host ${host} is asked too soon`);
    this.#lastStart[pace] = startAt;
    this.#turnAt[pace] = startAt + this.#site.delayMs;
    this.#readyAt[host] = this.#turnAt[pace]!;
    return startAt;
  }

  /** Whether this claim of the page still counts. */
  holds(page: number, fence: number): boolean {
    return this.#state[page] === STATE.claimed && this.#fence[page] === fence;
  }

  /** Lets the host's next page go. */
  free(page: number): void {
    const host = this.#hostOf[page]!;
    this.#isHeld[host] = 0;
    this.#lineUp(host);
  }

  /** Records the outcome of a page that is held, and its links. @returns how many URLs were new */
  settle(page: number): number {
    const host = this.#hostOf[page]!;
    const record = this.#crawls[this.#crawlOf[host]!]!;
    this.#state[page] = STATE.settled;
    if (++this.#outcomes[page]! > 1) throw new BrokenRule(`page ${page} has two outcomes`);
    record.claimed--;
    record.settled++;
    let found = 0;
    const below = this.#firstPage[host]! + (page - this.#firstPage[host]!) * FAN_OUT + 1;
    for (let child = below; child < below + FAN_OUT && child < this.#firstPage[host + 1]!; child++)
      found += this.#find(child);
    for (let linked = this.#linkedHost[page]!; linked >= 0; linked = this.#nextLinked[linked]!)
      found += this.#find(this.#firstPage[linked]!);
    if (record.found !== record.queued + record.claimed + record.settled)
      throw new BrokenRule(`a crawl found ${record.found} pages, and knows of others`);
    return found;
  }

  /** A page that was claimed comes back, before all others of its host. */
  giveBack(page: number): void {
    const host = this.#hostOf[page]!;
    const record = this.#crawls[this.#crawlOf[host]!]!;
    this.#state[page] = STATE.queued;
    record.claimed--;
    record.queued++;
    this.#nextInLine[page] = this.#head[host]!;
    if (this.#head[host]! < 0) this.#tail[host] = page;
    this.#head[host] = page;
    this.#waiting[host]!++;
    this.free(page);
  }

  #find(page: number): number {
    if (this.#state[page] !== STATE.unknown) return 0;
    const host = this.#hostOf[page]!;
    const record = this.#crawls[this.#crawlOf[host]!]!;
    this.#state[page] = STATE.queued;
    record.found++;
    record.queued++;
    if (this.#head[host]! < 0) this.#head[host] = page;
    else this.#nextInLine[this.#tail[host]!] = page;
    this.#tail[host] = page;
    this.#waiting[host]!++;
    this.#lineUp(host);
    return 1;
  }

  #lineUp(host: number): void {
    if (this.#place[host] !== PLACE.nowhere || this.#isHeld[host] === 1 || this.#head[host]! < 0) return;
    const record = this.#crawls[this.#crawlOf[host]!]!;
    if (this.#readyAt[host]! > this.#now) {
      this.#place[host] = PLACE.resting;
      record.resting.add(this.#readyAt[host]!, host);
    } else {
      this.#place[host] = PLACE.due;
      record.due[this.#depthOf(host)]!.hosts.push(host);
    }
  }

  /** The depth of the host's first page in line. */
  #depthOf(host: number): number {
    let depth = 0;
    let number = this.#head[host]! - this.#firstPage[host]!;
    for (; number > 0; depth++) number = Math.floor((number - 1) / FAN_OUT);
    return Math.min(depth, MAX_DEPTH - 1);
  }

  #nextDue({ resting, due }: Crawl): number {
    while (resting.nextAt() <= this.#now) {
      const host = resting.take();
      this.#place[host] = PLACE.nowhere;
      this.#lineUp(host);
    }
    for (const line of due) {
      if (line.from === line.hosts.length) continue;
      const host = line.hosts[line.from++]!;
      if (line.from > 1024 && line.from * 2 > line.hosts.length) {
        line.hosts.splice(0, line.from);
        line.from = 0;
      }
      this.#place[host] = PLACE.nowhere;
      return host;
    }
    return -1;
  }

  /** Counts every page anew and compares with the counters. @returns the pages under way */
  checkBooks(): number {
    const seen = this.#crawls.map(() => [0, 0, 0, 0, 0]);
    for (let page = 0; page < this.#state.length; page++)
      seen[this.#crawlOf[this.#hostOf[page]!]!]![this.#state[page]!]!++;
    let underWay = 0;
    for (const [number, record] of this.#crawls.entries()) {
      const [, queued = 0, claimed = 0, settled = 0, left = 0] = seen[number]!;
      if (queued !== record.queued || claimed !== record.claimed || settled !== record.settled)
        throw new BrokenRule(`the counters of crawl ${number} are not those of its pages`);
      if (record.found !== queued + claimed + settled + left)
        throw new BrokenRule(`crawl ${number} has lost pages`);
      underWay += claimed;
    }
    return underWay;
  }

  /** The waiting pages, those of the ten fullest hosts, and how many hosts have any. */
  queue(): { readonly waiting: number; readonly inTenHosts: number; readonly waitingHosts: number } {
    const counts = this.#waiting.filter((count) => count > 0).sort();
    const sum = (some: Int32Array): number => some.reduce((total, count) => total + count, 0);
    return { waiting: sum(counts), inTenHosts: sum(counts.slice(-10)), waitingHosts: counts.length };
  }
}

function firstPages({ urls, hosts, skew }: WeekSite): Int32Array {
  let weight = 0;
  for (let rank = 1; rank <= hosts; rank++) weight += rank ** -skew;
  const first = new Int32Array(hosts + 1);
  for (let host = 0; host < hosts; host++)
    first[host + 1] = first[host]! + Math.max(1, Math.round((urls * (host + 1) ** -skew) / weight));
  return first;
}
