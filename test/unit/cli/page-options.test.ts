import { expect, test } from "bun:test";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { readCrawlCommand } from "../../../src/cli/commands/pages/crawl.ts";
import { readExtractCommand } from "../../../src/cli/commands/pages/extract-options.ts";
import { CRAWL_ONLY_FLAGS, EXTRACT_FLAGS } from "../../../src/cli/flags/pages.ts";
import { testProgram } from "../../support/program.ts";

const URL = "https://h.example/";
const { settings } = testProgram();

/** What the words mean for a page: in `extract`, in `crawl`. */
function readBoth(words: readonly string[]): readonly [inExtract: object, inCrawl: object] {
  const extract = readExtractCommand(parseArguments([URL, "--output", "markdown", ...words]), () => false);
  const crawl = readCrawlCommand(parseArguments(["crawl", URL, "--output-dir", "out", ...words]), settings, {
    directory: "/",
    hasPerson: () => false,
  });
  // What is rendered depends on the output: a crawl stores the page's ids besides.
  const renderings: readonly string[] = [];
  return [
    { network: extract.network, extraction: { ...extract.extraction, renderings } },
    { network: crawl.network, extraction: { ...crawl.plan.extraction, renderings } },
  ];
}

/** Words for each option that `extract` and `crawl` share, and that are about a page. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "min-words": ["--min-words", "7"],
  favor: ["--favor", "recall"],
  engine: ["--engine", "readability"],
  "no-images": ["--no-images"],
  "no-code": ["--no-code"],
  select: ["--select", "article"],
  exclude: ["--exclude", "nav", "--exclude", "aside"],
  "no-native-markdown": ["--no-native-markdown"],
  "keep-blocked": ["--keep-blocked"],
  "fail-on-http-error": ["-f"],
  "user-agent": ["--user-agent", "Reader/1"],
  "random-user-agent": ["--random-user-agent"],
  header: ["--header", "X-One: 1", "--header", "x-two:2"],
  proxy: ["--proxy", "127.0.0.1:9"],
  "proxy-bypass": ["--proxy-bypass", "h.example", "--proxy-bypass", "127.0.0.1"],
  timeout: ["--timeout", "0.2"],
  retries: ["--retries", "0"],
  "max-bytes": ["--max-bytes", "5k"],
  "prefer-browser": ["--prefer-browser"],
  "prefer-http": ["--prefer-http"],
  "no-browser": ["--no-browser"],
  "wait-for": ["--wait-for", "p.done"],
  scroll: ["--scroll"],
  "load-media": ["--load-media"],
  headed: ["--headed"],
  "user-interaction-timeout": ["--headed", "--user-interaction-timeout", "0.5"],
  "storage-state": ["--storage-state", "/tmp/state.json"],
  cookies: ["--cookies", "/tmp/cookies.txt"],
};

const isOnlyOfCrawl = new Set(CRAWL_ONLY_FLAGS.map(({ name }) => name));
// The policy and the authorities are the program's, not the page's: both commands open the program in one way.
const OF_PROGRAM = new Set(["egress", "no-system-ca"]);
const SHARED = EXTRACT_FLAGS.filter(
  ({ name, group }) =>
    (group === "Extraction" || group === "Fetching") && !isOnlyOfCrawl.has(name) && !OF_PROGRAM.has(name),
);

test.each(SHARED.map(({ name }) => name))("--%s means the same for a page and for a crawl", (name) => {
  const [inExtract, inCrawl] = readBoth(WORDS[name] ?? []);
  expect(inCrawl).toEqual(inExtract);
  const [without] = readBoth(name === "user-interaction-timeout" ? ["--headed"] : []);
  expect(inExtract).not.toEqual(without);
});

test("all of them together mean what each means alone", () => {
  const contrary = new Set(["prefer-http", "no-browser", "user-agent"]);
  const names = SHARED.map(({ name }) => name).filter((name) => !contrary.has(name));
  const [alone, together] = [
    names.map((name) => WORDS[name] ?? []),
    names.flatMap((name) => WORDS[name] ?? []),
  ];
  const [inExtract, inCrawl] = readBoth(together);
  expect(inCrawl).toEqual(inExtract);
  const [none] = readBoth([]);
  for (const words of alone) {
    const [each] = readBoth(words);
    expect(inExtract).toMatchObject(changesOf(none, each));
  }
});

/** The parts of `after` that are not as in `before`. */
function changesOf(before: object, after: object): object {
  return Object.fromEntries(
    Object.entries(after).map(([part, values]: [string, object]) => [
      part,
      Object.fromEntries(
        Object.entries(values).filter(
          ([name, value]) => !Bun.deepEquals(value, Reflect.get(Reflect.get(before, part), name)),
        ),
      ),
    ]),
  );
}

test("a prefix that is a path stands on the site of each start, and a whole one stays as it is", () => {
  const place = { directory: "/", hasPerson: () => false };
  const planOf = (...words: string[]) =>
    readCrawlCommand(parseArguments(["crawl", "--output-dir", "out", ...words]), settings, place).plan;
  const starts = ["https://h.example/docs/a", "http://i.example:81/", "https://h.example/b"];
  expect(
    planOf(...starts, "--allow-prefix", "/docs/", "--deny-prefix", "/docs/old", "--deny-prefix", starts[0]!),
  ).toMatchObject({
    allowPrefixes: ["https://h.example/docs/", "http://i.example:81/docs/"],
    denyPrefixes: ["https://h.example/docs/old", "http://i.example:81/docs/old", starts[0]!],
  });
  expect(planOf("--sitemap", "https://h.example/s.xml", "--allow-prefix", "/a b?x=1").allowPrefixes).toEqual([
    "https://h.example/a%20b?x=1",
  ]);
});

test("an option of a crawl goes before its setting", () => {
  const words = ["crawl", URL, "--output-dir", "out", "--max-pages", "3", "--concurrency", "4"];
  const place = { directory: "/", hasPerson: () => false };
  const own = { ...settings, maxPages: 2, concurrency: 7, hostDelayMs: 250 };
  const planOf = (...more: string[]) =>
    readCrawlCommand(parseArguments([...words, ...more]), own, place).plan;
  expect(planOf()).toMatchObject({ maxPages: 3, concurrency: 4, hostDelayMs: 250 });
  expect(planOf("--rate-limit", "2").hostDelayMs).toBe(2000);
});
