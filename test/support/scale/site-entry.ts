/**
 * A site of many hosts, in a process of its own so that no test's work delays what it sees: `bun site-entry.ts OPTIONS`
 * with the options as JSON. It prints its port. Every address 127.0.0.x is a host of its own. Page n of a host links to
 * the pages `n * fanOut + 1` … of the same host, and the first page of 127.0.0.1 to those of all hosts.
 *
 * `/-/visits` gives all requests so far, `/-/count` their number, and `/-/mood/NAME` says how it answers from now on.
 */
import type { Mood, SiteOptions, Visit } from "./site.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as SiteOptions;
const { hosts, pagesPerHost, answerMs, missing, bytes, hasPrivate = false } = options;
const FAN_OUT = 10;
const visits: Visit[] = [];
let mood: Mood = "well";

const SENTENCE = "The gate of the mill opens at low water, and the keeper writes down who passed. ";

function article(title: string, links: readonly string[]): string {
  const anchors = links.map((link) => `<li><a href="${link}">On to ${link}</a></li>`).join("");
  const text = `<p>${title} is told here. ${SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length))}</p>`;
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><article><h1>${title}</h1>${text}</article><ul>${anchors}</ul></body></html>`;
}

function answer(host: string, path: string, port: string): Response {
  if (hasPrivate && path === "/robots.txt") return new Response("User-agent: *\nDisallow: /private/\n");
  const number = path === "/" ? 0 : Number(/^\/p\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  // Not empty: after a connection that breaks before an answer's first byte, the runtime sends a GET again by itself.
  const notFound = (): Response => new Response("Not found", { status: 404 });
  if (!(number < pagesPerHost)) return notFound();
  const children = Array.from({ length: FAN_OUT }, (_, index) => number * FAN_OUT + 1 + index);
  const links = children.filter((child) => child < pagesPerHost).map((child) => `/p/${child}`);
  // A page without children may be missing: no other page is lost with it.
  if (links.length === 0 && missing > 0 && number % missing === 0) return notFound();
  if (host === "127.0.0.1" && number === 0)
    for (let other = 2; other <= hosts; other++) links.push(`http://127.0.0.${other}:${port}/`);
  if (hasPrivate) links.push(`/private/${number}`);
  const headers = { "content-type": "text/html; charset=utf-8" };
  return new Response(article(`Page ${number} of ${host}`, links), { headers });
}

const DRIPS = 20;

/** Sends a body in many pieces with a pause before each, or breaks the connection in its middle. */
async function* drip(body: string, breaks: boolean): AsyncGenerator<string> {
  const size = Math.ceil(body.length / DRIPS);
  for (let piece = 0; piece < DRIPS; piece++) {
    if (breaks && piece === DRIPS / 2) throw new Error("the connection breaks");
    await Bun.sleep(breaks ? 5 : 100);
    yield body.slice(piece * size, (piece + 1) * size);
  }
}

async function inMood(response: Response): Promise<Response> {
  if (mood === "well") return response;
  if (mood === "unavailable") return new Response("busy", { status: 503 });
  const { status, headers } = response;
  return new Response(drip(await response.text(), mood === "broken") as never, { status, headers });
}

const server = Bun.serve({
  hostname: "0.0.0.0",
  port: 0,
  idleTimeout: 0,
  development: false,
  // A body that breaks off is meant to.
  error: () => new Response("", { status: 500 }),
  async fetch(request) {
    // Monotonic: a change of the machine's clock makes no gap longer or shorter.
    const at = performance.timeOrigin + performance.now();
    const { hostname, host: authority, pathname, port } = new URL(request.url);
    if (pathname === "/-/visits") return Response.json(visits);
    if (pathname === "/-/count") return Response.json(visits.length);
    if (pathname.startsWith("/-/mood/")) {
      mood = pathname.slice("/-/mood/".length) as Mood;
      return Response.json(mood);
    }
    visits.push({ at, host: hostname, authority, path: pathname });
    if (answerMs > 0) await Bun.sleep(answerMs);
    return inMood(answer(hostname, pathname, port));
  },
});
console.log(server.port);
