import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openQueryLog } from "../../src/server/api/search/query-log.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { accessibilityFaults, openPageBrowser } from "../support/page-browser.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const path = join(forAllTests(temporaryDirectory()).path, "queries.sqlite");
const HOSTILE = "<img src=x onerror=alert(1)> “quoted” & \u202Egate";
const LONG = "unbroken".repeat(25);

/** Fills the log as some days of searches would. */
function fillLog(): void {
  const asked: readonly (readonly [query: string, times: number, hits: number, isOpened: boolean])[] = [
    ["open a gate", 12, 3, true],
    ["weir.gate_42", 7, 3, false],
    ["zeppelin", 5, 0, false],
    [HOSTILE, 3, 0, false],
    [LONG, 2, 1, false],
  ];
  let now = Date.now() - 3_600_000;
  const log = openQueryLog({
    path,
    days: 30,
    now: () => now,
    onTrouble: (error) => expect(error).toBeNull(),
  });
  for (const [query, times, hits, isOpened] of asked)
    for (let time = 0; time < times; time++) {
      const urls = Array.from({ length: hits }, (_, at) => `docs://gates/${at}.md`);
      log.searched({ client: `${time}`, query, urls });
      if (isOpened) log.fetched(urls[0]!);
      now += 10_000;
    }
  log[Symbol.dispose]();
}

fillLog();
const browser = forAllTests(await openPageBrowser());
const docs = folderTenant("gates", { "a.md": "# Gates\n\nOpen a gate.\n" }, { docs_name: "Book of gates" });
const registry = forAllTests(await openIndexed(docs));
const server = forAllTests(openSearchServer(registry, { queries: { path, days: 30 } }));

describe("the page of what people search for", () => {
  test.each([
    [360, false],
    [1280, false],
    [1280, true],
  ])(
    "shows what is asked most, finds nothing and is not opened, %i px wide (dark: %p)",
    async (width, isDark) => {
      await using page = await browser.visit({ origin: server.url, path: "/status", width, isDark });
      await page.getByText("29 searches for 5 queries since").waitFor();
      const listOf = (name: string) => page.locator(`section[aria-label="${name}"] li`).allTextContents();
      const hostile = "<img src=x onerror=alert(1)> “quoted” & gate";
      expect(await listOf("Most frequent")).toEqual([
        "open a gate12",
        "weir.gate_427",
        "zeppelin5",
        `${hostile}3`,
        `${LONG}2`,
      ]);
      expect(await listOf("Nothing found")).toEqual(["zeppelin5", `${hostile}3`]);
      expect(await listOf("Nothing opened")).toEqual(["weir.gate_427", `${LONG}2`]);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(page.outside).toEqual([]);
    },
  );

  test("is reached from the search, takes other days, and leads back to a search", async () => {
    await using page = await browser.visit({ origin: server.url, path: "/" });
    await page.getByRole("link", { name: "Status" }).click();
    await page.getByText("29 searches for").waitFor();
    const asked = page.waitForRequest(/analytics\?.*days=7/);
    await page.selectOption("#days", "7");
    await asked;
    await page.getByRole("link", { name: "open a gate" }).first().click();
    await page.locator("a.hit", { hasText: "Gates" }).waitFor();
    expect(await page.inputValue("#query")).toBe("open a gate");
  });

  test("says how to begin where nothing is counted", async () => {
    await using silent = openSearchServer(registry);
    await using page = await browser.visit({ origin: silent.url, path: "/status" });
    await page.getByText("infrastructure.query_log_days").waitFor();
    expect(await page.locator("#days").isVisible()).toBe(false);
  });

  test("is where the address of earlier versions leads", async () => {
    await using page = await browser.visit({ origin: server.url, path: "/analytics" });
    // The search of the test before is counted some seconds after it.
    await page.getByText(/\d+ searches for/).waitFor();
    expect(page.url()).toBe(`${server.url}/status#queries`);
  });
});

test("the status page says why a page is not found", async () => {
  await using page = await browser.visit({ origin: server.url, path: "/status" });
  await page.getByLabel("Address").fill("docs://gates/a.md");
  await page.getByLabel("Search", { exact: true }).fill("open a gate");
  await page.getByRole("button", { name: "Check" }).click();
  const answer = page.locator("#why-answer");
  await answer.getByText("it is indexed as docs://gates/a.md, and found at rank 1").waitFor();
  await page.getByLabel("Address").fill("https://elsewhere.example/");
  await page.getByRole("button", { name: "Check" }).click();
  await answer.getByText("No collection covers this address.").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});

describe("the state of collections", () => {
  test("is shown by their names, and changes with a sync", async () => {
    await using page = await browser.visit({ origin: server.url, path: "/status" });
    const row = page.locator(".tenant", { hasText: "Book of gates" });
    for (const part of ["gates", "filesystem", "ready", "Index", "kB"])
      expect(await row.textContent()).toContain(part);
    await page.getByRole("button", { name: "Sync Book of gates" }).click();
    await row.locator("dd", { hasText: "ago" }).waitFor();
    expect(await page.locator("#sums").textContent()).toContain("Documents1");
  });
});

test.each([
  [{ state: "running", next_run_at: new Date(Date.now() + 3_600_000).toISOString() }, "syncing", "under way"],
  [{ state: "idle", next_run_at: new Date(Date.now() - 60_000).toISOString() }, "ready", "due"],
  [{ state: "idle", next_run_at: new Date(Date.now() + 7_200_000).toISOString() }, "ready", "in 2 hours"],
])("the state of a collection and its next sync agree: %p", async (changed, state, next) => {
  await using page = await browser.visit({ origin: server.url });
  await page.route("**/tenants/status", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { tenants: object[] };
    await route.fulfill({ response, json: { tenants: body.tenants.map((one) => ({ ...one, ...changed })) } });
  });
  await page.goto(`${server.url}/status`);
  const row = page.locator(".tenant");
  await row.locator(".state", { hasText: state }).waitFor();
  expect(await row.locator(".facts div", { hasText: "Next sync" }).textContent()).toBe(`Next sync${next}`);
});
