import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { canContain, IN_CONTAINER } from "../../support/containers.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PAGES = 20;
const site = forAllTests(serveNumberedSite({ pages: PAGES, answerMs: 30 }));

const crashesIn = (directory: string): number => {
  const db = new Database(join(directory, "state/jobs.sqlite"), { readonly: true });
  const row = db.query<{ crashes: number }, []>("SELECT sum(crashes) AS crashes FROM job").get();
  db.close();
  return row?.crashes ?? -1;
};

describe.skipIf(!canContain)(
  "two containers with one state directory, each with process 1 and one name",
  () => {
    const env = { ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: "2", ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1" };
    const withContainers = async (work: (directory: string) => Promise<void>): Promise<void> => {
      using directory = temporaryDirectory();
      await work(directory.path);
    };

    test("both work on, and each job runs once", async () => {
      await withContainers(async (directory) => {
        await using one = await startExtractor({ directory, env, within: IN_CONTAINER });
        await using two = await startExtractor({ directory, env, within: IN_CONTAINER });
        const before = site.visits.length;
        const ids: string[] = [];
        for (let job = 0; job < 6; job++)
          ids.push(
            await submitJob(job % 2 === 0 ? one : two, {
              output_dir: `job-${job}`,
              // A name of its own for each, so that none waits for another at the site.
              seeds: [`${site.origin.replace("127.0.0.1", `job${job}.localhost`)}/`],
              concurrency: 2,
            }),
          );
        for (const [index, id] of ids.entries())
          expect(await untilJob(index % 2 === 0 ? two : one, id, isOver)).toMatchObject({
            status: "completed",
            successful: PAGES,
            failed: 0,
          });
        const pages = site.visits.slice(before).filter(({ path }) => path !== "/robots.txt");
        expect(pages).toHaveLength(ids.length * PAGES);
        expect(crashesIn(directory)).toBe(0);
      });
    });

    test("one goes on with what the other was doing when it was killed", async () => {
      await withContainers(async (directory) => {
        const isKilled = Promise.withResolvers<void>();
        // The job is halfway through until the one that runs it has died, however long the other takes to start.
        await using halfway = serveNumberedSite({
          pages: PAGES,
          until: (_, earlier) => (earlier > PAGES / 2 ? isKilled.promise : undefined),
        });
        await using one = await startExtractor({ directory, env, within: IN_CONTAINER });
        const seeds = [`${halfway.origin}/`];
        const id = await submitJob(one, { output_dir: "job", seeds, concurrency: 1 });
        await untilJob(one, id, ({ successful }) => successful > 3);
        await using two = await startExtractor({ directory, env, within: IN_CONTAINER });
        one.signal("SIGKILL");
        await one.exited;
        isKilled.resolve();
        expect(await untilJob(two, id, isOver)).toMatchObject({ status: "completed", successful: PAGES });
        expect(two.lines("job taken")).toHaveLength(1);
      });
    });
  },
);
