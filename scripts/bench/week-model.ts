/**
 * A model of many workers on one database, in memory and with a clock of its own: leases, fences, budgets and pace follow
 * the rules of the shared frontier (docs/scale-out.md), while workers, the database and the bucket fail at random. Each
 * step asserts what has to hold; the same seed gives the same run.
 */
import { BrokenRule, WeekFrontier, type WeekSite } from "./week-frontier.ts";
import { Agenda, type AgendaEvent, createRandom, type Random } from "./week-parts.ts";

export type WeekOptions = WeekSite & {
  readonly seed: number;
  readonly days: number;
  readonly workers: number;
  /** Pages under way at once in one worker. */
  readonly concurrency: number;
  /** The median time of one fetch; one in a hundred takes 30 s. */
  readonly fetchMs: number;
  readonly workerCpuMs: number;
  readonly workerCores: number;
  readonly databaseCores: number;
  /** CPU of the database, in ms. */
  readonly costs: {
    readonly claim: number;
    readonly claimedPage: number;
    readonly settle: number;
    readonly newUrl: number;
    readonly turn: number;
    readonly heartbeat: number;
  };
  /** Means of exponential times. */
  readonly workerHours: number;
  readonly databaseOutageHours: number;
  readonly bucketOutageHours: number;
};

/** What was counted in one day, or in all. */
export type DayCounts = {
  settled: number;
  fetchedAgain: number;
  lateSettles: number;
  claims: number;
  emptyClaims: number;
  databaseMs: number;
  workerMs: number;
};

export type DayReport = DayCounts & ReturnType<WeekFrontier["queue"]>;

const HEARTBEAT_MS = 1000;
const DEAD_MS = 15_000;
const BATCH_MS = 16;
const PUT_MS = 30;
const POLL_MS = 1000;
const CLAIM_PAUSE_MS = 50;
const CLAIMED_AT_ONCE = 16;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `fetched` and `settle` name the fence of their page, the events of a worker the life of it. */
const EVENT = {
  claim: 0,
  fetched: 1,
  settle: 2,
  expire: 3,
  leave: 4,
  arrive: 5,
  outage: 6,
  bucket: 7,
  start: 8,
} as const;

type Worker = {
  readonly number: number;
  /** Counts the processes in this place; events of an earlier one are of the dead. */
  life: number;
  isAlive: boolean;
  frozenUntil: number;
  crawl: number;
  readonly pages: Map<number, number>;
  cpuFreeAt: number;
  isAboutToClaim: boolean;
};

/** @throws BrokenRule when something does not hold */
export class Week {
  readonly #options: WeekOptions;
  readonly #random: Random;
  readonly #agenda = new Agenda();
  readonly frontier: WeekFrontier;
  readonly #workers: readonly Worker[];
  #now = 0;
  #databaseFreeAt = 0;
  #databaseUntil = 0;
  #bucketUntil = 0;
  #counts = noCounts();
  readonly total = noCounts();
  readonly days: DayReport[] = [];

  constructor(options: WeekOptions) {
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.frontier = new WeekFrontier(options, this.#random);
    this.#workers = Array.from({ length: options.workers }, (_, number) => ({
      number,
      life: 0,
      isAlive: false,
      frozenUntil: 0,
      crawl: -1,
      pages: new Map<number, number>(),
      cpuFreeAt: 0,
      isAboutToClaim: false,
    }));
  }

  run(): void {
    const { days, crawls, databaseOutageHours, bucketOutageHours } = this.#options;
    for (let crawl = 0; crawl < crawls; crawl++)
      this.#agenda.add((crawl * days * DAY_MS) / crawls, EVENT.start, crawl, 0, 0);
    for (const { number } of this.#workers) this.#agenda.add(0, EVENT.arrive, number, 0, 0);
    this.#happen(EVENT.outage, databaseOutageHours, 0);
    this.#happen(EVENT.bucket, bucketOutageHours, 0);
    for (let day = 1; day <= days; day++) {
      while (this.#agenda.nextAt() < day * DAY_MS) this.#step(this.#agenda.take());
      this.#closeDay();
    }
  }

  /** Something that happens in so many hours on average. */
  #happen(kind: number, meanHours: number, after: number, worker = 0, life = 0): void {
    this.#agenda.add(after + this.#random.exponential(meanHours * HOUR_MS), kind, worker, life, 0);
  }

  #step(event: AgendaEvent): void {
    this.#now = event.at;
    this.frontier.at(event.at);
    const worker = this.#workers[event.worker];
    if (event.kind === EVENT.start) this.#start(event.worker);
    else if (event.kind === EVENT.outage) this.#databaseGoes();
    else if (event.kind === EVENT.bucket) this.#bucketGoes();
    else if (worker !== undefined) this.#stepOf(worker, event);
  }

  #stepOf(worker: Worker, { kind, life, page }: AgendaEvent): void {
    if (kind === EVENT.arrive) this.#arrive(worker);
    else if (kind === EVENT.expire) this.#expire(worker, life);
    else if (kind === EVENT.leave) {
      if (worker.life === life) this.#leave(worker);
    } else if (!worker.isAlive || (kind === EVENT.claim && worker.life !== life)) return;
    // What waits for a frozen worker, or for a database that is away, happens when it is back.
    else if (this.#now < worker.frozenUntil)
      this.#agenda.add(worker.frozenUntil, kind, worker.number, life, page);
    else if (this.#now < this.#databaseUntil)
      this.#agenda.add(this.#databaseUntil, kind, worker.number, life, page);
    else if (kind === EVENT.claim) this.#claim(worker);
    else if (kind === EVENT.fetched) this.#fetched(worker, life, page);
    else this.#settle(worker, life, page);
  }

  #spend(ms: number): void {
    this.#counts.databaseMs += ms;
    this.#databaseFreeAt = Math.max(this.#now, this.#databaseFreeAt) + ms / this.#options.databaseCores;
  }

  #start(crawl: number): void {
    this.frontier.start(crawl);
    for (const worker of this.#workers) if (worker.isAlive && worker.crawl < 0) this.#join(worker);
  }

  /** A worker joins the running crawl with the fewest workers, and stays until it is over. */
  #join(worker: Worker): void {
    worker.crawl = -1;
    const count = new Array<number>(this.#options.crawls).fill(0);
    for (const { crawl } of this.#workers) if (crawl >= 0) count[crawl]!++;
    for (let crawl = 0; crawl < count.length; crawl++)
      if (this.frontier.crawl(crawl).isRunning && (worker.crawl < 0 || count[crawl]! < count[worker.crawl]!))
        worker.crawl = crawl;
    if (worker.crawl >= 0) this.#claimIn(worker, CLAIM_PAUSE_MS);
  }

  #claimIn(worker: Worker, ms: number): void {
    if (worker.isAboutToClaim) return;
    worker.isAboutToClaim = true;
    this.#agenda.add(this.#now + ms, EVENT.claim, worker.number, worker.life, 0);
  }

  #claim(worker: Worker): void {
    worker.isAboutToClaim = false;
    if (worker.crawl < 0) return;
    if (this.frontier.endIfOver(worker.crawl)) {
      this.#join(worker);
      return;
    }
    const { concurrency, costs } = this.#options;
    const room = Math.min(CLAIMED_AT_ONCE, concurrency - worker.pages.size);
    if (room <= 0) return;
    let taken = 0;
    while (taken < room && this.#takePage(worker)) taken++;
    this.#counts.claims++;
    if (taken === 0) this.#counts.emptyClaims++;
    this.#spend(costs.claim + taken * costs.claimedPage);
    if (taken < room) this.#claimIn(worker, POLL_MS * (0.5 + this.#random.next()));
  }

  #takePage(worker: Worker): boolean {
    const claim = this.frontier.claim(worker.crawl, Math.max(this.#now, this.#databaseFreeAt));
    if (claim === null) return false;
    const { page, fence, startAt } = claim;
    if (fence > 1) this.#counts.fetchedAgain++;
    worker.pages.set(page, fence);
    this.#spend(this.#options.costs.turn);
    const isSlow = this.#random.next() < 0.01;
    const fetchMs = isSlow ? 30_000 : this.#random.logNormal(this.#options.fetchMs, 0.7);
    this.#agenda.add(startAt + fetchMs, EVENT.fetched, worker.number, fence, page);
    return true;
  }

  #fetched(worker: Worker, fence: number, page: number): void {
    if (this.frontier.holds(page, fence)) this.frontier.free(page);
    const { workerCpuMs, workerCores } = this.#options;
    worker.cpuFreeAt = Math.max(this.#now, worker.cpuFreeAt) + workerCpuMs / workerCores;
    this.#counts.workerMs += workerCpuMs;
    const storedAt = Math.max(worker.cpuFreeAt + PUT_MS, this.#bucketUntil);
    this.#agenda.add(storedAt + BATCH_MS, EVENT.settle, worker.number, fence, page);
  }

  #settle(worker: Worker, fence: number, page: number): void {
    const { costs } = this.#options;
    if (!this.frontier.holds(page, fence)) {
      this.#counts.lateSettles++;
      this.#spend(costs.settle);
      return;
    }
    if (worker.pages.get(page) !== fence) throw new BrokenRule(`page ${page} is settled by another worker`);
    worker.pages.delete(page);
    this.#counts.settled++;
    this.#spend(costs.settle + costs.newUrl * this.frontier.settle(page));
    this.#claimIn(worker, CLAIM_PAUSE_MS);
  }

  #arrive(worker: Worker): void {
    worker.life = (worker.life + 1) & 0xff_ff;
    worker.isAlive = true;
    worker.frozenUntil = 0;
    worker.cpuFreeAt = this.#now;
    worker.isAboutToClaim = false;
    this.#happen(EVENT.leave, this.#options.workerHours, this.#now, worker.number, worker.life);
    this.#join(worker);
  }

  /** A worker is told to stop (seven times in ten), is killed (two), or freezes for some seconds (one). */
  #leave(worker: Worker): void {
    const fate = this.#random.next();
    // The last heartbeat was up to a second ago, and the others look for the dead once a second.
    const expiresAt = this.#now + DEAD_MS + (this.#random.next() - this.#random.next()) * HEARTBEAT_MS;
    const { number, life } = worker;
    if (fate >= 0.9) {
      worker.frozenUntil = this.#now + 5000 + this.#random.exponential(20_000);
      if (worker.frozenUntil > expiresAt) this.#agenda.add(expiresAt, EVENT.expire, number, life, 0);
      this.#happen(EVENT.leave, this.#options.workerHours, worker.frozenUntil, number, life);
      return;
    }
    worker.isAlive = false;
    worker.crawl = -1;
    if (fate < 0.7) this.#handBack(worker);
    else this.#agenda.add(expiresAt, EVENT.expire, number, life, 0);
    this.#agenda.add(expiresAt + this.#random.exponential(120_000), EVENT.arrive, number, 0, 0);
  }

  #expire(worker: Worker, life: number): void {
    if (this.#now < this.#databaseUntil)
      this.#agenda.add(this.#databaseUntil, EVENT.expire, worker.number, life, 0);
    else if (worker.life === life) this.#handBack(worker);
  }

  #handBack(worker: Worker): void {
    for (const page of worker.pages.keys()) this.frontier.giveBack(page);
    worker.pages.clear();
    if (worker.isAlive) this.#claimIn(worker, POLL_MS);
  }

  /** Nobody can renew a lease: an absence longer than one costs all that is under way. */
  #databaseGoes(): void {
    const awayMs = 2000 + this.#random.exponential(15_000);
    this.#databaseUntil = this.#now + awayMs;
    for (const { number, life } of awayMs > DEAD_MS ? this.#workers : [])
      this.#agenda.add(this.#databaseUntil, EVENT.expire, number, life, 0);
    this.#happen(EVENT.outage, this.#options.databaseOutageHours, this.#databaseUntil);
  }

  #bucketGoes(): void {
    this.#bucketUntil = this.#now + this.#random.exponential(120_000);
    this.#happen(EVENT.bucket, this.#options.bucketOutageHours, this.#bucketUntil);
  }

  #closeDay(): void {
    const { costs, workers } = this.#options;
    this.#counts.databaseMs += costs.heartbeat * workers * (DAY_MS / HEARTBEAT_MS);
    const underWay = this.frontier.checkBooks();
    const held = this.#workers.reduce((sum, { pages }) => sum + pages.size, 0);
    if (held !== underWay) throw new BrokenRule(`${underWay} pages are under way, and workers have ${held}`);
    this.days.push({ ...this.#counts, ...this.frontier.queue() });
    for (const key of Object.keys(this.#counts) as (keyof DayCounts)[]) this.total[key] += this.#counts[key];
    this.#counts = noCounts();
  }
}

const noCounts = (): DayCounts => ({
  settled: 0,
  fetchedAgain: 0,
  lateSettles: 0,
  claims: 0,
  emptyClaims: 0,
  databaseMs: 0,
  workerMs: 0,
});
