import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveSite } from "../../support/site.ts";

const site = forAllTests(await serveSite());

/** One page of the site in one form; it must succeed. */
async function extract(path: string, output: string, ...args: string[]): Promise<string> {
  const run = await runCommand([site.origin + path, "--output", output, "--quiet", ...args]);
  expect([run.exitCode, run.stderr]).toEqual([0, ""]);
  return run.stdout;
}

const ARTICLE = "/news/tide-mill-turns-again.html";

describe("JSON", () => {
  test("has the decided fields in their order and no other", async () => {
    const result = JSON.parse(await extract(ARTICLE, "json"));
    // Programs rely on these names and on their order.
    expect(Object.keys(result)).toEqual([
      ...["url", "final_url", "canonical_url", "status_code", "http_status", "fetcher"],
      ...["title", "byline", "siteName"],
      ...["published_date", "modified_date", "lang", "language", "dir", "excerpt", "image", "image_width"],
      ...["image_height", "keywords", "section", "page_type", "confidence"],
      ...["sources", "content", "markdown", "text", "length", "word_count", "success", "warnings"],
    ]);
    expect(Object.keys(result.sources)).toEqual(
      "title byline published_date modified_date language keywords section markdown".split(" "),
    );
  });

  test("has every field of its type", async () => {
    const result = JSON.parse(await extract(ARTICLE, "json"));
    expect(result).toMatchObject({
      url: site.origin + ARTICLE,
      final_url: site.origin + ARTICLE,
      status_code: 200,
      fetcher: "http",
      title: "The tide mill turns again after ninety years",
      lang: "en",
      content: expect.stringMatching(/^<[\s\S]*>$/),
      markdown: expect.stringMatching(/^# The tide mill turns again after ninety years\n\n/),
      word_count: expect.any(Number),
      success: true,
      warnings: null,
    });
    expect(result.length).toBe(result.text.length);
    if (result.confidence !== null) {
      expect(result.confidence).toBeGreaterThanOrEqual(0);
      expect(result.confidence).toBeLessThanOrEqual(1);
    }
  });

  test("has null for what a page does not say, never an empty text", async () => {
    const run = await runCommand(["-"], { stdin: "<p>one word</p>" });
    const result = JSON.parse(run.stdout);
    for (const field of ["url", "final_url", "canonical_url", "status_code", "title", "byline", "siteName"])
      expect([field, result[field]]).toEqual([field, null]);
    expect(Object.values(result)).not.toContain("");
    expect(result.warnings).toEqual([`Content below minimum word count (${result.word_count} < 150)`]);
  });

  test("names the URL asked for and the one that answered", async () => {
    const result = JSON.parse(await extract("/docs", "json"));
    expect(result).toMatchObject({ url: `${site.origin}/docs`, final_url: `${site.origin}/docs/` });
  });

  test("is pretty and ends with a line break", async () => {
    expect(await extract(ARTICLE, "json")).toMatch(/^\{\n {2}"url": [\s\S]*\n\}\n$/);
  });

  test("is the same each time", async () => {
    expect(await extract(ARTICLE, "json")).toBe(await extract(ARTICLE, "json"));
  });
});

describe("the forms agree:", () => {
  test("Markdown and text are those of the JSON", async () => {
    const json = JSON.parse(await extract(ARTICLE, "json"));
    expect(await extract(ARTICLE, "markdown")).toBe(`${json.markdown}\n`);
    expect(await extract(ARTICLE, "text")).toBe(`${json.title}\n\n${json.text}\n`);
  });

  test("Markdown has its title once", async () => {
    const markdown = await extract(ARTICLE, "markdown");
    expect(markdown.match(/^#+ The tide mill turns again after ninety years$/gm)?.length).toBe(1);
  });
});

describe("removing options change nothing else:", () => {
  const collapse = (markdown: string): string =>
    markdown
      .replace(/[ \t]+$/gm, "")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
  // Both read line by line, so only pages whose images and code stand on lines of their own are taken.
  const withoutImages = (markdown: string): string =>
    collapse(markdown.replace(/^!\[[^\]]*\]\([^)]*\)\s*$/gm, ""));
  const withoutCode = (markdown: string): string => collapse(markdown.replace(/^```[\s\S]*?^```$/gm, ""));

  for (const path of [ARTICLE, "/shop/quay-lantern.html", "/docs/install.html"]) {
    test(`--no-images on ${path}`, async () => {
      const full = await extract(path, "markdown");
      const bare = await extract(path, "markdown", "--no-images");
      expect(collapse(bare)).toBe(withoutImages(full));
      if (path === ARTICLE) expect(bare).not.toBe(full);
    });
  }

  for (const path of ["/docs/install.html", "/forum/gate-opens-twice.html", ARTICLE]) {
    test(`--no-code on ${path}`, async () => {
      const full = await extract(path, "markdown");
      const bare = await extract(path, "markdown", "--no-code");
      expect(collapse(bare)).toBe(withoutCode(full));
      if (path !== ARTICLE) expect(bare).not.toBe(full);
    });
  }

  test("metadata stays as it was", async () => {
    const described = ["title", "byline", "published_date", "lang", "excerpt", "canonical_url", "page_type"];
    const pick = (json: string) => described.map((field) => JSON.parse(json)[field]);
    const full = pick(await extract("/docs/install.html", "json"));
    expect(pick(await extract("/docs/install.html", "json", "--no-images", "--no-code"))).toEqual(full);
  });
});

describe("what a page's status means:", () => {
  const application = forAllTests(
    serveCrawlSite({ "/deep": () => html(page("The mill").padEnd(600), { status: 404 }) }),
  );

  test("a page behind a 404 is extracted with a warning", async () => {
    const run = await runCommand([`${application.origin}/deep`]);
    expect(run.exitCode).toBe(0);
    const { status_code, http_status, warnings } = JSON.parse(run.stdout);
    expect([status_code, http_status]).toEqual([404, 404]);
    expect(warnings).toContain("Extracted after HTTP 404 (SPA/client-rendered)");
  });

  test("warnings stand on stderr when the form has no place for them", async () => {
    const run = await runCommand([`${application.origin}/deep`, "--output", "text"]);
    expect(run.stderr).toContain("warning: Extracted after HTTP 404 (SPA/client-rendered)\n");
    expect((await runCommand([`${application.origin}/deep`])).stderr).toBe("");
  });

  test("a page that only says that it is missing is a failure, in lists too", async () => {
    const url = `${site.origin}/nowhere`;
    const message = `GET ${url} answered HTTP 404`;
    expect(await runCommand([url])).toMatchObject({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
    const { exitCode, stdout } = await runCommand([
      url,
      `${site.origin}${ARTICLE}`,
      "--fields",
      "http_status",
    ]);
    expect([
      exitCode,
      ...stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ]).toEqual([
      1,
      { url, success: false, http_status: 404, error: { code: "http_status", message } },
      { http_status: 200 },
    ]);
  });

  test("what holds no page is refused with exit code 1", async () => {
    const run = await runCommand([`${site.origin}/assets/lantern-32.png`]);
    expect([run.exitCode, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/^error: [^\n]*lantern-32\.png[^\n]*\n$/);
  });

  test("a host that does not answer is named with the reason", async () => {
    const run = await runCommand(["http://127.0.0.1:1/", "--retries", "0"]);
    const message = "GET http://127.0.0.1:1/: the connection was refused (ECONNREFUSED)";
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
  });
});

test("links of a saved page are made absolute by --url", async () => {
  const file = join(import.meta.dir, "../../site/news/tide-mill-turns-again.html");
  const address = `${site.origin}${ARTICLE}`;
  const saved = await runCommand(["--file", file, "--url", address, "--output", "markdown", "-q"]);
  expect(saved.stdout).toBe(await extract(ARTICLE, "markdown"));
});
