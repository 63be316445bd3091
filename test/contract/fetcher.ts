import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Fetcher } from "../../src/fetching/index.ts";
import { type FaultySite, startFaultySite } from "../support/faulty-site.ts";
import { failureOf, pageUrl } from "../support/test-fetcher.ts";
import { untilTrue } from "../support/until.ts";

export type FetcherUnderTest = {
  readonly name: string;
  /** A fetcher that may reach loopback, with a request limit of so many ms and a page limit of 100 000 bytes. */
  readonly make: (requestTimeoutMs: number) => Promise<Fetcher>;
  /** Tests that the implementation cannot pass, with the reason. */
  readonly skips?: Readonly<Record<string, string>>;
};

/** What every Fetcher does, whatever fetches inside it. */
export function describeFetcher(subject: FetcherUnderTest): void {
  describe(`${subject.name} as a Fetcher`, () => {
    let site: FaultySite;
    let fetcher: Fetcher;
    beforeAll(async () => {
      site = await startFaultySite();
      fetcher = await subject.make(60_000);
    });
    afterAll(async () => {
      await fetcher[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    });
    const it = (name: string, body: () => Promise<void>): void =>
      test.skipIf(subject.skips?.[name] !== undefined)(name, body);
    const at = (path: string) => pageUrl(`${site.origin}${path}`);

    it("gives the page with its URL, status, type and text", async () => {
      const page = await fetcher.fetch(at("/page"));
      expect(page).toMatchObject({ url: at("/page"), finalUrl: at("/page"), status: 200 });
      expect(page.contentType).toBe("text/html");
      expect(page.html).toContain("A page of the site.");
    });

    it("gives an error status as an answer with its body", async () => {
      const page = await fetcher.fetch(at("/status/404"));
      expect(page.status).toBe(404);
      expect(page.html).toContain("The status says it.");
    });

    it("follows redirects and says where it ended", async () => {
      const page = await fetcher.fetch(at("/chain/3"));
      expect(page).toMatchObject({ url: at("/chain/3"), finalUrl: at("/chain/0"), status: 200 });
    });

    it("fails with network when redirects go in a circle", async () => {
      const before = site.requests.length;
      const failure = await failureOf(fetcher.fetch(at("/loop")));
      expect([failure?.code, failure?.message]).toEqual([
        "network",
        `GET ${at("/loop")}: more than 10 redirects`,
      ]);
      expect(site.requests.length - before).toBe(11);
    });

    it("fails with network when nobody listens", async () => {
      const closed = await startFaultySite();
      await closed[Symbol.asyncDispose]();
      const failure = await failureOf(fetcher.fetch(pageUrl(`${closed.origin}/`)));
      expect([failure?.code, failure?.message]).toEqual([
        "network",
        expect.stringContaining(`GET ${closed.origin}/: the connection was refused`),
      ]);
    });

    it("fails with timeout when the answer takes longer than the limit", async () => {
      await using hasty = await subject.make(1000);
      const failure = await failureOf(hasty.fetch(at("/slow-headers?ms=60000")));
      expect(failure?.code).toBe("timeout");
      expect(failure?.message).toContain("1000 ms");
    });

    it("fails with egress_refused for a metadata address", async () => {
      const failure = await failureOf(fetcher.fetch(pageUrl("http://169.254.169.254/latest/meta-data/")));
      expect(failure?.code).toBe("egress_refused");
    });

    it("fails with egress_refused for a redirect to a metadata address", async () => {
      const failure = await failureOf(fetcher.fetch(at("/redirect?to=http://169.254.169.254/")));
      expect(failure?.code).toBe("egress_refused");
    });

    it("fails with unsupported_content for an image", async () => {
      const failure = await failureOf(fetcher.fetch(at("/type?value=image/png")));
      expect([failure?.code, failure?.targetStatus]).toEqual(["unsupported_content", 200]);
    });

    for (const kind of ["pdf", "png", "zip"]) {
      it(`fails with unsupported_content for a ${kind} that is called HTML`, async () => {
        const failure = await failureOf(fetcher.fetch(at(`/disguised?kind=${kind}`)));
        expect([failure?.code, failure?.targetStatus]).toEqual(["unsupported_content", 200]);
        expect(failure?.message).toContain(", though its type says text/html");
      });
    }

    it("fails with too_large for a page over the limit", async () => {
      const failure = await failureOf(fetcher.fetch(at("/bytes?n=200000")));
      expect([failure?.code, failure?.targetStatus]).toEqual(["too_large", 200]);
    });

    it("fails with cancelled when its caller calls it off", async () => {
      const controller = new AbortController();
      const work = failureOf(fetcher.fetch(at("/slow-headers?ms=60001"), { signal: controller.signal }));
      await untilTrue(() => site.requests.at(-1)?.target === "/slow-headers?ms=60001");
      controller.abort();
      expect((await work)?.code).toBe("cancelled");
    });

    it("fetches many pages at a time", async () => {
      const pages = await Promise.all(
        Array.from({ length: 20 }, (_, n) => fetcher.fetch(at(`/page?n=${n}`))),
      );
      expect(new Set(pages.map((page) => page.finalUrl)).size).toBe(20);
    });
  });
}
