import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { forAllTests } from "../support/for-all-tests.ts";
import {
  accessibilityFaults,
  openPageBrowser,
  scrollsSideways,
  type VisitOptions,
} from "../support/page-browser.ts";
import { writeTree } from "../support/search-server.ts";
import { Served } from "../support/served.ts";
import { until } from "../support/until.ts";

const many = Object.fromEntries(
  Array.from({ length: 70 }, (_, number) => [
    `harbour/${number % 3 === 0 ? "api" : "guide"}/boat-${number}.md`,
    `# Boat ${number}\n\nMoor the boat at quay ${number}.\n`,
  ]),
);

const deployment = {
  infrastructure: { mcp_host: "127.0.0.1", mcp_port: 1024, allow_index_builds: true },
  tenants: [
    ["harbour", "sea"],
    ["yard", "land"],
  ].map(([codename, group]) => ({
    source_type: "filesystem",
    codename,
    group,
    docs_name: codename,
    docs_root_dir: codename,
  })),
};

const browser = forAllTests(await openPageBrowser());
const root = writeTree({
  ...many,
  "harbour/ja/v2/quay.md": "# Quay\n\nMoor the boat.\n",
  "harbour/de/v1/quay.md": "# Quay\n\nMoor the boat.\n",
  "yard/blog/hull.md": "# Hull\n\nPaint the boat.\n",
  "deployment.json": JSON.stringify(deployment),
});
const server = forAllTests(await Served.start(root));
type Status = { readonly tenants: readonly { readonly index: { readonly built_at: string | null } }[] };
await until(
  async () => (await fetch(`${server.url}/tenants/status`)).json() as Promise<Status>,
  ({ tenants }) => tenants.every(({ index }) => index.built_at !== null),
);
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const visit = (path: string | null = "/", options: Partial<VisitOptions> = {}) =>
  browser.visit({ origin: server.url, path, ...options });

describe("filters and pages of the search page", () => {
  test("narrow by chips, together and back, by keyboard alone", async () => {
    await using page = await visit("/#q=boat&in=harbour");
    await page.getByRole("heading", { name: "72 results for “boat” in harbour" }).waitFor();
    expect(await page.locator("[aria-label=Kind] .chip").allTextContents()).toEqual([
      "guide 48",
      "reference 24",
    ]);
    await page.locator("#chip-kind-reference").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "24 results" }).waitFor();
    expect(await page.locator("#chip-kind-reference").getAttribute("aria-current")).toBe("true");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("chip-kind-reference");
    // The other kinds stay to be chosen, and the address holds the choice.
    expect(await page.locator("#chip-kind-guide").textContent()).toBe("guide 48");
    await page.reload();
    await page.getByRole("heading", { name: "24 results" }).waitFor();
    await page.locator("#chip-kind-guide").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "48 results" }).waitFor();
    await page.locator("#chip-language-ja").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "1 result for" }).waitFor();
    expect(page.url()).toContain("filter=kind%3Aguide+language%3Aja");
    await page.locator("#no-filter").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "72 results" }).waitFor();
  });

  test("ask only the collections that have something of what is chosen", async () => {
    await using page = await visit("/#q=boat");
    await page.getByRole("heading", { name: "73 results" }).waitFor();
    expect(await page.locator(".group h3").count()).toBe(2);
    await page.click("#chip-group-land");
    await page.getByRole("heading", { name: "1 result for" }).waitFor();
    expect(await page.locator("a.hit").allTextContents()).toEqual(["Hull"]);
    await page.goto(`${server.url}/#q=boat&filter=language:ja`);
    await page.locator("a.hit", { hasText: "Quay" }).waitFor();
    expect(await page.locator(".group h3").count()).toBe(1);
  });

  test("go on below the first results until there are no more, with the focus on the first new one", async () => {
    await using page = await visit("/#q=boat&in=harbour");
    await page.locator("#more", { hasText: "More results (30 of 72)" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("#more", { hasText: "60 of 72" }).waitFor();
    const focused = await page.evaluate(() => document.activeElement?.textContent);
    expect(await page.locator("a.hit").nth(30).textContent()).toBe(focused ?? "");
    await page.click("#more");
    await page.locator("#more").waitFor({ state: "detached" });
    const titles = await page.locator("a.hit").allTextContents();
    expect([titles.length, new Set(titles).size]).toEqual([72, 71]);
    // A document that is opened and left comes back to all of them.
    await page.locator("a.hit").nth(65).click();
    await page.locator("#document .prose").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("a.hit").nth(71).waitFor();
  });

  test("come while a word is typed, from its beginning", async () => {
    await using page = await visit();
    await page.locator("#query").pressSequentially("Hul");
    await page.locator("a.hit").waitFor();
    expect(await page.locator("a.hit").allTextContents()).toEqual(["Hull"]);
    await page.fill("#query", "");
    await page.locator("#query").pressSequentially("boat pai");
    await page.locator("mark", { hasText: "Paint" }).waitFor();
    expect(await page.locator("a.hit").first().textContent()).toBe("Hull");
  });

  test("say what a filter that nothing meets should be", async () => {
    await using page = await visit("/#q=boat&in=harbour&filter=language:jp", { expected: /422/ });
    await page.getByText("there are de, ja").waitFor();
  });

  test.each([
    [360, false],
    [1280, false],
    [360, true],
    [1280, true],
  ])("fit a window of %p px, and are accessible (dark: %p)", async (width, isDark) => {
    await using page = await visit("/#q=boat&in=harbour&filter=kind:guide", { width, isDark });
    await page.locator("#more").waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

test("results stop where their scores fall off, and the weaker ones come with a click", async () => {
  const boats = Object.fromEntries(
    Array.from({ length: 40 }, (_, number) => [
      `docs/${number}.md`,
      number < 7
        ? `# Mooring a boat ${number}\n\nMooring: how a boat is moored at quay ${number}.\n`
        : `# Walk ${number}\n\n${"A long walk along the water, with bread and cheese. ".repeat(9)} A boat passed.\n`,
    ]),
  );
  const own = writeTree({
    ...boats,
    "deployment.json": JSON.stringify({
      infrastructure: deployment.infrastructure,
      tenants: [{ source_type: "filesystem", codename: "water", docs_name: "Water", docs_root_dir: "docs" }],
    }),
  });
  await using server = await Served.start(own);
  await until(
    async () => (await fetch(`${server.url}/tenants/status`)).json() as Promise<Status>,
    ({ tenants }) => tenants.every(({ index }) => index.built_at !== null),
  );
  await using page = await browser.visit({ origin: server.url, path: "/#q=mooring+boat&in=water" });
  await page.getByRole("heading", { name: "7 results for" }).waitFor();
  expect(await page.locator("a.hit").count()).toBe(7);
  await page.getByRole("button", { name: "Show weaker results" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "More results (30 of 40)" }).waitFor();
  expect(
    await page
      .locator("a.hit")
      .nth(7)
      .evaluate((hit) => hit === document.activeElement),
  ).toBe(true);
  await page.keyboard.press("Escape");
  await page.locator("#more").click();
  await page.locator("#more").waitFor({ state: "detached" });
  expect(await page.locator("a.hit").count()).toBe(40);
  rmSync(own, { recursive: true, force: true });
});
