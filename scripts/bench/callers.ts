/**
 * Lets 200 callers, a quarter of them bad, ask `serve extractor` and then `serve search`, each from an address of its own.
 *
 *   bun scripts/bench/callers.ts [--seconds 180] [--callers 200] [--out FILE]
 *
 * Good callers ask every second or so, and ask again when they are told to (429 and 503 with Retry-After); what counts is
 * the time until the answer. Bad ones send a byte a second, read no answer, send what is broken, ask for what costs most,
 * or leave. It fails when a good caller gets no answer, when 5 % wait for more than 3 s, when the processes together had
 * more than 900 MB, or when 1 % of the requests of `/health` take more than 50 ms.
 */
import { mkdir } from "node:fs/promises";
import net from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import {
  descendantsOf,
  introduce,
  keep,
  memoryMb,
  PROGRAM,
  percentile,
  printTable,
  readOptions,
  readProcesses,
  startServer,
  sum,
} from "./bench.ts";

const MOST = { p95Ms: 3000, peakMb: 900, healthP99Ms: 50 };
/** A good caller comes back this often when it is told to. */
const MOST_TRIES = 20;

const { seconds, callers, out } = readOptions({ seconds: 180, callers: 200 });
const about = await introduce(`${callers} callers, a quarter of them bad, for ${seconds} s each`);

type Request = { readonly path: string; readonly body?: object };
type Subject = {
  readonly url: string;
  readonly pid: number;
  readonly good: () => Request;
  /** Requests whose answers cost a lot to make, or to hold while nobody reads them. */
  readonly costly: () => Request;
  readonly large: () => Request;
};

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;

async function measure({ url, pid, good, costly, large }: Subject) {
  const until = performance.now() + seconds * 1000;
  const isOn = (): boolean => performance.now() < until;
  const times: number[] = [];
  const healthTimes: number[] = [];
  const lost: Record<string, number> = {};
  let peakMb = 0;

  const ask = (address: string, { path, body }: Request): Promise<Response> => {
    const headers = { "content-type": "application/json", "x-forwarded-for": address };
    return fetch(url + path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  };
  const answerOf = async (address: string, request: Request): Promise<string> => {
    for (let tries = 1; ; tries++) {
      const response = await ask(address, request);
      await response.text();
      if (!/^(?:429|503)$/.test(String(response.status)) || tries === MOST_TRIES)
        return String(response.status);
      await Bun.sleep(Number(response.headers.get("retry-after") ?? 1) * 1000);
    }
  };
  const behaveWell = async (address: string): Promise<void> => {
    for (await Bun.sleep(Math.random() * 1000); isOn(); await Bun.sleep(500 + Math.random() * 1000)) {
      const startedAt = performance.now();
      const status = await answerOf(address, good()).catch((error: Error) => error.name);
      times.push(performance.now() - startedAt);
      if (status !== "200") lost[status] = (lost[status] ?? 0) + 1;
    }
  };

  const written = (address: string, { path, body }: Request): string => {
    const text = body ? JSON.stringify(body) : "";
    const length = body
      ? `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`
      : "";
    return `${body ? "POST" : "GET"} ${path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: ${address}\r\n${length}\r\n${text}`;
  };
  const open = (): net.Socket => net.connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
  const sendsSlowly = async (address: string): Promise<void> => {
    const socket = open();
    const request = written(address, large());
    socket.write(request.slice(0, -20));
    for (const letter of request.slice(-20)) {
      if (!isOn()) break;
      await Bun.sleep(1000);
      socket.write(letter);
    }
    socket.destroy();
  };
  const readsNothing = async (address: string): Promise<void> => {
    const socket = open().pause();
    socket.write(written(address, large()));
    for (let second = 0; second < 20 && isOn(); second++) await Bun.sleep(1000);
    socket.destroy();
  };
  const sendsGarbage = async (): Promise<void> => {
    const socket = open().resume();
    const size = 1_000_000;
    const head = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${size}\r\n\r\n`;
    socket.write(
      pick([
        `${head}${"[".repeat(size)}`,
        `GET /${"a".repeat(100_000)}`,
        "\0".repeat(5000),
        `${head}${"x".repeat(size)}`,
      ]),
    );
    await Bun.sleep(500);
    socket.destroy();
  };
  const costs = (address: string): Promise<unknown> =>
    ask(address, costly()).then((response) => response.text());
  const leaves = async (address: string): Promise<void> => {
    const socket = open();
    socket.write(written(address, pick([good, costly])()));
    await Bun.sleep(Math.random() * 100);
    socket.destroy();
  };
  const behaveBadly = async (address: string): Promise<void> => {
    for (; isOn(); await Bun.sleep(100))
      await pick([sendsSlowly, readsNothing, sendsGarbage, costs, leaves])(address).catch(() => {});
  };

  const watch = async (): Promise<void> => {
    for (; isOn(); await Bun.sleep(200)) {
      const pids = [pid, ...descendantsOf(pid, readProcesses()).map((one) => one.pid)];
      peakMb = Math.max(peakMb, sum(pids.map((one) => memoryMb(one, "VmHWM"))));
    }
  };
  const probe = async (): Promise<void> => {
    for (; isOn(); await Bun.sleep(50)) {
      const startedAt = performance.now();
      await (await fetch(`${url}/health`)).text();
      healthTimes.push(performance.now() - startedAt);
    }
  };
  const all = Array.from({ length: callers }, (_, index) => {
    const address = `198.51.${index >> 7}.${(index & 127) + 1}`;
    return index % 4 === 3 ? behaveBadly(address) : behaveWell(address);
  });
  await Promise.all([...all, watch(), probe()]);
  return {
    asked: times.length,
    lost,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    slowestMs: percentile(times, 1),
    healthP99Ms: percentile(healthTimes, 0.99),
    peakMb,
  };
}

const SENTENCE = "The gate of the mill opens at low water today, and the wheel turns by the river. ";
const paragraphs = (count: number): string => `<p>${SENTENCE}</p>`.repeat(count);
const PAGES: Readonly<Record<string, string>> = {
  good: `<title>A mill</title><nav><a href=/>Home</a></nav><article><h1>The mill</h1>${paragraphs(40)}</article>`,
  large: `<title>All mills</title><article><h1>All mills</h1>${paragraphs(20_000)}</article>`,
  breaks: `<title>b</title><p>${"a<br>".repeat(280_000)}`,
  deep: `<title>d</title>${"<div>".repeat(200_000)}x`,
  attributes: `<title>t</title><p ${Array.from({ length: 50_000 }, (_, n) => `a${n}=b`).join(" ")}>x`,
  tables: `<title>t</title>${"<table><tr><td>".repeat(30_000)}x`,
};

async function measureExtractor(directory: string) {
  using site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      new Response(PAGES[new URL(url).pathname.split("/")[1] ?? ""], {
        headers: { "content-type": "text/html" },
      }),
  });
  await using server = await startServer(
    (port) => [PROGRAM, "serve", "extractor", "--host", "127.0.0.1", "--port", port],
    {
      ...environmentIn(directory),
      ARTICLE_EXTRACTOR_OUTPUT_ROOT: join(directory, "out"),
      ARTICLE_EXTRACTOR_PREFER_BROWSER: "false",
    },
  );
  const page = (kind: string, name: string | number = crypto.randomUUID()): Request => ({
    path: "/",
    body: { url: `${site.url}${kind}/${name}` },
  });
  return await measure({
    ...server,
    good: () => page("good", pick([crypto.randomUUID(), Math.floor(Math.random() * 20)])),
    costly: () => page(pick(["breaks", "deep", "attributes", "tables"])),
    large: () => page("large"),
  });
}

async function measureSearch(directory: string) {
  const docs = join(directory, "docs");
  await mkdir(docs);
  for (let n = 0; n < 200; n++)
    await Bun.write(join(docs, `p${n}.md`), `# Page ${n}\n\n${`Mill ${n}. ${SENTENCE}\n\n`.repeat(60)}`);
  await Bun.write(join(docs, "all.md"), `# All\n\n${`${SENTENCE}\n\n`.repeat(60_000)}`);
  const config = join(directory, "deployment.json");
  const tenant = { source_type: "filesystem", codename: "mills", docs_name: "Mills", docs_root_dir: "docs" };
  await Bun.write(
    config,
    JSON.stringify({
      infrastructure: {
        mcp_host: "127.0.0.1",
        mcp_port: 1024,
        allow_index_builds: true,
        max_fetch_chars: 100_000_000,
      },
      tenants: [tenant],
    }),
  );
  await using server = await startServer(
    (port) => [PROGRAM, "serve", "search", "--config", config, "--port", port],
    environmentIn(directory),
  );
  const call = (name: string, given: object): Request => ({
    path: "/mcp",
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: { tenant_codename: "mills", ...given } },
    },
  });
  const words = ["mill", "gate", "river", "wheel", "water", "opens"];
  const uri = (): string => `docs://mills/p${Math.floor(Math.random() * 200)}.md`;
  return await measure({
    ...server,
    good: () =>
      pick([
        call("root_search", { query: `${pick(words)} ${pick(words)}` }),
        call("root_fetch", { uri: uri() }),
        { path: `/search?tenant=mills&q=${pick(words)}+${pick(words)}` },
        { path: `/document?tenant=mills&uri=${uri()}` },
      ]),
    costly: () =>
      call("root_search", { query: Array.from({ length: 60 }, (_, n) => `mill${n} river`).join(" ") }),
    large: () => call("root_fetch", { uri: "docs://mills/all.md" }),
  });
}

const environmentIn = (directory: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? "",
  HOME: directory,
  ARTICLE_EXTRACTOR_STATE_DIR: join(directory, "state"),
  DOCS_SEARCH_STATE_DIR: join(directory, "state"),
  ARTICLE_EXTRACTOR_EGRESS: "open",
  // A server tells the callers apart by the header of a proxy that it trusts.
  ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1",
});

const rows = [];
for (const [server, run] of Object.entries({ extractor: measureExtractor, search: measureSearch })) {
  using directory = temporaryDirectory();
  rows.push({ server, ...(await run(directory.path)) });
}
printTable(rows.map(({ lost, ...row }) => ({ ...row, lost: JSON.stringify(lost) })));
await keep(out, { ...about, seconds, callers, rows });
for (const { server, lost, p95Ms, healthP99Ms, peakMb } of rows)
  if (
    Object.keys(lost).length > 0 ||
    p95Ms > MOST.p95Ms ||
    healthP99Ms > MOST.healthP99Ms ||
    peakMb > MOST.peakMb
  )
    throw new Error(`serve ${server} is beyond ${JSON.stringify(MOST)}, or lost requests`);
