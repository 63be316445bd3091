import { describe, expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import {
  accessibilityFaults,
  openPageBrowser,
  scrollsSideways,
  type Tab,
  type VisitOptions,
} from "../support/page-browser.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";
import { until } from "../support/until.ts";

const FILLER = "The water runs below the old wheel.\n\n".repeat(30);
const LOCKS = `# Locks

A lock lifts a boat.

## Gates

The gate of the lock opens with \`open_gate --slow\`.

${FILLER}### Hinges

Oil the hinges.

## Sluices

${FILLER}A sluice lets water in.
`;

/** Words that say little come long before those that were meant. */
const AIR = `# Air

Water flows over sluices.

${Array.from({ length: 30 }, (_, number) => `Day ${number} was over when wind had gone over hills.\n\n`).join("")}
A zeppelin flies slowly over both sluices, by day and by night.
`;

/** A table that is long, and wide where its words stay whole; the row in its middle names a place. */
const tolls = (place: string): string => {
  const row = (number: number): string =>
    `| \`TOLL_PER_BOAT_WITH_CARGO_${number}\` | none | asked at https://tolls.example/boats/with/cargo/${number} |\n`;
  const rows = Array.from({ length: 25 }, (_, number) => row(number)).join("");
  return `# Tolls\n\n| Toll | Rate | Meaning |\n| --- | --- | --- |\n${rows}| zollhaus | one | ${place} |\n${rows}`;
};

/** Ids that are not like their headings, of which two are the same. */
const WHEELS = `# Wheels

## Fed from above {#overshot}

${"It turns.\n\n".repeat(30)}## Usage {#mill}

At a mill. ${"It turns.\n\n".repeat(30)}## Usage {#saw}

At a saw, [not fed](#overshot).
`;

const browser = forAllTests(await openPageBrowser());
const registry = forAllTests(
  await openIndexed(
    folderTenant(
      "locks",
      {
        "canal/locks.md": LOCKS,
        "canal/boats.md": "# Boats\n\nA boat waits at the gate.\n",
        "canal/plain.md": "A gate without any heading, see [locks](locks.md#gates).\n",
      },
      { docs_name: "Book of locks", description: "All about locks" },
    ),
    folderTenant(
      "mills",
      { "wheel.md": "# Wheel\n\nThe windmill has a gate too.\n" },
      { docs_name: "Book of mills" },
    ),
    folderTenant("wheels", { "wheels.md": WHEELS }),
    folderTenant("air", { "air.md": AIR }),
    folderTenant("tolls", { "east.md": tolls("eastward"), "west.md": tolls("westward") }),
    folderTenant("closed", { "a.md": "# A\n" }, { docs_name: "Closed book", search: { enabled: false } }),
  ),
);
const server = forAllTests(openSearchServer(registry));

const visit = (hash: string | null, options: Partial<VisitOptions> = {}) =>
  browser.visit({ origin: server.url, path: hash === null ? null : `/${hash}`, ...options });

const open = async (page: Tab, hash: string): Promise<void> => {
  await page.goto(`${server.url}/${hash}`);
};

const LOCKS_PLACE = "#in=locks&doc=docs%3A%2F%2Flocks%2Fcanal%2Flocks.md";

/** Goes to a section by the outline, until the outline says that it is read. */
async function goToSection(page: Tab, name: string): Promise<void> {
  const outline = page.locator(".outline");
  await outline.getByRole("button", { name }).click();
  await outline.locator("[aria-current]", { hasText: name }).waitFor();
}

/** What the page copied last; the clipboard of a test has no permission. */
async function keepCopies(page: Tab): Promise<() => Promise<string>> {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", {
      value: {
        writeText: async (text: string) => {
          document.documentElement.dataset.copied = text;
        },
      },
    });
  });
  return () => page.evaluate(() => document.documentElement.dataset.copied ?? "");
}

describe("results", () => {
  test("are called by the names of their collections, have code as code, and no marks on words like the", async () => {
    await using page = await visit("#q=the+gate+of");
    await page.locator("a.hit").nth(2).waitFor();
    const names = await page.locator(".group h3").allTextContents();
    expect(names.sort()).toEqual(["Book of locks", "Book of mills"]);
    expect(await page.locator("#results, #tenant").allTextContents()).not.toContainEqual(
      expect.stringMatching(/docs:\/\/|\blocks\/canal/),
    );
    const marks = new Set(await page.locator(".snippet mark").allTextContents());
    expect([...marks].map((mark) => mark.toLowerCase())).toEqual(["gate", "open_gate"]);
    await open(page, "#q=open_gate&in=locks");
    await page.locator(".snippet code", { hasText: "open_gate --slow" }).waitFor();
    const font = await page.locator(".snippet code").evaluate((code) => getComputedStyle(code).fontFamily);
    expect(font).toContain("mono");
  });

  test("show the section of the chosen one at the right of a wide window, and nothing there on a small one", async () => {
    await using page = await visit("#q=hinges+gate&in=locks");
    const preview = page.locator("#preview");
    await preview.getByText("Oil the hinges.").waitFor();
    expect(await preview.textContent()).toContain("Book of locks › canal/locks.md");
    expect(await page.locator(".hits li.chosen").count()).toBe(1);
    await page.locator("a.hit", { hasText: "Boats" }).focus();
    await preview.getByText("A boat waits at the gate.").waitFor();
    expect(await page.locator("li.chosen a.hit").textContent()).toBe("Boats");
    // Looking does not take the focus, and is not far down.
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Boats");
    const top = (await preview.boundingBox())?.y ?? 0;
    expect(top).toBeLessThan(400);
    await page.setViewportSize({ width: 768, height: 800 });
    await preview.waitFor({ state: "hidden" });
  });

  test("show a section where its telling words are, with its lower edge inside the window", async () => {
    await using page = await visit("#q=zeppelin+over+sluices&in=air");
    const preview = page.locator("#preview");
    const place = preview.getByText("A zeppelin flies slowly over both sluices");
    await place.waitFor();
    const isInside = () =>
      page.waitForFunction(() => {
        const { bottom, height } = document.getElementById("preview")!.getBoundingClientRect();
        return bottom <= innerHeight && height > innerHeight / 2;
      });
    await isInside();
    const [sentence, frame] = [await place.boundingBox(), await preview.boundingBox()];
    expect(sentence!.y).toBeGreaterThanOrEqual(frame!.y);
    expect(sentence!.y + sentence!.height).toBeLessThanOrEqual(800);
    const marks = await page.locator(".snippet mark").allTextContents();
    expect(marks.map((mark) => mark.toLowerCase())).not.toContain("over");
    await page.evaluate(() => {
      document.body.style.minHeight = "3000px";
      scrollTo(0, 120);
    });
    await isInside();
  });

  test("show a long table at the first match, with all its columns, one after the other", async () => {
    await using page = await visit("#q=zollhaus&in=tolls");
    await page.locator("a.hit").nth(1).waitFor();
    const preview = page.locator("#preview");
    for (const number of [1, 0, 1]) {
      const hit = page.locator("a.hit").nth(number);
      await hit.focus();
      const isEast = (await page.locator(".hits > li").nth(number).textContent())?.includes("eastward");
      const place = preview.getByRole("cell", { name: isEast ? "eastward" : "westward" });
      await place.waitFor();
      const [cell, frame] = [await place.boundingBox(), await preview.boundingBox()];
      expect(cell!.y).toBeGreaterThan(frame!.y);
      expect(cell!.y + cell!.height).toBeLessThan(800);
      expect(cell!.x + cell!.width).toBeLessThan(frame!.x + frame!.width);
    }
  });

  test("say small which collections gave no answer, after one request for all of them", async () => {
    await using page = await visit(null);
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname === "/search") asked.push(search);
    });
    await open(page, "#q=gate");
    const faults = page.locator("details.faults");
    await faults.waitFor();
    expect(await page.locator(".message.bad").count()).toBe(0);
    await faults.locator("summary").click();
    expect(await faults.locator("li").allTextContents()).toEqual([
      "Closed book: Search is disabled for tenant 'closed'",
    ]);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ["other forms of the words", "#q=hinge+xq&exact=1&in=locks", "With other forms of the words", "Locks"],
    ["other collections", "#q=windmill&in=locks", "In other collections", "Wheel"],
    ["what is without the filter", "#q=sluice&filter=path:mills&in=locks", "Without path:mills", "Locks"],
    ["what is without quotes", '#q="hinges+sluice"&in=locks', "Without quotes", "Locks"],
    ["beginnings of words", "#q=windmillxyz", "Words starting with “windmil", "Wheel"],
  ])("that are none give way to %s", async (_, hash, how, title) => {
    await using page = await visit(hash, { expected: /4\d\d/ });
    await page.locator("h2", { hasText: "Nothing found" }).waitFor();
    const section = page.locator("section.group", { hasText: how }).first();
    await section.locator("a.hit", { hasText: title }).first().waitFor();
    await section.locator("a.more").click();
    await page.locator("h2", { hasText: /^\d+ results? for/ }).waitFor();
  });

  test("that are none anywhere give way to advice", async () => {
    await using page = await visit("#q=zqx");
    await page.getByText("Try fewer or different words").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

describe("a document", () => {
  test("has the way to it, an outline that follows the reader, and its results before and behind it", async () => {
    await using page = await visit("#q=gate&in=locks");
    await page.locator("a.hit").first().waitFor();
    const titles = await page.locator("a.hit").allTextContents();
    await page.locator("a.hit").first().click();
    await page.locator(".neighbours", { hasText: `1 of ${titles.length}` }).waitFor();
    expect(await page.locator(".crumbs li").allTextContents()).toEqual([
      "Book of locks",
      "canal",
      expect.any(String),
    ]);
    await page.keyboard.press("n");
    await page.locator(".neighbours", { hasText: `2 of ${titles.length}` }).waitFor();
    await page.keyboard.press("p");
    await page.getByRole("link", { name: `Next result: ${titles[1]}` }).click();
    await page.locator(".neighbours", { hasText: `2 of ${titles.length}` }).waitFor();
    // Whoever opens the address alone has them too.
    await page.reload();
    await page.locator(".neighbours", { hasText: `2 of ${titles.length}` }).waitFor();
    await open(page, LOCKS_PLACE);
    await page.locator(".outline button", { hasText: "Sluices" }).waitFor();
    expect(await page.locator(".outline button").allTextContents()).toEqual(["Gates", "Hinges", "Sluices"]);
    expect(await page.locator(".neighbours a").count()).toBe(0);
    await goToSection(page, "Sluices");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Sluices");
    // The bar stays in sight, and the heading is not below it.
    const bar = await page.locator(".bar").boundingBox();
    const heading = await page.locator(".prose h2", { hasText: "Sluices" }).boundingBox();
    expect(bar?.y).toBeGreaterThanOrEqual(0);
    expect(heading?.y).toBeGreaterThanOrEqual((bar?.y ?? 0) + (bar?.height ?? 0) - 1);
  });

  test("is copied as Markdown, whole or the section that is read", async () => {
    await using page = await visit(null);
    const copied = await keepCopies(page);
    await open(page, LOCKS_PLACE);
    await page.getByRole("button", { name: "Copy page" }).click();
    expect(await until(copied, (text) => text !== "")).toBe(LOCKS);
    await goToSection(page, "Hinges");
    await page.getByRole("button", { name: "Copy section" }).click();
    expect(await until(copied, (text) => text !== LOCKS)).toBe("### Hinges\n\nOil the hinges.");
    await goToSection(page, "Gates");
    await page.getByRole("button", { name: "Copy section" }).click();
    const gates = await until(copied, (text) => !text.startsWith("### Hinges"));
    expect([gates.startsWith("## Gates\n"), gates.endsWith("Oil the hinges.")]).toEqual([true, true]);
  });

  test("stays where it is when something in its bar takes the focus, and shows below the bar what Tab goes to", async () => {
    await using page = await visit(LOCKS_PLACE);
    await goToSection(page, "Hinges");
    const before = await page.evaluate(() => scrollY);
    for (const name of ["Copy section", "Copy page"]) {
      await page.getByRole("button", { name }).focus();
      expect([name, await page.evaluate(() => scrollY)]).toEqual([name, before]);
    }
    // A link that the bar covers comes out from under it.
    const link = page.locator(".prose a", { hasText: "covered" });
    await page.evaluate(() => {
      const link = Object.assign(document.createElement("a"), { href: "#", textContent: "covered" });
      document.querySelector(".prose h2")?.before(link);
      scrollBy(0, link.getBoundingClientRect().top - 10);
      link.focus();
    });
    const bar = await page.locator(".bar").boundingBox();
    expect((await link.boundingBox())?.y).toBeGreaterThanOrEqual((bar?.y ?? 0) + (bar?.height ?? 0));
  });

  test("opens at the section that was found, whatever its id is, and its links lead to such ids too", async () => {
    await using page = await visit("#q=saw&in=wheels");
    await page.locator("a.hit").first().click();
    await page.locator("h2.found + p", { hasText: "At a saw" }).waitFor();
    await page.locator(".prose a", { hasText: "not fed" }).click();
    await page.locator("h2.found", { hasText: "Fed from above" }).waitFor();
  });

  test("without headings has no outline, and opens its links inside", async () => {
    await using page = await visit("#in=locks&doc=docs%3A%2F%2Flocks%2Fcanal%2Fplain.md");
    await page.locator(".prose a", { hasText: "locks" }).waitFor();
    expect(await page.locator(".outline").count()).toBe(0);
    await page.locator(".prose a", { hasText: "locks" }).click();
    await page.waitForFunction(() => document.activeElement?.textContent === "Gates");
  });
});

describe("the search page in every window", () => {
  test.each([360, 768, 1280, 1920])(
    "fits %i pixels, is accessible, and hints at keys only where there are some",
    async (width) => {
      for (const isDark of [false, true]) {
        await using page = await visit(null, { width, isDark });
        for (const [hash, ready] of [
          ["", ".collection"],
          ["#q=gate", "a.hit"],
          ["#q=hinges&in=locks", "a.hit"],
          ["#q=zqx", ".looser p"],
          ["#in=locks&q=gate&doc=docs%3A%2F%2Flocks%2Fcanal%2Flocks.md", ".prose"],
        ] as const) {
          await open(page, hash);
          await page.locator(ready).first().waitFor();
          await page.locator("#results[aria-busy]").waitFor({ state: "detached" });
          if (width >= 1280 && ready === "a.hit") await page.locator("#preview .prose").waitFor();
          expect([hash, await scrollsSideways(page)]).toEqual([hash, false]);
          expect([hash, await accessibilityFaults(page)]).toEqual([hash, []]);
        }
        expect(await page.locator(".keys").isVisible()).toBe(width > 360);
      }
    },
  );
});
