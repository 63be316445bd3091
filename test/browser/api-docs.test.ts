import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, chromium } from "playwright-core";
import { type ExtractorProcess, startExtractor } from "../support/extractor-server.ts";

const executablePath = Bun.which("chromium") ?? Bun.which("google-chrome");
let server: ExtractorProcess;
let browser: Browser;
beforeAll(async () => {
  server = await startExtractor({ env: { ARTICLE_EXTRACTOR_BASE_PATH: "/reader" } });
  if (executablePath === null) return;
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});
afterAll(async () => {
  await browser?.close();
  await server[Symbol.asyncDispose]();
});

test.skipIf(executablePath === null)(
  "the documentation shows every operation, tries one, and asks nobody else",
  async () => {
    const page = await browser.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(`${server.url}/reader/docs`);
    await page.locator(".opblock").nth(13).waitFor();
    expect(await page.locator(".opblock").count()).toBe(14);
    await page
      .locator(
        "#operations-operation-get_health .opblock-summary, .opblock:has-text('/health') .opblock-summary",
      )
      .first()
      .click();
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Execute" }).click();
    await page.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    expect(asked.filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  },
  60_000,
);
