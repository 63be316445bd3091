import { expect, test } from "bun:test";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { accessibilityFaults, openPageBrowser, scrollsSideways, type Tab } from "../support/page-browser.ts";
import { untilTrue } from "../support/until.ts";

const browser = forAllTests(await openPageBrowser());
const server = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_BASE_PATH: "/reader" } }));

/** Sends an opened operation; resolves when the answer with this status is shown. */
async function execute(page: Tab, id: string, status: string): Promise<void> {
  const operation = page.locator(`#operations-${id}`);
  await operation.getByRole("button", { name: "Try it out" }).click();
  await operation.getByRole("button", { name: "Execute" }).click();
  await operation.locator(".live-responses-table .response-col_status", { hasText: status }).waitFor();
}

test("the documentation shows every operation, opens and tries one, and asks nobody else", async () => {
  await using page = await browser.visit({ origin: server.url });
  const { paths } = (await (await server.get("/reader/openapi.json")).json()) as { paths: object };
  const operations = Object.values(paths).flatMap((path: object) => Object.keys(path)).length;
  await page.goto(`${server.url}/reader/docs`);
  await page
    .locator(".opblock")
    .nth(operations - 1)
    .waitFor();
  expect(await page.locator(".opblock").count()).toBe(operations);
  await page.locator("#operations-operation-getHealth .opblock-summary-control").press("Enter");
  await execute(page, "operation-getHealth", "200");
  expect(new URL(page.url()).hash).toBe("#/operation/getHealth");
  expect(page.outside.filter((url) => !url.startsWith("data:"))).toEqual([]);
});

test("an operation that the address names is open, at first and when the address changes; Back leaves the page", async () => {
  await using page = await browser.visit({ origin: server.url, width: 360 });
  const opened = (id: string) => page.locator(`#operations-${id}.is-open`).waitFor();
  await page.goto(`${server.url}/reader/`);
  await page.goto(`${server.url}/reader/docs#/extraction/post`);
  await opened("extraction-post");
  // The answers of an operation are as wide as a telephone.
  expect(await scrollsSideways(page)).toBe(false);
  await page.evaluate(() => location.replace("#/operation/getHealth"));
  await opened("operation-getHealth");
  await page.reload();
  await opened("operation-getHealth");
  await page.goBack();
  await page.locator("#extract-form").waitFor();
});

test("Swagger UI that does not come is asked for again by the button", async () => {
  await using page = await browser.visit({ origin: server.url, expected: /ERR_FAILED/ });
  await page.route("**/swagger-ui-bundle.js", (route) => route.abort(), { times: 1 });
  await page.goto(`${server.url}/reader/docs`);
  await page.getByRole("alert").filter({ hasText: "Swagger UI could not be loaded" }).waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".opblock").first().waitFor();
});

test("where there is a key the documentation asks for it, and sends it", async () => {
  await using guarded = await startExtractor({
    env: { ARTICLE_EXTRACTOR_API_KEY: "correct-key", ARTICLE_EXTRACTOR_OUTPUT_ROOT: server.directory },
  });
  await using page = await browser.visit({
    origin: guarded.url,
    path: "/docs#/operation/getMetrics",
    expected: /status of 401/,
  });
  await page.getByRole("button", { name: "Not now" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("API key", { exact: true }).fill("correct-key");
  await page.keyboard.press("Enter");
  await execute(page, "operation-getMetrics", "200");
});

test("it follows dark mode, and what it offers to send is taken", async () => {
  await using page = await browser.visit({
    origin: server.url,
    path: "/reader/docs#/mcp/postMcp",
    isDark: true,
  });
  // What the other operations offer, test/server/offered-examples.test.ts sends.
  await execute(page, "mcp-postMcp", "200");
  expect(await accessibilityFaults(page)).toEqual([]);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect(await background()).toBe("rgb(28, 32, 34)");
  await page.emulateMedia({ colorScheme: "light" });
  await untilTrue(async () => (await background()) === "rgb(255, 255, 255)");
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
});
