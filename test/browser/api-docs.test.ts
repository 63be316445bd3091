import { expect, setDefaultTimeout, test } from "bun:test";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { accessibilityFaults, openPageBrowser, scrollsSideways, type Tab } from "../support/page-browser.ts";
import { untilTrue } from "../support/until.ts";

setDefaultTimeout(120_000);

const browser = forAllTests(await openPageBrowser());
const server = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_BASE_PATH: "/reader" } }));

/** Sends an opened operation; resolves when the answer with this status is shown. */
async function execute(page: Tab, id: string, status: string): Promise<void> {
  const operation = page.locator(`#operations-${id}`);
  await operation.getByRole("button", { name: "Try it out" }).click();
  await operation.getByRole("button", { name: "Execute" }).click();
  await operation.locator(".live-responses-table .response-col_status", { hasText: status }).waitFor();
}

test("the documentation lists every operation, opens and tries one, and asks nobody else", async () => {
  await using tab = await browser.visit({ origin: server.url });
  const { page } = tab;
  const { paths } = (await (await server.get("/reader/openapi.json")).json()) as { paths: object };
  const operations = Object.values(paths).flatMap((path: object) => Object.keys(path)).length;
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(`${server.url}/reader/docs`);
  const links = page.locator("#operations a");
  await links.nth(operations - 1).waitFor();
  expect(await links.count()).toBe(operations);
  // Swagger UI comes when an operation is opened, which then has the focus.
  expect(loaded.filter((path) => path.includes("swagger"))).toEqual([]);
  await page.getByRole("link", { name: "/health" }).press("Enter");
  await page
    .locator(".opblock")
    .nth(operations - 1)
    .waitFor();
  expect(await page.locator(".opblock").count()).toBe(operations);
  await page.waitForFunction(() => document.activeElement?.closest("#operations-operation-getHealth"));
  expect(await page.locator("#overview").isVisible()).toBe(false);
  await execute(page, "operation-getHealth", "200");
  expect(tab.outside.filter((url) => !url.startsWith("data:"))).toEqual([]);
  expect(tab.complaints).toEqual([]);
});

test("every operation of the list is opened by its link", async () => {
  await using tab = await browser.visit({ origin: server.url });
  const { page } = tab;
  await page.goto(`${server.url}/reader/docs`);
  await page.locator("#operations a").first().waitFor();
  const fragments = await page
    .locator("#operations a")
    .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).hash));
  await page.goto(`${server.url}/reader/docs#/`);
  await page.locator(".opblock").first().waitFor();
  const places = fragments.map(
    (fragment) => `operations-${fragment.slice(2).replace("/", "-").replaceAll("%20", "_")}`,
  );
  const shown = await page.locator(".opblock").evaluateAll((all) => all.map(({ id }) => id));
  expect(shown.sort()).toEqual(places.sort());
});

test.each(["link", "button"] as const)(
  "Swagger UI that does not come is asked for again by the %s",
  async (role) => {
    await using tab = await browser.visit({ origin: server.url, expected: /ERR_FAILED/ });
    const { page } = tab;
    await page.route("**/swagger-ui-bundle.js", (route) => route.abort(), { times: 1 });
    await page.goto(`${server.url}/reader/docs`);
    const link = page.getByRole("link", { name: "/crawl/{job_id}/events" });
    await link.click();
    await page.getByRole("alert").filter({ hasText: "Swagger UI could not be loaded" }).waitFor();
    await (role === "link" ? link : page.getByRole("button", { name: "Try again" })).click();
    await page.locator(".opblock.is-open").waitFor();
    expect(tab.complaints).toEqual([]);
  },
);

test("one step back from an operation leads to its link in the list, and forward to the operation", async () => {
  await using tab = await browser.visit({ origin: server.url, width: 360 });
  const { page } = tab;
  await page.goto(`${server.url}/reader/docs`);
  const openedOne = (id: string) =>
    page.waitForFunction((place) => document.activeElement?.closest(place), `#operations-${id}`);
  const followed = (name: string) =>
    page.waitForFunction((path) => document.activeElement?.querySelector("code")?.textContent === path, name);
  await page.getByRole("link", { name: "/health" }).press("Enter");
  await openedOne("operation-getHealth");
  await page.goBack();
  await followed("/health");
  expect(await page.locator("#swagger-ui").isVisible()).toBe(false);
  await page.getByRole("link", { name: "POST / Extract" }).press("Enter");
  await openedOne("extraction-post");
  // The answers of an operation are as wide as a telephone.
  expect(await scrollsSideways(page)).toBe(false);
  await page.goBack();
  await followed("/");
  await page.goForward();
  await openedOne("extraction-post");
  await page.reload();
  await openedOne("extraction-post");
  await page.goBack();
  await page.locator("#overview").waitFor();
  expect(await page.locator("#swagger-ui").isVisible()).toBe(false);
  expect(tab.complaints).toEqual([]);
});

test("where there is a key the documentation asks for it, and sends it", async () => {
  await using guarded = await startExtractor({
    env: { ARTICLE_EXTRACTOR_API_KEY: "correct-key", ARTICLE_EXTRACTOR_OUTPUT_ROOT: server.directory },
  });
  await using tab = await browser.visit({ origin: guarded.url, expected: /status of 401/ });
  const { page } = tab;
  await page.goto(`${guarded.url}/docs#/operation/getMetrics`);
  await page.getByRole("button", { name: "Not now" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("API key", { exact: true }).fill("correct-key");
  await page.keyboard.press("Enter");
  await execute(page, "operation-getMetrics", "200");
  expect(tab.complaints).toEqual([]);
});

test("it follows dark mode, and what it offers to send is taken", async () => {
  await using tab = await browser.visit({ origin: server.url, isDark: true });
  const { page } = tab;
  await page.goto(`${server.url}/reader/docs#/mcp/postMcp`);
  // What the other operations offer, test/server/offered-examples.test.ts sends.
  await execute(page, "mcp-postMcp", "200");
  expect(await accessibilityFaults(page)).toEqual([]);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect(await background()).toBe("rgb(28, 32, 34)");
  await page.emulateMedia({ colorScheme: "light" });
  await untilTrue(async () => (await background()) === "rgb(255, 255, 255)");
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  expect(tab.complaints).toEqual([]);
});
