import { expect, test } from "bun:test";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { startPostgres, testDatabase } from "../support/postgres.ts";
import { start } from "../support/scale/crawl.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const PAGES = 80;

test("a crawl of several processes waits for a database that restarts, and says so once", async () => {
  await using server = await startPostgres();
  await using database = await testDatabase(server);
  using directory = temporaryDirectory();
  await using site = serveNumberedSite({ pages: PAGES, fanOut: 4, answerMs: 20 });
  const words = ["crawl", `${site.origin}/`, "--join", "--output-dir", directory.path];
  const limits = ["--rate-limit", "0", "--concurrency", "2", "--log-level", "warning"];
  const env = {
    ARTICLE_EXTRACTOR_DATABASE_URL: database.url,
    ARTICLE_EXTRACTOR_DATABASE_SCHEMA: database.schema,
    ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1",
  };
  await using crawl = start([...words, ...limits], env);
  await untilTrue(() => site.visits.length > PAGES / 4);
  await server.stop("immediate");
  await untilTrue(() => crawl.stderr().includes("the database cannot be reached"));
  await server.start();

  expect({ code: await crawl.exited, said: crawl.stderr() }).toMatchObject({ code: 0 });
  expect(crawl.stderr().match(/the database (?:cannot be reached|is back)/g)).toEqual([
    "the database cannot be reached",
    "the database is back",
  ]);
  const manifest = await Bun.file(`${directory.path}/manifest.json`).json();
  expect(manifest).toMatchObject({ status: "completed", total_pages: PAGES, successful: PAGES });
  // Four pages may have been under way: two fetched, one on the worker, one before it.
  expect(site.visits.length - 1 - PAGES).toBeLessThanOrEqual(4);
});
