import { expect, test } from "bun:test";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { DocsSite } from "../support/docs-site.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { type SettableClock, settableClock } from "../support/faketime.ts";
import { directoryForEachTest } from "../support/for-all-tests.ts";
import { outputOf } from "../support/local.ts";
import { type NumberedSite, serveNumberedSite } from "../support/numbered-site.ts";
import { Served } from "../support/served.ts";
import { SYNC_ENVIRONMENT, webTenant, writeSyncDeployment } from "../support/sync-run.ts";
import { untilTrue } from "../support/until.ts";

const JUMPS = ["-1h", "+3d", "-5d", "+0s"];
const PACE_S = 0.15;
const PAGES = 60;

const directory = directoryForEachTest();

/** Sets the clock to each time in turn, once some more pages were fetched. @throws when none come */
async function jumpDuring(site: NumberedSite, clock: SettableClock): Promise<void> {
  for (const jump of JUMPS) {
    const { length } = site.visits;
    await untilTrue(() => site.visits.length >= length + 8);
    clock.set(jump);
  }
}

/**
 * The pace counts from request to request as they are sent. What a request takes until the site sees it differs by some
 * ms, and by more on a busy machine: it shortens single gaps, and hardly their sum.
 */
function expectPace({ visits }: NumberedSite): void {
  const times = visits.map(({ at }) => at).sort((a, b) => a - b);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(gaps.filter((gap) => gap < (PACE_S * 1000) / 3)).toEqual([]);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(gaps.length * PACE_S * 1000 * 0.95);
}

type Status = {
  readonly state: string;
  readonly next_run_at: string | null;
  readonly last_error: unknown;
  readonly history: readonly { readonly started_at: string; readonly completed_at: string }[];
};

const statusOf = async ({ url }: Served): Promise<Status> =>
  (await (await fetch(`${url}/manual/sync/status`, { headers: { connection: "close" } })).json()) as Status;

const msBetween = (from: string | null, to: string | null): number =>
  Date.parse(to ?? "") - Date.parse(from ?? "");

test("a crawl keeps its pace while the clock is set back, forward and back again", async () => {
  await using site = serveNumberedSite({ pages: PAGES });
  const clock = settableClock(directory());
  const output = `${directory()}/out`;
  const words = ["crawl", `${site.origin}/`, "--rate-limit", String(PACE_S), "--output-dir", output];
  const child = Bun.spawn([BINARY, ...words, "--max-pages", String(PAGES)], {
    env: cleanEnvironment(clock.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => child.kill("SIGKILL"));
  await jumpDuring(site, clock);
  expect((await outputOf(child)).exitCode).toBe(0);
  expectPace(site);
  const manifest = await Bun.file(`${output}/manifest.json`).json();
  expect(manifest).toMatchObject({ successful: PAGES, failed: 0 });
  const ms = msBetween(manifest.started_at, manifest.completed_at);
  expect(ms).toBeWithin((PAGES - 1) * PACE_S * 1000, 3_600_000);
  const stored = [...new Bun.Glob("*.md").scanSync(output)].map((name) =>
    Bun.file(`${output}/${name}`).text(),
  );
  for (const text of await Promise.all(stored)) {
    const [, extractedAt = ""] = /^extracted_at: "?([^"\n]+)/m.exec(text) ?? [];
    expect(msBetween(manifest.started_at, extractedAt)).toBeWithin(0, ms + 1);
  }
}, 120_000);

test("jobs of two processes share a host's pace while the clock is set, and none is taken away", async () => {
  await using site = serveNumberedSite({ pages: PAGES / 2 });
  const clock = settableClock(directory());
  const env = { ...clock.env, WEB_CONCURRENCY: "2", ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: "2" };
  await using server = await startExtractor({ env });
  const body = { seeds: [`${site.origin}/`], rate_limit_delay: PACE_S };
  const ids = [
    await submitJob(server, { ...body, output_dir: "a" }),
    await submitJob(server, { ...body, output_dir: "b" }),
  ];
  await jumpDuring(site, clock);
  for (const id of ids) {
    const job = await untilJob(server, id, isOver);
    expect(job).toMatchObject({ status: "completed", successful: PAGES / 2, failed: 0 });
    expect(msBetween(job.started_at, job.completed_at)).toBeWithin(1000, 3_600_000);
    expect(server.lines("job taken").filter((line) => line.includes(id))).toHaveLength(1);
  }
  expectPace(site);
  expect(server.lines(/job lost|job handed back|"level":"error"/)).toEqual([]);
}, 120_000);

test("a schedule runs once after each day that the clock skips, and goes on after it was set back", async () => {
  await using site = new DocsSite();
  site.fill(2);
  // Half a day from now, the schedule is not due by itself.
  const hour = (new Date().getUTCHours() + 12) % 24;
  const tenants = [webTenant(site.sitemap, { refresh_schedule: `0 ${hour} * * *` })];
  const infrastructure = { uvicorn_workers: 2, log_level: "info" };
  const root = await writeSyncDeployment({ infrastructure, tenants });
  const clock = settableClock(directory());
  await using served = await Served.start(root, { env: { ...SYNC_ENVIRONMENT, ...clock.env } });
  /** Waits until the next run is within a day from the time that the clock shows, so the present one is over. */
  const settled = async (offsetDays: number, syncs: number): Promise<Status> => {
    let status: Status | undefined;
    await untilTrue(async () => {
      status = await statusOf(served);
      const nextMs = msBetween(new Date().toISOString(), status.next_run_at) - offsetDays * 86_400_000;
      return status.state === "idle" && status.history.length >= syncs && nextMs > 0 && nextMs <= 86_400_000;
    });
    if (status === undefined) throw new Error("there is no status");
    return status;
  };
  await settled(0, 1);
  const steps = [
    ["-1h", 0, 1],
    ["+3d", 3, 2],
    ["-5d", -5, 2],
    ["+0s", 0, 3],
  ] as const;
  for (const [jump, offsetDays, syncs] of steps) {
    clock.set(jump);
    const { history, last_error } = await settled(offsetDays, syncs);
    // It is looked at four times a second: what would run again and again has done so by then.
    await Bun.sleep(2500);
    expect((await statusOf(served)).history).toHaveLength(syncs);
    expect(last_error).toBeNull();
    for (const { started_at, completed_at } of history)
      expect(msBetween(started_at, completed_at)).toBeWithin(0, 60_000);
  }
  // The lead was not taken from the process that had it.
  expect(served.said.match(/this process builds and syncs/g)).toHaveLength(1);
}, 120_000);
