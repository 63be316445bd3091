import { expect, setDefaultTimeout, test } from "bun:test";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { accessibilityFaults, openPageBrowser, scrollsSideways, type Tab } from "../support/page-browser.ts";
import { untilTrue } from "../support/until.ts";

setDefaultTimeout(120_000);

const browser = forAllTests(await openPageBrowser());
const server = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_BASE_PATH: "/reader" } }));

/** Opens an operation and sends it; resolves when the answer with this status is shown. */
async function execute(page: Tab, id: string, status: string): Promise<void> {
  const operation = page.locator(`#operations-${id}`);
  await operation.locator(".opblock-summary").click();
  await operation.getByRole("button", { name: "Try it out" }).click();
  await operation.getByRole("button", { name: "Execute" }).click();
  await operation.locator(".live-responses-table .response-col_status", { hasText: status }).waitFor();
}

test("the documentation shows every operation, tries one, and asks nobody else", async () => {
  await using tab = await browser.visit({ origin: server.url });
  const { page } = tab;
  const { paths } = (await (await server.get("/reader/openapi.json")).json()) as { paths: object };
  const operations = Object.values(paths).flatMap((path: object) => Object.keys(path)).length;
  await page.goto(`${server.url}/reader/docs`);
  await page
    .locator(".opblock")
    .nth(operations - 1)
    .waitFor();
  expect(await page.locator(".opblock").count()).toBe(operations);
  await execute(page, "operation-get_health", "200");
  expect(tab.outside.filter((url) => !url.startsWith("data:"))).toEqual([]);
  expect(tab.complaints).toEqual([]);
});

test("where there is a key the documentation asks for it, and sends it", async () => {
  await using guarded = await startExtractor({
    env: { ARTICLE_EXTRACTOR_API_KEY: "correct-key", ARTICLE_EXTRACTOR_OUTPUT_ROOT: server.directory },
  });
  await using tab = await browser.visit({ origin: guarded.url, expected: /status of 401/ });
  const { page } = tab;
  await page.goto(`${guarded.url}/docs`);
  await page.getByRole("button", { name: "Not now" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("API key", { exact: true }).fill("correct-key");
  await page.keyboard.press("Enter");
  await execute(page, "operation-get_metrics", "200");
  expect(tab.complaints).toEqual([]);
});

test("it follows dark mode, and what it offers to send is taken", async () => {
  await using tab = await browser.visit({ origin: server.url, isDark: true });
  const { page } = tab;
  await page.goto(`${server.url}/reader/docs`);
  // What the other operations offer, test/server/offered-examples.test.ts sends.
  await execute(page, "mcp-post_mcp", "200");
  expect(await accessibilityFaults(page)).toEqual([]);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect(await background()).toBe("rgb(28, 32, 34)");
  await page.emulateMedia({ colorScheme: "light" });
  await untilTrue(async () => (await background()) === "rgb(255, 255, 255)");
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  expect(tab.complaints).toEqual([]);
});
