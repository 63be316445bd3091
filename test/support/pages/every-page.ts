import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { forAllTests } from "../for-all-tests.ts";
import { accessibilityFaults, type Engine, firefoxPath, openPageBrowser, type Tab } from "../page-browser.ts";
import { PAGES, type ServedPage } from "./catalogue.ts";
import {
  type Box,
  boxesOf,
  HEIGHT,
  keyboardFaults,
  layoutDifferences,
  openPage,
  tooWide,
  WEIGHT_LIMIT,
  WIDTHS,
  widen,
} from "./look.ts";
import { comparePicture } from "./picture.ts";
import { startPageServers } from "./servers.ts";

const PICTURES = join(import.meta.dir, "..", "..", "fixtures", "pages");

type Amount = {
  /** Where axe-core looks, and where Tab goes through all controls: in each scheme. */
  readonly thoroughly: readonly number[];
  readonly firefox: { readonly widths: readonly number[]; readonly schemes: readonly boolean[] };
};

/** What every commit is tested with: Chromium at all widths, and once in Firefox. */
export const QUICK: Amount = { thoroughly: [1280], firefox: { widths: [360, 1280], schemes: [false] } };

/** Everything at every width, in both schemes, in both browsers. */
export const FULL: Amount = { thoroughly: WIDTHS, firefox: { widths: WIDTHS, schemes: [false, true] } };

/** Declares the tests of every page. */
export async function testEveryPage(amount: Amount): Promise<void> {
  const origins = forAllTests(await startPageServers());
  const chromium = forAllTests(await openPageBrowser());
  const schemes = firefoxPath() === null ? [] : amount.firefox.schemes;
  const firefoxes = await Promise.all(
    schemes.map(async (isDark) => forAllTests(await openPageBrowser({ engine: "firefox", isDark }))),
  );
  const bench = forAllTests(await chromium.visit({ origin: "" }));
  /** Where things stand in Chromium, by page and width. */
  const boxes = new Map<string, readonly Box[]>();

  const visit = async (browser: typeof chromium, page: ServedPage, isDark: boolean) => {
    const tab = await browser.visit({
      origin: origins[page.server],
      ...(browser === chromium && { isDark }),
      height: HEIGHT,
    });
    return { tab, weigh: await openPage(tab, origins[page.server], page) };
  };
  const look = async (page: Tab, width: number, engine: Engine): Promise<void> => {
    await widen(page, width);
    expect(await tooWide(page)).toEqual([]);
    if (engine === "firefox" || amount.thoroughly.includes(width)) {
      expect(await keyboardFaults(page)).toEqual([]);
      if (engine === "chromium" || amount === FULL) expect(await accessibilityFaults(page)).toEqual([]);
    }
  };

  describe("in Chromium", () => {
    for (const served of PAGES)
      test.each([false, true])(`${served.name} (dark: %p)`, async (isDark) => {
        const { tab, weigh } = await visit(chromium, served, isDark);
        await using page = tab;
        if (!served.isForeign) expect(await weigh()).toBeLessThanOrEqual(WEIGHT_LIMIT);
        for (const width of served.isForeign ? [] : WIDTHS) {
          await widen(page, width);
          if (!isDark) boxes.set(`${served.name} ${width}`, await boxesOf(page));
          if (width === 1280 || (width === 360 && !isDark)) {
            const name = `${served.name}-${width}-${isDark ? "dark" : "light"}.png`;
            expect(await comparePicture(page, bench, join(PICTURES, name))).toBeNull();
          }
        }
        for (const width of WIDTHS) await look(page, width, "chromium");
        expect(page.outside.filter((url) => !url.startsWith("data:"))).toEqual([]);
      });
  });

  describe.skipIf(firefoxPath() === null)("in Firefox, where there is one", () => {
    for (const [index, isDark] of amount.firefox.schemes.entries())
      for (const served of PAGES)
        test(`${served.name} (dark: ${isDark})`, async () => {
          const { tab } = await visit(firefoxes[index]!, served, isDark);
          await using page = tab;
          // As in Chromium, before the keyboard has chosen anything.
          for (const width of amount.firefox.widths) {
            await widen(page, width);
            const known = boxes.get(`${served.name} ${width}`);
            if (known) expect(layoutDifferences(known, await boxesOf(page))).toEqual([]);
          }
          for (const width of amount.firefox.widths) await look(page, width, "firefox");
        });
  });
}
