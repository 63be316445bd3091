import { describe, expect, test } from "bun:test";
import { page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

const alternates = (languages: Readonly<Record<string, string>>) =>
  Object.entries(languages)
    .map(([language, path]) => `<link rel="alternate" hreflang="${language}" href="{origin}${path}">`)
    .join("");
const canonical = (path: string) => `<link rel="canonical" href="{origin}${path}">`;

type Pages = Readonly<Record<string, string>>;

/** Crawls a site from its seed. @returns the paths that were stored and requested, and the reasons for the others */
async function crawlFrom(seed: string, pages: Pages, changes: Parameters<typeof crawlSite>[2]) {
  await using site = serveCrawlSite(pages);
  const seeds = [`${site.origin}${seed}`];
  const { outcomes, summary } = await crawlSite(app, site, {
    seeds,
    maxDepth: 5,
    concurrency: 1,
    ...changes,
  });
  const pathOf = (url: string) => url.replace(site.origin, "");
  const stored = outcomes.filter(({ status }) => status === "success").map(({ url }) => pathOf(url));
  const skipped = outcomes
    .filter(({ reason }) => reason !== null)
    .map(({ url, reason }) => `${pathOf(url)} ${reason}`);
  return {
    stored: stored.sort(),
    skipped: skipped.sort(),
    links: summary.skippedLinks,
    asked: site.visits.map(({ path }) => path).filter((path) => !path.endsWith(".txt")),
  };
}

/** A site whose pages name their translations, by folders, a folder only for German, or a parameter. */
function translated(at: (language: string, name: string) => string): Pages {
  const names = ["", "a", "b", "c"];
  return Object.fromEntries(
    ["en", "de", "pt-BR"].flatMap((language) =>
      names.map((name) => {
        const own = Object.fromEntries(
          ["en", "de", "pt-BR", "x-default"].map((other) => [other, at(other, name)]),
        );
        const links = ["en", "de", "pt-BR"].flatMap((other) => names.map((next) => at(other, next)));
        return [at(language, name), page(`${language} ${name}`, links, alternates(own))];
      }),
    ),
  );
}

const FORMS: Readonly<Record<string, (language: string, name: string) => string>> = {
  "a folder": (language, name) => `/docs/${language === "x-default" ? "en" : language.toLowerCase()}/${name}`,
  "a folder behind": (language, name) => `/${language === "x-default" ? "en" : language}/docs/${name}.html`,
  "a folder for the others": (language, name) =>
    language === "en" || language === "x-default" ? `/docs/${name}` : `/${language}/docs/${name}`,
  "a parameter": (language, name) => `/docs/${name}?hl=${language === "x-default" ? "en" : language}`,
};

describe("--one-language", () => {
  for (const [form, at] of Object.entries(FORMS)) {
    const pages = translated(at);
    const wanted = ["", "a", "b", "c"].map((name) => at("en", name)).sort();

    test(`leaves out the others of a site with ${form}`, async () => {
      const run = await crawlFrom(at("en", ""), pages, { oneLanguage: "en" });
      expect(run.stored).toEqual(wanted);
      expect(run.asked.toSorted()).toEqual(wanted);
      expect(run.links.other_language).toBeGreaterThan(0);
    });

    test(`goes on in the wanted one from a seed in another, with ${form}`, async () => {
      const run = await crawlFrom(at("de", "a"), pages, { oneLanguage: "en" });
      expect(run.stored).toEqual(wanted);
      expect(run.skipped).toEqual([`${at("de", "a")} other_language`]);
    });
  }

  test("knows a region, and that a language has it", async () => {
    const at = FORMS["a folder"]!;
    const pages = translated(at);
    const brazilian = ["", "a", "b", "c"].map((name) => at("pt-BR", name)).sort();
    expect((await crawlFrom(at("en", ""), pages, { oneLanguage: "pt" })).stored).toEqual(brazilian);
    expect((await crawlFrom(at("en", ""), pages, { oneLanguage: "PT-br" })).stored).toEqual(brazilian);
    // It has none of these, and so nothing stands for a page.
    expect((await crawlFrom(at("en", ""), pages, { oneLanguage: "pt-PT" })).stored).toHaveLength(12);
  });

  test("keeps pages that the site has in another language only, and takes no folder for a language by its name", async () => {
    const pages = {
      "/en/": page("Home", ["/de/only", "/it/tools", "/en/a"], alternates({ en: "/en/", de: "/start" })),
      "/de/only": page("Nur hier"),
      "/it/tools": page("Information technology"),
      "/en/a": page("A", ["/start"]),
      "/start": page("Anfang"),
    };
    const run = await crawlFrom("/en/", pages, { oneLanguage: "en" });
    expect(run.stored).toEqual(["/de/only", "/en/", "/en/a", "/it/tools"]);
  });
});

describe("--one-version", () => {
  /** A documentation whose pages lead to themselves in all versions. */
  const versioned = (versions: readonly string[], head: (name: string) => string = () => ""): Pages =>
    Object.fromEntries(
      versions.flatMap((version) =>
        ["", "intro", "setup"].map((name) => {
          const links = [...["intro", "setup"].map((next) => `/docs/${version}/${next}`)];
          const selector = versions.map((other) => `/docs/${other}/${name}`);
          return [
            `/docs/${version}/${name}`,
            page(`${version} ${name}`, [...links, ...selector], head(name)),
          ];
        }),
      ),
    );
  const of = (version: string) => ["", "intro", "setup"].map((name) => `/docs/${version}/${name}`);

  test.each([
    [["1.9", "2.0", "2.10"], "2.10"],
    [["v1", "v2", "v10"], "v10"],
    [["1.x", "2.x", "next"], "2.x"],
    [["main", "2.0", "stable"], "stable"],
    [["1.9", "latest", "dev"], "latest"],
  ])("takes of %j the latest, %s, wherever it begins", async (versions, latest) => {
    for (const seed of versions) {
      const run = await crawlFrom(`/docs/${seed}/`, versioned(versions), { oneVersion: "latest" });
      // A start alone, with numbers only, might be a note on a release.
      const isNamed = versions.some((version) => !/\d/.test(version));
      const start = isNamed || seed === latest ? [] : [`/docs/${seed}/`];
      expect([seed, run.stored]).toEqual([seed, [...start, ...of(latest)].sort()]);
      expect(run.asked.filter((path) => !path.startsWith(`/docs/${latest}/`)).length).toBeLessThan(5);
    }
  });

  test("takes the one that is named", async () => {
    const run = await crawlFrom("/docs/1.9/", versioned(["1.9", "2.0", "2.10"]), { oneVersion: "1.9" });
    expect(run.stored).toEqual(of("1.9"));
  });

  test("believes the canonical address of a page", async () => {
    const versions = ["1.9", "2.0"];
    const named = versioned(versions, (name) => canonical(`/docs/1.9/${name}`));
    expect((await crawlFrom("/docs/2.0/", named, { oneVersion: "latest" })).stored).toEqual(of("1.9"));
    const bare = {
      ...versioned(versions, (name) => canonical(`/docs/${name}`)),
      "/docs/": page("Docs", ["/docs/intro", "/docs/1.9/"]),
      "/docs/intro": page("Intro", ["/docs/1.9/intro"]),
    };
    expect((await crawlFrom("/docs/", bare, { oneVersion: "latest" })).stored).toEqual([
      "/docs/",
      "/docs/intro",
    ]);
  });

  test("takes notes on releases for pages of their own", async () => {
    const numbers = ["1.0", "1.1", "1.2", "2.0"];
    const all = numbers.flatMap((number) => [
      `/releases/${number}/`,
      `/changes/${number}.html`,
      `/notes/${number}`,
    ]);
    const pages = Object.fromEntries(all.map((path) => [path, page(`At ${path}`, all)]));
    const run = await crawlFrom("/releases/1.0/", pages, { oneVersion: "latest" });
    expect(run.stored).toEqual(all.toSorted());
  });

  test("takes two numbered pages for pages, and a year or a chapter for none", async () => {
    const pages = {
      "/news/": page("News", ["/news/1.1/a", "/news/1.2/a", "/2025/a", "/2026/a", "/book/1/a", "/book/2/a"]),
      "/news/1.1/a": page("Release 1.1", ["/news/1.2/a"]),
      "/news/1.2/a": page("Release 1.2", ["/news/1.1/a"]),
      "/2025/a": page("2025", ["/2026/a", "/2024/a"]),
      "/2026/a": page("2026"),
      "/2024/a": page("2024"),
      "/book/1/a": page("1", ["/book/2/a", "/book/3/a"]),
      "/book/2/a": page("2"),
      "/book/3/a": page("3"),
    };
    const run = await crawlFrom("/news/", pages, { oneVersion: "latest" });
    expect(run.stored).toEqual(Object.keys(pages).sort());
  });
});

describe("--since", () => {
  const dated = (date: string) => `<meta property="article:published_time" content="${date}">`;
  const pages = {
    "/": page("Home", ["/old", "/new", "/day", "/plain"]),
    "/old": page("Old", ["/behind"], dated("2025-12-31T23:00:00Z")),
    "/behind": page("Behind"),
    "/new": page("New", [], dated("2026-02-01T08:00:00Z")),
    "/day": page("Day", [], dated("2026-01-31")),
    "/plain": page("Plain"),
  };

  test("leaves out pages that say that they are older, and follows their links", async () => {
    const run = await crawlFrom("/", pages, { since: "2026-01-31" });
    expect(run.stored).toEqual(["/", "/behind", "/day", "/new", "/plain"]);
    expect(run.skipped).toEqual(["/old older"]);
  });

  test("does not ask for older pages of a sitemap", async () => {
    const listed = (path: string, date: string) =>
      `<url><loc>{origin}${path}</loc>${date && `<lastmod>${date}</lastmod>`}</url>`;
    const sitemap = [
      listed("/old", "2025-12-31"),
      listed("/new", "2026-02-01T00:00:00Z"),
      listed("/plain", ""),
    ];
    await using site = serveCrawlSite({
      ...pages,
      "/sitemap.xml": ({ headers }) =>
        new Response(
          `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${sitemap.join("")}</urlset>`.replaceAll(
            "{origin}",
            `http://${headers.host}`,
          ),
          { headers: { "content-type": "application/xml" } },
        ),
    });
    const changes = {
      seeds: [],
      sitemaps: [`${site.origin}/sitemap.xml`],
      since: "2026-01-31",
      followsLinks: false,
    };
    await crawlSite(app, site, changes);
    expect(site.count("/old")).toBe(0);
    expect([site.count("/new"), site.count("/plain")]).toEqual([1, 1]);
  });
});
