import { describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { within } from "../../../src/base/abort.ts";
import { converse } from "../../support/converse.ts";
import { startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { untilTrue } from "../../support/until.ts";

let departures = 0;
let arrivals = 0;
const site = forAllTests(serveNumberedSite({ pages: 1000, answerMs: 100 }));
const faulty = forAllTests(
  await startFaultySite({
    routes: {
      "/never": ({ socket }) => {
        arrivals++;
        socket.once("close", () => departures++);
      },
    },
  }),
);

/** For tests that leave nothing behind in a server. */
const server = forAllTests(await startExtractor());

/** Sends the half of a request, and goes. */
function breakOff(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const half =
    'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"url"';
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(half, () => socket.destroy()));
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

test("a silent connection is closed after the seconds that are set", async () => {
  await using hasty = await startExtractor({ env: { ARTICLE_EXTRACTOR_IDLE_SECONDS: "1" } });
  const answer = await within(
    10_000,
    converse(hasty.url, "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"),
    () => "still open",
  );
  expect(answer).toStartWith("HTTP/1.1 200");
}, 15_000);

describe("a client that leaves", () => {
  test("takes its request along: the target sees it go, and its place is free", async () => {
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: "1" } });
    const [arrived, left] = [arrivals, departures];
    const controller = new AbortController();
    const body = JSON.stringify({ url: `${faulty.origin}/never` });
    const headers = { "content-type": "application/json" };
    const { signal } = controller;
    const request = server.get("/", { method: "POST", headers, body, signal }).catch(() => null);
    await untilTrue(() => arrivals === arrived + 1);
    const second = await server.post("/", { url: `${site.origin}/` });
    expect(second.status).toBe(429);
    expect(second.headers.get("retry-after")).toBe("1");
    for (const path of ["/health", "/ready", "/metrics", "/crawl"])
      expect((await server.get(path)).status).toBe(200);
    // Watching and calling off go on; what asks for work does not.
    for (const path of ["/crawl/none", "/crawl/none/manifest", "/crawl/none/events"])
      expect((await server.get(path)).status).toBe(404);
    expect((await server.get("/crawl/none", { method: "DELETE" })).status).toBe(404);
    expect((await server.get(`/${site.origin}/`)).status).toBe(429);
    expect((await server.post("/", { url: `${site.origin}/` })).status).toBe(429);
    // Crawls have places of their own.
    expect((await server.post("/crawl", { output_dir: "x", seeds: [`${site.origin}/`] })).status).toBe(202);
    controller.abort();
    await request;
    await untilTrue(() => departures === left + 1);
    await untilTrue(async () => (await server.post("/", { url: `${site.origin}/` })).status === 200);
  });

  test("in the middle of a page or of a stream of events leaves nothing behind", async () => {
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: "4" } });
    const id = await submitJob(server, { output_dir: "x", seeds: [`${site.origin}/`], max_pages: 1000 });
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const stream = await server.get(`/crawl/${id}/events`, { signal: controller.signal });
      await stream.body?.getReader().read();
      controller.abort();
    }
    for (let round = 0; round < 20; round++) await breakOff(server.url);
    await untilTrue(async () => (await server.post("/", { url: `${site.origin}/` })).status === 200);
    expect(server.lines('"fault"')).toEqual([]);
  });
});

test("HEAD of a stream of events takes no place of a stream", async () => {
  const id = await submitJob(server, { output_dir: "x", seeds: [`${site.origin}/`], max_pages: 1 });
  // As many as there are places, and one more.
  for (let request = 0; request <= 1000; request++) {
    const { status, headers } = await server.get(`/crawl/${id}/events`, { method: "HEAD" });
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  }
  expect(await (await server.get(`/crawl/${id}/events`)).text()).toContain("event: end");
});

test("one client follows jobs over a hundred streams at most, and keeps nobody else from it", async () => {
  const env = { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1", ARTICLE_EXTRACTOR_EGRESS: "open" };
  const slow = serveNumberedSite({ pages: 2, answerMs: 60_000 });
  await using server = await startExtractor({
    env: { ...env, ARTICLE_EXTRACTOR_OUTPUT_ROOT: mkdtempSync(join(tmpdir(), "streams-")) },
  });
  const id = await submitJob(server, { output_dir: "x", seeds: [`${slow.origin}/`], ignore_robots: true });
  const leaving = new AbortController();
  const follow = (client: string): Promise<Response> =>
    server.get(`/crawl/${id}/events`, { headers: { "x-forwarded-for": client }, signal: leaving.signal });
  // Kept, because the runtime closes the connection of an answer that nobody can read any more.
  const followed: Response[] = [];
  for (let stream = 0; stream < 100; stream++) followed.push(await follow("192.0.2.1"));
  expect(followed.map(({ status }) => status)).toEqual(Array(100).fill(200));
  const refused = await follow("192.0.2.1");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
  expect((await follow("192.0.2.2")).status).toBe(200);
  leaving.abort();
  await untilTrue(async () => {
    const again = new AbortController();
    const headers = { "x-forwarded-for": "192.0.2.1" };
    const { status } = await server.get(`/crawl/${id}/events`, { headers, signal: again.signal });
    again.abort();
    return status === 200;
  });
  await slow[Symbol.asyncDispose]();
});

describe("requests that are none", () => {
  test.each<[string, number, string]>([
    [
      "headers of a megabyte",
      431,
      `GET / HTTP/1.1\r\nhost: localhost\r\nx-long: ${"x".repeat(1_000_000)}\r\n\r\n`,
    ],
    ["ten thousand headers", 431, `GET / HTTP/1.1\r\nhost: localhost\r\n${"a: b\r\n".repeat(10_000)}\r\n`],
    ["a target of a megabyte", 431, `GET /${"x".repeat(1_000_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`],
    ["another protocol", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    [
      "a length and chunks",
      400,
      "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n",
    ],
    ["a negative length", 400, "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n"],
    ["no host", 400, "GET / HTTP/1.1\r\n\r\n"],
    [
      "a body of endless chunks",
      413,
      `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${`10000\r\n${"x".repeat(65_536)}\r\n`.repeat(50)}`,
    ],
  ])("%s end that connection with %i, and nothing else", async (_, status, bytes) => {
    expect((await converse(server.url, bytes)).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect((await server.get("/health")).status).toBe(200);
    expect(server.lines('"fault"')).toEqual([]);
  });

  test.each([
    ["TRACE", "HTTP/1.1 405"],
    ["CONNECT", "HTTP/1.1 405"],
    ["PATCH", "HTTP/1.1 405"],
    ["PROPFIND", "HTTP/1.1 405"],
    // The runtime ends the connection of one that it does not know.
    ["BREW", ""],
  ])("the method %s is refused", async (method, start) => {
    const head = `${method} / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
    expect((await converse(server.url, head)).slice(0, 12)).toBe(start);
    expect((await server.get("/health")).status).toBe(200);
  });
});

describe("the end of the server", () => {
  test("lets a page that is under way finish, hands jobs back, closes streams, and exits 0", async () => {
    await using server = await startExtractor();
    const id = await submitJob(server, { output_dir: "x", seeds: [`${site.origin}/`], max_pages: 1000 });
    await untilJob(server, id, ({ status }) => status === "running");
    const stream = server.get(`/crawl/${id}/events`).then((response) => response.text());
    const page = server.post("/", { url: `${faulty.origin}/slow-headers?ms=1500` });
    await untilTrue(() => faulty.requests.at(-1)?.target === "/slow-headers?ms=1500");
    const started = performance.now();
    server.signal("SIGTERM");
    expect((await page).status).toBe(200);
    expect(await stream).toContain("event: progress");
    expect(await server.exited).toBe(0);
    expect(performance.now() - started).toBeLessThan(25_000);
  });

  test("comes within 10 s also when a page never answers, and at once with a second signal", async () => {
    for (const isTwice of [false, true]) {
      await using server = await startExtractor();
      const arrived = arrivals;
      const page = server.post("/", { url: `${faulty.origin}/never` }).catch(() => null);
      await untilTrue(() => arrivals === arrived + 1);
      const started = performance.now();
      server.signal("SIGTERM");
      if (isTwice) {
        await untilTrue(() => server.stderr().includes("the server ends"));
        server.signal("SIGTERM");
      }
      expect(await server.exited).toBe(isTwice ? 130 : 0);
      expect(performance.now() - started).toBeLessThan(isTwice ? 9_500 : 25_000);
      const answer = await page;
      if (isTwice) continue;
      expect([answer?.status, answer?.headers.get("content-type")]).toEqual([
        503,
        "application/problem+json",
      ]);
      expect(await answer?.json()).toMatchObject({ code: "draining" });
      for (const line of [
        /"message":"request".*"status":503/,
        /"message":"the server ends".*"requests":1\b/,
        /"message":"requests cut off".*"requests":1\b/,
      ])
        await untilTrue(() => line.test(server.stderr()));
    }
  });

  test("under load loses no request that was accepted, and no job", async () => {
    await using server = await startExtractor();
    const outcomes: string[] = [];
    const accepted: string[] = [];
    const reset: string[] = [];
    let isRefused = false;
    const client = async (number: number): Promise<void> => {
      for (let request = 0; !isRefused; request++) {
        const id = `request-${number}-${request}-end`;
        const isJob = request % 10 === 0;
        const body = isJob
          ? { output_dir: `${number}-${request}`, seeds: [`${site.origin}/`], max_pages: 3 }
          : { url: `${site.origin}/p/${number * 100 + (request % 100)}` };
        try {
          // Half of the clients keep their connection, on which the next request may be on its way already.
          const headers = { "x-request-id": id, ...(number % 2 === 0 ? { connection: "close" } : {}) };
          const response = await server.post(isJob ? "/crawl" : "/", body, headers);
          const answer = (await response.json()) as { job_id?: string };
          if (answer.job_id !== undefined) accepted.push(answer.job_id);
          outcomes.push(String(response.status));
        } catch (error) {
          const code = (error as { code?: string }).code ?? String(error);
          // Nobody listens any more; all else is a request that was lost.
          if (code === "ConnectionRefused" || code === "ECONNREFUSED") isRefused = true;
          else if (code === "ECONNRESET") reset.push(id);
          else outcomes.push(code);
        }
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, (_, number) => client(number)));
    await untilTrue(() => outcomes.length > 40);
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);
    await clients;
    const unexpected = outcomes.filter((outcome) => !["200", "202", "429", "503"].includes(outcome));
    expect(unexpected).toEqual([]);
    // The kernel resets connections that the server had not taken yet when its port closed; none that it had.
    expect(reset.filter((id) => server.stderr().includes(id))).toEqual([]);
    expect(server.stderr()).toContain("request-1-0-end");
    await using again = await startExtractor({ directory: server.directory });
    for (const id of accepted) expect((await again.get(`/crawl/${id}`)).status).toBe(200);
  });
});
