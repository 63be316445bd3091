import { expect, test } from "bun:test";
import { runCommand } from "../../support/command.ts";
import { type CrawlSite, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const site: CrawlSite = forAllTests(
  serveCrawlSite({
    "/robots.txt": () =>
      new Response(`Sitemap: ${site.origin}/pages.xml\nUser-agent: *\nDisallow: /private/`),
    "/pages.xml": () =>
      new Response(
        `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${[
          "/a",
          "/b",
          "/private/c",
        ]
          .map((path) => `<url><loc>${site.origin}${path}</loc><lastmod>2026-03-01</lastmod></url>`)
          .join("")}</urlset>`,
        { headers: { "content-type": "application/xml" } },
      ),
    "/": page("The weir", ["/b", "/docs/c", "/private/d", "http://other.test/e"]),
    "/robotless": page("Nothing", []),
  }),
);
const map = (...words: string[]) => runCommand(["map", ...words, "--no-browser", "--rate-limit", "0"]);
const paths = (text: string): string[] =>
  text
    .trim()
    .split("\n")
    .map((line) => line.replace(site.origin, ""));

test("lists the seed, what sitemaps name and what the seed links to, each once, and fetches no other page", async () => {
  const { exitCode, stdout, stderr } = await map(`${site.origin}/`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(paths(stdout)).toEqual(["/", "/a", "/b", "/docs/c"]);
  expect(site.visits.map(({ path }) => path).filter((path) => !/robots|pages\.xml/.test(path))).toEqual([
    "/",
  ]);
});

test("says of each from where it is known", async () => {
  const { stdout } = await map(`${site.origin}/`, "--json");
  const date = { lastmod: "2026-03-01T00:00:00.000Z", source: "sitemap" };
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { url: `${site.origin}/`, title: "The weir", lastmod: null, source: "seed" },
    { url: `${site.origin}/a`, title: null, ...date },
    { url: `${site.origin}/b`, title: "a link to /b", ...date },
    { url: `${site.origin}/docs/c`, title: "a link to /docs/c", lastmod: null, source: "link" },
  ]);
});

test.each([
  ["globs", ["--include-url", "/docs/**"], ["/", "/docs/c"]],
  ["prefixes", ["--deny-prefix", "/b"], ["/", "/a", "/docs/c"]],
  ["no links", ["--no-follow-links"], ["/", "/a", "/b"]],
  ["robots.txt ignored", ["--ignore-robots"], ["/", "/a", "/b", "/private/c", "/docs/c", "/private/d"]],
])("takes %s", async (_, words, expected) => {
  expect(paths((await map(`${site.origin}/`, ...words)).stdout)).toEqual(expected);
});

test.each<[string[], string[]]>([
  [[], ["robots /private/c", "robots /private/d", "foreign_origin http://other.test/e"]],
  [
    ["--exclude-url", "/b"],
    ["out_of_scope /b", "robots /private/c", "robots /private/d", "foreign_origin http://other.test/e"],
  ],
  [["--no-follow-links"], ["robots /private/c"]],
])(
  "--left-out %j lists the others, each with its reason, and asks no other site",
  async (words, expected) => {
    const left = await map(`${site.origin}/`, "--left-out", ...words);
    expect(paths(left.stdout.replaceAll("\t", " "))).toEqual(expected);
    const lines = (await map(`${site.origin}/`, "--left-out", "--json", ...words)).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual(expected.map((line) => line.split(" ")[0]));
  },
);

test("--left-out of a site that leaves nothing out is an empty list, and no failure", async () => {
  const left = await map(`${site.origin}/robotless`, "--left-out", "--ignore-robots");
  expect(left).toEqual({ exitCode: 0, stdout: "", stderr: "" });
});

test("ends at its limit, and says so", async () => {
  const { stdout, stderr } = await map(`${site.origin}/`, "--max-pages", "2");
  expect(paths(stdout)).toEqual(["/", "/a"]);
  expect(stderr).toBe("warning: the list ends after 2 pages; --max-pages takes more\n");
});

test("lists what sitemaps name where the page cannot be had", async () => {
  const { exitCode, stdout, stderr } = await map(`${site.origin}/missing`);
  expect(exitCode).toBe(0);
  expect(paths(stdout)).toEqual(["/missing", "/a", "/b"]);
  expect(stderr).toStartWith("warning: the links of a page are left out: ");
});
