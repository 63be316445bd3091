import { expect, test } from "bun:test";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { GROWING_KINDS, hasLastWords, LATE_KINDS, startLateSite } from "../support/late-pages.ts";
import { pageUrl } from "../support/test-fetcher.ts";

const host = forAllTests(openTestHost());
const site = forAllTests(await startLateSite());
const fetcher = forAllTests(testBrowserFetcher({ host }));
const fetchPage = (path: string) => fetcher.fetch(pageUrl(`${site.origin}${path}`));

// Many at once: most of the time is the pages' own waiting.
test("waits for the words of a page that comes late or piece by piece", async () => {
  const late = [
    ...LATE_KINDS.map((kind) => `/late/${kind}?ms=1500`),
    ...GROWING_KINDS.map((kind) => `/growing/${kind}?gap=700&pieces=4`),
  ];
  const cut = await Promise.all(
    late.map(async (path) => (hasLastWords(await fetchPage(path)) ? [] : [path])),
  );
  expect(cut.flat()).toEqual([]);
});

test("waits no longer than it has to", async () => {
  const ended: string[] = [];
  const [wordless] = await Promise.all([
    fetchPage("/wordless").finally(() => ended.push("/wordless")),
    fetchPage("/plain").finally(() => ended.push("/plain")),
    fetchPage("/late/timer?ms=2000").finally(() => ended.push("/late")),
  ]);
  expect(wordless.html).toContain("<title>Nothing</title>");
  expect(ended).toEqual(["/plain", "/late", "/wordless"]);
});
