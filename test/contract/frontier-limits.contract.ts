import { describe, expect, test } from "bun:test";
import { claim, claimOne, type FrontierPlace, seed, settle, url } from "../support/frontier-steps.ts";

/** What a frontier does with pages that other limits admitted. */
export function describeLimits(name: string, makePlace: () => Promise<FrontierPlace>): void {
  describe(`${name}: a page that is too deep since the limit was lowered`, () => {
    test("is queued when it is found again nearer to the seeds", async () => {
      await using place = await makePlace();
      const limits = { maxPages: 100, maxDepth: 2 };
      const first = await place.open(limits);
      await first.add([seed("/"), seed("/near", "near.test")]);
      const pages = await claim(first, { count: 2 });
      await settle(
        first,
        pages.find(({ host }) => host === "h.test"),
        { links: ["/middle"] },
      );
      await settle(first, await claimOne(first), { links: ["/deep"] });
      await first[Symbol.asyncDispose]();
      await using again = await place.open({ ...limits, maxDepth: 1 });
      expect(await again.counts()).toMatchObject({ successful: 2, queued: 1 });
      const near = await claimOne(again);
      expect(await claim(again)).toEqual([]);
      await settle(again, near, { links: ["/deep"] });
      expect(await again.counts()).toMatchObject({ successful: 3, queued: 1 });
      expect(await claimOne(again)).toMatchObject({
        url: url("/deep"),
        depth: 1,
        parent: url("/near", "near.test"),
      });
    });
  });
}
