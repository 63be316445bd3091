import { expect, test } from "bun:test";
import {
  all,
  claim,
  claimOne,
  type FrontierSteps,
  options,
  paths,
  rest,
  seed,
  settle,
  url,
} from "../support/frontier-steps.ts";

/** What a frontier remembers when it is opened again. */
export function describeRestarts({ frontier, pass, reopen }: FrontierSteps): void {
  test("hands out after a restart what was under way, and nothing that was settled", async () => {
    await frontier().add([seed("/a"), seed("/b"), seed("/c")]);
    await frontier().finishSeeding();
    const [a] = await claim(frontier(), { count: 2 });
    await settle(frontier(), a, { links: ["/d"] });
    const again = await reopen();
    expect([again.crawl.mode, again.state().isSeeded]).toEqual(["resumed", true]);
    expect(await again.counts()).toMatchObject({ successful: 1, queued: 3 });
    expect(paths(await claim(again, { count: 9 }))).toEqual(["/b", "/c"]);
  });

  test("frees exclusive hosts after a restart, but keeps their pauses", async () => {
    await frontier().add([seed("/a", "paused.test")]);
    await rest(frontier(), await claimOne(frontier()), 60_000);
    await frontier().add([seed("/a"), seed("/b")]);
    await claim(frontier(), { count: 1, isHostExclusive: true });
    const again = await reopen();
    expect(paths(await claim(again, { isHostExclusive: true }))).toEqual(["/a"]);
    await pass(60_000);
    expect((await claim(again, { isHostExclusive: true })).map(({ host }) => host)).toEqual(["paused.test"]);
  });

  test("has room again after a restart for what was under way without a try", async () => {
    await reopen({ maxPages: 1 });
    await frontier().add([seed("/a"), seed("/b")]);
    await claim(frontier());
    expect(await claim(frontier())).toEqual([]);
    const again = await reopen({ maxPages: 1 });
    expect(await again.counts()).toMatchObject({ fetched: 0, queued: 2, underway: 0, untried: 0 });
    await settle(again, await claimOne(again), {});
    expect((await again.claim(options({}))).isOver).toBe(true);
  });

  test("begins anew after a finished crawl, with what that one knows of each page", async () => {
    const { jobId } = frontier().crawl;
    await frontier().add([seed("/"), seed("/other")]);
    const [home] = await claim(frontier(), { count: 1 });
    await settle(frontier(), home, {
      links: ["/a"],
      validators: { etag: '"1"', lastModified: null },
      outcome: { filePath: "h.md", title: "Home", contentHash: "sha256:1" },
    });
    await frontier().dropQueued();
    await frontier().finish();
    const again = await reopen();
    expect([again.crawl.mode, again.state().isSeeded]).toEqual(["repeated", false]);
    expect(again.crawl.jobId).not.toBe(jobId);
    expect(await again.counts()).toMatchObject({ successful: 0, skipped: 0, queued: 0 });
    expect(await all(again)).toEqual([]);
    await again.add([seed("/")]);
    const [known] = await claim(again, { count: 9 });
    expect(known?.known).toEqual({
      validators: { etag: '"1"', lastModified: null },
      lastModified: null,
      links: [url("/a")],
      toldHash: "sha256:1",
      wasMissed: false,
      isTransient404: false,
      outcome: {
        filePath: "h.md",
        title: "Home",
        wordCount: null,
        contentHash: "sha256:1",
        warnings: [],
        fetcher: "browser",
      },
    });
  });

  test("queues again what was left over and what was too deep, as deep as it is told, in its order", async () => {
    await frontier().add([seed("/"), { ...seed("/late"), source: "sitemap" }]);
    const [home, late] = await claim(frontier(), {});
    await settle(frontier(), home, { links: ["/b", "/a"], follow: "too_deep" });
    expect((await frontier().tallies()).skippedLinks).toEqual({ too_deep: 2 });
    if (!late) throw new Error("no page");
    await frontier().retry(late, { waitMs: 0, tries: 0, spentMs: 0 });
    await frontier().dropQueued();
    const again = await reopen();
    await again.requeueLeft(0);
    expect(await again.counts()).toMatchObject({ skipped: 0, queued: 1 });
    for (let times = 0; times < 2; times++) await again.requeueLeft(1);
    expect(await again.counts()).toMatchObject({ skipped: 0, queued: 3 });
    expect((await again.tallies()).skippedLinks).toEqual({});
    expect(paths(await claim(again, {}))).toEqual(["/late"]);
    expect(await all(again)).toHaveLength(1);
  });

  test("tells changes since the last finished crawl, and stored pages that this one has not met", async () => {
    await frontier().add([seed("/"), seed("/gone")]);
    for (const page of await claim(frontier(), {})) await settle(frontier(), page, {});
    expect(await Array.fromAsync(frontier().changes())).toHaveLength(2);
    await frontier().finish();
    const again = await reopen();
    expect(await Array.fromAsync(again.changes())).toEqual([]);
    await again.add([seed("/")]);
    await settle(again, (await claim(again, {}))[0], { outcome: { change: "unchanged" } });
    expect(await again.queueUnmet({ maxDepth: 0, count: 9 })).toBe(1);
    expect(await again.queueUnmet({ maxDepth: 0, count: 9 })).toBe(0);
    const [gone] = await claim(again, {});
    expect([gone?.source, gone?.url]).toEqual(["memory", url("/gone")]);
    await settle(again, gone, { outcome: { status: "skipped", reason: "gone", change: "gone" } });
    expect((await Array.fromAsync(again.changes())).map((outcome) => outcome.url)).toEqual([url("/gone")]);
    await again.finish();
    const last = await reopen();
    expect(await last.queueUnmet({ maxDepth: 9, count: 9 })).toBe(1);
  });
}
