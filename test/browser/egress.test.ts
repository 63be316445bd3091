import { afterAll, describe, expect, test } from "bun:test";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { type Route, reply, startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { pageUrl, tableResolver } from "../support/test-fetcher.ts";

/**
 * A page of an outside site is loaded for a caller from elsewhere. Both sites stand on loopback: the policy
 * lets the outside one's name pass by its list, and nothing else, so whatever reaches the canary got past it.
 */
const host = forAllTests(openTestHost());
let datagrams = 0;
let attack = "";
const ATTACK: Route = ({ socket }) =>
  reply(socket, { body: `<!doctype html><title>t</title><p id=log>start</p>${attack}` });

const canary = forAllTests(await startFaultySite());
const INNER = `127.0.0.1:${canary.port}`;
// STUN goes by UDP.
const udp = await Bun.udpSocket({
  port: canary.port,
  hostname: "127.0.0.1",
  socket: { data: () => void datagrams++ },
});
const outside = forAllTests(
  await startFaultySite({
    routes: {
      "/attack": ATTACK,
      "/worker.js": ({ socket }) =>
        reply(socket, {
          body: `fetch("http://${INNER}/from-worker", { mode: "no-cors" })`,
          headers: { "content-type": "text/javascript" },
        }),
    },
  }),
);
afterAll(() => {
  udp.close();
});

/** What reached the canary, by TCP connection. */
async function visitsOf(html: string): Promise<{ connections: number; text: string }> {
  attack = html;
  const before = canary.connections() + datagrams;
  const asked = outside.requests.length;
  await using fetcher = testBrowserFetcher({
    host,
    caller: { kind: "remote_request" },
    policy: "outside.test",
    resolve: tableResolver({ "outside.test": ["127.0.0.1"], "rebind.test": ["127.0.0.1"] }),
    behaviour: { loadsMedia: true },
    limits: { tries: 1 },
  });
  const page = await fetcher
    .fetch(pageUrl(`http://outside.test:${outside.port}/attack`), { deadlineMs: 15_000 })
    .catch((error: Error) => ({ html: error.message }));
  await Bun.sleep(200);
  // An attack that did not run proves nothing.
  expect(outside.requests.slice(asked).map(({ target }) => target)).toContain("/attack");
  return { connections: canary.connections() + datagrams - before, text: page.html };
}

const run = (code: string): string => `<script>(async () => { ${code} })()</script>`;

describe("a page from outside does not reach the inner network by", () => {
  test.each([
    ["fetch", run(`await fetch("http://${INNER}/", { mode: "no-cors" })`)],
    ["XMLHttpRequest", run(`const x = new XMLHttpRequest(); x.open("GET", "http://${INNER}/"); x.send()`)],
    ["a beacon", run(`navigator.sendBeacon("http://${INNER}/", "x")`)],
    ["an image", `<img src="http://${INNER}/i.png">`],
    ["a frame", `<iframe src="http://${INNER}/"></iframe>`],
    ["an object", `<object data="http://${INNER}/"></object><embed src="http://${INNER}/">`],
    [
      "a style sheet",
      `<link rel=stylesheet href="http://${INNER}/s.css"><style>@import "http://${INNER}/i.css"; p { background: url(http://${INNER}/b.png) }</style>`,
    ],
    ["a script", `<script src="http://${INNER}/s.js"></script>`],
    [
      "hints",
      `<link rel=preconnect href="http://${INNER}"><link rel=prefetch href="http://${INNER}/p"><link rel=dns-prefetch href="http://${INNER}"><link rel=preload as=fetch href="http://${INNER}/l">`,
    ],
    [
      "media",
      `<video autoplay src="http://${INNER}/v.mp4"></video><audio autoplay src="http://${INNER}/a.mp3"></audio>`,
    ],
    ["a form", `<form id=f method=post action="http://${INNER}/f"></form><script>f.submit()</script>`],
    ["a location", run(`location.href = "http://${INNER}/l"`)],
    ["a refresh", `<meta http-equiv=refresh content="0; url=http://${INNER}/r">`],
    ["a window", run(`window.open("http://${INNER}/w")`)],
    ["a WebSocket", run(`new WebSocket("ws://${INNER}/ws")`)],
    ["an event stream", run(`new EventSource("http://${INNER}/es")`)],
    ["a redirect of fetch", run(`await fetch("/redirect?to=http://${INNER}/r", { mode: "no-cors" })`)],
    ["a redirect of a frame", `<iframe src="/redirect?to=http://${INNER}/r"></iframe>`],
    ["a redirect of an image", `<img src="/redirect?to=http://${INNER}/r">`],
    ["a worker", run(`new Worker("/worker.js")`)],
    ["a service worker", run(`await navigator.serviceWorker?.register("/worker.js")`)],
    [
      "WebRTC over UDP and TCP",
      run(
        `const pc = new RTCPeerConnection({ iceServers: [{ urls: ["stun:${INNER}", "turn:${INNER}?transport=tcp"], username: "u", credential: "c" }] }); pc.createDataChannel("x"); await pc.setLocalDescription(await pc.createOffer())`,
      ),
    ],
    ["WebTransport", run(`new WebTransport("https://${INNER}/wt")`)],
    [
      "another spelling",
      run(
        `for (const h of ["localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "a.localhost", "[::ffff:127.0.0.1]", "0.0.0.0"]) fetch("http://" + h + ":${canary.port}/", { mode: "no-cors" }).catch({})`,
      ),
    ],
    [
      "a name that turns inwards",
      run(`await fetch("http://rebind.test:${canary.port}/", { mode: "no-cors" })`),
    ],
    ["a file", `<iframe src="file:///etc/passwd"></iframe>${run(`location.href = "file:///etc/passwd"`)}`],
    [
      "another scheme",
      `<iframe src="view-source:http://${INNER}/"></iframe><iframe src="ftp://${INNER}/"></iframe>${run(`location.href = "chrome://version"`)}`,
    ],
  ])("%s", async (_, html) => {
    const { connections, text } = await visitsOf(html);
    expect(connections).toBe(0);
    expect(text).not.toContain("root:");
  });

  // The site's own name leads to the inner network from the second answer of its DNS on. Linux has all of 127/8.
  test.skipIf(process.platform === "darwin")(
    "a site whose name turns inwards while its page runs",
    async () => {
      const secret = await startFaultySite();
      let answers = 0;
      const front = Bun.serve({
        hostname: "127.0.0.2",
        port: secret.port,
        fetch: () =>
          new Response(`<p id=p>start</p>${run('p.textContent = await (await fetch("/inner")).text()')}`, {
            headers: { "content-type": "text/html", connection: "close" },
          }),
      });
      await using fetcher = testBrowserFetcher({
        host,
        caller: { kind: "remote_request" },
        policy: "127.0.0.2",
        resolve: async () => (answers++ === 0 ? ["127.0.0.2"] : ["127.0.0.1"]),
        limits: { tries: 1 },
      });
      const page = await fetcher.fetch(pageUrl(`http://rebind.test:${secret.port}/`));
      expect(page.html).toContain('<p id="p">refused</p>');
      expect(answers).toBeGreaterThan(1);
      expect(secret.connections()).toBe(0);
      await front.stop(true);
      await secret[Symbol.asyncDispose]();
    },
  );

  test("(the same page does reach it for a person at the command line)", async () => {
    attack = run(`await fetch("http://${INNER}/allowed", { mode: "no-cors" })`);
    const before = canary.connections();
    await using fetcher = testBrowserFetcher({ host });
    await fetcher.fetch(pageUrl(`http://127.0.0.1:${outside.port}/attack`));
    expect(canary.connections()).toBeGreaterThan(before);
  });
});
