import { expect, test } from "bun:test";
import { runShell } from "../support/binary.ts";
import { startPostgres } from "../support/postgres.ts";
import { auditedManifest, joinedCrawl, start, startCluster } from "../support/scale/crawl.ts";
import { documentedBlocks } from "../support/scale/docs.ts";
import { repeatedVisits, serveManyHosts } from "../support/scale/site.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

/** Runs a command of the documentation with the database's URL, in this directory. */
async function runDocumented(program: string, url: string, cwd: string): Promise<void> {
  const line =
    documentedBlocks(program)[0]
      ?.split("\n")
      .find((command) => command.startsWith(program)) ?? "";
  const env = { ARTICLE_EXTRACTOR_DATABASE_URL: url };
  const { exitCode, stderr } = await runShell(line, { cwd, env });
  expect({ line, exitCode, stderr }).toMatchObject({ exitCode: 0 });
}

test("a database that is lost in the middle of a crawl and restored from its dump goes on", async () => {
  await using cluster = await startCluster();
  await using site = await serveManyHosts({
    hosts: 8,
    pagesPerHost: 100,
    answerMs: 20,
    missing: 50,
    bytes: 600,
  });
  const words = joinedCrawl(site, {
    place: `${cluster.bucket.url}/restored`,
    maxPages: 100_000,
    delayMs: 50,
    concurrency: 8,
  });
  using directory = temporaryDirectory();
  await using first = start(words, cluster.env);
  await untilTrue(async () => (await site.count()) > 200);
  const dumpedAt = await site.count();
  await runDocumented("pg_dump", cluster.database.url, directory.path);
  await untilTrue(async () => (await site.count()) > dumpedAt + 150);
  first.signal("SIGKILL");
  await first.exited;
  const lostAt = await site.count();

  await using restored = await startPostgres();
  await runDocumented("pg_restore", restored.url, directory.path);
  const env = { ...cluster.env, ARTICLE_EXTRACTOR_DATABASE_URL: restored.url };
  await using second = start(words, env);
  expect({ code: await second.exited, said: second.stderr().slice(-2000) }).toMatchObject({ code: 0 });

  // The pages that were stored after the dump are fetched again and replace their objects; no other is.
  const manifest = await auditedManifest(cluster.bucket, "restored");
  expect(manifest.results.map(({ url }) => url).sort()).toEqual([...site.urls].sort());
  expect(repeatedVisits(await site.visits())).toBeLessThanOrEqual(lostAt - dumpedAt + 8 + 8);
}, 600_000);
