import { expect, test } from "bun:test";
import { BLOCKED_PATHS, BLOCKED_ROUTES } from "../support/blocked-site.ts";
import { serveCrawlSite } from "../support/crawl-site.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { connectMcp } from "../support/mcp.ts";

const site = forAllTests(serveCrawlSite(BLOCKED_ROUTES));
const server = forAllTests(
  await startExtractor({ env: { ARTICLE_EXTRACTOR_EGRESS: "open", ARTICLE_EXTRACTOR_BROWSER: "none" } }),
);

const post = (path: string, options: object = {}): Promise<Response> =>
  fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: `${site.origin}${path}`, options }),
  });

test("HTTP answers 502 with the code, the status of the site and the signs, or the text where that is wanted", async () => {
  for (const [path, [, says]] of Object.entries(BLOCKED_PATHS)) {
    const answer = await post(path);
    expect([path, answer.status]).toEqual([path, 502]);
    expect(JSON.stringify(await answer.json())).toContain(JSON.stringify(says).slice(1, -1));
  }
  const kept = await post("/rate", { keep_blocked: true });
  const { title, warnings } = (await kept.json()) as { title: string; warnings: readonly string[] };
  expect([kept.status, title]).toEqual([200, "Too Many Requests"]);
  expect(warnings.at(-1)).toContain("shows a page that says too many requests instead of the page");
});

test("fetch_url gives the reason as its error", async () => {
  await using client = await connectMcp(`${server.url}/mcp`);
  const { content } = await client.callTool({
    name: "fetch_url",
    arguments: { url: `${site.origin}/challenge-200` },
  });
  expect(JSON.stringify(content)).toContain("shows a challenge instead of the page");
});
