import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Away } from "../../src/base/failure.ts";
import {
  createRobotsCache,
  DEFAULT_ROBOTS_TIMES,
  isAllowed,
  type RobotsCache,
  type RobotsStore,
  type StreamFetcher,
} from "../../src/fetching/index.ts";
import { parseRobots } from "../../src/fetching/robots/robots.ts";
import { head, type Route, reply, startFaultySite } from "../support/faulty-site.ts";
import { failureOf, testFetcher } from "../support/test-fetcher.ts";
import { untilTrue } from "../support/until.ts";

/** Where processes keep robots.txt files. */
export type RobotsPlace = AsyncDisposable & {
  /** The store as one more process has it; undefined where each process has its own. */
  open(): Promise<RobotsStore | undefined>;
  /** Lets so many ms pass at once for what is kept. */
  pass(ms: number): Promise<void>;
};

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NO = "User-agent: *\nDisallow: /no";

/** What every cache of robots.txt does, wherever the files are kept. */
export function describeRobotsCache(kind: string, makePlace: () => Promise<RobotsPlace>): void {
  describe(`the robots.txt cache with ${kind}`, () => {
    let place: RobotsPlace;
    let now = 0;
    beforeEach(async () => {
      place = await makePlace();
      now = 0;
    });
    afterEach(() => place[Symbol.asyncDispose]());
    const parts: Parts = {
      async open(fetcher = testFetcher({ limits: { tries: 2 } })) {
        const store = await place.open();
        return createRobotsCache({ fetcher, ...DEFAULT_ROBOTS_TIMES, now: () => now, store });
      },
      async pass(ms) {
        now += ms;
        await place.pass(ms);
      },
      async serve(route) {
        const site = await startFaultySite({ routes: { "/robots.txt": route } });
        const cache = await parts.open();
        const isOpen = async (path: string, by = cache): Promise<boolean> =>
          isAllowed(await by.rulesFor(`${site.origin}${path}`), "a", `${site.origin}${path}`);
        return { site, cache, isOpen, [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() };
      },
    };

    describeLifetimes(parts);
    describeAnswers(parts);
    describeProcesses(parts, async () => (await place.open()) !== undefined);
  });
}

type Parts = {
  /** A cache as one more process has it. */
  open(fetcher?: StreamFetcher): Promise<RobotsCache>;
  pass(ms: number): Promise<void>;
  serve(route: Route): Promise<
    AsyncDisposable & {
      readonly site: Awaited<ReturnType<typeof startFaultySite>>;
      readonly cache: RobotsCache;
      isOpen(path: string, by?: RobotsCache): Promise<boolean>;
    }
  >;
};

const file =
  (body: string | Uint8Array): Route =>
  ({ socket }) =>
    reply(socket, { body, headers: { "content-type": "text/plain" } });

function describeLifetimes({ serve, pass }: Parts): void {
  test("asks a site once, also for overlapping requests, and again after a day", async () => {
    await using host = await serve(file(NO));
    expect(await Promise.all(["/no", "/yes", "/no/x"].map((path) => host.isOpen(path)))).toEqual([
      false,
      true,
      false,
    ]);
    await pass(DAY - MINUTE);
    await host.isOpen("/yes");
    expect(host.site.requests.length).toBe(1);
    await pass(MINUTE);
    await host.isOpen("/yes");
    expect(host.site.requests.length).toBe(2);
  });

  test("a site that does not answer is closed, and tried again after ten minutes", async () => {
    let visits = 0;
    await using host = await serve(
      ({ socket }) => void (++visits <= 2 ? socket.destroy() : reply(socket, { body: "" })),
    );
    expect(await host.isOpen("/x")).toBe(false);
    const before = visits;
    expect(await host.isOpen("/x")).toBe(false);
    expect(visits).toBe(before);
    await pass(10 * MINUTE);
    visits = 2;
    expect(await host.isOpen("/x")).toBe(true);
  });

  test("a caller that gives up does not end the fetch for the others", async () => {
    const { promise: hasGivenUp, resolve: answer } = Promise.withResolvers<void>();
    await using host = await serve(async ({ socket }) => {
      await hasGivenUp;
      reply(socket, { body: NO });
    });
    const controller = new AbortController();
    const first = failureOf(host.cache.rulesFor(`${host.site.origin}/no`, { signal: controller.signal }));
    const second = host.isOpen("/no");
    controller.abort();
    expect((await first)?.code).toBe("cancelled");
    answer();
    expect(await second).toBe(false);
    expect(host.site.requests.length).toBe(1);
  });
}

function describeAnswers({ serve, open }: Parts): void {
  test.each<[string, Error]>([
    ["a store that is away", new Away("database_unavailable", "the database is away")],
    ["what is no failure", new TypeError("a fault of ours")],
  ])("%s before the request is no answer of the site, and the next to ask fetches", async (_, fault) => {
    await using host = await serve(file(NO));
    const url = `${host.site.origin}/no`;
    const asked = host.cache.rulesFor(url, { beforeRequest: () => Promise.reject(fault) });
    expect(await asked.catch((error) => error)).toBe(fault);
    expect(await host.isOpen("/no")).toBe(false);
    expect(await host.isOpen("/yes", await open())).toBe(true);
  });

  test.each([
    [404, true],
    [401, true],
    [403, true],
    [410, true],
    [500, false],
    [503, false],
  ])("status %d: open is %p, for other processes too", async (status, expected) => {
    await using host = await serve(({ socket }) =>
      reply(socket, { status, body: "User-agent: *\nDisallow: /" }),
    );
    expect(await host.isOpen("/x")).toBe(expected);
    expect(await host.isOpen("/x", await open())).toBe(expected);
  });

  test("a server error is told with its status, to other processes too", async () => {
    await using host = await serve(({ socket }) => reply(socket, { status: 502, body: "" }));
    const url = `${host.site.origin}/robots.txt`;
    for (const cache of [host.cache, await open()])
      expect((await cache.rulesFor(url)).failure).toEqual({
        code: "http_status",
        message: `GET ${url} answered HTTP 502`,
      });
  });

  test("follows redirects, and applies the rules to the requested site", async () => {
    await using other = await startFaultySite({ routes: { "/r": file(NO) } });
    await using host = await serve(({ socket }) =>
      reply(socket, { status: 301, headers: { location: `${other.origin}/r` } }),
    );
    expect(await host.isOpen("/no")).toBe(false);
  });

  test("reads the first 500 KiB of a longer file", async () => {
    const filler = `# ${"x".repeat(98)}\n`.repeat(5500);
    await using host = await serve(file(`User-agent: *\nDisallow: /early\n${filler}Disallow: /late`));
    for (const cache of [host.cache, await open()]) {
      expect(await host.isOpen("/early", cache)).toBe(false);
      expect(await host.isOpen("/late", cache)).toBe(true);
    }
  });

  test("megabytes of bytes that are no text are a file without rules", async () => {
    await using host = await serve(file(new Uint8Array(3_000_000).fill(0xff)));
    expect(await host.isOpen("/x")).toBe(true);
    expect(await host.isOpen("/x", await open())).toBe(true);
  });

  test("a file that never ends is cut at its deadline, and the site is closed", async () => {
    await using host = await serve(async ({ socket }) => {
      socket.write(head(200, { "content-type": "text/plain", "content-length": "100000" }));
    });
    const hasty = testFetcher({ limits: { tries: 2, requestTimeoutMs: 500 } });
    expect(await host.isOpen("/x", await open(hasty))).toBe(false);
    const rules = await (await open(hasty)).rulesFor(`${host.site.origin}/x`);
    expect(rules.failure?.code).toBe("timeout");
  });

  test("whatever bytes a file has, other processes read the same rules", async () => {
    const caches = [await open(), await open()];
    const line = fc.oneof(
      fc.constantFrom("User-agent: *", "Disallow: /a", "Allow: /a/b", "Crawl-delay: 3", "\0", "\ufeff", ""),
      fc.string({ unit: "binary", maxLength: 20 }),
    );
    const bytes = fc.oneof(
      fc.array(line).map((lines) => new TextEncoder().encode(lines.join("\n"))),
      fc.uint8Array({ maxLength: 200 }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        await using site = await startFaultySite({ routes: { "/robots.txt": file(body) } });
        const expected = parseRobots(new TextDecoder().decode(body));
        for (const cache of caches) expect(await cache.rulesFor(`${site.origin}/a`)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test("a refusal is nobody's answer: it is thrown, and the next to ask asks again", async () => {
    const refused = await open(testFetcher({ policy: "public" }));
    await using host = await serve(file(NO));
    const failure = await failureOf(refused.rulesFor(`${host.site.origin}/no`));
    expect(failure?.code).toBe("egress_refused");
    expect(await host.isOpen("/no")).toBe(false);
  });
}

function describeProcesses({ serve, open, pass }: Parts, isShared: () => Promise<boolean>): void {
  const shared = (name: string, run: () => Promise<void>): void =>
    test(name, async () => {
      if (await isShared()) await run();
    });

  shared("several processes ask a site once, also when all ask at the same time", async () => {
    await using host = await serve(async ({ socket }) => {
      await Bun.sleep(30);
      reply(socket, { body: NO });
    });
    const caches = [host.cache, await open(), await open(), await open()];
    const answers = await Promise.all(
      caches.flatMap((cache) => [host.isOpen("/no", cache), host.isOpen("/", cache)]),
    );
    expect(answers).toEqual([false, true, false, true, false, true, false, true]);
    expect(host.site.requests.length).toBe(1);
    await pass(DAY);
    await Promise.all(caches.map((cache) => host.isOpen("/no", cache)));
    expect(host.site.requests.length).toBe(2);
  });

  shared(
    "another process fetches when the one that fetches has died, whose late answer changes nothing",
    async () => {
      const { promise: isLate, resolve: answerLate } = Promise.withResolvers<void>();
      let visits = 0;
      await using host = await serve(async ({ socket }) => {
        if (++visits > 1) return reply(socket, { body: NO });
        await isLate;
        return reply(socket, { body: "" });
      });
      const patient = await open(testFetcher({ limits: { tries: 1, requestTimeoutMs: 60_000 } }));
      const lost = host.isOpen("/no", patient);
      await untilTrue(() => visits === 1);
      const other = host.isOpen("/no");
      await pass(15_000);
      expect(await other).toBe(false);
      answerLate();
      await lost;
      expect(await host.isOpen("/no", await open())).toBe(false);
      expect(visits).toBe(2);
    },
  );
}
