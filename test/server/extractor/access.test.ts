import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { FORBIDDEN_ADDRESSES, LOCAL_ADDRESSES } from "../../support/hostile-addresses.ts";
import { crawlPage, type NumberedSite, serveNumberedSite } from "../../support/numbered-site.ts";

const FORWARDED = { "x-forwarded-for": "203.0.113.7" };

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code;
}

let site: NumberedSite;
let slow: NumberedSite;
beforeAll(() => {
  site = serveNumberedSite({
    pages: 3,
    answers: {
      "/sets-cookie": {
        status: 200,
        headers: { "content-type": "text/html", "set-cookie": "seen=yes; max-age=9999" },
        body: crawlPage("Cookies", [], 200),
      },
    },
  });
  slow = serveNumberedSite({ pages: 1000, answerMs: 300 });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await slow[Symbol.asyncDispose]();
});

describe("an API key", () => {
  let server: ExtractorProcess;
  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), "root-"));
    server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_API_KEY: "k3y-of-ours", ARTICLE_EXTRACTOR_OUTPUT_ROOT: root },
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each<[string, string]>([
    ["POST", "/"],
    ["GET", "/"],
    ["POST", "/crawl"],
    ["GET", "/crawl"],
    ["GET", "/crawl/x"],
    ["DELETE", "/crawl/x"],
    ["GET", "/crawl/x/manifest"],
    ["GET", "/crawl/x/events"],
    ["GET", "/metrics"],
    ["GET", "/docs"],
    ["GET", "/openapi.json"],
    ["GET", "/https://example.org/"],
    ["GET", "/nothing"],
  ])("is asked for by %s %s", async (method, path) => {
    for (const authorization of [undefined, "Bearer wrong", "Basic azN5"]) {
      const response = await server.get(path, { method, headers: authorization ? { authorization } : {} });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toContain("Bearer");
      expect(await codeOf(response)).toBe("unauthorized");
    }
  });

  test("is not asked for where a browser comes for a page, but for what the page shows", async () => {
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const path of ["/", "/docs"]) {
      const page = await server.get(path, { headers: { accept } });
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      for (const [, file] of (await page.text()).matchAll(/(?:href|src)="((?:docs|assets)\/[^"]+)"/g))
        expect((await server.get(`/${file}`)).status).toBe(200);
    }
    for (const path of ["/openapi.json", "/crawl", "/docs/none.js", "/assets/none.js"])
      expect((await server.get(path, { headers: { accept } })).status).toBe(401);
  });

  test("lets its holder in, and probes need none", async () => {
    const headers = { authorization: "Bearer k3y-of-ours" };
    expect((await server.get("/crawl", { headers })).status).toBe(200);
    for (const path of ["/health", "/ready"]) expect((await server.get(path)).status).toBe(200);
    expect(server.stderr()).not.toContain("k3y-of-ours");
  });

  test("makes callers from this machine strangers to its inner addresses", async () => {
    const response = await server.post(
      "/",
      { url: `${site.origin}/` },
      { authorization: "Bearer k3y-of-ours" },
    );
    expect(response.status).toBe(403);
    expect(await codeOf(response)).toBe("egress_refused");
  });
});

describe("who may reach inner addresses", () => {
  let server: ExtractorProcess;
  beforeAll(async () => {
    server = await startExtractor({ env: { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "*" } });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const port = () => new URL(site.origin).port;

  test("a caller on this machine does", async () => {
    expect((await server.post("/", { url: `${site.origin}/` })).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ["who was forwarded", FORWARDED],
    ["who was forwarded in the standard's way", { forwarded: "for=203.0.113.7" }],
    ["who asks by a name that is not this machine's", { host: "rebound.example" }],
    ["in a page of another site", { "sec-fetch-site": "cross-site" }],
  ])("one %s does not, and gets nothing out of the cache either", async (_, headers) => {
    const response = await server.post("/", { url: `${site.origin}/` }, headers);
    expect(response.status).toBe(403);
    expect(await codeOf(response)).toBe("egress_refused");
  });

  test("no spelling of an inner address gets a stranger there", async () => {
    const before = site.visits.length;
    for (const address of [...LOCAL_ADDRESSES, ...FORBIDDEN_ADDRESSES]) {
      const url = address.replace("PORT", port());
      expect(`${url} ${(await server.post("/", { url }, FORWARDED)).status}`).toBe(`${url} 403`);
    }
    expect(site.visits.length).toBe(before);
  });

  test("link-local and metadata addresses are closed to everybody", async () => {
    for (const url of FORBIDDEN_ADDRESSES)
      expect(`${url} ${(await server.post("/", { url })).status}`).toBe(`${url} 403`);
  });

  test("no field of a request gets a stranger there", async () => {
    const before = site.visits.length;
    const proxied = await server.post(
      "/",
      { url: "http://example.org/", network: { proxy: site.origin } },
      FORWARDED,
    );
    expect(proxied.status).toBe(403);
    const behind = { url: `${site.origin}/`, network: { proxy: "http://203.0.113.1:3128" } };
    expect((await server.post("/", behind, FORWARDED)).status).toBe(403);
    const read = await server.get(`/${site.origin}/`, { headers: FORWARDED });
    expect(read.status).toBe(403);
    expect(site.visits.length).toBe(before);
  });
});

describe("an output root", () => {
  let root: string;
  let outside: string;
  let server: ExtractorProcess;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "root-"));
    outside = mkdtempSync(join(tmpdir(), "outside-"));
    writeFileSync(join(outside, "sitemap.txt"), `${site.origin}/p/1\n`);
    writeFileSync(join(root, "sitemap.txt"), `${site.origin}/p/1\n`);
    symlinkSync(outside, join(root, "link"));
    symlinkSync(join(outside, "sitemap.txt"), join(root, "sitemap-link.txt"));
    symlinkSync(join(outside, "nothing"), join(root, "dangling"));
    mkdirSync(join(root, "inner"));
    symlinkSync("inner", join(root, "inner-link"));
    mkdirSync(`${root}-sibling`);
    server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_OUTPUT_ROOT: root, ARTICLE_EXTRACTOR_EGRESS: "open" },
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    for (const path of [root, outside, `${root}-sibling`]) rmSync(path, { recursive: true, force: true });
  });

  test.each<[string, (at: { root: string; outside: string }) => string]>([
    ["a path upwards", () => "../escaped"],
    ["a path down and upwards", () => "a/../../escaped"],
    ["an absolute path elsewhere", ({ outside: to }) => to],
    ["a sibling with the root's name in front", ({ root: from }) => `${from}-sibling`],
    ["a link out", () => "link"],
    ["a directory below a link out", () => "link/below"],
    ["a link to nothing", () => "dangling"],
    ["a directory below a link to nothing", () => "dangling/below"],
    ["a NUL", () => "a\0b"],
  ])("refuses %s as output_dir, and writes nothing", async (_, path) => {
    const output = path({ root, outside });
    const response = await server.post("/crawl", { output_dir: output, seeds: [`${site.origin}/`] });
    expect(response.status).toBe(403);
    expect(await codeOf(response)).toBe("path_refused");
    expect(readdirSync(outside)).toEqual(["sitemap.txt"]);
  });

  test.each<[string, (at: { outside: string }) => string, number]>([
    ["a file elsewhere", ({ outside: to }) => join(to, "sitemap.txt"), 403],
    ["a file: URL elsewhere", ({ outside: to }) => `file://${to}/sitemap.txt`, 403],
    ["a path upwards", () => "../etc/passwd", 403],
    ["a link out", () => "sitemap-link.txt", 403],
    ["a device", () => "/dev/stdin", 403],
    ["a directory", () => "inner", 422],
    ["no file", () => "none.xml", 422],
  ])("refuses %s as a sitemap", async (_, path, status) => {
    const response = await server.post("/crawl", { output_dir: "x", sitemaps: [path({ outside })] });
    expect(response.status).toBe(status);
  });

  test.each<[string, (at: { outside: string }) => string, number]>([
    ["a file elsewhere", ({ outside: to }) => join(to, "state.json"), 403],
    ["a path upwards", () => "../state.json", 403],
    ["a link out", () => "link/state.json", 403],
    ["a link to nothing", () => "dangling", 403],
    ["a device", () => "/dev/null", 403],
    ["a directory", () => "inner", 422],
    ["a file in a directory that is not there", () => "none/state.json", 422],
    ["somebody else's JSON", () => "foreign.json", 422],
    ["somebody else's text", () => "sitemap.txt", 422],
  ])("refuses %s as storage_state, of a page and of a crawl", async (_, path, status) => {
    writeFileSync(join(root, "foreign.json"), '{"mine":true}');
    const network = { storage_state: path({ outside }) };
    const page = await server.post("/", {
      url: `${site.origin}/sets-cookie`,
      network,
      prefer_browser: false,
    });
    expect(page.status).toBe(status);
    const crawl = { output_dir: "x", seeds: [`${site.origin}/`], network };
    expect((await server.post("/crawl", crawl)).status).toBe(status);
    expect(readdirSync(outside)).toEqual(["sitemap.txt"]);
    expect(readFileSync(join(root, "foreign.json"), "utf8")).toBe('{"mine":true}');
  });

  test("keeps a session in a file of its own", async () => {
    const body = { url: `${site.origin}/sets-cookie`, network: { storage_state: "state.json" } };
    expect((await server.post("/", { ...body, prefer_browser: false })).status).toBe(200);
    const kept = JSON.parse(readFileSync(join(root, "state.json"), "utf8"));
    expect(kept).toMatchObject({ cookies: [{ name: "seen", value: "yes" }] });
    expect(statSync(join(root, "state.json")).mode & 0o777).toBe(0o600);
    expect((await server.post("/", { ...body, prefer_browser: false })).status).toBe(200);
  });

  test.each<[string, object, (at: { root: string; outside: string }) => void]>([
    [
      "of the output directory",
      { output_dir: "later/below" },
      ({ root: from, outside: to }) => symlinkSync(to, join(from, "later")),
    ],
    [
      "of the storage state",
      { output_dir: "y", network: { storage_state: "later.json" } },
      ({ root: from, outside: to }) => symlinkSync(join(to, "new"), join(from, "later.json")),
    ],
    [
      "of a sitemap",
      { output_dir: "z", sitemaps: ["later.txt"] },
      ({ root: from, outside: to }) => {
        rmSync(join(from, "later.txt"));
        symlinkSync(join(to, "sitemap.txt"), join(from, "later.txt"));
      },
    ],
  ])(
    "a link that takes the place %s while the job waits makes it fail, and leads nowhere",
    async (_, fields, swap) => {
      writeFileSync(join(root, "later.txt"), `${site.origin}/p/1\n`);
      const endless = { seeds: [`${slow.origin}/`], max_pages: 1000 };
      const busy = [
        await submitJob(server, { ...endless, output_dir: "b1" }),
        await submitJob(server, { ...endless, output_dir: "b2" }),
      ];
      for (const id of busy) await untilJob(server, id, ({ status }) => status === "running");
      const id = await submitJob(server, {
        seeds: [`${site.origin}/sets-cookie`],
        prefer_browser: false,
        ...fields,
      });
      swap({ root, outside });
      for (const other of busy) await server.get(`/crawl/${other}`, { method: "DELETE" });
      const job = await untilJob(server, id, isOver);
      expect(job.status).toBe("failed");
      expect(job.error?.code).toMatch(/^(?:unwritable_output|unreadable_input)$/);
      expect(readdirSync(outside)).toEqual(["sitemap.txt"]);
      for (const other of busy) await untilJob(server, other, isOver);
    },
  );

  test.each<[string, (at: { root: string }) => string, string]>([
    ["a new directory", () => "new/below", "new/below"],
    ["an absolute path within", ({ root: from }) => join(from, "absolute"), "absolute"],
    ["a path that goes up and comes back", () => "x/../within", "within"],
    ["a link to a directory within", () => "inner-link", "inner"],
  ])("takes %s", async (_, path, written) => {
    const id = await submitJob(server, {
      output_dir: path({ root }),
      sitemaps: ["sitemap.txt"],
      follow_links: false,
    });
    expect(await untilJob(server, id, isOver)).toMatchObject({ status: "completed", successful: 1 });
    expect(readdirSync(join(root, written))).toContain("manifest.json");
  });

  test("strangers may use it too", async () => {
    const response = await server.post(
      "/crawl",
      { output_dir: "stranger", seeds: [`${site.origin}/`] },
      FORWARDED,
    );
    expect(response.status).toBe(202);
  });
});

describe("without an output root", () => {
  test("only callers on this machine name paths, and jobs of strangers reach no inner address", async () => {
    await using server = await startExtractor();
    const body = { output_dir: "x", seeds: ["https://example.org/"] };
    const refused = await server.post("/crawl", body, FORWARDED);
    expect(refused.status).toBe(403);
    expect(await codeOf(refused)).toBe("path_refused");
  });

  test.each<[string, object]>([
    ["a seed", { seeds: ["ORIGIN/"] }],
    ["a sitemap", { sitemaps: ["ORIGIN/sitemap.xml"] }],
    ["a proxy", { seeds: ["http://example.org/"], network: { proxy: "ORIGIN" } }],
  ])("%s of a stranger's job that is an inner address is not asked", async (_, fields) => {
    const root = mkdtempSync(join(tmpdir(), "root-"));
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_OUTPUT_ROOT: root } });
    const before = site.visits.length;
    const body = JSON.stringify({ output_dir: "out", ...fields }).replaceAll("ORIGIN", site.origin);
    const response = await server.post("/crawl", body, FORWARDED);
    expect(response.status).toBe(202);
    const { job_id: id } = (await response.json()) as { job_id: string };
    const job = await untilJob(server, id, isOver);
    expect(job.successful).toBe(0);
    expect(site.visits.length).toBe(before);
    rmSync(root, { recursive: true, force: true });
  });
});

describe("other sites' pages", () => {
  test("a POST or DELETE with a foreign Origin is refused, unless the operator allows it", async () => {
    await using server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_CORS_ORIGINS: "https://app.example" },
    });
    for (const [method, path] of [
      ["POST", "/"],
      ["POST", "/crawl"],
      ["DELETE", "/crawl/x"],
    ] as const) {
      const response = await server.get(path, { method, headers: { origin: "https://evil.example" } });
      expect(response.status).toBe(403);
      expect(await codeOf(response)).toBe("origin_refused");
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
    const allowed = await server.post("/", {}, { origin: "https://app.example" });
    expect(allowed.status).toBe(422);
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example");
    const preflight = await server.get("/", {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    const own = await server.post("/", {}, { origin: server.url });
    expect(own.status).toBe(422);
  });

  test("a Host that is not the server's is refused when it is bound to loopback", async () => {
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "reader.example" } });
    expect((await server.get("/health", { headers: { host: "evil.example" } })).status).toBe(403);
    expect((await server.get("/health", { headers: { host: "reader.example" } })).status).toBe(200);
  });

  test("with a list of hosts a probe beside the server still reaches it, whatever it is bound to", async () => {
    await using server = await startExtractor({
      words: ["--host", "0.0.0.0"],
      env: { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "reader.example" },
    });
    const { port } = new URL(server.url);
    const statusFor = async (host: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/health`, { headers: { host } })).status;
    for (const host of ["reader.example", "localhost", `127.0.0.1:${port}`])
      expect(await statusFor(host)).toBe(200);
    for (const host of ["evil.example", "localhost.evil.example", "10.0.0.7"])
      expect(await statusFor(host)).toBe(403);
  });
});

describe("behind a proxy", () => {
  test("the base path stands in every address, and forwarded words count only from trusted proxies", async () => {
    await using server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_BASE_PATH: "/reader", ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1" },
    });
    expect(await (await server.get("/reader/")).json()).toMatchObject({ docs: "/reader/docs" });
    const accepted = await server.post("/reader/crawl", { output_dir: "x", seeds: [`${site.origin}/`] });
    expect(accepted.headers.get("location")).toStartWith("/reader/crawl/");
    const document = (await (await server.get("/reader/openapi.json")).json()) as { servers: object[] };
    expect(document.servers).toEqual([{ url: "/reader" }]);
    await server.get("/ready?x", { headers: FORWARDED });
    await server.get("/reader/crawl", { headers: FORWARDED });
    for (let tries = 0; !server.stderr().includes('"client":"203.0.113.7"') && tries < 100; tries++)
      await Bun.sleep(20);
    expect(server.stderr()).toContain('"client":"203.0.113.7"');
  });
});
