import { afterAll, expect, test } from "bun:test";
import { chromium } from "playwright-core";
import { browserPath } from "../support/browser-fetcher.ts";
import { articleOf } from "../support/extraction.ts";
import { readVectors } from "../support/hostile.ts";
import { RENDERERS } from "../support/round-trip.ts";

/** Long enough for images to fail and animations to begin. */
const SETTLING_MS = 300;

const browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });
afterAll(() => browser?.close());

/** What a page did besides showing text: dialogs, requests of other kinds than images, navigations. */
async function actsOf(body: string): Promise<string[]> {
  const page = await browser.newPage();
  const acts: string[] = [];
  page.on("dialog", (dialog) => {
    acts.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.route("**/*", (route) => {
    const type = route.request().resourceType();
    if (type === "document" && route.request().url() === "https://hostile.test/") {
      return route.fulfill({
        contentType: "text/html; charset=utf-8",
        body: `<!doctype html><body>${body}</body>`,
      });
    }
    if (type !== "image") acts.push(`${type}: ${route.request().url()}`);
    return route.abort();
  });
  await page.goto("https://hostile.test/", { waitUntil: "load" });
  // What waits for the reader: every link and every disclosure is clicked, every element hovered over.
  await page.evaluate(() => {
    for (const element of document.querySelectorAll("body *")) {
      for (const type of ["mouseover", "mousemove", "focus", "toggle", "scroll"]) {
        element.dispatchEvent(new Event(type, { bubbles: true }));
      }
      const isElsewhere =
        element instanceof HTMLAnchorElement && /^(?:https?|mailto|tel):$/.test(element.protocol);
      if (element instanceof HTMLElement && !isElsewhere && !element.closest("a[href^=http]"))
        element.click();
    }
  });
  await page.waitForTimeout(SETTLING_MS);
  await page.close();
  return acts;
}

const vectors = await readVectors();

test("the browser does see what runs", async () => {
  expect(await actsOf("<img src=x onerror=alert(1)>")).toEqual(["dialog: 1"]);
  expect(await actsOf(`<a href="javascript:alert(2)">x</a>`)).toEqual(["dialog: 2"]);
});

test("nothing runs in the HTML of hostile pages", async () => {
  const articles = await Promise.all(
    vectors.map((vector) => articleOf(`<main><p>Words.</p>${vector}</main>`, { select: "main" })),
  );
  expect(await actsOf(articles.map(({ content }) => `<div>${content}</div>`).join("\n"))).toEqual([]);
});

for (const [name, render] of Object.entries(RENDERERS)) {
  test(`nothing runs in the Markdown of hostile pages as ${name} renders it`, async () => {
    const articles = await Promise.all(
      vectors.map((vector) => articleOf(`<main><p>Words.</p>${vector}</main>`, { select: "main" })),
    );
    expect(
      await actsOf(articles.map(({ markdown }) => `<div>${render(markdown ?? "")}</div>`).join("\n")),
    ).toEqual([]);
  });
}
