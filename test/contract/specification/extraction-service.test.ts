import { describe, expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "../../support/binary.ts";
import { crawlOnce, pathsOf } from "../../support/crawl-run.ts";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { openLibraryProject } from "../../support/library-project.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { serveScriptedSite } from "../../support/scripted-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const XML = { "content-type": "application/xml" };
const HTML = `<html><head><title>Rich</title></head><body><article><h1>Rich</h1><p>${"The mill wheel turns. ".repeat(20)}</p>
<p><img src="mill.png" alt="The mill"></p><pre><code>weir today</code></pre><p>${"It stops at night. ".repeat(20)}</p></article></body></html>`;
const answers = {
  "/rich": { body: HTML },
  "/listed": { body: crawlPage("Listed") },
  "/sitemap.xml": { headers: XML, body: "<urlset><url><loc>{origin}/listed</loc></url></urlset>" },
};
const site = forAllTests(serveNumberedSite({ pages: 3, answers }));
const scripted = forAllTests(serveScriptedSite());
const project = forAllTests(await openLibraryProject());
const place = forAllTests(temporaryDirectory()).path;
const server = forAllTests(await startExtractor());
writeFileSync(join(place, "page.html"), HTML);

const RICH = `${site.origin}/rich`;
const json = async (words: readonly string[], stdin?: string) =>
  JSON.parse((await runBinary(words, stdin === undefined ? {} : { stdin })).stdout);
const inLibrary = (body: string): Promise<unknown> => project.run(process.execPath, body);
const source = JSON.stringify(HTML);

// Section: What the service does
const SERVICE: Readonly<Record<string, () => Promise<void>>> = {
  "given by URL or as a local HTML file or HTML string": async () => {
    const pages = [
      await json([RICH]),
      await json(["--file", join(place, "page.html")]),
      await json(["-"], HTML),
    ];
    expect(pages.map(({ title }) => title)).toEqual(["Rich", "Rich", "Rich"]);
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
  },
  "The result holds a title, a word count and the content.": async () => {
    const { title, word_count, content } = await json([RICH]);
    expect([title, word_count, content]).toEqual([
      "Rich",
      expect.any(Number),
      expect.stringContaining("mill wheel"),
    ]);
  },
  "Discovery is by breadth-first link traversal from seed URLs and/or by sitemap ingestion.": async () => {
    const seeds = [`${site.origin}/`];
    const maps = ["--sitemap", `${site.origin}/sitemap.xml`];
    const linked = ["/", "/p/1", "/p/2"];
    expect(pathsOf(await crawlOnce(seeds))).toEqual(linked);
    expect(pathsOf(await crawlOnce(maps))).toEqual(["/listed"]);
    expect(pathsOf(await crawlOnce([...seeds, ...maps]))).toEqual(["/", "/listed", "/p/1", "/p/2"]);
  },
  "Each extracted page is written as a Markdown file, and a manifest file records the outcome": async () => {
    const { files, manifest } = await crawlOnce([`${site.origin}/`]);
    expect(files).toEqual(manifest!.results.map(({ file_path }) => file_path!).sort());
  },
  "a command-line program, an HTTP server": async () => {
    const answer = (await (await server.post("/", { url: RICH })).json()) as { readonly title: string };
    expect([(await json([RICH])).title, answer.title]).toEqual(["Rich", "Rich"]);
  },
  "extract from an HTML string with an optional url and options": async () => {
    const body = `const plain = await extractArticle(${source});
      const placed = await extractArticle(${source}, "https://mill.example/a", { includeCode: false });
      return [plain.title, plain.url, placed.url, placed.markdown.includes("weir today")];`;
    expect(await inLibrary(body)).toEqual(["Rich", null, "https://mill.example/a", false]);
  },
  "extract from a URL asynchronously": async () => {
    const body = `const work = extractArticleFromUrl(${JSON.stringify(RICH)});
      return [work instanceof Promise, (await work).title];`;
    expect(await inLibrary(body)).toEqual([true, "Rich"]);
  },
  "A page is fetched either with a browser-automation fetcher or with a plain HTTP client.": async () => {
    const page = [`${scripted.origin}/plain`, "--min-words", "1"];
    expect((await json([...page, "--prefer-browser"])).fetcher).toBe("browser");
    expect((await json([...page, "--prefer-http"])).fetcher).toBe("http");
  },
  "The preference is configurable.": async () => {
    const fetcherWith = async (ARTICLE_EXTRACTOR_PREFER_BROWSER: string) => {
      const run = await runBinary([`${scripted.origin}/plain`, "--min-words", "1"], {
        env: { ARTICLE_EXTRACTOR_PREFER_BROWSER },
      });
      return JSON.parse(run.stdout).fetcher;
    };
    expect([await fetcherWith("true"), await fetcherWith("false")]).toEqual(["browser", "http"]);
  },
};

describe("the service", () => {
  for (const [words, holds] of Object.entries(SERVICE)) statement("What the service does", words, holds);
});

const optionsOf = async (options: object) => {
  const response = await server.post("/", { url: RICH, options });
  return (await response.json()) as { readonly markdown: string; readonly warnings: string[] | null };
};
const libraryWith = async (options: object) =>
  (await inLibrary(
    `const { markdown, warnings } = await extractArticle(${source}, null, ${JSON.stringify(options)}); return { markdown, warnings };`,
  )) as {
    readonly markdown: string;
    readonly warnings: string[];
  };

statement(
  "Extraction options",
  "min_word_count (CLI `--min-words`) | integer | Minimum word count.",
  async () => {
    const warning = expect.stringMatching(/minimum word count .*5000/);
    expect((await optionsOf({ min_word_count: 5000 })).warnings).toEqual([warning]);
    expect((await libraryWith({ minWordCount: 5000 })).warnings).toEqual([warning]);
    expect((await json([RICH, "--min-words", "5000"])).warnings).toEqual([warning]);
  },
);

statement(
  "Extraction options",
  "include_images (CLI `--no-images` turns it off) | boolean | Keep images.",
  async () => {
    const kept = [
      await optionsOf({ include_images: true }),
      await libraryWith({ includeImages: true }),
      await json([RICH]),
    ];
    const gone = [
      await optionsOf({ include_images: false }),
      await libraryWith({ includeImages: false }),
      await json([RICH, "--no-images"]),
    ];
    for (const { markdown } of kept) expect(markdown).toContain("mill.png");
    for (const { markdown } of gone) expect(markdown).not.toContain("mill.png");
  },
);

statement("Extraction options", "CLI `--no-code` | flag | Drop code blocks.", async () => {
  expect((await json([RICH])).markdown).toContain("weir today");
  expect((await json([RICH, "--no-code"])).markdown).not.toContain("weir today");
});

const NAMING = "Extraction and Crawl Service Specification";

statement(NAMING, "`prefer_browser`, `--prefer-browser`, `ARTICLE_EXTRACTOR_PREFER_BROWSER`", async () => {
  const help = (await runBinary(["--help"])).stdout;
  const manual = (await runBinary(["man"])).stdout.replaceAll("\\-", "-");
  const document = await (await server.get("/openapi.json")).text();
  expect(help).toContain("--prefer-browser");
  expect(manual).toContain("ARTICLE_EXTRACTOR_PREFER_BROWSER");
  expect(document).toContain('"prefer_browser"');
});

statement(NAMING, "(`--prefer-http`)", async () => {
  expect((await runBinary(["--help"])).stdout).toContain("--prefer-http");
});

const ENDPOINTS = "Endpoints";

statement(ENDPOINTS, "POST | / | Extract one page.", async () => {
  expect((await server.post("/", { url: RICH })).status).toBe(200);
});

statement(
  ENDPOINTS,
  "JSON body as the extraction request; response is the extraction result as JSON",
  async () => {
    const response = await server.post("/", { url: RICH });
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect((await response.json()) as object).toMatchObject({ title: "Rich", warnings: null });
    expect((await server.post("/", "url=x")).status).toBe(400);
  },
);

statement(ENDPOINTS, "JSON body as the crawl job request", async () => {
  expect((await server.post("/crawl", { output_dir: "out", seeds: [`${site.origin}/p/1`] })).status).toBe(
    202,
  );
  expect((await server.post("/crawl", { output_dir: "out", seed: `${site.origin}/p/1` })).status).toBe(422);
  expect(existsSync(join(server.directory, "out"))).toBeTrue();
});

statement(ENDPOINTS, "GET | /health | Readiness probe.", async () => {
  expect((await server.get("/health")).status).toBe(200);
});

statement(ENDPOINTS, "readiness probe; body: not shown", async () => {
  const body = (await (await server.get("/health")).json()) as { readonly status: string };
  expect(body.status).toBe("healthy");
});

statement(ENDPOINTS, "GET | /docs | Interactive API documentation UI.", async () => {
  const response = await server.get("/docs");
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    expect.stringContaining("text/html"),
  ]);
});

statement(ENDPOINTS, "interactive OpenAPI UI", async () => {
  const html = await (await server.get("/docs")).text();
  const scripts = [...html.matchAll(/<script[^>]+src="([^"]+)"/g)].map(([, address = ""]) => address);
  expect(scripts.length).toBeGreaterThan(0);
  for (const address of scripts)
    expect((await fetch(new URL(address, `${server.url}/docs`))).status).toBe(200);
  const document = (await (await server.get("/openapi.json")).json()) as {
    readonly openapi: string;
    readonly paths: object;
  };
  expect(document.openapi).toMatch(/^3\./);
  const paths = ["/", "/crawl", "/crawl/{job_id}", "/crawl/{job_id}/manifest", "/health", "/docs"];
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(paths));
});

statement(ENDPOINTS, "bind address `HOST`, port `PORT`", async () => {
  // Options go before these variables; test files start servers with options, this one without.
  const { stdout } = await runBinary(["serve", "--help"]);
  expect(stdout).toMatch(/--host/);
  const wrong = await runBinary(["serve", "extractor"], { env: { HOST: "192.0.2.1", PORT: "4999" } });
  expect(wrong.stderr).toContain("192.0.2.1 port 4999");
});
