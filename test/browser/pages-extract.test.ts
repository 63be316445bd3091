import { describe, expect, test } from "bun:test";
import { startExtractor } from "../support/extractor-server.ts";
import { startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { MILL_ROUTES } from "../support/mill-site.ts";
import {
  accessibilityFaults,
  openPageBrowser,
  type Tab,
  type VisitOptions,
} from "../support/page-browser.ts";
import { serveSite } from "../support/site.ts";

const browser = forAllTests(await openPageBrowser());
const mill = forAllTests(await startFaultySite({ routes: MILL_ROUTES }));
const site = forAllTests(await serveSite());
const server = forAllTests(await startExtractor());

const visit = (options: Partial<VisitOptions> = {}) =>
  browser.visit({ origin: server.url, path: "/", ...options });

async function extract(page: Tab, url: string): Promise<void> {
  await page.fill("#url", url);
  await page.keyboard.press("Enter");
  await page.locator("#result").waitFor();
}

/** The page is where it was, and the chosen block is inside the window. */
async function expectChosenInSight(page: Tab): Promise<void> {
  expect(await page.evaluate(() => scrollY)).toBe(0);
  const chosen = await page.locator(".block[aria-current]").boundingBox();
  const reason = await page.locator(".reason").boundingBox();
  expect(chosen!.y).toBeGreaterThanOrEqual(reason!.y + reason!.height);
  expect(chosen!.y + chosen!.height).toBeLessThanOrEqual(800);
}

const TOOLS = "/news/borrowed-tools.html";

describe("while nothing is extracted, the page", () => {
  test("offers two examples, which extract at a click", async () => {
    await using page = await visit();
    const asked: unknown[] = [];
    await page.route(`${server.url}/`, async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      asked.push(route.request().postDataJSON());
      const response = await fetch(`${server.url}/`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url: `${site.origin}${TOOLS}`, fields: ["default", "blocks"] }),
      });
      return route.fulfill({ status: 200, contentType: "application/json", body: await response.text() });
    });
    const examples = page.getByRole("region", { name: "Try one" }).getByRole("button");
    expect(await examples.count()).toBe(2);
    expect(await accessibilityFaults(page)).toEqual([]);
    await examples.first().click();
    await page.getByRole("heading", { name: "two years of lending tools" }).first().waitFor();
    expect(await examples.count()).toBe(0);
    expect(asked).toEqual([{ url: await page.inputValue("#url"), fields: ["default", "blocks"] }]);
  });

  test("offers what was extracted last, without addresses that may hold a secret", async () => {
    await using page = await visit();
    const secrets = [`${TOOLS}?token=7`, `${TOOLS}?share=a8f5f167f44f4964e6c998dee827110c`];
    for (const path of [TOOLS, "/docs/forecast.html", ...secrets, TOOLS])
      await extract(page, `${site.origin}${path}`);
    await page.goto(`${server.url}/#extract`);
    const recent = page.getByRole("region", { name: "Recent" });
    const host = new URL(site.origin).host;
    await recent.locator(".address").nth(1).waitFor();
    expect(await recent.locator(".address").allTextContents()).toEqual([
      `${host}${TOOLS}`,
      `${host}/docs/forecast.html`,
    ]);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("a8f5f167");
    await recent.getByRole("button", { name: "forecast" }).press("Enter");
    await page.locator(".reader").waitFor();
    expect(await page.inputValue("#url")).toBe(`${site.origin}/docs/forecast.html`);
    await page.goto(`${server.url}/#extract`);
    await page.setViewportSize({ width: 300, height: 740 });
    const forget = page.getByRole("button", { name: "Clear the list" });
    const startOf = (one: typeof forget) =>
      one.evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getBoundingClientRect().left;
      });
    expect(await startOf(forget)).toBeCloseTo(await startOf(recent.locator("p")), 0);
    await forget.click();
    expect([await recent.count(), await page.evaluate(() => localStorage.length)]).toEqual([0, 0]);
  });
});

test("an option that is left as it is names what the server takes for it", async () => {
  await using page = await visit();
  await page.getByText("Options", { exact: true }).click();
  await page.locator("#min-words[placeholder='150']").waitFor();
  const first = page.locator("#favor option, #engine option").filter({ hasText: "server default (" });
  expect(await first.allTextContents()).toEqual([
    "server default (balanced)",
    "server default (article-extractor)",
  ]);
});

describe("an extracted page", () => {
  test("has type, confidence, fetcher, words and tokens under its title", async () => {
    await using page = await visit();
    await extract(page, `${site.origin}${TOOLS}`);
    const chips = await page
      .getByRole("list", { name: "About this extraction" })
      .locator("li")
      .allTextContents();
    expect(chips).toEqual([
      "article",
      expect.stringMatching(/^\d+ % sure$/),
      "plain HTTP",
      "429 words, 2 min",
      "about 610 tokens",
    ]);
  });

  test("shows what became of each of its blocks, and takes a block's selector into the options", async () => {
    await using page = await visit();
    await extract(page, `${site.origin}/forum/gate-opens-twice.html`);
    const blocks = page.getByRole("group", { name: "Blocks of the page" }).locator(".block");
    const texts = await blocks.allTextContents();
    expect(texts[0]).toBe("Left out: Skip to the main content");
    expect(texts.filter((text) => text.startsWith("Kept: "))[0]).toContain("Gate opens twice in one low wa");
    for (const state of ["Kept", "Unsure", "Left out"]) {
      const count = texts.filter((text) => text.startsWith(`${state}: `)).length;
      const button = page.locator(".states").getByRole("button", { name: state });
      expect(await button.textContent()).toBe(`${state} ${count}`);
      await button.click();
      expect(await blocks.filter({ visible: true }).count()).toBe(count);
    }
    await page.locator(".states").getByRole("button", { name: "Left out" }).click();
    expect(await blocks.filter({ visible: true }).count()).toBe(texts.length);
    expect(await accessibilityFaults(page)).toEqual([]);
    // By keyboard: one stop for all of them, arrows among them.
    await blocks.first().focus();
    await page.keyboard.press("End");
    expect(await blocks.last().evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    expect(await page.locator(".reason").textContent()).toMatch(/^Left out: .*\(\d+ % likely\)/);
    expect(await page.locator(".outline [tabindex='0']").count()).toBe(1);
    await page.getByRole("button", { name: "Exclude elements like this" }).click();
    const selector = await page.inputValue("#exclude");
    expect(selector).toBe("nav.main-nav li");
    expect(await page.locator("#options").getAttribute("open")).toBe("");
    await page.keyboard.press("Enter");
    await page.locator("#progress").waitFor({ state: "hidden" });
    await page.locator(".block").first().waitFor();
    expect((await page.locator(".block").allTextContents()).length).toBeLessThan(texts.length);
  });

  test("has an address that leads somebody else to the same options, and fetches nothing by itself", async () => {
    await using page = await visit();
    await page.getByText("Options").click();
    await page.fill("#select", "main");
    await page.selectOption("#favor", "recall");
    await page.uncheck("#images");
    await extract(page, `${site.origin}${TOOLS}`);
    await using other = await visit({ path: page.url().slice(server.url.length) });
    expect(await other.inputValue("#url")).toBe(`${site.origin}${TOOLS}`);
    expect(await other.inputValue("#select")).toBe("main");
    expect(await other.inputValue("#favor")).toBe("recall");
    expect(await other.isChecked("#images")).toBe(false);
    expect(await other.isChecked("#code")).toBe(true);
    expect(await other.locator("#options").getAttribute("open")).toBe("");
    expect(await other.locator("#result").isVisible()).toBe(false);
    await page.fill("#select", "article");
    await page.locator("#url").focus();
    await page.keyboard.press("Enter");
    await page.locator("#result").waitFor();
    await page.goBack();
    await page.locator("#result").waitFor();
    expect(await page.inputValue("#select")).toBe("main");
  });

  test("scrolls the list to a block, not the page, on a narrower window too", async () => {
    await using page = await visit({ width: 800 });
    await extract(page, `${site.origin}${TOOLS}`);
    await page.getByRole("tab", { name: "Blocks" }).click();
    const map = page.locator(".map");
    await map.scrollIntoViewIfNeeded();
    const [scrolled, box] = [await page.evaluate(() => scrollY), await map.boundingBox()];
    await map.click({ position: { x: 3, y: (box?.height ?? 0) - 2 } });
    await page.locator(".block[aria-current]").waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(scrolled);
    await page.keyboard.press("Home");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    expect(await page.evaluate(() => scrollY)).toBe(scrolled);
  });

  test("says why there are no blocks where nothing was chosen", async () => {
    await using page = await visit();
    await page.getByText("Options").click();
    await page.fill("#select", "main");
    await extract(page, `${site.origin}${TOOLS}`);
    expect(await page.locator("#panel-blocks").textContent()).toContain("Everything was kept");
  });

  test("shows a huge page's blocks, Markdown and JSON in portions", async () => {
    await using page = await visit();
    await extract(page, `${mill.origin}/huge`);
    expect(await page.locator("#panel-blocks .block").count()).toBe(800);
    // The map leads to what is not there yet.
    const map = page.locator(".map");
    const box = await map.boundingBox();
    // A click of the test's own would scroll to its place first.
    await map.dispatchEvent("click", { clientX: box!.x + 3, clientY: box!.y + box!.height - 2 });
    expect(await page.locator("#panel-blocks .block").count()).toBeGreaterThan(9000);
    await expectChosenInSight(page);
    await page.getByRole("tab", { name: "Markdown" }).click();
    const shown = async () => (await page.locator("#panel-markdown .written").textContent())?.length ?? 0;
    expect(await shown()).toBeLessThan(70_000);
    await page.locator("#panel-markdown").getByRole("button", { name: "Show more" }).click();
    expect(await shown()).toBeGreaterThan(110_000);
    await page.getByRole("tab", { name: "JSON" }).click();
    expect(await page.locator("#panel-json .written *").count()).toBeLessThan(500);
    await page.locator("#panel-json").getByRole("button", { name: "more characters" }).first().click();
    expect(
      await page
        .locator("#panel-json .string")
        .evaluateAll((all) => Math.max(...all.map((one) => one.textContent?.length ?? 0))),
    ).toBeLessThan(210_000);
  });

  test("folds sections of its Markdown and parts of its JSON", async () => {
    await using page = await visit();
    await extract(page, `${site.origin}${TOOLS}`);
    await page.getByRole("tab", { name: "Markdown" }).click();
    const markdown = page.getByRole("region", { name: "Markdown" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("#panel-markdown").getByRole("button", { name: "Save" }).click(),
    ]);
    expect(await markdown.textContent()).toBe(await Bun.file(await download.path()).text());
    const section = markdown.locator("details", { has: page.getByText("Which tools travel") }).last();
    const body = section.locator("> div");
    expect(await body.isVisible()).toBe(true);
    await section.locator("> summary").press("Enter");
    expect(await body.isVisible()).toBe(false);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("tab", { name: "JSON" }).click();
    const json = page.getByRole("region", { name: "JSON" });
    expect(await json.locator(".string").first().textContent()).toBe(
      JSON.stringify(`${site.origin}${TOOLS}`),
    );
    await json.locator("summary").first().press("Enter");
    expect(await json.getByText("fields }").first().isVisible()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("is fetched while a clock runs, which stands still behind the question for a key", async () => {
    await using page = await visit({ expected: /status of 401/ });
    await page.clock.install();
    await page.reload();
    let refusals = 1;
    await page.route(`${server.url}/`, (route) =>
      route.request().method() === "POST" && refusals-- > 0
        ? route.fulfill({ status: 401, contentType: "application/problem+json", body: "{}" })
        : route.fallback(),
    );
    await page.fill("#url", `${mill.origin}/slow-headers?ms=60000`);
    await page.keyboard.press("Enter");
    await page.getByLabel("API key", { exact: true }).waitFor();
    await page.clock.runFor(30_000);
    await page.getByLabel("API key", { exact: true }).fill("k");
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.clock.runFor(2000);
    expect(await page.locator("#progress .number").textContent()).toMatch(/^[12] s$/);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("#progress").waitFor({ state: "hidden" });
  });
});

/** Options as a person would set them, from none to all, with everything that a quotation can break on. */
const OPTION_SETS: readonly {
  readonly query: string;
  readonly fill?: Readonly<Record<string, string>>;
  readonly choose?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}[] = [
  { query: "" },
  {
    query: `?q='"$(id)\`id\`\\$HOME&x=%27%22;&lt;#!;é☃𝄞{}[]|*?~`,
    fill: { "#min-words": "7" },
    choose: { "#favor": "precision", "#prefer-browser": "false", "#engine": "article-extractor" },
    without: ["#images", "#code"],
  },
  {
    query: "?a=1",
    fill: {
      "#select": `article, [title='it"s'], [title="$(id) \\\\ \`x\`"]`,
      "#exclude": '.related, [id=\'it"s\'], [id="$HOME"]',
    },
    choose: { "#favor": "recall" },
  },
];

const missing = ["curl", "python3"].filter((program) => Bun.which(program) === null);

describe.skipIf(missing.length > 0)(
  `the request as code${missing.map((name) => `, without ${name}`).join("")}`,
  () => {
    for (const [place, { query, fill = {}, choose = {}, without = [] }] of OPTION_SETS.entries())
      test(`is run by curl and Python alike (${place})`, async () => {
        await using page = await visit();
        await page.getByText("Options").click();
        await page.getByText("This request as code").click();
        await page.fill("#url", `${mill.origin}/one${query}`);
        for (const [field, value] of Object.entries(fill)) await page.fill(field, value);
        for (const [field, value] of Object.entries(choose)) await page.selectOption(field, value);
        for (const field of without) await page.uncheck(field);
        const code: Record<string, string> = {};
        for (const name of ["curl", "Python"]) {
          await page.getByRole("tab", { name }).click();
          code[name] =
            (await page.getByRole("region", { name: `The request for ${name}` }).textContent()) ?? "";
        }
        expect(await accessibilityFaults(page)).toEqual([]);
        const whole = JSON.parse(await run(["sh", "-c", code.curl ?? ""]));
        expect(whole).toMatchObject({ success: true, title: "One" });
        expect(whole.url).toBe(await page.inputValue("#url"));
        expect(await run(["python3", "-c", code.Python ?? ""])).toBe(`${whole.markdown}\n`);
      });

    test("reads the key from the environment where the server asks for one, and never holds it", async () => {
      const env = { ARTICLE_EXTRACTOR_API_KEY: "a-secret-key" };
      await using guarded = await startExtractor({
        env: { ...env, ARTICLE_EXTRACTOR_OUTPUT_ROOT: server.directory, ARTICLE_EXTRACTOR_EGRESS: "open" },
      });
      await using page = await browser.visit({ origin: guarded.url, path: "/" });
      await page.evaluate(() => sessionStorage.setItem("article-extractor.key", "a-secret-key"));
      await page.fill("#url", `${mill.origin}/one`);
      await page.getByText("This request as code").click();
      const [curl = "", python = ""] = await page.locator(".program code").allTextContents();
      expect([curl, python].join()).not.toContain("a-secret-key");
      const { markdown } = JSON.parse(await run(["sh", "-c", curl], env));
      expect(markdown).toStartWith("# One");
      expect(await run(["python3", "-c", python], env)).toBe(`${markdown}\n`);
    });
  },
);

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = Bun.spawn([...words], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${words[0]}: ${stderr}${stdout}`);
  return stdout;
}
