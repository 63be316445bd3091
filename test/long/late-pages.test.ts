import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { availableParallelism } from "node:os";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { GROWING_KINDS, hasLastWords, LATE_KINDS, startLateSite } from "../support/late-pages.ts";
import { pageUrl } from "../support/test-fetcher.ts";

setDefaultTimeout(300_000);

const host = forAllTests(openTestHost());
const site = forAllTests(await startLateSite());
const fetcher = forAllTests(testBrowserFetcher({ host }));
const fetchPage = (path: string) => fetcher.fetch(pageUrl(`${site.origin}${path}`));
const cutOf = async (paths: readonly string[]): Promise<string[]> =>
  (await Promise.all(paths.map(async (path) => (hasLastWords(await fetchPage(path)) ? [] : [path])))).flat();

/** Two endless loops for each processor. */
function startLoad(): Disposable {
  const burners = Array.from({ length: 2 * availableParallelism() }, () =>
    Bun.spawn(["sh", "-c", "while :; do :; done"]),
  );
  return { [Symbol.dispose]: () => burners.forEach((burner) => void burner.kill()) };
}

describe.each(["quiet", "busy"])("on a %s machine", (machine) => {
  let load: Disposable | null = null;
  beforeAll(() => {
    if (machine === "busy") load = startLoad();
  });
  afterAll(() => load?.[Symbol.dispose]());

  test.each([0, 300, 800, 1500, 2500, 5000])("waits for words that come after %i ms", async (ms) => {
    expect(await cutOf(LATE_KINDS.map((kind) => `/late/${kind}?ms=${ms}`))).toEqual([]);
  });

  test.each([
    [100, 30],
    [500, 8],
    [1000, 6],
    [1200, 12],
  ])("waits for pieces every %i ms, %i of them", async (gap, pieces) => {
    const paths = GROWING_KINDS.map((kind) => `/growing/${kind}?gap=${gap}&pieces=${pieces}`);
    expect(await cutOf(paths)).toEqual([]);
  });
});

test("takes a page that grows for ever as it is, and says so", async () => {
  const page = await fetchPage("/growing-for-ever");
  expect(page.html).toContain("<p>One more piece</p>");
  expect(page.warnings).toEqual(["The page still grew after 30000 ms and was read as it was then"]);
});
