import { describe, expect, test } from "bun:test";
import { articleFromUrl, createErrorPages } from "../../../src/articles/index.ts";
import { Failure } from "../../../src/base/failure.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { extractBody } from "../../../src/extraction/index.ts";
import {
  createEgress,
  createHttpFetcher,
  DEFAULT_FETCH_LIMITS,
  parseEgressPolicy,
  systemResolve,
} from "../../../src/fetching/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";

const SENTENCE = "The mill at the river mouth has turned again since the spring, and people sleep better. ";
const page = (title: string, body: string): string =>
  `<!doctype html><html><head><title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>${" ".repeat(500)}`;
const article = (sentences: number): string => `<p>${SENTENCE.repeat(sentences)}</p>`;
/** Says in no known words that it is missing, and has more words than a notice. */
const TEMPLATE = page(
  "Whoops",
  `<p>${"The keeper of this site has looked in every drawer and behind the stove, to no avail. ".repeat(6)}</p>`,
);

type Answer = readonly [status: number, html: string, headers?: Readonly<Record<string, string>>];

/** Serves some pages, and for every other address what `others` says. */
function serveSite(pages: Readonly<Record<string, Answer>>, others: (path: string) => Answer) {
  const asked: string[] = [];
  const server = serveLocal((request) => {
    const path = new URL(request.url).pathname;
    asked.push(path);
    const [status, body, headers] = pages[path] ?? others(path);
    return new Response(body, {
      status,
      headers: { "content-type": "text/html; charset=utf-8", ...headers },
    });
  });
  const invented = () => asked.filter((path) => path.includes("no-such-page-"));
  return Object.assign(server, { asked, invented });
}

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

type Reading = {
  readonly failsOnHttpError?: boolean;
  readonly errorPages?: ReturnType<typeof createErrorPages>;
};

/** What a URL gives: `success`, or the code and status of its failure. */
async function read(url: string, { failsOnHttpError = false, errorPages }: Reading = {}): Promise<unknown> {
  const options = { ...DEFAULT_EXTRACTION, minWordCount: 0, failsOnHttpError, renderings: [] };
  try {
    await articleFromUrl(
      { url, preference: "http_only", options, fetch: {}, ...(errorPages && { errorPages }) },
      { fetchers: { http: fetcher, browser: null }, extractor: { extract: extractBody } },
    );
    return "success";
  } catch (error) {
    if (error instanceof Failure) return [error.code, error.targetStatus];
    throw error;
  }
}

describe("a page with status 404 or 410", () => {
  test("that only says so in a few words is no article, and nothing else is asked for", async () => {
    const notice = page("Seite nicht gefunden", article(2));
    await using site = serveSite({ "/a": [404, notice], "/b": [410, notice] }, () => [404, ""]);
    expect(await read(`${site.url.origin}/a`)).toEqual(["http_status", 404]);
    expect(await read(`${site.url.origin}/b`)).toEqual(["http_status", 410]);
    expect(site.asked).toEqual(["/a", "/b"]);
  });

  test("that is the same at an invented address is no article, whatever it says", async () => {
    await using site = serveSite({}, (path) => [
      404,
      TEMPLATE.replace("every drawer", `every drawer for ${path}`),
    ]);
    expect(await read(`${site.url.origin}/docs/a?page=2`)).toEqual(["http_status", 404]);
    expect(site.invented()).toEqual([expect.stringMatching(/^\/docs\/no-such-page-[a-f]*x$/)]);
  });

  test("that is an article stays one, also when it is short or says in its title what others say", async () => {
    await using site = serveSite(
      {
        "/short": [404, page("The mill", article(2))],
        "/long": [404, page("The mill", article(200))],
        "/story": [410, page("The gate that could not be found", article(5))],
      },
      () => [404, TEMPLATE],
    );
    for (const path of ["/short", "/long", "/story"])
      expect([path, await read(`${site.url.origin}${path}`)]).toEqual([path, "success"]);
  });

  test("is compared with one invented address of its site, however many pages it has", async () => {
    const pages = Object.fromEntries(
      Array.from({ length: 12 }, (_, index): [string, Answer] => [
        `/${index}`,
        [404, page("Tides", article(index + 4))],
      ]),
    );
    await using site = serveSite(pages, () => [404, TEMPLATE]);
    const errorPages = createErrorPages();
    const all = [...Object.keys(pages), "/x", "/y"].map((path) =>
      read(`${site.url.origin}${path}`, { errorPages }),
    );
    expect(await Promise.all(all)).toEqual([
      ...Object.keys(pages).map(() => "success"),
      ["http_status", 404],
      ["http_status", 404],
    ]);
    expect(site.invented()).toHaveLength(1);
  });

  test("is an article where the invented address cannot be had, or answers from another site", async () => {
    await using other = serveSite({}, () => [404, TEMPLATE]);
    for (const answer of [
      [500, TEMPLATE],
      [404, ""],
      [302, "", { location: `${other.url.origin}/elsewhere` }],
    ] as const) {
      await using site = serveSite({ "/a": [404, TEMPLATE] }, () => answer);
      expect(await read(`${site.url.origin}/a`)).toBe("success");
      expect(site.invented()).toHaveLength(1);
    }
    expect(other.asked).toEqual([]);
  });

  test("is a failure where every error status is to be one, and no page of another status is asked for more", async () => {
    await using site = serveSite(
      { "/a": [404, page("The mill", article(20))], "/b": [200, page("Page not found", article(1))] },
      () => [404, TEMPLATE],
    );
    expect(await read(`${site.url.origin}/a`, { failsOnHttpError: true })).toEqual(["http_status", 404]);
    expect(await read(`${site.url.origin}/b`, { failsOnHttpError: true })).toBe("success");
    expect(site.asked).toEqual(["/a", "/b"]);
  });
});

describe("what sites show for addresses that do not exist", () => {
  const shown = { url: "" as never, wordCount: 1, pairs: new Uint32Array(), digest: "a", fullDigest: "a" };

  test("is looked up anew after an hour, and when whoever looked it up was cancelled", async () => {
    let now = 0;
    let looks = 0;
    const pages = createErrorPages(() => now);
    const look = async () => {
      looks++;
      return shown;
    };
    const lost = pages.take("a", () => Promise.reject(new Failure("cancelled", "called off")));
    const waiting = pages.take("a", look);
    expect(lost).rejects.toThrow("called off");
    expect(await waiting).toBe(shown);
    await pages.take("a", look);
    expect(looks).toBe(1);
    now = 61 * 60_000;
    await pages.take("a", look);
    expect(looks).toBe(2);
  });
});
