import { describe, expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BINARY, cleanEnvironment, runShell } from "../support/binary.ts";
import { crawlDirectory, crawlOnce, pathsOf, readCrawl } from "../support/crawl-run.ts";
import { page as crawlSitePage, serveCrawlSite } from "../support/crawl-site.ts";
import type { ManifestFile } from "../support/crawling.ts";
import { crawlPage, type NumberedSite, serveNumberedSite } from "../support/numbered-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

/** The program under way; what it writes to stderr is kept. */
function startCrawl(words: readonly string[], cwd: string) {
  const child = Bun.spawn([BINARY, "crawl", ...words], {
    cwd,
    env: cleanEnvironment({ ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1" }),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  return { child, stderr: new Response(child.stderr).text() };
}

/** Waits until the site has been asked so often. */
const untilVisits = (site: NumberedSite, count: number): Promise<void> =>
  untilTrue(() => site.visits.length >= count);

function expectWhole(manifest: ManifestFile | null): void {
  if (!manifest) throw new Error("there is no manifest");
  const { total_pages, successful, failed, skipped, results } = manifest;
  expect(successful + failed + skipped).toBe(total_pages);
  expect(results.length).toBe(total_pages);
  expect(results.filter(({ status }) => status === "success").length).toBe(successful);
}

describe("a host that makes the crawl wait", () => {
  test.each([
    ["its robots.txt asks for this Crawl-delay", { "/robots.txt": "User-agent: *\nCrawl-delay: 60\n" }, "0"],
    ["requests to a host are this far apart", {}, "30"],
  ])("says once why: %s", async (why, files, rateLimit) => {
    await using site = serveCrawlSite({
      "/": crawlSitePage("Home", ["/a", "/b"]),
      "/a": "a",
      "/b": "b",
      ...files,
    });
    await using directory = await crawlDirectory();
    const words = [`${site.origin}/`, "--rate-limit", rateLimit, "--output-dir", "out"];
    const { child, stderr } = startCrawl(words, directory.path);
    await untilTrue(() => site.visits.length > 0);
    await Bun.sleep(1500);
    child.kill("SIGTERM");
    const said = await stderr;
    expect(said.split(why).length).toBe(2);
  });
});

describe("a crawl that is interrupted", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "by %s leaves a manifest, and goes on later",
    async (signal) => {
      await using site = serveNumberedSite({ pages: 60, answerMs: 30 });
      await using directory = await crawlDirectory();
      const words = [`${site.origin}/`, "--rate-limit", "0", "--concurrency", "3", "--output-dir", "out"];
      const { child, stderr } = startCrawl(words, directory.path);
      await untilVisits(site, 15);
      child.kill(signal);
      expect(await child.exited).toBe(130);
      expect(await stderr).toMatch(
        /^at most 100 pages .*\nwarning: stopping; .*\nstopped after .* of .*; the same command continues from here\n[\s\S]*error: interrupted\n$/,
      );
      const partial = await readCrawl(directory.output);
      expectWhole(partial.manifest);
      expect(partial.files.length).toBe(partial.manifest?.successful ?? -1);
      expect(partial.files.length).toBeGreaterThan(0);
      expect(partial.files.length).toBeLessThan(60);

      const rest = await directory.crawl([`${site.origin}/`, "--concurrency", "3"]);
      expect([rest.exitCode, rest.files.length, rest.manifest?.successful]).toEqual([0, 60, 60]);
      expectWhole(rest.manifest);
      expect(rest.stderr).toContain(`crawled 60 pages (${partial.manifest?.successful} of them before) in `);
      // Robots.txt twice, and again only what was under way: three fetches, two pages waiting for the worker.
      expect(site.visits.length).toBeLessThanOrEqual(60 + 2 + 3 + 2);
    },
  );

  test("ends though a server never answers", async () => {
    await using site = serveNumberedSite({ pages: 30, answerMs: 60_000, answers: {} });
    await using directory = await crawlDirectory();
    const { child } = startCrawl(
      [`${site.origin}/`, "--ignore-robots", "--output-dir", "out"],
      directory.path,
    );
    await untilTrue(() => site.open > 0);
    const before = performance.now();
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(performance.now() - before).toBeLessThan(55_000); // the server answers only after 60 s
  });

  test("twice ends at once", async () => {
    await using site = serveNumberedSite({ pages: 200, answerMs: 30 });
    await using directory = await crawlDirectory();
    const words = [`${site.origin}/`, "--rate-limit", "0", "--concurrency", "8", "--output-dir", "out"];
    const { child } = startCrawl(words, directory.path);
    await untilVisits(site, 10);
    child.kill("SIGINT");
    child.kill("SIGTERM");
    expect(await child.exited).toBe(130);
    const rest = await directory.crawl([`${site.origin}/`, "--concurrency", "8", "--max-pages", "200"]);
    expect([rest.exitCode, rest.manifest?.total_pages]).toEqual([0, 200]);
  });
});

describe("a crawl whose output is a pipe", () => {
  test("ends with exit code 0 when the reader has seen enough", async () => {
    await using site = serveNumberedSite({ pages: 300, answerMs: 5 });
    const run = await runShell(
      `{ article-extractor crawl ${site.origin}/ --rate-limit 0 --max-pages 300 --jsonl --quiet; echo "code=$?" >&2; } | head -2`,
    );
    const lines = run.stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).success)).toEqual([true, true]);
    expect(run.stderr).toBe("code=0\n");
    // No more than fit into the pipe.
    expect(site.visits.length).toBeLessThan(300);
  });

  test("says nothing but its limits and the summary on stderr", async () => {
    await using site = serveNumberedSite({ pages: 12 });
    const run = await crawlOnce([`${site.origin}/`]);
    expect(run.stderr).toMatch(
      /^at most 100 pages .*\ncrawled 12 pages in [\d.]+ m?s: 12 stored in \S+\/out, 0 failed\n {2}every page and its outcome: \S+manifest\.json\n$/,
    );
    expect(run.stdout).toBe("");
  });
});

test("the summary gives the reasons of failures and skips, with an example", async () => {
  await using site = serveNumberedSite({
    pages: 1,
    answers: {
      "/robots.txt": { body: "User-agent: *\nDisallow: /closed" },
      "/": { body: crawlPage("Start", ["/gone", "/empty", "/picture", "/closed", "http://other.test/"]) },
      "/empty": { body: "<html><body></body></html>" },
      "/picture": { body: "x", headers: { "content-type": "image/png" } },
    },
  });
  const run = await crawlOnce([`${site.origin}/`]);
  expect(run.exitCode).toBe(3);
  expect(run.stderr).toContain(`  failed: 1 http_status, for example GET ${site.origin}/gone`);
  expect(run.stderr).toContain("  failed: 1 no_content");
  expect(run.stderr).toContain("  skipped: 1 content_type, 1 robots\n");
  expect(run.stderr).toContain("  links not followed: 1 foreign_origin\n");
  expect(run.stderr).toEndWith("error: 2 of 3 pages failed; --max-failures allows 0\n");
});

test("a site that links to documents of other types ends with 0; the same as seeds are failures", async () => {
  const documents = { "/a.pdf": "application/pdf", "/b.png": "image/png", "/c.zip": "application/zip" };
  const paths = Object.keys(documents);
  await using site = serveNumberedSite({
    pages: 1,
    answers: {
      "/": { body: crawlPage("Start", [...paths, "/lost"]) },
      "/lost": { body: crawlPage("Found all the same").padEnd(600), status: 404 },
      ...Object.fromEntries(
        Object.entries(documents).map(([path, type]) => [
          path,
          { body: "\0", headers: { "content-type": type } },
        ]),
      ),
    },
  });
  const linked = await crawlOnce([`${site.origin}/`]);
  expect([linked.exitCode, pathsOf(linked), pathsOf(linked, "skipped")]).toEqual([0, ["/", "/lost"], paths]);
  expect(linked.stderr).toContain("  skipped: 3 content_type\n");
  expect(linked.stderr).toContain("  extracted after HTTP 404 or 410 (transient_404): 1\n");
  const asked = await crawlOnce(paths.flatMap((path) => ["--seed", site.origin + path]));
  expect([asked.exitCode, pathsOf(asked, "failed")]).toEqual([1, paths]);
});

test("pages that all fail are told by what happened, with exit code 1", async () => {
  const run = await crawlOnce(["http://127.0.0.1:1/", "--ignore-robots", "--retries", "0"]);
  expect(run.exitCode).toBe(1);
  expect(run.stderr).toMatch(/ {2}failed: 1 network, for example GET http:\/\/127\.0\.0\.1:1\/.*refused/);
});

test("a sitemap that cannot be read is told, and the others are crawled", async () => {
  await using site = serveNumberedSite({
    pages: 3,
    answers: {
      "/bad.xml": { body: "<html></html>" },
      "/good.xml": { body: "<urlset><url><loc>{origin}/p/1</loc></url></urlset>" },
    },
  });
  const words = ["--sitemap", `${site.origin}/bad.xml`, "--sitemap", `${site.origin}/good.xml`];
  const run = await crawlOnce([...words, "--no-follow-links"]);
  expect([run.exitCode, pathsOf(run)]).toEqual([0, ["/p/1"]]);
  expect(run.stderr).toContain(
    `warning: a sitemap is left out: sitemap ${site.origin}/bad.xml is an HTML page`,
  );
});

describe("a directory", () => {
  test("in which another crawl runs is refused with exit code 2", async () => {
    await using site = serveNumberedSite({ pages: 100, answerMs: 50 });
    await using directory = await crawlDirectory();
    const words = [`${site.origin}/`, "--rate-limit", "0", "--output-dir", "out"];
    const { child } = startCrawl(words, directory.path);
    await untilVisits(site, 5);
    const second = await directory.crawl([`${site.origin}/`]);
    expect([second.exitCode, second.stderr.split("\n").length]).toEqual([2, 2]);
    expect(second.stderr).toStartWith("error: ");
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
  });

  test("that holds pages of another scope is refused with exit code 2, naming the ways out", async () => {
    await using site = serveNumberedSite({ pages: 40, answerMs: 30 });
    await using directory = await crawlDirectory();
    const words = [`${site.origin}/`, "--rate-limit", "0", "--output-dir", "out"];
    const { child } = startCrawl(words, directory.path);
    await untilVisits(site, 15);
    child.kill("SIGKILL");
    await child.exited;
    const denied = ["--deny-prefix", `${site.origin}/p/3`];
    const other = await directory.crawl([`${site.origin}/`, ...denied]);
    expect(other.exitCode).toBe(2);
    expect(other.stderr).toMatch(/^error: .*--fresh.*\n$/);
    expect((await directory.crawl([`${site.origin}/`, ...denied, "--fresh"])).exitCode).toBe(0);
  });

  test("that is a file, or cannot be made, is told in one line", async () => {
    await using site = serveNumberedSite({ pages: 1 });
    await using directory = await crawlDirectory();
    await writeFile(join(directory.path, "out"), "a file");
    for (const path of ["out", "out/below", "/proc/nothing/here"]) {
      const run = await runShell(
        `article-extractor crawl ${site.origin}/ --rate-limit 0 --output-dir ${path}`,
        { cwd: directory.path },
      );
      expect([run.exitCode, run.stdout, run.stderr.split("\n").length]).toEqual([1, "", 2]);
      expect(run.stderr).toMatch(
        /^error: (?:out is a file, not a directory|could not make the directory .*)\n$/,
      );
    }
    expect(await readdir(directory.path)).toEqual(["out"]);
  });
});

const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).exitCode === 0;

describe.skipIf(!canMount)("a small disk (needs the right to mount a tmpfs)", () => {
  /** Crawls onto a disk of its own; gives what the shell script behind it prints. */
  const onDisk = (size: string, words: string, after: string) =>
    runShell(
      `mkdir disk && unshare -rm sh -c 'mount -t tmpfs -o size=${size} tmpfs disk
       article-extractor crawl ${words} --rate-limit 0 --output-dir disk/out; echo code=$?
       ${after}'`,
    );

  test("with less than 100 MB free is told, whatever the log level", async () => {
    await using site = serveNumberedSite({ pages: 2 });
    const words = `${site.origin}/ --log-level critical`;
    const run = await onDisk("50m", words, "cat disk/out/manifest.json");
    expect(run.stdout).toContain("code=0");
    expect(run.stdout).toContain('"Less than 100 MB are free in the output directory"');
    expect(run.stderr).toMatch(/^at most 100 pages .*\nwarning: only \d\d MB are free in disk\/out\n/);
    expect(run.stderr).not.toContain("Less than"); // once is enough
    const logged = await onDisk("50m", `${site.origin}/ --log-level warning --quiet`, "");
    expect(JSON.parse(logged.stderr)).toMatchObject({
      level: "warning",
      message: "low disk",
      free_bytes: expect.any(Number),
    });
  });

  test("that fills up ends the crawl with exit code 1, and with more room it goes on", async () => {
    const chain = (n: number) => ({ body: crawlPage(`Big ${n}`, n < 39 ? [`/big/${n + 1}`] : [], 20_000) });
    const answers = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`/big/${n}`, chain(n)]));
    await using site = serveNumberedSite({ pages: 1, answers });
    const words = `${site.origin}/big/0 --max-depth 100`;
    const run = await onDisk(
      "3m",
      words,
      `ls disk/out | wc -l; ls -a disk/out | grep -c tmp
       mount -o remount,size=60m disk
       article-extractor crawl ${words} --rate-limit 0 --output-dir disk/out; echo code=$?
       ls disk/out/*.md | wc -l; cat disk/out/*.md | grep -c "^# Big"`,
    );
    const [first, made, halves, second, files, titles] = run.stdout.trim().split("\n");
    expect([first, halves, second, files, titles]).toEqual(["code=1", "0", "code=0", "40", "40"]);
    expect(Number(made)).toBeGreaterThan(5);
    expect(run.stderr).toMatch(/\nerror: .*(?:no space is left|disk is full)[^\n]*\n/);
  });
});

describe("a crawl that stores no page exits with 1 and says why", () => {
  const answers = {
    "/robots.txt": { body: "User-agent: *\nDisallow: /closed" },
    "/docs/": { status: 302, headers: { location: "/en/docs/" }, body: "" },
    "/empty.xml": { body: "<urlset></urlset>", headers: { "content-type": "application/xml" } },
    "/mail.xml": { body: "<urlset><url><loc>mailto:a@b.test</loc></url></urlset>" },
    "/gone": { status: 404, body: "" },
  };
  test.each([
    [
      "a page that fails",
      ["{site}/gone"],
      "1 page failed, the first with: GET {site}/gone answered HTTP 404",
    ],
    ["whatever may fail", ["{site}/gone", "--max-failures", "100%"], "1 page failed, the first with: GET"],
    ["what robots.txt closes", ["{site}/closed"], "1 page skipped (1 robots)"],
    ["a seed that leaves the prefix", ["{site}/docs/", "--allow-prefix", "{site}/docs/"], "(1 out_of_scope)"],
    ["JSON lines", ["{site}/gone", "--jsonl"], "1 page failed"],
  ])("%s", async (_, words, why) => {
    await using site = serveNumberedSite({ pages: 1, answers });
    const withSite = (text: string): string => text.replaceAll("{site}", site.origin);
    const run = await crawlOnce(words.map(withSite));
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toContain(`error: no page was stored: `);
    expect(run.stderr).toContain(withSite(why));
    expect(run.stderr).not.toContain("the same command");
  });

  test("a seed that leaves the prefix by a redirect is named, also where other pages are stored", async () => {
    await using site = serveNumberedSite({
      pages: 1,
      answers: { ...answers, "/docs/a": { body: crawlPage("A", []) } },
    });
    const words = [`${site.origin}/docs/`, "--allow-prefix", `${site.origin}/docs/`];
    const expected = `warning: The seed ${site.origin}/docs/ redirects to ${site.origin}/en/docs/, which the allow and deny prefixes leave out\n`;
    expect((await crawlOnce(words)).stderr).toContain(expected);
    const both = await crawlOnce([...words, `${site.origin}/docs/a`]);
    expect([both.exitCode, pathsOf(both)]).toEqual([0, ["/docs/a"]]);
    expect(both.stderr).toContain(expected);
  });

  test.each(["empty.xml", "mail.xml"])("a sitemap without a usable entry: %s", async (name) => {
    await using site = serveNumberedSite({ pages: 2, answers });
    const sitemap = ["--sitemap", `${site.origin}/${name}`];
    const alone = await crawlOnce(sitemap);
    expect(alone.exitCode).toBe(1);
    expect(alone.stderr).toContain(
      "error: there is nothing to crawl: the sitemaps name no http or https page",
    );
    expect(alone.stderr).not.toContain("continues from here");
    const dry = await crawlOnce([...sitemap, "--dry-run"]);
    expect([dry.exitCode, dry.stdout]).toEqual([1, ""]);
    const withSeed = await crawlOnce([`${site.origin}/p/1`, ...sitemap]);
    expect(withSeed.exitCode).toBe(0);
    expect(withSeed.stderr).toContain(`warning: The sitemap ${site.origin}/${name} names no page\n`);
  });

  test.each([
    [["example.org/a"], "1 entry that is"],
    [["example.org/a", "b", ""], "2 entries that are"],
    [[], null],
  ] as const)("lines of a list that are no addresses are counted: %j", async (lines, counted) => {
    await using site = serveNumberedSite({ pages: 1 });
    using place = temporaryDirectory();
    const list = join(place.path, "urls.txt");
    for (const order of [
      [...lines, `${site.origin}/`],
      [`${site.origin}/`, "# a remark", ...lines],
    ]) {
      await Bun.write(list, order.join("\n"));
      const { exitCode, stderr } = await crawlOnce(["--sitemap", list, "--no-follow-links"]);
      expect(exitCode).toBe(0);
      if (counted === null) expect(stderr).not.toContain("warning");
      else expect(stderr).toContain(`warning: The sitemap ${list} has ${counted} no http or https URL\n`);
    }
  });

  test("an unreadable sitemap, or seeds out of scope, promise nothing", async () => {
    await using site = serveNumberedSite({ pages: 1, answers });
    const sitemap = await crawlOnce(["--sitemap", `${site.origin}/gone`]);
    expect([sitemap.exitCode, sitemap.stderr.includes("continues from here")]).toEqual([1, false]);
    const scope = await crawlOnce([`${site.origin}/`, "--deny-prefix", `${site.origin}/`]);
    expect([scope.exitCode, scope.stderr.includes("continues from here")]).toEqual([2, false]);
  });
});

test("a crawl with --fresh that is interrupted goes on without it, and says so", async () => {
  await using site = serveNumberedSite({ pages: 60, answerMs: 30 });
  await using directory = await crawlDirectory();
  const words = [`${site.origin}/`, "--rate-limit", "0", "--output-dir", "out", "--fresh"];
  const { child, stderr } = startCrawl(words, directory.path);
  await untilVisits(site, 10);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  expect(await stderr).toContain("; the same command without --fresh continues from here\n");
});

test("links of a sitemap's own sites are followed without any seed, also after a kill", async () => {
  await using other = serveNumberedSite({ pages: 3 });
  await using site = serveNumberedSite({
    pages: 40,
    answerMs: 20,
    answers: { "/map.xml": { body: "<urlset><url><loc>{origin}/</loc></url></urlset>" } },
  });
  await using directory = await crawlDirectory();
  const words = [
    "--sitemap",
    `${site.origin}/map.xml`,
    "--follow-links",
    "--rate-limit",
    "0",
    "--output-dir",
    "out",
  ];
  const { child } = startCrawl(words, directory.path);
  await untilVisits(site, 10);
  child.kill("SIGKILL");
  await child.exited;
  const run = await directory.crawl(words.slice(0, 3));
  expect([run.exitCode, run.files.length]).toEqual([0, 40]);
  expect(other.visits).toHaveLength(0);
});
