import { expect } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContextOptions, chromium, firefox, type LaunchOptions } from "playwright-core";
import { browserPath } from "./browser-fetcher.ts";
import { temporaryDirectory } from "./temporary.ts";

/**
 * A tab of a real browser, as a person would use it. Its disposal fails where the page has complained: by messages of
 * the console that are errors or warnings, faults of scripts, or refusals of the policy.
 */
export type PageVisit = Tab & {
  /** Addresses of requests to other origins than the visit's. */
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
  /** What is opened there; by default nothing is. */
  readonly path?: string | null;
  /** Complaints that the test brings about: a 401 is an error of the console. */
  readonly expected?: RegExp;
};

export type Engine = "chromium" | "firefox";

export type BrowserOptions = {
  readonly engine?: Engine;
  /** The scheme of all visits in Firefox, which takes it from its preferences when it starts. */
  readonly isDark?: boolean;
};

/** Starts Chromium or Firefox; dispose of it after the tests. */
export async function openPageBrowser({
  engine = "chromium",
  isDark = false,
}: BrowserOptions = {}): Promise<
  AsyncDisposable & { readonly visit: (options: VisitOptions) => Promise<PageVisit> }
> {
  const place = temporaryDirectory();
  const browser = await (engine === "chromium"
    ? chromium.launch({
        executablePath: browserPath(),
        args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", WITHOUT_FEATURES],
        env: environmentFor(place.path),
      })
    : launchFirefox(place.path, isDark));
  return {
    visit: (options) => visit(browser, { isDark, ...options }, engine),
    async [Symbol.asyncDispose]() {
      await browser.close();
      place[Symbol.dispose]();
    },
  };
}

// Replaces Playwright's list, whose part that matters here comes first. The popups of the address bar, which nobody
// sees, take each tab as much of the processor as its page.
const WITHOUT_FEATURES =
  "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,PaintHolding,ThirdPartyStoragePartitioning,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,AvoidCorsURLLoaderRestartOnRedirect,WebUIOmniboxPopup,WebUIOmniboxAimPopup";

/** The Firefox of this machine; null without one. */
export const firefoxPath = (): string | null => Bun.which("firefox-esr") ?? Bun.which("firefox");

function launchFirefox(directory: string, isDark: boolean): Promise<Browser> {
  const path = firefoxPath();
  if (path === null) throw new Error("no Firefox was found: run sh scripts/ensure.sh slow");
  const bridge = join(directory, "firefox");
  const words = [process.execPath, join(import.meta.dir, "firefox-bridge-entry.ts"), path];
  writeFileSync(bridge, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  chmodSync(bridge, 0o700);
  const options: LaunchOptions = {
    executablePath: bridge,
    // A Firefox that Playwright has not changed, over WebDriver BiDi.
    channel: "moz-firefox",
    firefoxUserPrefs: {
      "layout.css.prefers-color-scheme.content-override": isDark ? 0 : 1,
      "ui.prefersReducedMotion": 1,
      "security.sandbox.content.read_path_whitelist": `${FONTS}/`,
      // Tab reaches links and buttons also where the system says otherwise.
      "accessibility.tabfocus": 7,
      "datareporting.policy.dataSubmissionEnabled": false,
      "toolkit.telemetry.server": "",
    },
    env: environmentFor(directory),
  };
  return firefox.launch(options);
}

const FONTS = join(import.meta.dir, "..", "..", "node_modules", "dejavu-fonts-ttf", "ttf");

/**
 * The environment of a browser that knows one family of fonts, the same on every machine with fontconfig, so that
 * lines break at the same words everywhere.
 */
function environmentFor(directory: string): Record<string, string> {
  const path = join(directory, "fonts.conf");
  const families = ["sans-serif", "serif", "monospace"].map((generic, index) => {
    const names = index === 0 ? [generic, "ui-sans-serif", "system-ui", "sans"] : [generic, `ui-${generic}`];
    const own = ["DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono"][index];
    return names.map(
      (name) =>
        `<match><test name="family"><string>${name}</string></test><edit name="family" mode="prepend" binding="strong"><string>${own}</string></edit></match>`,
    );
  });
  mkdirSync(join(directory, "fonts"), { recursive: true });
  writeFileSync(
    path,
    `<?xml version="1.0"?><fontconfig><dir>${FONTS}</dir><cachedir>${directory}/fonts</cachedir>${families.flat().join("")}</fontconfig>`,
  );
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { ...Object.fromEntries(own), FONTCONFIG_FILE: path };
}

async function visit(browser: Browser, options: VisitOptions, engine: Engine): Promise<PageVisit> {
  const media: BrowserContextOptions =
    engine === "chromium"
      ? { colorScheme: options.isDark ? "dark" : "light", reducedMotion: "reduce" }
      : { colorScheme: null };
  const context = await browser.newContext({
    ...media,
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
  });
  // As long as a test may take: a busy machine is no reason to give up.
  context.setDefaultTimeout(100_000);
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
  if (options.path) await page.goto(`${options.origin}${options.path}`);
  return Object.assign(page, {
    outside,
    async [Symbol.asyncDispose]() {
      const complained = [...complaints];
      await context.close();
      expect(complained).toEqual([]);
    },
  });
}

type AxeResult = {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
};

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with the page as it is now, serious and critical, one line each. */
export async function accessibilityFaults(page: Tab): Promise<string[]> {
  // Half a megabyte of script, which only those pages load that are asked.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const violations: AxeResult[] = await page.evaluate(async () => {
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
  await page.getByRole("button", { name: "Start crawl" }).click();
}
