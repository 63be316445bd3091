import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { crawlDelayMs, groupName, isAllowed } from "../../../src/fetching/index.ts";
import { parseRobots } from "../../../src/fetching/robots/robots.ts";

const allows = (robots: string, path: string, agent = "article-extractor"): boolean =>
  isAllowed(parseRobots(robots), agent, `https://example.org${path}`);

describe("groups", () => {
  const robots =
    "User-agent: a\nDisallow: /a\n\nUser-agent: b\nUser-agent: c\nDisallow: /bc\n\nUser-agent: *\nDisallow: /";

  test.each([
    ["a", "/a", false],
    ["a", "/bc", true],
    ["b", "/bc", false],
    ["c", "/bc", false],
    ["c", "/a", true],
    ["d", "/x", false],
    ["A/1.0 (+https://a.test)", "/a", false],
    ["ab", "/x", false],
  ])("agent %s and %s: allowed is %p", (agent, path, expected) => {
    expect(allows(robots, path, agent)).toBe(expected);
  });

  test("groups of one agent are merged", () => {
    const text = "User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A\nDisallow: /3";
    expect(allows(text, "/1", "a") || allows(text, "/3", "a")).toBe(false);
    expect(allows(text, "/2", "a")).toBe(true);
  });

  test("an agent's own empty group exempts it from the rules for all", () => {
    expect(allows("User-agent: *\nDisallow: /\nUser-agent: a\nDisallow:", "/x", "a")).toBe(true);
  });

  test("rules before the first agent apply to nobody", () => {
    expect(allows("Disallow: /\nUser-agent: *\nAllow: /", "/x")).toBe(true);
  });
});

describe("the group of a bot that presents itself as a browser", () => {
  const robots = "User-agent: QuayBot\nDisallow: /b\n\nUser-agent: *\nDisallow: /a";
  const own = [false, true];

  test.each([
    ["QuayBot/2.1", own],
    ["Mozilla/5.0 (compatible; QuayBot/2.1; +https://quay.example/bot)", own],
    ["Mozilla/5.0 (compatible; QuayBot; mailto:quay@quay.example)", own],
    ["Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; quaybot/1.1; +https://q.example)", own],
    [
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/157.0 Safari/537.36 QuayBot/2",
      own,
    ],
    ["Mozilla/5.0 (Linux; Android 14) Chrome/157.0 Mobile Safari/537.36 (compatible; QuayBot/2.1)", own],
    ["Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1)", [true, false]],
    ["Mozilla/5.0 (compatible; Pier/1.0; +https://q.example/QuayBot/2)", [true, false]],
  ])("%s", (agent, expected) => {
    expect([allows(robots, "/b", agent), allows(robots, "/a", agent)]).toEqual(expected);
  });

  test("is named", () => {
    const rules = parseRobots(robots);
    const name = (agent: string) => groupName(rules, agent);
    expect(name("Mozilla/5.0 (compatible; QuayBot/2.1)")).toBe("quaybot");
    expect(name("Mozilla/5.0 (X11) Chrome/157.0 Safari/537.36")).toBe("*");
    expect(groupName(parseRobots("User-agent: a\nDisallow: /"), "b")).toBeNull();
  });
});

describe("patterns", () => {
  test.each([
    ["Disallow: /", "/", false],
    ["Disallow: /", "/robots.txt", true],
    ["Disallow:", "/x", true],
    ["Disallow: /fish", "/fish.html", false],
    ["Disallow: /fish", "/Fish", true],
    ["Disallow: /fish", "/catfish", true],
    ["Disallow: /fish/", "/fish", true],
    ["Disallow: /fish*", "/fishheads/yummy", false],
    ["Disallow: /*.php", "/folder/any.php.file", false],
    ["Disallow: /*.php$", "/a.php", false],
    ["Disallow: /*.php$", "/a.php?x=1", true],
    ["Disallow: /*.php$", "/a.php.php", false],
    ["Disallow: /fish*.php", "/fishheads/cat.php?x", false],
    ["Disallow: /$", "/", false],
    ["Disallow: /$", "/a", true],
    ["Disallow: /a$b", "/a$b", false],
    ["Disallow: *", "/x", false],
    ["Disallow: /*?", "/x?y", false],
    ["Disallow: /*?", "/x", true],
    ["Disallow: /ab*ab$", "/ab", true],
    ["Disallow: /x\nAllow: /x/y", "/x/y/z", true],
    ["Allow: /x\nDisallow: /x/y", "/x/y/z", false],
    ["Disallow: /x\nAllow: /x", "/x", true],
    ["Allow: /*.htm\nDisallow: /page", "/page.htm", true],
    ["Allow: /page\nDisallow: /*.ph", "/page.php5", true],
    ["Disallow: /caf%C3%A9", "/café", false],
    ["Disallow: /café", "/caf%c3%a9", false],
    ["Disallow: /%7Ejoe", "/~joe", false],
    ["Disallow: /a%2fb", "/a%2Fb", false],
    ["Disallow: /a%2fb", "/a/b", true],
    ["Disallow: /a%2Ab", "/a*b", false],
    ["Disallow: /a%2Ab", "/axb", true],
    ["disallow : /x # secret", "/x", false],
    ["DISALLOW:/x", "/x", false],
  ])("%j and %s: allowed is %p", (rules, path, expected) => {
    expect(allows(`User-agent: *\n${rules}`, path)).toBe(expected);
  });

  test("line ends of every kind, a byte order mark and odd lines do no harm", () => {
    const text = "\ufeffUser-agent: *\r\nFoo\r:\rDisallow: /a\n<html>\nNoindex: /b\nDisallow: /c";
    expect(["/a", "/b", "/c"].map((path) => allows(text, path))).toEqual([false, true, false]);
  });

  test("a pattern full of stars takes no longer than its length", () => {
    const text = `User-agent: *\nDisallow: /${"*a".repeat(2000)}b$`;
    expect(allows(text, `/${"a".repeat(8000)}`)).toBe(true);
  });

  test("a pattern without wildcards matches exactly the paths that start with it", () => {
    const path = fc.stringMatching(/^\/[a-z/]{0,12}$/);
    fc.assert(
      fc.property(path, path, (pattern, url) => {
        expect(allows(`User-agent: *\nDisallow: ${pattern}`, url)).toBe(!url.startsWith(pattern));
      }),
    );
  });
});

describe("delay and sitemaps", () => {
  const rules = parseRobots(
    "Sitemap: https://a.test/1.xml\nUser-agent: a\nCrawl-delay: 2.5\nDisallow: /x\nSitemap: /2.xml\nUser-agent: b\nDisallow: /y",
  );

  test("the agent's delay is in ms, or null without one", () => {
    expect(crawlDelayMs(rules, "a")).toBe(2500);
    expect(crawlDelayMs(rules, "b")).toBeNull();
    expect(crawlDelayMs(parseRobots("User-agent: *\nCrawl-delay: soon"), "a")).toBeNull();
  });

  test("sitemaps are found anywhere and do not split a group", () => {
    expect(rules.sitemaps).toEqual(["https://a.test/1.xml", "/2.xml"]);
    expect(isAllowed(rules, "a", "https://a.test/x")).toBe(false);
  });
});
