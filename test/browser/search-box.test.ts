import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import {
  accessibilityFaults,
  firefoxPath,
  openPageBrowser,
  scrollsSideways,
  type Tab,
} from "../support/page-browser.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";

/** A site with its own policy, on another port than the search. */
type Site = AsyncDisposable & { readonly url: string; readonly paths: string[] };
function serveSite(page: () => { readonly html: string; readonly policy: string }): Site {
  const paths: string[] = [];
  const server = serveLocal((request) => {
    const { pathname } = new URL(request.url);
    paths.push(pathname);
    if (pathname === "/favicon.ico") return new Response(null, { status: 204 });
    const { html, policy } = page();
    return new Response(
      `<!doctype html><html lang="en"><title>A site</title><main><h1>A site</h1>${html}</main>`,
      { headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy } },
    );
  });
  return { url: `http://127.0.0.1:${server.port}`, paths, [Symbol.asyncDispose]: () => server.stop(true) };
}

let html = "";
let policy = "";
const site = forAllTests(serveSite(() => ({ html, policy })));
const browser = forAllTests(await openPageBrowser());
const registry = forAllTests(
  await openIndexed(
    folderTenant(
      "guide",
      {
        "locks.md": "# Locks\n\nA boat.\n\n## Gates\n\nThe gate opens with `open_gate`.\n",
        "mill.md": "# Mill\n\nA wheel.\n",
      },
      { docs_name: "Canal guide" },
    ),
    folderTenant("notes", { "gate.md": "# Notes\n\nPaint the gate.\n" }, { docs_name: "Canal notes" }),
  ),
);
const search = forAllTests(openSearchServer(registry, { corsOrigins: [site.url] }));

/** No script, style or connection but of the search, no markup from text, and nothing inline. */
const strict = (server = search.url): string =>
  `default-src 'none'; script-src ${search.url}; connect-src ${server}; require-trusted-types-for 'script'; trusted-types 'none'`;
const lineOf = (data = ""): string => `<script src="${search.url}/docs-search.js"${data}></script>`;

type VisitOptions = {
  /** Another server than the script's, which the line and the policy name. */
  readonly server?: string;
  readonly html?: string;
  readonly policy?: string;
  readonly width?: number;
  readonly isDark?: boolean;
  readonly expected?: RegExp;
};

function visit(options: VisitOptions = {}, inBrowser = browser) {
  const { server } = options;
  html = options.html ?? lineOf(server && ` data-server="${server}"`);
  policy = options.policy ?? strict(server);
  return inBrowser.visit({ origin: site.url, path: "/page", ...options });
}

const field = (page: Tab) => page.locator("dialog[open] input");
const options = (page: Tab) => page.getByRole("option");
const selected = (page: Tab) => page.locator('[role=option][aria-selected="true"] .title').textContent();

describe("the search box on another site with a strict policy", () => {
  test("is one script of less than 20 kB, without anything else", async () => {
    const response = await fetch(`${search.url}/docs-search.js`);
    const script = await response.text();
    expect(script.length).toBeLessThan(20_000);
    expect(gzipSync(script).length).toBeLessThan(7_000);
    expect(response.headers.get("content-type")).toStartWith("text/javascript");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    const again = await fetch(`${search.url}/docs-search.js`, {
      headers: { "if-none-match": response.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    const head = await fetch(`${search.url}/docs-search.js`, {
      method: "HEAD",
      headers: { "accept-encoding": "identity" },
    });
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(script)));
  });

  test("is opened, searched and left by keyboard alone, and leads to the section", async () => {
    await using page = await visit();
    await page.keyboard.press("/");
    await field(page).fill("gate");
    await options(page).nth(1).waitFor();
    expect((await page.getByRole("group").allTextContents()).sort()).toEqual([
      expect.stringMatching(/^Canal guideLocks.*Gates.*gate opens with open_gate/),
      expect.stringMatching(/^Canal notesNotes.*Paint the gate/),
    ]);
    expect(await page.locator("mark").first().textContent()).toBe("gate");
    expect(await page.locator("code", { hasText: "open_gate" }).count()).toBe(1);
    const first = await selected(page);
    await page.keyboard.press("ArrowDown");
    expect(await selected(page)).not.toBe(first);
    await page.keyboard.press("ArrowDown");
    expect(await selected(page)).toBe(first);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    const active = await field(page).getAttribute("aria-activedescendant");
    expect(await page.locator(`#${active}`).getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Escape");
    await field(page).waitFor({ state: "hidden" });
    expect(await page.evaluate(() => document.activeElement?.localName)).not.toBe("dialog");
    await page.keyboard.press("Control+k");
    await field(page).fill("open_gate");
    await page.locator("[role=option]", { hasText: "open_gate" }).waitFor();
    expect(await selected(page)).toBe("Locks");
    await page.keyboard.press("Enter");
    await page.waitForURL(/doc=docs/);
    expect(page.url()).toStartWith(`${search.url}/#`);
    const place = new URLSearchParams(new URL(page.url()).hash.slice(1));
    expect([place.get("doc"), place.get("of"), place.get("at")]).toEqual([
      "docs://guide/locks.md",
      "guide",
      "gates",
    ]);
    await page.locator(".prose h2", { hasText: "Gates" }).waitFor();
    // Only the search was asked, and the site for its own page.
    expect(page.outside.filter((url) => !url.startsWith(search.url))).toEqual([]);
  });

  test("remembers what was chosen until the reader forgets it, and says when nothing is found", async () => {
    const hit = {
      tenant: "web",
      docs_name: "Web",
      title: "Locks",
      heading: "Gates",
      anchor: "gates",
      snippet: "x",
      url: `${site.url}/locks`,
    };
    await using fake = serveSearch(() => Response.json({ hits: [hit], total: 1 }));
    await using page = await visit({ server: `${fake.url}/` });
    const open = page.getByRole("button", { name: /Search the documentation/ });
    await open.click();
    expect(await options(page).count()).toBe(0);
    await field(page).fill("locks");
    await options(page).first().waitFor();
    expect(await options(page).first().getAttribute("href")).toBe(`${site.url}/locks#gates`);
    await options(page).first().click();
    await page.waitForURL(`${site.url}/locks#gates`);
    await open.click();
    expect(await options(page).allTextContents()).toEqual(["LocksWeb › Gates"]);
    await page.getByRole("button", { name: "Clear recent" }).click();
    expect(await options(page).count()).toBe(0);
    await page.keyboard.press("Escape");
    await open.click();
    expect(await options(page).count()).toBe(0);
  });

  test("takes collections, words, keys and colours from the script's attributes, or from an element", async () => {
    const data =
      ' data-tenants="notes" data-placeholder="Find &quot;it&quot;" data-keys="s" data-theme="dark"';
    await using page = await visit({ html: `<p><input aria-label="Other"></p>${lineOf(data)}` });
    await page.keyboard.press("/");
    expect(await field(page).isVisible()).toBe(false);
    // In another field a letter is a letter.
    await page.getByLabel("Other").fill("");
    await page.getByLabel("Other").press("s");
    expect([await page.getByLabel("Other").inputValue(), await field(page).isVisible()]).toEqual([
      "s",
      false,
    ]);
    await page.getByRole("heading", { name: "A site" }).click();
    await page.keyboard.press("s");
    await page.getByRole("combobox", { name: 'Find "it"' }).fill("gate");
    await options(page).first().waitFor();
    expect(await page.getByRole("group").allTextContents()).toEqual([expect.stringMatching(/^Canal notes/)]);
    const paper = await page.locator("dialog").evaluate((dialog) => getComputedStyle(dialog).backgroundColor);
    expect(paper).toBe("rgb(22, 23, 22)");
    const inHead = `</main><docs-search tenants="notes" placeholder="Look"></docs-search><main>`;
    await using other = await visit({ html: `${inHead}${lineOf()}` });
    await other.getByRole("button", { name: "Look" }).click();
    await field(other).fill("wheel");
    await other.getByText("Nothing found for “wheel”").waitFor();
    expect(await other.getByRole("button", { name: "Search the documentation" }).count()).toBe(1);
  });

  test("looks the same where the site has rules for all of its elements", async () => {
    const rules =
      "body * { color: red; font: italic 40px cursive; letter-spacing: 1em; text-align: right; text-transform: uppercase }";
    const looks = async (style: string): Promise<object> => {
      await using page = await visit({
        html: style + lineOf(),
        policy: `${strict()}; style-src 'unsafe-inline'`,
      });
      await page.keyboard.press("/");
      await field(page).fill("gate");
      await options(page).first().waitFor();
      return await page
        .locator("[role=option] .title")
        .first()
        .evaluate((title) => {
          const { color, font, letterSpacing, textAlign, textTransform } = getComputedStyle(title);
          return { color, font, letterSpacing, textAlign, textTransform };
        });
    };
    expect(await looks(`<style>${rules}</style>`)).toEqual(await looks(""));
  });

  test.each([360, 768, 1280])(
    "fits %i pixels, and is accessible, open and closed, in both colours",
    async (width) => {
      for (const isDark of [false, true]) {
        await using page = await visit({ width, isDark });
        expect(await accessibilityFaults(page)).toEqual([]);
        await page.getByRole("button", { name: "Search the documentation" }).click();
        await field(page).fill("gate");
        await options(page).first().waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await scrollsSideways(page)).toBe(false);
      }
    },
  );
});

test.skipIf(firefoxPath() === null)(
  "the search box works under the same policy in Firefox, where there is one",
  async () => {
    await using firefox = await openPageBrowser({ engine: "firefox" });
    // Firefox asks for the icon of the site, whose policy allows none.
    await using page = await visit({ expected: /favicon\.ico/ }, firefox);
    await page.keyboard.press("Control+k");
    await field(page).fill("gate");
    await options(page).nth(1).waitFor();
    const first = await selected(page);
    await page.keyboard.press("ArrowDown");
    expect(await selected(page)).not.toBe(first);
    const radius = await page.locator("dialog").evaluate((dialog) => getComputedStyle(dialog).borderRadius);
    expect(radius).toBe("12px");
    await page.keyboard.press("Enter");
    await page.waitForURL(/doc=docs/);
    await page.locator(".prose h1, .prose h2").first().waitFor();
  },
);

describe("the search box, when things go wrong", () => {
  test("says that the search does not answer where the server does not allow the site, and the console says why", async () => {
    await using closed = openSearchServer(registry);
    const warnings: string[] = [];
    await using page = await visit({ server: closed.url, expected: /CORS|ERR_|docs-search/ });
    page.on("console", (message) => warnings.push(message.text()));
    await page.keyboard.press("/");
    await page.keyboard.type("gate");
    await page.getByText("The search is not responding").waitFor();
    expect(warnings.join("\n")).toContain(`does its DOCS_SEARCH_CORS_ORIGINS name ${site.url}?`);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test.each([
    [401, "This search requires access."],
    [429, "The search is busy."],
    [500, "The search is not responding."],
  ])("says what an answer of %i means", async (status, text) => {
    await using fake = serveSearch(() => Response.json({ detail: "no" }, { status }));
    await using page = await visit({ server: fake.url, expected: /status of|docs-search/ });
    await page.keyboard.press("/");
    await page.keyboard.type("gate");
    await page.getByText(text).waitFor();
  });

  test("makes nothing of what a server says but text, and follows no other addresses than web ones", async () => {
    const evil = '<img src=x onerror="document.title=1"><b>';
    const hit = { tenant: evil, docs_name: evil, title: evil, heading: evil, anchor: null };
    const hits = [
      { ...hit, url: "javascript:document.title=2", snippet: "a" },
      { ...hit, url: "data:text/html,x", snippet: "b" },
      { ...hit, url: `${site.url}/ok`, snippet: `&lt;i&gt; <mark>m</mark> ${evil}</code></mark><code>` },
    ];
    await using fake = serveSearch(() => Response.json({ hits, total: 3 }));
    await using page = await visit({ server: fake.url });
    await page.keyboard.press("/");
    await page.keyboard.type("x");
    await options(page).first().waitFor();
    expect(
      await options(page).evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ).toEqual([`${site.url}/ok`]);
    expect(await page.locator("dialog").locator("img, b, i").count()).toBe(0);
    expect(await page.title()).toBe("A site");
  });
});

describe("the page that makes the line for the search box", () => {
  test("makes a line that works on another site as it is", async () => {
    await using page = await browser.visit({ origin: search.url, path: "/embed" });
    await page.getByLabel("Canal notes").check();
    await page.getByLabel("Placeholder text").fill('Ask <"us"> & them');
    const line = (await page.locator("#snippet").textContent()) ?? "";
    const directives = (await page.locator("#policy").textContent()) ?? "";
    expect(await accessibilityFaults(page)).toEqual([]);
    // The box on the page itself is as the line says.
    await page.getByRole("button", { name: 'Ask <"us"> & them' }).click();
    await field(page).fill("gate");
    await page.getByRole("group", { name: "Canal notes" }).waitFor();
    expect(await page.getByRole("group", { name: "Canal guide" }).count()).toBe(0);
    await using other = await visit({ html: line, policy: `default-src 'none'; ${directives}` });
    await other.getByRole("button", { name: 'Ask <"us"> & them' }).click();
    await field(other).fill("gate");
    await other.getByRole("group", { name: "Canal notes" }).waitFor();
  });

  test.each([360, 1920])("fits %i pixels in both colours", async (width) => {
    for (const isDark of [false, true]) {
      await using page = await browser.visit({ origin: search.url, path: "/embed", width, isDark });
      await page.getByLabel("Canal notes").waitFor();
      expect(await scrollsSideways(page)).toBe(false);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  });
});

/** A server that answers searches of every site in its own way. */
function serveSearch(answer: () => Response): AsyncDisposable & { readonly url: string } {
  const server = serveLocal(() => {
    const response = answer();
    response.headers.set("access-control-allow-origin", "*");
    return response;
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}
