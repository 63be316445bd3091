import net from "node:net";
import { residentMb, type Subject } from "./serve-load.ts";
import { percentile } from "./statistics.ts";

export type HostileOptions = {
  /** Whose pages the well-behaved clients ask for. */
  readonly site: string;
  readonly seconds: number;
  /** Clients that have sent one byte of a body, at any time. */
  readonly slowSenders: number;
  readonly pageOf: () => string;
};

export type HostileMeasured = {
  /** Pages that well-behaved clients asked for. */
  readonly pages: number;
  /** Of these, those that were answered with anything but the article, by status. */
  readonly lost: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly healthP99Ms: number;
  /** What the hostile clients were answered, by kind and status. */
  readonly hostile: Readonly<Record<string, number>>;
  /** Once a second. */
  readonly rssMb: readonly number[];
};

const GOOD_CLIENTS = 4;
const HEAVY_CLIENTS = 5;
const PAUSE_MS = 20;

/** Pages that cost much: each is asked for anew every time. */
const HOSTILE_PAGES: Readonly<Record<string, string>> = {
  breaks: `<title>b</title><p>${"a<br>".repeat(280_000)}`,
  deep: `<title>d</title>${"<div>".repeat(200_000)}x`,
  attributes: `<title>t</title><p ${Array.from({ length: 50_000 }, (_, n) => `a${n}=b`).join(" ")}>x`,
  tables: `<title>t</title>${"<table><tr><td>".repeat(30_000)}x`,
  words: `<title>w</title><p>${"lantern ".repeat(150_000)}</p>`,
};

/**
 * Asks for small pages while other clients send what costs most: pages of megabytes, bodies that never end or are too
 * large, requests that are none, crawls that are called off, and requests whose sender leaves. Each client has an
 * address of its own, by the words of a proxy that the server trusts.
 */
export async function measureHostile(subject: Subject, options: HostileOptions): Promise<HostileMeasured> {
  using site = serveHostilePages();
  const until = performance.now() + options.seconds * 1000;
  const isOn = (): boolean => performance.now() < until;
  const times: number[] = [];
  const healthTimes: number[] = [];
  const lost: Record<string, number> = {};
  const hostile: Record<string, number> = {};
  const rssMb: number[] = [];
  const note = (tally: Record<string, number>, name: string): void => {
    tally[name] = (tally[name] ?? 0) + 1;
  };

  const good = async (client: number): Promise<void> => {
    for (; isOn(); await Bun.sleep(PAUSE_MS)) {
      const started = performance.now();
      const [status, text] = await post(subject, `192.0.2.${client}`, "/", { url: options.pageOf() });
      times.push(performance.now() - started);
      if (status !== "200" || !text.includes('"title":"Chapter')) note(lost, status);
    }
  };
  const heavy = async (client: number): Promise<void> => {
    for (let round = client; isOn(); round++) {
      const kind = Object.keys(HOSTILE_PAGES)[client === 0 ? round % 5 : 0] ?? "";
      const url = `${site.url}${kind}?${crypto.randomUUID()}`;
      const [status] = await post(subject, `198.51.100.${client}`, "/", { url });
      note(hostile, `${kind} ${status}`);
    }
  };
  const bodies = [
    "{",
    JSON.stringify({ url: "x".repeat(3_000_000) }),
    JSON.stringify({ url: `${options.site}/nothing` }),
    "[".repeat(1_000_000),
  ];
  const broken = async (): Promise<void> => {
    for (let round = 0; isOn(); round++) {
      const body = bodies[round % bodies.length] ?? "";
      note(hostile, `broken ${(await post(subject, "203.0.113.1", "/", body))[0]}`);
      await Bun.sleep(PAUSE_MS);
    }
  };
  const leaving = async (): Promise<void> => {
    for (; isOn(); await Bun.sleep(PAUSE_MS)) {
      const url = `${site.url}breaks?${crypto.randomUUID()}`;
      await post(subject, "203.0.113.2", "/", { url }, AbortSignal.timeout(Math.random() * 100));
    }
  };
  const crawling = async (): Promise<void> => {
    for (let job = 0; isOn(); job++) {
      const body = { output_dir: `job-${job % 5}`, seeds: [`${options.site}/p/${job}`], max_pages: 20 };
      const [status, text] = await post(subject, "203.0.113.3", "/crawl", {
        ...body,
        rate_limit_delay: 0,
        fresh: true,
      });
      note(hostile, `crawl ${status}`);
      await Bun.sleep(3000);
      const id = /"job_id":"([^"]+)"/.exec(text)?.[1];
      if (job % 2 === 0 && id)
        await fetch(`${subject.url}/crawl/${id}`, { method: "DELETE" }).catch(() => null);
    }
  };
  const probing = async (): Promise<void> => {
    for (; isOn(); await Bun.sleep(PAUSE_MS)) {
      const started = performance.now();
      await (await fetch(`${subject.url}/health`)).text();
      healthTimes.push(performance.now() - started);
    }
  };
  const sampling = async (): Promise<void> => {
    for (; isOn(); await Bun.sleep(1000)) rssMb.push(residentMb(subject.pid));
  };
  const slow = holdSlowSenders(subject.url, options.slowSenders, isOn, (status) =>
    note(hostile, `slow body ${status}`),
  );
  await Promise.all([
    ...Array.from({ length: GOOD_CLIENTS }, (_, client) => good(client)),
    ...Array.from({ length: HEAVY_CLIENTS }, (_, client) => heavy(client)),
    broken(),
    leaving(),
    crawling(),
    probing(),
    sampling(),
    slow,
  ]);
  return {
    pages: times.length,
    lost,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    healthP99Ms: percentile(healthTimes, 0.99),
    hostile,
    rssMb,
  };
}

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

/** One request of one client; its status, or what went wrong instead, and the answer. */
async function post(
  { url }: Subject,
  client: string,
  path: string,
  body: object | string,
  signal: AbortSignal | null = null,
): Promise<readonly [status: string, text: string]> {
  try {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": client },
      body: typeof body === "string" ? body : JSON.stringify(body),
      signal,
    });
    return [String(response.status), await response.text()];
  } catch (error) {
    return [error instanceof Error ? error.name : "error", ""];
  }
}

/** Keeps so many connections open over which a body begins and does not go on; each that ends is replaced. */
async function holdSlowSenders(
  url: string,
  count: number,
  isOn: () => boolean,
  onEnd: (status: string) => void,
): Promise<void> {
  const { hostname, port } = new URL(url);
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
      onEnd(answer.slice(9, 12));
    });
  };
  while (isOn()) {
    while (open.size < count) start();
    await Bun.sleep(100);
  }
  for (const socket of open) socket.destroy();
}
