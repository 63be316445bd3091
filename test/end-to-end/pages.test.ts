import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPageBrowser } from "../support/page-browser.ts";
import { PAGES } from "../support/pages/catalogue.ts";
import { openPage, tooWide } from "../support/pages/look.ts";
import { startPageServers } from "../support/pages/servers.ts";

// Each page once; test/browser looks at all of it, at every width, in both schemes and in Firefox.
describe("in Chromium", () => {
  const opened = new AsyncDisposableStack();
  let origins: Awaited<ReturnType<typeof startPageServers>>;
  let chromium: Awaited<ReturnType<typeof openPageBrowser>>;
  beforeAll(async () => {
    origins = opened.use(await startPageServers());
    chromium = opened.use(await openPageBrowser());
  });
  afterAll(() => opened.disposeAsync());

  test.each(PAGES.map((page) => [page.name, page] as const))("%s is shown", async (_, served) => {
    const origin = origins[served.server];
    await using page = await chromium.visit({ origin });
    await openPage(page, origin, served);
    expect(await tooWide(page)).toEqual([]);
    expect(page.outside.filter((url) => !url.startsWith("data:"))).toEqual([]);
  });
});
