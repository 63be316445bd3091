import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { BINARY } from "../../support/binary.ts";
import {
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { freePort } from "../../support/local.ts";
import { callMcp, connectMcp } from "../../support/mcp.ts";
import { NGINX } from "../../support/nginx.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { Served, writeDeployment } from "../../support/served.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";

const DEPLOY = join(import.meta.dir, "../../../scripts/deploy");
const read = (name: string): Promise<string> => Bun.file(join(DEPLOY, name)).text();

const running: Bun.Subprocess[] = [];
const { path: directory } = forAllTests(temporaryDirectory());
/** A page that takes a while to be read by a slow client. */
const LONG = crawlPage("Long", [], 400_000);
/** The site's last page comes only while this says so. */
let mayEnd = true;
const site = forAllTests(
  serveNumberedSite({
    pages: 20,
    answers: { "/long": { body: LONG } },
    until: (path) => (path === "/p/19" ? untilTrue(() => mayEnd) : undefined),
  }),
);
const TRUSTED = { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1", ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "*" };
const server = forAllTests(
  await startExtractor({
    env: {
      ...TRUSTED,
      ARTICLE_EXTRACTOR_EGRESS: "open",
      ARTICLE_EXTRACTOR_OUTPUT_ROOT: join(directory, "out"),
      ARTICLE_EXTRACTOR_LOG_LEVEL: "info",
    },
  }),
);
const search = forAllTests(
  await Served.start(writeDeployment({ log_level: "info" }), {
    env: { ...TRUSTED, DOCS_SEARCH_ALLOWED_HOSTS: "*" },
  }),
);
afterAll(async () => {
  for (const child of running) {
    child.kill();
    await child.exited;
  }
});

/** Starts a program and waits until it answers at an address. */
async function start(command: readonly string[], url: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? "", HOME: directory };
  const child = Bun.spawn([...command], { env, stdout: "ignore", stderr: "pipe" });
  running.push(child);
  await untilTrue(async () => {
    if (child.exitCode !== null)
      throw new Error(`${command[0]} ended: ${await new Response(child.stderr).text()}`);
    return await fetch(url).then(
      () => true,
      () => false,
    );
  });
}

/** The addresses of both servers. */
type Behind = { readonly reader: string; readonly docs: string };
const OWN: Behind = { reader: server.url, docs: search.url };

/** Where clients of an example reach both servers: by a port each in place of a name, or by a prefix. */
function placesOf(file: string): { readonly ports: readonly [number, number]; readonly behind: Behind } {
  const ports = [freePort(), freePort()] as const;
  const [first, second] = ports.map((port) => `http://127.0.0.1:${port}`);
  const behind = file.endsWith("-prefix")
    ? { reader: `${first}/reader`, docs: `${first}/docs-search` }
    : { reader: `${first}`, docs: `${second}` };
  return { ports, behind };
}

/** An example's text for these servers. */
const filledIn = (text: string, { reader, docs }: Behind): string =>
  text.replace("127.0.0.1:3000", new URL(reader).host).replace("127.0.0.1:3002", new URL(docs).host);

async function startNginxExample(name: string, targets: Behind): Promise<Behind> {
  const { ports, behind } = placesOf(name);
  let listening = 0;
  const text = filledIn(await read(`${name}.conf`), targets)
    .replace(/listen 443 ssl;/g, () => `listen 127.0.0.1:${ports[listening++]};`)
    .replace(/^\s*ssl_certificate.*\n/gm, "")
    .replace("rate=10r/s", "rate=1000r/s");
  const files = mkdtempSync(join(directory, "nginx-"));
  const conf = join(files, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((part) => `${part}_temp_path ${files}/${part};`)
    .join("\n");
  writeFileSync(
    conf,
    `daemon off;\nmaster_process off;\npid ${files}/nginx.pid;\nerror_log ${files}/error.log;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${text}\n}\n`,
  );
  await start([NGINX ?? "nginx", "-p", files, "-e", "stderr", "-c", conf], `${behind.reader}/health`);
  return behind;
}

async function startCaddyExample(name: string, targets: Behind): Promise<Behind> {
  const { ports, behind } = placesOf(name);
  let listening = 0;
  const text = filledIn(await read(name), targets).replace(
    /^\w+\.example \{/gm,
    () => `http://:${ports[listening++]} {\n\tbind 127.0.0.1`,
  );
  const file = join(mkdtempSync(join(directory, "caddy-")), "Caddyfile");
  writeFileSync(file, `{\n\tadmin off\n}\n${text}`);
  await start(["caddy", "run", "--adapter", "caddyfile", "--config", file], `${behind.reader}/health`);
  return behind;
}

/** The server as its clients see it behind a proxy. */
const seenAt = (url: string): ExtractorProcess => ({
  ...server,
  url,
  get: (path, init) => fetch(url + path, init),
  post: (path, body, headers) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    }),
});

/** Asks from another address of this machine. */
const statusFrom = (localAddress: string, url: string): Promise<number> =>
  new Promise((done, fail) => {
    request(url, { localAddress, agent: false }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    })
      .on("error", fail)
      .end();
  });

/** The log tells the client's address and not the proxy's. */
async function expectRealClient(url: string, log: () => string): Promise<void> {
  const path = `/none-${crypto.randomUUID()}`;
  expect(await statusFrom("127.0.0.2", url + path)).toBe(404);
  const lineOf = () =>
    log()
      .split("\n")
      .find((one) => one.includes(path));
  await untilTrue(() => lineOf() !== undefined);
  expect(JSON.parse(lineOf() ?? "{}")).toMatchObject({ path, client: "127.0.0.2" });
}

/** All that the page for people loads is there. */
async function expectPage(url: string): Promise<void> {
  const html = await (await fetch(`${url}/`, { headers: { accept: "text/html" } })).text();
  const loaded = [...html.matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, address = ""]) => address);
  const files = loaded.filter((address) => /\.(?:css|js|svg)\b/.test(address));
  expect(files.length).toBeGreaterThan(1);
  for (const file of files)
    expect([file, (await fetch(new URL(file, `${url}/`))).status]).toEqual([file, 200]);
}

/** What has to work behind any proxy. */
async function expectExtractor({ reader }: Behind): Promise<void> {
  const proxied = seenAt(reader);
  expect((await proxied.post("/", { url: `${site.origin}/` })).status).toBe(200);
  const page = await proxied.get(`/${site.origin}/p/1`);
  expect(page.status).toBe(200);
  expect(await page.text()).toStartWith("# Page 1");
  mayEnd = false;
  const id = await submitJob(proxied, {
    output_dir: `behind-${new URL(reader).port}`,
    seeds: [`${site.origin}/`],
  });
  const stream = await proxied.get(`/crawl/${id}/events`);
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("event: page")) text += (await events?.read())?.value ?? "";
  // The first page's event came while the job could not end: nothing kept the events back.
  mayEnd = true;
  await events?.cancel();
  expect(await untilJob(proxied, id, isOver)).toMatchObject({ status: "completed", successful: 20 });
  // Whether a body says how long it is or not: it is cut neither too early nor into a bad gateway.
  const limit = 2 * 1024 * 1024;
  const statusOf = async (length: number, isChunked: boolean): Promise<number> => {
    const text = JSON.stringify({ url: "x".repeat(length - '{"url":""}'.length) });
    const body = isChunked ? new Blob([text]).stream() : text;
    const headers = { "content-type": "application/json" };
    return (await proxied.get("/", { method: "POST", headers, body })).status;
  };
  for (const isChunked of [false, true]) {
    expect(await statusOf(limit, isChunked)).toBe(422);
    for (let over = 1; over < 4_000_000; over += 400_000)
      expect([over, isChunked, await statusOf(limit + over, isChunked)]).toEqual([over, isChunked, 413]);
  }
  // A browser's own page names the proxy's origin.
  expect((await proxied.post("/", {}, { origin: new URL(reader).origin })).status).toBe(422);
  expect((await proxied.post("/", {}, { origin: "https://evil.example" })).status).toBe(403);
  // A client that reads slowly gets all of a long answer.
  const long = await proxied.get(`/${site.origin}/long`);
  let bytes = 0;
  for await (const piece of long.body ?? []) {
    if (bytes === 0) await Bun.sleep(100);
    bytes += piece.length;
  }
  expect(bytes).toBe((await (await fetch(`${server.url}/${site.origin}/long`)).bytes()).length);
  expect(bytes).toBeGreaterThan(1_000_000);
  await expectPage(reader);
  await expectRealClient(reader, server.stderr);
}

async function expectSearch({ docs }: Behind): Promise<void> {
  const args = { tenant_codename: "tool", query: "no_proxy" };
  const found = { error: null, results: [{ url: "docs://tool/proxies.md" }] };
  const searched = () => callMcp<{ error: string | null }>(docs, "root_search", args).catch(() => null);
  await untilTrue(async () => (await searched())?.error === null);
  await using client = await connectMcp(`${docs}/mcp`);
  expect((await client.callTool({ name: "root_search", arguments: args })).structuredContent).toMatchObject(
    found,
  );
  // Clients are told the address that they see.
  expect(await (await fetch(`${docs}/mcp.json`)).json()).toMatchObject({
    mcpServers: { "article-extractor": { url: `${docs}/mcp` } },
  });
  const tooLong = JSON.stringify({ query: "x".repeat(2 * 1024 * 1024) });
  const headers = { "content-type": "application/json" };
  expect((await fetch(`${docs}/mcp`, { method: "POST", headers, body: tooLong })).status).toBe(413);
  expect((await fetch(`${docs}/search?q=no_proxy`)).status).toBe(200);
  const foreign = { ...headers, origin: "https://evil.example" };
  expect((await fetch(`${docs}/mcp`, { method: "POST", headers: foreign, body: "{}" })).status).toBe(403);
  await expectPage(docs);
  await expectRealClient(docs, () => search.said);
}

/** Whoever comes through the proxy is a stranger to a server with the settings of the systemd unit. */
async function expectStrangers(startExample: (targets: Behind) => Promise<Behind>): Promise<void> {
  const env = { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "*", ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1,::1" };
  await using own = await startExtractor({ env });
  expect((await own.post("/", { url: `${site.origin}/` })).status).toBe(200);
  const proxied = seenAt((await startExample({ ...OWN, reader: own.url })).reader);
  const before = site.visits.length;
  for (const host of ["reader.example", "localhost", "127.0.0.1"]) {
    const refused = await proxied.post("/", { url: `${site.origin}/` }, { host });
    expect([host, refused.status, await refused.json()]).toMatchObject([
      host,
      403,
      { code: "egress_refused" },
    ]);
    expect((await proxied.get(`/${site.origin}/`, { headers: { host } })).status).toBe(403);
    const crawl = { output_dir: join(directory, "strangers"), seeds: [`${site.origin}/`] };
    expect((await proxied.post("/crawl", crawl, { host })).status).toBe(403);
  }
  expect(site.visits.length).toBe(before);
}

/** A restart under load cuts nothing off: whatever is answered is whole, or says that the server is away for a moment. */
async function expectRestart(
  startExample: (targets: Behind) => Promise<Behind>,
  away: readonly number[],
): Promise<void> {
  const port = freePort();
  const place = join(directory, `restarted-${port}`);
  const options = { port, directory: place, env: { ...TRUSTED, ARTICLE_EXTRACTOR_EGRESS: "open" } };
  mkdirSync(place);
  const first = await startExtractor(options);
  const { reader } = await startExample({ ...OWN, reader: first.url });
  const whole = await (await fetch(`${server.url}/${site.origin}/p/1`)).text();
  const statuses: number[] = [];
  let isOver = false;
  const ask = async (client: number): Promise<void> => {
    for (let turn = 0; !isOver; turn++) {
      // Each a page of its own, so that none comes from the cache.
      const answer = await fetch(`${reader}/${site.origin}/p/1?${client}-${turn}`);
      const text = await answer.text();
      if (answer.status === 200) expect(text).toBe(whole);
      statuses.push(answer.status);
      if (answer.status !== 200) await Bun.sleep(20);
    }
  };
  const clients = Promise.all([1, 2, 3, 4].map(ask));
  clients.catch(() => {}); // awaited below
  await untilTrue(() => statuses.length > 20);
  first.signal("SIGTERM");
  expect(await first.exited).toBe(0);
  const before = statuses.length;
  await using _ = await startExtractor(options);
  await untilTrue(() => statuses.slice(before).filter((status) => status === 200).length > 20);
  isOver = true;
  await clients;
  expect(statuses.filter((status) => status !== 200 && !away.includes(status))).toEqual([]);
}

describe.each(["nginx", "nginx-prefix"])("the example %s.conf", (name) => {
  test("passes everything on", async () => {
    const behind = await startNginxExample(name, OWN);
    await expectExtractor(behind);
    await expectSearch(behind);
  });

  test("makes nobody behind it a caller on this machine", async () => {
    await expectStrangers((targets) => startNginxExample(name, targets));
  });
});

describe.skipIf(Bun.which("caddy") === null).each(["Caddyfile", "Caddyfile-prefix"])(
  "the example %s",
  (name) => {
    test("passes everything on", async () => {
      const behind = await startCaddyExample(name, OWN);
      await expectExtractor(behind);
      await expectSearch(behind);
    });

    test("makes nobody behind it a caller on this machine", async () => {
      await expectStrangers((targets) => startCaddyExample(name, targets));
    });
  },
);

describe("a restart under load", () => {
  test("behind nginx answers whole pages, or 502 and 503", async () => {
    await expectRestart((targets) => startNginxExample("nginx", targets), [502, 503]);
  });

  test.skipIf(Bun.which("caddy") === null)(
    "behind Caddy answers whole pages, or 503 while it drains",
    async () => {
      await expectRestart((targets) => startCaddyExample("Caddyfile", targets), [503]);
    },
  );
});

describe
  .skipIf(Bun.which("systemd-analyze") === null)
  .each(["article-extractor", "article-extractor-search"])("the systemd unit %s", (name) => {
  test("is understood by systemd, which finds it little exposed", async () => {
    const unit = join(directory, `${name}.service`);
    const text = await read(`${name}.service`);
    writeFileSync(unit, text.replace("/usr/local/bin/article-extractor", BINARY));
    // The manual page is not installed here.
    const verified = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", unit]);
    expect({ said: verified.stderr.toString(), code: verified.exitCode }).toEqual({ said: "", code: 0 });
    const security = Bun.spawnSync(["systemd-analyze", "security", "--offline=true", unit]).stdout.toString();
    const exposure = Number(/exposure level for \S+ (\d+\.\d)/.exec(security)?.[1]);
    expect(exposure).toBeLessThan(3);
  });
});

describe("the container file", () => {
  test("runs as nobody special, with settings that there are, and its health check works", async () => {
    const { VARIABLES } = await import("../../../src/settings/index.ts");
    const text = (await read("Containerfile")).replace(/^#.*\n/gm, "");
    expect(text).toMatch(/^FROM slim AS chromium$/m);
    // The last user is the one that both flavours run as.
    expect([...text.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(["reader", "root", "reader"]);
    const [first, ...rest]: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? "[]");
    expect([first, rest.at(-1)]).toEqual(["/usr/bin/tini", "/usr/local/bin/article-extractor"]);
    expect(text).toMatch(/^ && apt-get install .* tini /m);
    const known = new Set<string>(Object.values(VARIABLES).map(({ variable }) => variable));
    const set = [...text.matchAll(/^(?:ENV)? +([A-Z_]+)=/gm)].map(([, name = ""]) => name);
    expect(set).toContain("WEB_CONCURRENCY");
    for (const name of set) expect(known).toContain(name);
    const check: string[] = JSON.parse(/^HEALTHCHECK .* CMD (\[.*\])$/m.exec(text)?.[1] ?? "[]");
    const run = (port: string) =>
      Bun.spawn(check, {
        env: { PATH: process.env.PATH ?? "", PORT: port },
        stdout: "ignore",
        stderr: "ignore",
      }).exited;
    expect(await run(new URL(server.url).port)).toBe(0);
    expect(await run(String(freePort()))).not.toBe(0);
  });
});
