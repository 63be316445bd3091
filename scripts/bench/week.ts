/**
 * Simulates a week of crawls by many workers on one PostgreSQL, with a clock of its own, and tells what a larger one
 * would need:
 *
 *   bun scripts/bench/week.ts [--seed N] [--urls N] [--hosts N] [--workers N] [--days N] [--crawls N] [--max-pages N]
 *     [--delay-ms N] [--database-cores N] [--claim-ms X] … [--row-bytes N] [--index-bytes N] [--out FILE]
 *
 * Ten million URLs on a hundred thousand hosts, whose sizes follow a power law, and fifty workers take half a minute
 * and half a GB. What a URL costs the database and what a row takes is what `make bench-frontier` measured; the costs of
 * claims and settles add up to what `make bench-scale` measured for a page. Each is an option. It fails when a page is
 * lost or counted twice, a host is asked too soon, or a crawl has more pages than its budget.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeCommit, describeMachine } from "./machine.ts";
import { type DayReport, Week, type WeekOptions } from "./week-model.ts";

/** Each option with its default; those in ms of CPU are the database's, but for `worker-cpu-ms`. */
const DEFAULTS = {
  seed: 1,
  urls: 10_000_000,
  hosts: 100_000,
  workers: 50,
  days: 7,
  crawls: 14,
  "max-pages": 800_000,
  concurrency: 16,
  skew: 0.9,
  "delay-ms": 1000,
  "fetch-ms": 300,
  "worker-cpu-ms": 8,
  "worker-cores": 2,
  "database-cores": 4,
  "claim-ms": 0.3,
  "claimed-page-ms": 0.05,
  "settle-ms": 0.5,
  "new-url-ms": 0.02,
  "turn-ms": 0.1,
  "heartbeat-ms": 0.1,
  "worker-hours": 8,
  "database-outage-hours": 24,
  "bucket-outage-hours": 72,
  "row-bytes": 485,
  "index-bytes": 164,
  "links-asked": 20,
};

const { values: written } = parseArgs({
  options: {
    ...Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, { type: "string" as const }])),
    out: { type: "string" },
  },
});

const option = (name: keyof typeof DEFAULTS): number => {
  const text = (written as Record<string, string | undefined>)[name];
  const value = text === undefined || text === "" ? DEFAULTS[name] : Number(text);
  if (!(Number.isFinite(value) && value >= 0))
    throw new Error(`--${name} ${text} is not a number of 0 or more`);
  return value;
};

const options: WeekOptions = {
  seed: option("seed"),
  days: option("days"),
  urls: option("urls"),
  hosts: option("hosts"),
  workers: option("workers"),
  crawls: option("crawls"),
  maxPages: option("max-pages"),
  concurrency: option("concurrency"),
  skew: option("skew"),
  delayMs: option("delay-ms"),
  fetchMs: option("fetch-ms"),
  workerCpuMs: option("worker-cpu-ms"),
  workerCores: option("worker-cores"),
  databaseCores: option("database-cores"),
  costs: {
    claim: option("claim-ms"),
    claimedPage: option("claimed-page-ms"),
    settle: option("settle-ms"),
    newUrl: option("new-url-ms"),
    turn: option("turn-ms"),
    heartbeat: option("heartbeat-ms"),
  },
  workerHours: option("worker-hours"),
  databaseOutageHours: option("database-outage-hours"),
  bucketOutageHours: option("bucket-outage-hours"),
};

const DAY_MS = 86_400_000;
const GIB = 2 ** 30;
const round = (value: number, digits = 0): string =>
  value
    .toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits })
    .replaceAll(",", " ");
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function print(days: readonly DayReport[]): void {
  const columns =
    "day,pages,fetched twice,late settles,database busy,workers busy,empty claims,waiting,hosts,in 10 hosts";
  const rows = days.map((day, index) => [
    `${index + 1}`,
    round(day.settled),
    round(day.fetchedAgain),
    round(day.lateSettles),
    percent(day.databaseMs / (DAY_MS * options.databaseCores)),
    percent(day.workerMs / (DAY_MS * options.workers * options.workerCores)),
    percent(day.emptyClaims / day.claims),
    round(day.waiting),
    round(day.waitingHosts),
    percent(day.waiting === 0 ? 0 : day.inTenHosts / day.waiting),
  ]);
  const table = [columns.split(","), ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table) console.log(row.map((cell, column) => cell.padStart(widths[column]!)).join("   "));
}

/** What the same rules need for a number of pages, by arithmetic on what was counted. */
function project(pages: number, week: Week) {
  const { total } = week;
  const msPerPage =
    (total.databaseMs - options.days * DAY_MS * options.workers * (options.costs.heartbeat / 1000)) /
    total.settled;
  const busyMsPerPage = msPerPage - (total.emptyClaims * options.costs.claim) / total.settled;
  // The largest host's share of all pages is that of the power law, whatever the number.
  const largest = (week.frontier.sizeOf(0) / options.urls) * pages;
  return {
    pages,
    tableGib: (pages * option("row-bytes")) / GIB,
    indexGib: (pages * option("index-bytes")) / GIB,
    databaseCoreDays: (pages * busyMsPerPage) / DAY_MS,
    pagesPerDay: (options.databaseCores * DAY_MS) / busyMsPerPage,
    workerCoreDays: (pages * options.workerCpuMs) / DAY_MS,
    // Each claim and each settle leaves one dead row.
    deadRowsBeforeVacuum: 0.2 * pages,
    largestHostDays: (largest * options.delayMs) / DAY_MS,
    lookupsPerPage: option("links-asked"),
  };
}

function printProjection(projection: ReturnType<typeof project>): void {
  const { pages, tableGib, indexGib, databaseCoreDays, pagesPerDay, workerCoreDays, largestHostDays } =
    projection;
  console.log(`\nfor ${round(pages)} pages, by arithmetic:`);
  console.log(
    `  tables ${round(tableGib, 1)} GiB, their indexes ${round(indexGib, 1)} GiB, to be held in memory for ${projection.lookupsPerPage} lookups a page`,
  );
  console.log(
    `  database ${round(databaseCoreDays, 1)} days of a core: ${round(pagesPerDay)} pages a day at most on ${options.databaseCores} cores`,
  );
  console.log(`  workers ${round(workerCoreDays, 1)} days of a core`);
  console.log(
    `  the largest host alone takes ${round(largestHostDays, 1)} days at one request in ${options.delayMs} ms`,
  );
  console.log(
    `  autovacuum begins after ${round(projection.deadRowsBeforeVacuum)} dead rows with its default of a fifth`,
  );
}

const machine = describeMachine();
console.log(
  `${machine}; ${round(options.urls)} URLs, ${round(options.hosts)} hosts, ${options.workers} workers, seed ${options.seed}\n`,
);
const startedAt = performance.now();
const week = new Week(options);
week.run();
print(week.days);
const crawls = Array.from({ length: options.crawls }, (_, crawl) => week.frontier.crawl(crawl)).map(
  ({ isRunning, settled, found }) => ({ isRunning, settled, found }),
);
const { total } = week;
console.log(
  `\nin all ${round(total.settled)} pages, ${round(total.fetchedAgain)} fetched twice, ${round(total.lateSettles)} late settles refused; ` +
    `${crawls.filter(({ isRunning, settled }) => !isRunning && settled > 0).length} of ${options.crawls} crawls over, ` +
    `${crawls.filter(({ settled }) => settled === options.maxPages).length} at their budget`,
);
console.log(`simulated in ${round((performance.now() - startedAt) / 1000)} s`);
const projections = [options.urls, 100 * options.urls].map((pages) => project(pages, week));
for (const projection of projections) printProjection(projection);
const commit = await describeCommit(join(import.meta.dir, "..", ".."));
if (written.out)
  await Bun.write(
    written.out,
    `${JSON.stringify({ machine, commit, options, days: week.days, total, crawls, projections }, null, 2)}\n`,
  );
