import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
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
import { NGINX } from "../../support/nginx.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const DEPLOY = join(import.meta.dir, "../../../scripts/deploy");
const read = (name: string): Promise<string> => Bun.file(join(DEPLOY, name)).text();

const running: Bun.Subprocess[] = [];
const { path: directory } = forAllTests(temporaryDirectory());
const site = forAllTests(serveNumberedSite({ pages: 20, answerMs: 50 }));
const server = forAllTests(
  await startExtractor({
    env: {
      ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1",
      ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "*",
      ARTICLE_EXTRACTOR_EGRESS: "open",
      ARTICLE_EXTRACTOR_OUTPUT_ROOT: join(directory, "out"),
    },
  }),
);
afterAll(async () => {
  for (const child of running) {
    child.kill();
    await child.exited;
  }
});

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  return port ?? 0;
}

/** Starts a proxy and waits until the server answers through it. */
async function start(command: readonly string[], port: number): Promise<ExtractorProcess> {
  const env = { PATH: process.env.PATH ?? "", HOME: directory };
  const child = Bun.spawn([...command], { env, stdout: "ignore", stderr: "pipe" });
  running.push(child);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    if (
      await fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    if (tries > 2000 || child.exitCode !== null)
      throw new Error(`${command[0]} does not answer: ${await new Response(child.stderr).text()}`);
    await Bun.sleep(50);
  }
  return {
    ...server,
    url,
    get: (path, init) => fetch(url + path, init),
    post: (path, body, headers) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}

/** What has to work behind any proxy. */
async function expectService(proxied: ExtractorProcess): Promise<void> {
  expect((await proxied.post("/", { url: `${site.origin}/` })).status).toBe(200);
  const page = await proxied.get(`/${site.origin}/p/1`);
  expect(page.status).toBe(200);
  expect(await page.text()).toStartWith("# Page 1");
  const id = await submitJob(proxied, {
    output_dir: `behind-${new URL(proxied.url).port}`,
    seeds: [`${site.origin}/`],
  });
  const stream = await proxied.get(`/crawl/${id}/events`);
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("event: page")) text += (await reader?.read())?.value ?? "";
  // The first page came while the job was not at its end: nothing kept the events back.
  expect(text).not.toContain("event: end");
  await reader?.cancel();
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
  expect((await proxied.post("/", {}, { origin: proxied.url })).status).toBe(422);
  expect((await proxied.post("/", {}, { origin: "https://evil.example" })).status).toBe(403);
}

/** Whoever comes through the proxy is a stranger to a server with the settings of the systemd unit. */
async function expectStrangers(behind: (target: string) => Promise<ExtractorProcess>): Promise<void> {
  const env = { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "*", ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1,::1" };
  await using own = await startExtractor({ env });
  expect((await own.post("/", { url: `${site.origin}/` })).status).toBe(200);
  const proxied = await behind(own.url);
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

async function startNginxExample(target: string): Promise<ExtractorProcess> {
  const port = freePort();
  const text = (await read("nginx.conf"))
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
    .replace(/^\s*ssl_certificate.*\n/gm, "")
    .replace("127.0.0.1:3000", new URL(target).host)
    .replace("rate=10r/s", "rate=1000r/s");
  const files = mkdtempSync(join(directory, "nginx-"));
  const conf = join(files, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${files}/${name};`)
    .join("\n");
  writeFileSync(
    conf,
    `daemon off;\nmaster_process off;\npid ${files}/nginx.pid;\nerror_log ${files}/error.log;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${text}\n}\n`,
  );
  return await start([NGINX ?? "nginx", "-p", files, "-c", conf], port);
}

describe("the nginx example", () => {
  test("passes everything on", async () => {
    await expectService(await startNginxExample(server.url));
  }, 120_000);

  test("makes nobody behind it a caller on this machine", async () => {
    await expectStrangers(startNginxExample);
  }, 120_000);
});

describe.skipIf(Bun.which("caddy") === null)("the Caddy example", () => {
  async function startCaddyExample(target: string): Promise<ExtractorProcess> {
    const port = freePort();
    const text = (await read("Caddyfile"))
      .replace("reader.example {", `{\n\tadmin off\n}\nhttp://:${port} {\n\tbind 127.0.0.1`)
      .replace("127.0.0.1:3000", new URL(target).host);
    const file = join(mkdtempSync(join(directory, "caddy-")), "Caddyfile");
    writeFileSync(file, text);
    return await start(["caddy", "run", "--adapter", "caddyfile", "--config", file], port);
  }

  test("passes everything on", async () => {
    await expectService(await startCaddyExample(server.url));
  }, 120_000);

  test("makes nobody behind it a caller on this machine", async () => {
    await expectStrangers(startCaddyExample);
  }, 120_000);
});

describe.skipIf(Bun.which("systemd-analyze") === null)("the systemd unit", () => {
  test("is understood by systemd, which finds it little exposed", async () => {
    const unit = join(directory, "article-extractor.service");
    const text = await read("article-extractor.service");
    writeFileSync(unit, text.replace("/usr/local/bin/article-extractor", BINARY));
    const verified = Bun.spawnSync(["systemd-analyze", "verify", unit]);
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
    expect(text).toMatch(/^USER reader$/m);
    expect(text).toMatch(/^FROM debian:12-slim$/m);
    const [first, ...rest]: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? "[]");
    expect([first, rest.at(-1)]).toEqual(["/usr/bin/tini", "/usr/local/bin/article-extractor"]);
    expect(text).toMatch(/^ && apt-get install .* tini /m);
    // What is copied stands in the directory that the build is given.
    const copied = /^COPY --chmod=0755 (\S+) /m.exec(text)?.[1] ?? "";
    expect(join(import.meta.dir, "../../../dist", copied)).toBe(BINARY);
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
