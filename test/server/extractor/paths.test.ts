import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  codeOf,
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const FORWARDED = { "x-forwarded-for": "203.0.113.7" };

const site = forAllTests(
  serveNumberedSite({
    pages: 3,
    answers: {
      "/sets-cookie": {
        status: 200,
        headers: { "content-type": "text/html", "set-cookie": "seen=yes; max-age=9999" },
        body: crawlPage("Cookies", [], 200),
      },
    },
  }),
);
const slow = forAllTests(serveNumberedSite({ pages: 1000, answerMs: 300 }));

describe("an output root", () => {
  const { path: root } = forAllTests(temporaryDirectory());
  const { path: outside } = forAllTests(temporaryDirectory());
  let server: ExtractorProcess;
  beforeAll(async () => {
    writeFileSync(join(outside, "sitemap.txt"), `${site.origin}/p/1\n`);
    writeFileSync(join(root, "sitemap.txt"), `${site.origin}/p/1\n`);
    symlinkSync(outside, join(root, "link"));
    symlinkSync(join(outside, "sitemap.txt"), join(root, "sitemap-link.txt"));
    symlinkSync(join(outside, "nothing"), join(root, "dangling"));
    mkdirSync(join(root, "inner"));
    symlinkSync("inner", join(root, "inner-link"));
    mkdirSync(join(root, "inner/.article-extractor"));
    symlinkSync("inner/.article-extractor", join(root, "state-link"));
    mkdirSync(`${root}-sibling`);
    server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_OUTPUT_ROOT: root, ARTICLE_EXTRACTOR_EGRESS: "open" },
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(`${root}-sibling`, { recursive: true, force: true });
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
    ["where a crawl keeps its state", () => ".article-extractor"],
    ["a directory below such a one", () => "pages/.article-extractor/gone"],
    ["such a one in capitals, which is the same on some disks", () => "pages/.Article-Extractor"],
    ["a link to such a one", () => "state-link"],
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
    const page = { url: `${site.origin}/sets-cookie`, network, prefer_browser: false };
    expect((await server.post("/", page)).status).toBe(status);
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
      ({ root: from, outside: to }) => {
        rmSync(join(from, "later"), { recursive: true });
        symlinkSync(to, join(from, "later"));
      },
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
      const busy: string[] = [];
      for (const output_dir of ["b1", "b2"]) busy.push(await submitJob(server, { ...endless, output_dir }));
      for (const id of busy) await untilJob(server, id, ({ status }) => status === "running");
      const seeds = [`${site.origin}/sets-cookie`];
      const id = await submitJob(server, { seeds, prefer_browser: false, ...fields });
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
    const crawl = { output_dir: path({ root }), sitemaps: ["sitemap.txt"], follow_links: false };
    const id = await submitJob(server, crawl);
    expect(await untilJob(server, id, isOver)).toMatchObject({ status: "completed", successful: 1 });
    expect(readdirSync(join(root, written))).toContain("manifest.json");
  });
});

describe("jobs of strangers", () => {
  test.each<[string, object]>([
    ["a seed", { seeds: ["ORIGIN/"] }],
    ["a sitemap", { sitemaps: ["ORIGIN/sitemap.xml"] }],
    ["a proxy", { seeds: ["http://example.org/"], network: { proxy: "ORIGIN" } }],
  ])("%s of a stranger's job that is an inner address is not asked", async (_, fields) => {
    using root = temporaryDirectory();
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_OUTPUT_ROOT: root.path } });
    const before = site.visits.length;
    const body = JSON.stringify({ output_dir: "out", ...fields }).replaceAll("ORIGIN", site.origin);
    const response = await server.post("/crawl", body, FORWARDED);
    expect(response.status).toBe(202);
    const { job_id: id } = (await response.json()) as { job_id: string };
    const job = await untilJob(server, id, isOver);
    expect(job.successful).toBe(0);
    expect(site.visits.length).toBe(before);
  });
});
