/**
 * Clients that cost a server the most. They run in a process of their own, so that their work does not delay
 * the measured clients.
 *
 * Argument: a JSON object, see `HostileClients`. It writes one line of JSON: the answers they got, by kind
 * and status.
 */
import net from "node:net";
import { post } from "./serve-load.ts";

export type HostileClients = {
  readonly url: string;
  /** The site whose small pages their crawls request. */
  readonly site: string;
  readonly seconds: number;
  /** How many clients have sent one byte of a body at any time. */
  readonly slowSenders: number;
};

const HEAVY_CLIENTS = 5;
const PAUSE_MS = 20;

/** Costly pages; each request asks for a new one. */
const HOSTILE_PAGES: Readonly<Record<string, string>> = {
  breaks: `<title>b</title><p>${"a<br>".repeat(280_000)}`,
  deep: `<title>d</title>${"<div>".repeat(200_000)}x`,
  attributes: `<title>t</title><p ${Array.from({ length: 50_000 }, (_, n) => `a${n}=b`).join(" ")}>x`,
  tables: `<title>t</title>${"<table><tr><td>".repeat(30_000)}x`,
  words: `<title>w</title><p>${"lantern ".repeat(150_000)}</p>`,
};

// Only `serve-load.ts` passes this.
const subject = JSON.parse(process.argv[2] ?? "{}") as HostileClients;
const until = performance.now() + subject.seconds * 1000;
const isOn = (): boolean => performance.now() < until;
const tally: Record<string, number> = {};
const note = (name: string): void => {
  tally[name] = (tally[name] ?? 0) + 1;
};

using site = serveHostilePages();
const heavy = async (client: number): Promise<void> => {
  for (let round = client; isOn(); round++) {
    const kind = Object.keys(HOSTILE_PAGES)[client === 0 ? round % 5 : 0] ?? "";
    const url = `${site.url}${kind}?${crypto.randomUUID()}`;
    const [status] = await post(subject.url, `198.51.100.${client}`, "/", { url });
    note(`${kind} ${status}`);
  }
};
const bodies = [
  "{",
  JSON.stringify({ url: "x".repeat(3_000_000) }),
  JSON.stringify({ url: `${subject.site}/nothing` }),
  "[".repeat(1_000_000),
];
const broken = async (): Promise<void> => {
  for (let round = 0; isOn(); round++) {
    const body = bodies[round % bodies.length] ?? "";
    note(`broken ${(await post(subject.url, "203.0.113.1", "/", body))[0]}`);
    await Bun.sleep(PAUSE_MS);
  }
};
const leaving = async (): Promise<void> => {
  for (; isOn(); await Bun.sleep(PAUSE_MS)) {
    const url = `${site.url}breaks?${crypto.randomUUID()}`;
    await post(subject.url, "203.0.113.2", "/", { url }, AbortSignal.timeout(Math.random() * 100));
  }
};
const crawling = async (): Promise<void> => {
  for (let job = 0; isOn(); job++) {
    const body = { output_dir: `job-${job % 5}`, seeds: [`${subject.site}/p/${job}`], max_pages: 20 };
    const [status, text] = await post(subject.url, "203.0.113.3", "/crawl", {
      ...body,
      rate_limit_delay: 0,
      fresh: true,
    });
    note(`crawl ${status}`);
    await Bun.sleep(3000);
    const id = /"job_id":"([^"]+)"/.exec(text)?.[1];
    if (job % 2 === 0 && id)
      await fetch(`${subject.url}/crawl/${id}`, { method: "DELETE" }).catch(() => null);
  }
};

await Promise.all([
  ...Array.from({ length: HEAVY_CLIENTS }, (_, client) => heavy(client)),
  broken(),
  leaving(),
  crawling(),
  holdSlowSenders(),
]);
process.stdout.write(`${JSON.stringify(tally)}\n`);

function serveHostilePages(): Disposable & { readonly url: string } {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      new Response(HOSTILE_PAGES[new URL(url).pathname.slice(1)] ?? "", {
        headers: { "content-type": "text/html" },
      }),
  });
  return { url: server.url.href, [Symbol.dispose]: () => void server.stop(true) };
}

/**
 * Keeps this many connections open on which a body begins and never continues; each one that ends is
 * replaced.
 */
async function holdSlowSenders(): Promise<void> {
  const { hostname, port } = new URL(subject.url);
  const open = new Set<net.Socket>();
  const start = (): void => {
    const socket = net.connect(Number(port), hostname, () =>
      socket.write(
        "POST / HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 203.0.113.4\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
      ),
    );
    let answer = "";
    open.add(socket);
    socket.on("data", (piece) => {
      answer += piece;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      note(`slow body ${answer.slice(9, 12)}`);
    });
  };
  while (isOn()) {
    while (open.size < subject.slowSenders) start();
    await Bun.sleep(100);
  }
  for (const socket of open) socket.destroy();
}
