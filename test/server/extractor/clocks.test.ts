import { expect, test } from "bun:test";
import { join } from "node:path";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { settableClock } from "../../support/faketime.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { testDatabase } from "../../support/postgres.ts";
import { untilTrue } from "../../support/until.ts";

const PAGES = 12;
const directory = directoryForEachTest();

test("jobs of a worker whose clock is two hours behind end after they began, with pages in between", async () => {
  await using database = await testDatabase();
  let mayEnd = false;
  // Both jobs are under way before one ends.
  const until = (_: string, earlier: number) =>
    earlier < PAGES ? undefined : untilTrue(() => mayEnd || earlier < PAGES);
  await using site = serveNumberedSite({ pages: PAGES, until });
  const late = settableClock(directory());
  late.set("-2h");
  const pages = join(directory(), "pages");
  const env = {
    ARTICLE_EXTRACTOR_DATABASE_URL: database.url,
    ARTICLE_EXTRACTOR_DATABASE_SCHEMA: database.schema,
    ARTICLE_EXTRACTOR_STORE_URL: `file://${pages}`,
    ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: "2",
  };
  await using api = await startExtractor({ env, words: ["--role", "api"] });
  await using right = await startExtractor({ env, words: ["--role", "worker"] });
  await using behind = await startExtractor({ env: { ...env, ...late.env }, words: ["--role", "worker"] });
  const ids: string[] = [];
  // Each worker gets one of two jobs, since the other is stopped while it is submitted.
  for (const [worker, other] of [
    [right, behind],
    [behind, right],
  ] as const) {
    process.kill(other.pid, "SIGSTOP");
    ids.push(await submitJob(api, { output_dir: `${ids.length}`, seeds: [`${site.origin}/`] }));
    await untilTrue(() => worker.lines("job taken").length === 1);
    process.kill(other.pid, "SIGCONT");
  }
  mayEnd = true;
  for (const id of ids) {
    const job = await untilJob(api, id, isOver);
    expect(job).toMatchObject({ status: "completed", successful: PAGES });
    const manifest = await (await api.get(`/crawl/${id}/manifest`)).json();
    for (const { started_at, completed_at } of [job, manifest])
      expect(Date.parse(completed_at) - Date.parse(started_at)).toBeWithin(1, 600_000);
    const stored = [...new Bun.Glob(`**/${ids.indexOf(id)}/**/*.md`).scanSync(pages)];
    expect(stored).toHaveLength(PAGES);
    for (const path of stored) {
      const [, at = ""] = /^extracted_at: "?([^"\n]+)/m.exec(await Bun.file(join(pages, path)).text()) ?? [];
      // The database's time that a worker knows is late by what the answer was under way.
      expect(Date.parse(at) - Date.parse(manifest.started_at)).toBeGreaterThanOrEqual(0);
      expect(Date.parse(manifest.completed_at) - Date.parse(at)).toBeGreaterThanOrEqual(-1000);
    }
  }
  for (const worker of [right, behind]) expect(worker.stderr()).not.toContain('"level":"error"');
}, 120_000);
