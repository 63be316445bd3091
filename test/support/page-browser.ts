import { chromium } from "playwright-core";
import { browserPath } from "./browser-fetcher.ts";

/** A real browser with a tab, as a person would use it, and all that went wrong or out in it. */
export type PageVisit = AsyncDisposable & {
  readonly page: Tab;
  /** Messages of the console that are errors or warnings, faults of scripts, and refusals of the policy. */
  readonly complaints: readonly string[];
  /** Addresses of requests to other origins than those of `allowed`. */
  readonly outside: readonly string[];
};

type Browser = Awaited<ReturnType<typeof chromium.launch>>;
export type Tab = Awaited<ReturnType<Browser["newPage"]>>;

export type VisitOptions = {
  readonly isDark?: boolean;
  readonly width?: number;
  readonly height?: number;
  /** Origin of the server whose page is looked at. */
  readonly origin: string;
  /** Complaints that the test brings about: a 401 is an error of the console. */
  readonly expected?: RegExp;
};

/** Starts Chromium; dispose of it after the tests. */
export async function openPageBrowser(): Promise<
  AsyncDisposable & { readonly visit: (options: VisitOptions) => Promise<PageVisit> }
> {
  const browser = await chromium.launch({
    executablePath: browserPath(),
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu"],
  });
  return {
    visit: (options) => visit(browser, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

const AXE = require.resolve("axe-core/axe.min.js");

async function visit(browser: Browser, options: VisitOptions): Promise<PageVisit> {
  const context = await browser.newContext({
    colorScheme: options.isDark ? "dark" : "light",
    reducedMotion: "reduce",
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
  });
  await context.addInitScript({ path: AXE });
  const page = await context.newPage();
  const complaints: string[] = [];
  const outside: string[] = [];
  const complain = (text: string): void => {
    if (!options.expected?.test(text)) complaints.push(text);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complain(message.text());
  });
  page.on("pageerror", (error) => complain(`fault: ${error.message}`));
  page.on("dialog", (dialog) => {
    complain(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${options.origin}/`) && !url.startsWith("blob:")) outside.push(url);
  });
  return { page, complaints, outside, [Symbol.asyncDispose]: () => context.close() };
}

type AxeResult = {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
};

/** What axe-core finds wrong with the page as it is now, serious and critical, one line each. */
export async function accessibilityFaults(page: Tab): Promise<string[]> {
  const violations: AxeResult[] = await page.evaluate(async () => {
    // Put there by the visit, before the page's own scripts.
    const { axe } = globalThis as unknown as {
      axe: { run: (o: object) => Promise<{ violations: AxeResult[] }> };
    };
    return (await axe.run({ resultTypes: ["violations"] })).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, impact, nodes }) =>
        `${impact}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
    );
}

/** Whether the page is wider than the window, so that a reader has to scroll sideways. */
export const scrollsSideways = (page: Tab): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

/** Fills the form for a crawl by the names of its fields, and sends it. */
export async function submitCrawl(page: Tab, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`[name=${name}]`, value);
  await page.getByRole("button", { name: "Start the crawl" }).click();
}
