import { expect, setDefaultTimeout, test } from "bun:test";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { GROWING_KINDS, hasLastWords, LATE_KINDS, startLateSite } from "../support/late-pages.ts";
import { pageUrl } from "../support/test-fetcher.ts";

setDefaultTimeout(120_000);

const host = forAllTests(openTestHost());
const site = forAllTests(await startLateSite());
const fetcher = forAllTests(testBrowserFetcher({ host }));
const fetchPage = (path: string) => fetcher.fetch(pageUrl(`${site.origin}${path}`));

// All at once: most of the time is the pages' own waiting.
test("waits for the words of a page that comes late or piece by piece, and no longer than it has to", async () => {
  const late = [
    ...LATE_KINDS.map((kind) => `/late/${kind}?ms=1500`),
    ...GROWING_KINDS.map((kind) => `/growing/${kind}?gap=700&pieces=4`),
  ];
  const ended: string[] = [];
  const [cut, wordless] = await Promise.all([
    Promise.all(late.map(async (path) => (hasLastWords(await fetchPage(path)) ? [] : [path]))),
    fetchPage("/wordless").finally(() => ended.push("/wordless")),
    fetchPage("/plain").finally(() => ended.push("/plain")),
    fetchPage("/late/timer?ms=4000").finally(() => ended.push("/late")),
  ]);
  expect(cut.flat()).toEqual([]);
  expect(wordless.html).toContain("<title>Nothing</title>");
  expect(ended).toEqual(["/plain", "/late", "/wordless"]);
});
