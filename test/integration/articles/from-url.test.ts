import { describe, expect, test } from "bun:test";
import { articleFromUrl, type FetchedArticle } from "../../../src/articles/index.ts";
import { Failure } from "../../../src/base/failure.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { type ExtractionOptions, extractBody } from "../../../src/extraction/index.ts";
import {
  createEgress,
  createHttpFetcher,
  DEFAULT_FETCH_LIMITS,
  parseEgressPolicy,
  systemResolve,
} from "../../../src/fetching/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { parsePageUrl } from "../../../src/urls/index.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";

const SENTENCE = "The mill at the river mouth has turned again since the spring, and people sleep better. ";
const PARAGRAPH = `<p>${SENTENCE.repeat(4)}</p>`;
const ARTICLE = `<html><head><title>The mill</title></head><body><article>${PARAGRAPH}${PARAGRAPH}</article></body></html>`;

type Answer = {
  readonly status?: number;
  readonly type?: string | null;
  readonly location?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
};

/** The site's answers by path; each test adds what it needs. */
const answers = new Map<string, Answer>();

const server = forAllTests(
  serveLocal((request) => {
    const {
      status = 200,
      type = "text/html; charset=utf-8",
      location,
      body = "",
    } = answers.get(new URL(request.url).pathname) ?? { status: 404 };
    const headers = new Headers(location === undefined ? {} : { location });
    if (type !== null) headers.set("content-type", type);
    return new Response(body, { status, headers });
  }),
);
const fetcher = forAllTests(
  createHttpFetcher({
    egress: createEgress({ policy: parseEgressPolicy("open"), resolve: systemResolve, resolverTtlMs: 1000 }),
    caller: { kind: "cli" },
    chooseProxy: () => null,
    userAgent: "test",
    limits: { ...DEFAULT_FETCH_LIMITS, tries: 1 },
    log: silentLog,
  }),
);

const at = (path: string): string => `${server.url.origin}${path}`;

function serve(path: string, answer: Answer): string {
  answers.set(path, answer);
  return at(path);
}

function fromUrl(url: string, options: Partial<ExtractionOptions> = {}): Promise<FetchedArticle> {
  const whole: ExtractionOptions = {
    ...DEFAULT_EXTRACTION,
    minWordCount: 0,
    renderings: ["content", "markdown"],
  };
  return articleFromUrl(
    { url, preference: "http_only", options: { ...whole, ...options }, fetch: {} },
    { fetchers: { http: fetcher, browser: null }, extractor: { extract: extractBody } },
  );
}

async function failureAt(url: string): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await fromUrl(url);
  } catch (error) {
    if (error instanceof Failure) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error(`${url} did not fail`);
}

describe("an article from a URL", () => {
  test("says which URL was requested, where it was found and how", async () => {
    const url = serve("/mill", {
      body: ARTICLE.replace("</title>", `</title><link rel="canonical" href="/the-mill">`),
    });
    const { article, ...rest } = await fromUrl(`${url}?utm_source=x#part`);
    expect(rest).toEqual({
      url: `${url}?utm_source=x#part`,
      finalUrl: parsePageUrl(url),
      canonicalUrl: parsePageUrl(at("/the-mill")),
      statusCode: 200,
      fetcher: "http",
      warnings: [],
      timings: { fetchMs: expect.any(Number), extractionMs: expect.any(Number) },
    });
    expect(article.title).toBe("The mill");
  });

  test("has the final URL after redirects, and relative links from there", async () => {
    serve("/new/place", { body: ARTICLE.replace("<p>", `<p><a href="next">next</a> <img src="a.png"> `) });
    serve("/hop", { status: 301, location: "/new/place", type: null });
    const url = serve("/old", { status: 302, location: "hop", type: null });
    const { finalUrl, article, url: asked } = await fromUrl(url);
    expect(asked).toBe(url);
    expect(finalUrl).toBe(parsePageUrl(at("/new/place")));
    expect(article.content).toContain(`href="${at("/new/next")}"`);
    expect(article.content).toContain(`src="${at("/new/a.png")}"`);
    expect(article.markdown).toContain(`(${at("/new/next")})`);
  });

  test("resolves relative links against the base element", async () => {
    const url = serve("/based", {
      body: ARTICLE.replace("</title>", `</title><base href="/docs/">`).replace(
        "<p>",
        `<p><a href="next">n</a> `,
      ),
    });
    expect((await fromUrl(url)).article.content).toContain(`href="${at("/docs/next")}"`);
  });

  test("of a Markdown body passes the Markdown through", async () => {
    const url = serve("/page.md", {
      type: "text/markdown; charset=utf-8",
      body: "---\nkey: v\n---\n# The *mill*\n\n* turns & <b>turns</b>",
    });
    const { article } = await fromUrl(url);
    expect([article.title, article.markdown]).toEqual(["The mill", "* turns & <b>turns</b>"]);
  });

  test("of a plain text body reads no markup in it", async () => {
    const url = serve("/page.txt", { type: "text/plain", body: "The <b>mill</b> &amp; *turns*" });
    expect((await fromUrl(url)).article.text).toBe("The <b>mill</b> &amp; *turns*");
  });

  test("of XHTML is read as HTML", async () => {
    const url = serve("/page.xhtml", { type: "application/xhtml+xml", body: ARTICLE });
    expect((await fromUrl(url)).article.title).toBe("The mill");
  });

  test("warns when bytes were invalid in their encoding", async () => {
    const body = Buffer.concat([
      Buffer.from("<p>one "),
      Buffer.from([0xff, 0xfe, 0xfd]),
      Buffer.from(" two</p>"),
    ]);
    const { warnings, article } = await fromUrl(serve("/malformed", { body: new Uint8Array(body) }));
    expect(warnings).toEqual(["Some bytes are not valid utf-8 and were replaced"]);
    expect(article.text).toContain("two");
  });

  test("carries the warnings of the extraction", async () => {
    const { warnings } = await fromUrl(serve("/short", { body: "<p>three short words</p>" }), {
      minWordCount: 150,
    });
    expect(warnings).toEqual(["Content below minimum word count (3 < 150)"]);
  });

  test("fails as no_content, naming the page, when it holds no words", async () => {
    for (const [path, answer] of Object.entries({
      "/empty": { body: "" },
      "/wordless": { body: "<html><body><img src=/a.png></body></html>" },
      "/empty.txt": { body: " \n", type: "text/plain" },
    })) {
      const url = serve(path, answer);
      expect(await failureAt(url)).toEqual({
        code: "no_content",
        message: `${url} holds no words of content`,
      });
    }
  });

  test("fails as invalid_url for anything but a web address", async () => {
    for (const url of ["", "mill", "ftp://site.test/", "file:///etc/passwd", "javascript:alert(1)"]) {
      expect(await failureAt(url)).toEqual({
        code: "invalid_url",
        message: `${JSON.stringify(url)} is not an http or https URL`,
      });
    }
  });

  test("fails as unsupported_content for a type that holds no article", async () => {
    expect((await failureAt(serve("/a.png", { type: "image/png", body: "x" }))).code).toBe(
      "unsupported_content",
    );
  });
});

describe("an error status", () => {
  for (const status of [400, 401, 403, 451, 500, 503]) {
    test(`of ${status} fails as http_status, naming the URL and the status, whatever the body holds`, async () => {
      const url = serve(`/status/${status}`, { status, body: ARTICLE });
      expect(await failureAt(url)).toEqual({
        code: "http_status",
        message: `GET ${url} answered HTTP ${status}`,
      });
    });
  }

  test("after a redirect names the URL that answered", async () => {
    const gone = serve("/gone", { status: 500 });
    const url = serve("/to-gone", { status: 302, location: "/gone", type: null });
    expect((await failureAt(url)).message).toBe(`GET ${gone} answered HTTP 500`);
  });
});

/** Pads markup to a body of exactly this many bytes. */
const padded = (markup: string, bytes: number): string => `${markup}${" ".repeat(bytes - markup.length)}`;

describe("a transient 404", () => {
  test("with an article is extracted, and says so in exactly these words", async () => {
    const url = serve("/spa", { status: 404, body: ARTICLE });
    const { statusCode, warnings, article } = await fromUrl(url, { minWordCount: 1000 });
    expect(statusCode).toBe(404);
    expect(warnings).toEqual([...article.warnings, "Extracted after HTTP 404 (SPA/client-rendered)"]);
    expect(article.warnings).toHaveLength(1);
    expect(article.text).toStartWith(SENTENCE.trim());
  });

  test("may also be a 410", async () => {
    const { statusCode, warnings } = await fromUrl(serve("/spa-410", { status: 410, body: ARTICLE }));
    expect(statusCode).toBe(410);
    expect(warnings).toEqual(["Extracted after HTTP 404 (SPA/client-rendered)"]);
  });

  for (const tag of ["<article>", "<main class=x>", "<P>", "<p\n>", "<main/>"]) {
    test(`is seen by ${JSON.stringify(tag)}`, async () => {
      const url = serve("/by-tag", { status: 404, body: padded(`${tag}some words of content`, 501) });
      expect((await fromUrl(url)).article.text).toBe("some words of content");
    });
  }

  test("needs a body of more than 500 bytes", async () => {
    const markup = "<p>some words of content";
    expect((await failureAt(serve("/500", { status: 404, body: padded(markup, 500) }))).code).toBe(
      "http_status",
    );
    expect((await fromUrl(serve("/501", { status: 404, body: padded(markup, 501) }))).statusCode).toBe(404);
  });

  test("counts bytes, not characters", async () => {
    const url = serve("/bytes", { status: 404, body: `<p>${"水車".repeat(90)}` });
    expect((await fromUrl(url)).statusCode).toBe(404);
  });

  test("needs an article, a main part or a paragraph", async () => {
    for (const markup of [
      "<div>not found</div>",
      "<pre>x</pre>",
      "<picture></picture>",
      "<articles>x</articles>",
      "&lt;p&gt;",
    ]) {
      const url = serve("/no-tag", { status: 404, body: padded(markup, 2000) });
      expect(await failureAt(url)).toEqual({ code: "http_status", message: `GET ${url} answered HTTP 404` });
    }
  });

  test("without words fails with its status", async () => {
    const url = serve("/wordless-404", { status: 404, body: padded("<main><p></p></main>", 2000) });
    expect(await failureAt(url)).toEqual({ code: "http_status", message: `GET ${url} answered HTTP 404` });
  });

  test("is not assumed for an unknown address without a body", async () => {
    expect((await failureAt(at("/nowhere"))).code).toBe("http_status");
  });
});
