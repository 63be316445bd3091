import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { folder, tenants } from "../support/deployment.ts";
import { accessibilityFaults, openPageBrowser } from "../support/page-browser.ts";
import { writeTree } from "../support/search-server.ts";
import { Served } from "../support/served.ts";

test("the page says which files are left out and how many pages a limit left, and keeps the list open", async () => {
  const tenant = {
    ...folder,
    description: "All about notes",
    docs_root_dir: "notes",
    allow_index_builds: true,
  };
  const infrastructure = { mcp_host: "127.0.0.1", mcp_port: 1024 };
  const root = writeTree({
    "deployment.json": JSON.stringify({ infrastructure, ...tenants(tenant) }),
    "notes/a.md": "# A",
    "notes/.draft.md": "# Draft",
    "notes/<b>photo</b>.png": "picture",
  });
  await using browser = await openPageBrowser();
  await using server = await Served.start(root);
  await using page = await browser.visit({ origin: server.url });
  await page.route("**/tenants/status", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { tenants: { counts: object }[] };
    for (const one of body.tenants) one.counts = { ...one.counts, left: 1234 };
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${server.url}/status`);
  await page.getByText("max_crawl_pages: 1,234 known pages not fetched").waitFor();
  await page.getByText("2 files left out").click();
  await page.getByText("1 hidden: .draft.md").waitFor();
  await page.getByText("1 unknown kind: <b>photo</b>.png").waitFor();
  await page.waitForResponse("**/tenants/status");
  expect(await page.getByText("1 hidden: .draft.md").isVisible()).toBe(true);
  expect(await accessibilityFaults(page)).toEqual([]);
  rmSync(root, { recursive: true, force: true });
});
