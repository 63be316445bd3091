import { expect, test } from "bun:test";
import { BLOCK_KINDS, type Block } from "../../src/base/failure.ts";
import { BLOCKED_PAGES } from "../support/blocked-pages.ts";
import { BLOCKED_PATHS, BLOCKED_ROUTES } from "../support/blocked-site.ts";
import { html, serveCrawlSite } from "../support/crawl-site.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { connectMcp } from "../support/mcp.ts";
import { PREVIEWS } from "../support/previews.ts";

const site = forAllTests(
  serveCrawlSite({
    ...BLOCKED_ROUTES,
    "/faded": () => html(PREVIEWS["a class that fades, and an offer"] ?? ""),
  }),
);
const server = forAllTests(
  await startExtractor({
    env: {
      ARTICLE_EXTRACTOR_EGRESS: "open",
      ARTICLE_EXTRACTOR_BROWSER: "none",
      ARTICLE_EXTRACTOR_OUTPUT_ROOT: "",
    },
  }),
);

const post = (path: string, options: object = {}): Promise<Response> =>
  fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: `${site.origin}${path}`, options }),
  });

test("HTTP answers 502 with the code, the status of the site and the signs, or the text where that is wanted", async () => {
  for (const [path, [name, says]] of Object.entries(BLOCKED_PATHS)) {
    const answer = await post(path);
    expect([path, answer.status]).toEqual([path, 502]);
    const problem = (await answer.json()) as { block?: Block };
    expect(JSON.stringify(problem)).toContain(JSON.stringify(says).slice(1, -1));
    expect([path, problem.block?.kind]).toEqual([path, BLOCKED_PAGES[name]?.kind]);
    expect(problem.block?.signs.length).toBeGreaterThan(1);
  }
  const kept = await post("/rate", { keep_blocked: true });
  const { title, warnings } = (await kept.json()) as { title: string; warnings: readonly string[] };
  expect([kept.status, title]).toEqual([200, "Too Many Requests"]);
  expect(warnings.at(-1)).toContain("shows a page that says too many requests instead of the page");
});

test("HTTP tells a preview that does not say that it is not free", async () => {
  const answer = await post("/faded");
  const { code, block } = (await answer.json()) as { code: string; block?: Block };
  expect([answer.status, code, block?.kind]).toEqual([502, "blocked", "paywall"]);
});

test("other failures have no block", async () => {
  expect(await (await post("/missing")).json()).not.toHaveProperty("block");
});

test("the OpenAPI document names the kinds", async () => {
  const { components } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    components: {
      schemas: { Problem: { properties: { block: { properties: { kind: { enum: string[] } } } } } };
    };
  };
  expect(components.schemas.Problem.properties.block.properties.kind.enum).toEqual([...BLOCK_KINDS]);
});

test("fetch_url gives the reason as its error, and its kind", async () => {
  await using client = await connectMcp(`${server.url}/mcp`);
  const call = async (path: string) => {
    const { structuredContent } = await client.callTool({
      name: "fetch_url",
      arguments: { url: `${site.origin}${path}` },
    });
    return structuredContent as { error: string | null; block?: Block };
  };
  const { error, block } = await call("/challenge-200");
  expect(error).toContain("shows a challenge instead of the page");
  expect(block).toEqual({
    kind: "challenge",
    signs: ['title "Just a moment..."', "markup _cf_chl_opt", "noindex"],
  });
  expect(await call("/missing")).not.toHaveProperty("block");
});

test("crawl_status gives the kind of each page", async () => {
  await using client = await connectMcp(`${server.url}/mcp`);
  const call = async (name: string, args: object) =>
    (await client.callTool({ name, arguments: { ...args } })).structuredContent as Record<string, unknown>;
  const { job_id } = await call("crawl_site", { url: `${site.origin}/paywall` });
  const { pages } = await call("crawl_status", { job_id, wait: 50 });
  expect(pages).toMatchObject([{ url: `${site.origin}/paywall`, block: { kind: "paywall" } }]);
});
