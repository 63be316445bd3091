import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { environmentFor, makeBucket, standBefore } from "../../support/bucket.ts";
import { type ExtractorProcess, startExtractor } from "../../support/extractor-server.ts";
import { until } from "../../support/until.ts";

type Health = { readonly status: string; readonly problems: readonly string[] };

/** Asks until as many problems are told as wanted; an answer holds for two seconds. */
const untilProblems = (server: ExtractorProcess, count: number): Promise<Health> =>
  until(
    async () => (await (await server.get("/health")).json()) as Health,
    ({ problems }) => problems.length === count,
  );

const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).exitCode === 0;

describe("/health says what does not work, and no more once it works again:", () => {
  test.skipIf(!canMount)("a full disk", async () => {
    const mount = 'mkdir state && mount -t tmpfs -o size=8m tmpfs state && exec "$@"';
    await using server = await startExtractor({ within: ["unshare", "-rm", "sh", "-c", mount, "sh"] });
    expect(await untilProblems(server, 0)).toMatchObject({ status: "healthy" });
    const filling = `/proc/${server.pid}/root${server.directory}/state/filling`;
    expect(() => writeFileSync(filling, Buffer.alloc(9_000_000))).toThrow("ENOSPC");
    expect(await untilProblems(server, 1)).toMatchObject({
      status: "degraded",
      problems: ["the disk of the state is full"],
    });
    // Pages need no disk.
    expect((await server.get("/ready")).status).toBe(200);
    expect((await server.post("/", { url: `${server.url}/docs` })).status).not.toBe(500);
    rmSync(filling);
    expect(await untilProblems(server, 0)).toMatchObject({ status: "healthy" });
  });

  test("a store that is away", async () => {
    const bucket = await makeBucket();
    await using faulty = standBefore(bucket.options);
    const env = {
      ...environmentFor(faulty.options),
      ARTICLE_EXTRACTOR_STORE_URL: `s3://${bucket.name}/health`,
    };
    await using server = await startExtractor({ env });
    expect(await untilProblems(server, 0)).toMatchObject({ status: "healthy" });
    faulty.fault = () => new Response("no", { status: 503 });
    expect(await untilProblems(server, 1)).toMatchObject({
      status: "degraded",
      problems: ["the store cannot be reached"],
    });
    faulty.fault = () => null;
    expect(await untilProblems(server, 0)).toMatchObject({ status: "healthy" });
  });
});
