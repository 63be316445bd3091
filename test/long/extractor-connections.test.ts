import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { CADDY, startCaddy } from "../support/caddy.ts";
import { startExtractor, submitJob } from "../support/extractor-server.ts";
import { startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { startNginx } from "../support/nginx.ts";

const server = forAllTests(
  await startExtractor({
    env: {
      ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: "4",
      ARTICLE_EXTRACTOR_TIMEOUT: "60",
      ARTICLE_EXTRACTOR_IDLE_SECONDS: "30",
    },
  }),
);
const faulty = forAllTests(await startFaultySite());

const address = (): [number, string] => {
  const { hostname, port } = new URL(server.url);
  return [Number(port), hostname];
};

test("a page that takes 15 s is waited for", async () => {
  expect((await server.post("/", { url: `${faulty.origin}/slow-headers?ms=15000` })).status).toBe(200);
}, 60_000);

test("a connection that stays silent behind an answer is closed, however long the page took", async () => {
  const body = JSON.stringify({ url: `${faulty.origin}/page?silent` });
  const head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
  const socket = net.connect(...address(), () =>
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`),
  );
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece.toString();
  });
  await new Promise((resolve) => socket.on("close", resolve));
  expect(answer).toStartWith("HTTP/1.1 200");
}, 60_000);

test("a stream of events stays while its job has no news, also behind proxies that end what is silent", async () => {
  await using nginx = await startNginx(
    `location /crawl { proxy_read_timeout 35s; proxy_pass ${server.url}; }`,
  );
  await using caddy =
    CADDY === null
      ? null
      : await startCaddy(`reverse_proxy ${server.url} {\ntransport http {\nread_timeout 35s\n}\n}`);
  const seeds = [`${faulty.origin}/slow-headers?ms=45000`];
  const id = await submitJob(server, { output_dir: join(server.directory, "x"), seeds, ignore_robots: true });
  const urls = [server.url, nginx.url, ...(caddy ? [caddy.url] : [])];
  const texts = await Promise.all(urls.map(async (url) => (await fetch(`${url}/crawl/${id}/events`)).text()));
  for (const text of texts) {
    expect(text).toContain(": still there");
    expect(text).toContain("event: end");
  }
}, 90_000);

type Trickle = {
  /** After how many ms the server ended it. */
  readonly closed: Promise<number>;
};

/** Sends a byte a second for as long as it may. */
function trickle(start: string): Trickle {
  const began = performance.now();
  const socket = net.connect(...address(), () => socket.write(start));
  const timer = setInterval(() => socket.write("x"), 1000);
  socket.on("error", () => {});
  const closed = new Promise<number>((resolve) =>
    socket.on("close", () => {
      clearInterval(timer);
      resolve(performance.now() - began);
    }),
  );
  socket.resume();
  return { closed };
}

test("senders of a byte a second hold no place, and are let go", async () => {
  const head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
  const bodies = Array.from({ length: 4 }, () => trickle(`${head}content-length: 1000\r\n\r\n{`));
  const heads = Array.from({ length: 100 }, () => trickle(`${head}x-slow: `));
  await Bun.sleep(1000);
  expect((await server.get("/health")).status).toBe(200);
  expect((await server.post("/", { url: `${faulty.origin}/page?beside` })).status).toBe(200);
  for (const { closed } of bodies) expect(await closed).toBeLessThan(45_000);
  // The runtime gives a head ten seconds, whatever arrives meanwhile.
  for (const { closed } of heads) expect(await closed).toBeLessThan(25_000);
  expect((await server.post("/", { url: `${faulty.origin}/page` })).status).toBe(200);
});

const MANY = 10_000;
const openFiles = Number(/Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 0);

test.skipIf(openFiles < MANY + 500)(
  "10 000 silent connections cost nobody else anything, and are closed",
  async () => {
    const sockets: net.Socket[] = [];
    let closed = 0;
    for (let index = 0; index < MANY; index++) {
      const socket = net.connect(...address());
      socket.on("error", () => {});
      socket.on("close", () => closed++);
      socket.resume();
      sockets.push(socket);
      if (index % 500 === 499) await Bun.sleep(20);
    }
    for (let request = 0; request < 50; request++) expect((await server.get("/health")).status).toBe(200);
    expect((await server.post("/", { url: `${faulty.origin}/page?idle` })).status).toBe(200);
    const memory =
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;
    expect(memory).toBeLessThan(500);
    for (let tries = 0; closed < MANY && tries < 900; tries++) await Bun.sleep(100);
    expect(closed).toBe(MANY);
    expect((await server.get("/health")).status).toBe(200);
  },
  180_000,
);
