import { gzipSync } from "bun";
import type { Request } from "playwright-core";
import type { Tab } from "../page-browser.ts";
import { NOW } from "./answers.ts";
import type { ServedPage } from "./catalogue.ts";

/** The widths at which every page is looked at, in pixels: a phone, a tablet, a laptop, a large screen. */
export const WIDTHS = [360, 768, 1280, 1920] as const;
export const HEIGHT = 800;

/** Bytes with gzip that a page may load until it has everything. */
export const WEIGHT_LIMIT = 60_000;

/** Gives the window another width, and waits until the page knows. */
export async function widen(page: Tab, width: number): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHT });
  // Media queries tell their listeners in the frame after.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Opens a page in its state, at a fixed time of day. @returns the bytes with gzip of all that it has loaded */
export async function openPage(
  page: Tab,
  origin: string,
  { path, ready, answers = {}, act }: ServedPage,
): Promise<() => Promise<number>> {
  const loaded = new Set<string>();
  page.on("request", (request) => {
    if (request.method() === "GET" && !request.url().startsWith("data:")) loaded.add(request.url());
  });
  await page.clock.setFixedTime(NOW);
  await page.route(`${origin}/**`, async (route) => {
    const request = route.request();
    const key = `${request.method()} ${new URL(request.url()).pathname}`;
    if (request.resourceType() !== "fetch") return route.continue();
    const answer = answers[key];
    // Firefox does not tell the bodies of requests.
    if (answer === undefined && request.method() !== "GET") return route.continue();
    if (answer === undefined) return route.fulfill(await steadyAnswer(request));
    return typeof answer === "string"
      ? route.fulfill({ contentType: "text/event-stream", body: answer })
      : route.fulfill({ json: answer });
  });
  await page.goto(`${origin}${path}`);
  await page.locator(ready).first().waitFor();
  await act?.(page);
  return async () => {
    const sizes = await Promise.all([...loaded].map(gzippedSize));
    return sizes.reduce((sum, bytes) => sum + bytes, 0);
  };
}

/** Passes a request on, and takes the times out of the answer. */
async function steadyAnswer(
  request: Request,
): Promise<{ status: number; contentType: string; body: string }> {
  const response = await fetch(request.url(), { headers: request.headers() });
  const text = await response.text();
  return {
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    body: text.replace(/"2\d{3}-\d\d-\d\d(T[\d:.]+Z)?"/g, (_, time) =>
      time ? `"${BEFORE}"` : `"${BEFORE.slice(0, 10)}"`,
    ),
  };
}

const BEFORE = new Date(NOW.getTime() - 3_600_000).toISOString();

// Asked for again, because browsers do not keep every body that they have read.
async function gzippedSize(url: string): Promise<number> {
  const response = await fetch(url, { headers: { accept: "text/html, */*" } });
  return response.ok ? gzipSync(await response.bytes()).length : 0;
}

/** What stands further right than the window ends, so that a reader has to scroll sideways. */
export const tooWide = (page: Tab): Promise<string[]> =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.body.querySelectorAll("*")]
      .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
      .map((element) => element.outerHTML.slice(0, 120));
  });

/** The controls that Tab does not reach, or on which nobody sees that it has. */
export async function keyboardFaults(page: Tab): Promise<string[]> {
  const count = await page.evaluate(() => {
    const controls = document.querySelectorAll<HTMLElement>(
      "a[href], button, input, select, textarea, summary, [tabindex]",
    );
    const wanted = [...controls].filter(
      (one) =>
        one.tabIndex >= 0 &&
        !one.matches(":disabled") &&
        one.checkVisibility({ visibilityProperty: true }) &&
        !(one instanceof HTMLInputElement && one.type === "radio" && !one.checked),
    );
    for (const one of wanted) one.dataset.waits = "";
    // Tab continues from here, not from where the page's script has put the focus.
    const start = document.createElement("span");
    start.tabIndex = -1;
    document.body.prepend(start);
    start.focus();
    return wanted.length;
  });
  const faults: string[] = [];
  // Browsers also stop at what scrolls.
  for (let presses = 0; presses < count + 10; presses++) {
    await page.keyboard.press("Tab");
    const { fault, left } = await page.evaluate(() => {
      const focused = document.activeElement as HTMLElement | null;
      const left = () => document.querySelectorAll("[data-waits]").length;
      if (!focused || focused.dataset.waits === undefined) return { fault: null, left: left() };
      delete focused.dataset.waits;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(focused);
      const { width, height } = focused.getBoundingClientRect();
      const isSeen = (outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0) || boxShadow !== "none";
      const fault = isSeen && width > 0 && height > 0 ? null : `unseen: ${focused.outerHTML.slice(0, 120)}`;
      return { fault, left: left() };
    });
    if (fault !== null) faults.push(fault);
    if (left === 0) return faults;
  }
  const unreached = await page.evaluate(() =>
    [...document.querySelectorAll("[data-waits]")].map((one) => `unreached: ${one.outerHTML.slice(0, 120)}`),
  );
  return [...faults, ...unreached];
}

/** Where something that everybody sees stands on a page, in pixels. */
export type Box = { readonly what: string; readonly x: number; readonly y: number; readonly width: number };

/** Where headings, controls and pictures stand. */
export const boxesOf = (page: Tab): Promise<Box[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "header, main, h1, h2, h3, form, button, input, select, textarea, canvas, table, li > a",
      ),
    ]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .map((element) => {
        const { left, top, width } = element.getBoundingClientRect();
        const what = `${element.localName} ${(element.textContent ?? "").trim().slice(0, 30)}`;
        return { what, x: left + scrollX, y: top + scrollY, width };
      }),
  );

/**
 * The differences between two browsers' layouts that a person would see. Their controls and scroll bars differ by some
 * pixels, and so one line may break in one of them alone; what stands beside or below something else does so in both.
 */
export function layoutDifferences(one: readonly Box[], other: readonly Box[]): string[] {
  if (one.length !== other.length)
    return [
      `${one.length} boxes and ${other.length}: ${one.map(({ what }) => what)} and ${other.map(({ what }) => what)}`,
    ];
  return one.flatMap((box, index) => {
    const twin = other[index]!;
    if (box.what !== twin.what) return [`${box.what} and ${twin.what}`];
    const isNear =
      Math.abs(box.x - twin.x) <= 24 &&
      Math.abs(box.width - twin.width) <= 24 + 0.06 * box.width &&
      Math.abs(box.y - twin.y) <= 64 + 0.04 * box.y;
    return isNear ? [] : [`${JSON.stringify(box)} and ${JSON.stringify(twin)}`];
  });
}
