import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { forAllTests } from "../support/for-all-tests.ts";
import { freePort } from "../support/local.ts";
import {
  accessibilityFaults,
  openPageBrowser,
  scrollsSideways,
  type VisitOptions,
} from "../support/page-browser.ts";
import { writeTree } from "../support/search-server.ts";
import { Served } from "../support/served.ts";
import { until } from "../support/until.ts";

const HOSTILE = `# Hostile page

<script>document.title = "owned"; fetch("http://evil.example/a")</script>
<img src="http://evil.example/b.png" onerror="alert(1)">
<iframe src="http://evil.example/c"></iframe>
<svg onload=alert(2)><style>body { background: url(http://evil.example/d) }</style></svg>

[click](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>) ![x](http://evil.example/e.png)
<a href="javascript:alert(5)" onclick="alert(6)">link</a> <b style="position:fixed" onmouseover=alert(7)>bold</b>

| <img src=x onerror=alert(8)> | two |
|---|---|
| ![y](https://evil.example/f.png) | \`<script>\` |

Zebracrossing is a word of this page alone.
`;

const DOCUMENTS: Readonly<Record<string, string>> = {
  "guide/proxies.md":
    "# Proxies\n\nThe variable NO_PROXY lists hosts that go without a proxy.\n\n## Credentials\n\nA password of a proxy never reaches a log. See [retries](retries.md#jitter).\n",
  "guide/retries.md": `# Retries\n\nBack-off doubles.\n\n${"Filler text.\n\n".repeat(80)}## Jitter\n\nFull jitter spreads retries of a proxy.\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n\`\`\`sh\nretry --now\n\`\`\`\n`,
  "guide/hostile.md": HOSTILE,
  "notes/cooking.md": "# Cooking\n\nA recipe for soup, and a proxy for butter.\n",
};

const deployment = {
  infrastructure: { mcp_host: "127.0.0.1", mcp_port: 1024, allow_index_builds: true },
  tenants: ["guide", "notes"].map((codename) => ({
    source_type: "filesystem",
    codename,
    docs_name: `The ${codename}`,
    docs_root_dir: codename,
    description: `All about ${codename}`,
  })),
};

/** Starts the program and waits until it has indexes of all tenants. */
async function serveSearch(
  root: string,
  env: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
): Promise<Served> {
  const server = await Served.start(root, { env, words });
  const key = env.DOCS_SEARCH_API_KEY;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const address = `${server.url}${env.ARTICLE_EXTRACTOR_BASE_PATH ?? ""}/tenants/status`;
  const read = async () => (await fetch(address, { headers })).json() as Promise<StatusAnswer>;
  await until(read, ({ tenants }) => tenants.every(({ index }) => index.built_at !== null));
  return server;
}

type StatusAnswer = { readonly tenants: readonly { readonly index: { readonly built_at: string | null } }[] };

const root = writeTree({ ...DOCUMENTS, "deployment.json": JSON.stringify(deployment) });
forAllTests({ [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) });
const browser = forAllTests(await openPageBrowser());
const server = forAllTests(await serveSearch(root));

const visit = (path: string | null = "/", options: Partial<VisitOptions> = {}) =>
  browser.visit({ origin: server.url, path, ...options });

describe("the page of serve search", () => {
  test("shows the collections by their names, with what they are about and how many documents they have", async () => {
    await using page = await visit();
    const guides = page.locator(".collection", { hasText: "All about guide" });
    // The server may sync yet; the page asks again.
    const guide = await guides.filter({ hasText: "updated" }).textContent();
    for (const part of ["The guide", "3 documents", "updated"]) expect(guide).toContain(part);
    expect(await page.locator("#tenant option").allTextContents()).toEqual([
      "Everywhere",
      "The guide",
      "The notes",
    ]);
    expect(page.outside).toEqual([]);
  });

  test("has the view and the words that the address names in its first picture, before any script", async () => {
    await using page = await visit(null, { expected: /ERR_FAILED/ });
    await page.route("**/assets/*", (route) => route.abort());
    for (const [fragment, view, query] of [
      ["", "overview", ""],
      ["#q=+", "overview", " "],
      ["#q=a+proxy", "results", "a proxy"],
      ["#q=proxy&doc=docs%3A%2F%2Fguide%2Fa.md", "document", "proxy"],
    ] as const) {
      await page.goto("about:blank");
      await page.goto(`${server.url}/${fragment}`);
      expect(await page.locator("html").getAttribute("data-view")).toBe(view);
      expect(await page.locator("#overview").isVisible()).toBe(view === "overview");
      expect(await page.inputValue("#query")).toBe(query);
    }
  });

  test("is searched, read and left by keyboard alone", async () => {
    await using page = await visit();
    await page.keyboard.press("/");
    // At once: results of a part of the word would be replaced, and the focus with them.
    await page.keyboard.insertText("proxy");
    await page.locator("a.hit").nth(2).waitFor();
    // Both tenants answer, and what was found is marked as the server matched it.
    expect(await page.locator(".group h3").allTextContents()).toEqual(
      expect.arrayContaining(["The guide", "The notes"]),
    );
    expect(await page.locator("mark").allTextContents()).toEqual(expect.arrayContaining(["proxy"]));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    const first = await page.evaluate(() => document.activeElement?.textContent);
    expect(await page.locator("a.hit").first().textContent()).toBe(first ?? "");
    await page.keyboard.press("Enter");
    await page.locator("#document .prose").waitFor();
    expect(await page.locator("#results").isVisible()).toBe(false);
    await page.keyboard.press("Escape");
    await page.waitForFunction((text) => document.activeElement?.textContent === text, first);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement?.id === "query");
    await page.keyboard.press("Escape");
    await page.locator("#overview").waitFor();
    expect(await page.inputValue("#query")).toBe("");
  });

  test("has in its field what Back and Forward lead to, also while the field has the focus", async () => {
    await using page = await visit();
    await page.focus("#query");
    await page.keyboard.insertText("proxy");
    await page.locator("a.hit").first().waitFor();
    await page.goBack();
    await page.locator("#overview").waitFor();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>("#query")?.value === "");
    await page.goForward();
    await page.locator("a.hit").first().waitFor();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>("#query")?.value === "proxy");
  });

  test("says in which section each hit is, as text", async () => {
    await using page = await visit("/#q=jitter");
    await page.locator("a.hit").waitFor();
    expect(await page.locator(".where").allTextContents()).toEqual(["retries.md › Jitter"]);
    await page.fill("#query", "butter");
    await page.locator("a.hit", { hasText: "Cooking" }).waitFor();
    expect(await page.locator(".where").allTextContents()).toEqual(["cooking.md"]);
  });

  test("searches one tenant, exact words only, and says when nothing is found", async () => {
    await using page = await visit();
    await page.selectOption("#tenant", "notes");
    await page.fill("#query", "recipes");
    await page.locator("a.hit").waitFor();
    expect(await page.locator("a.hit").allTextContents()).toEqual(["Cooking"]);
    await page.check("#exact");
    await page.locator("h2", { hasText: "Nothing found for “recipes” in The notes" }).waitFor();
    // The address holds all of it.
    await page.reload();
    await page.locator("h2", { hasText: "Nothing found for “recipes” in The notes" }).waitFor();
    expect(await page.isChecked("#exact")).toBe(true);
  });

  test.each(["", "&doc=docs%3A%2F%2Fguide%2Fproxies.md&of=guide"])(
    "keeps the collection of an address that is opened, for searches to come (%p)",
    async (rest) => {
      await using page = await visit(`/#q=proxy&in=notes${rest}`);
      await page.locator(rest === "" ? "a.hit" : ".prose h1").waitFor();
      expect(await page.inputValue("#tenant")).toBe("notes");
      await page.waitForFunction(() => document.querySelectorAll("#tenant option").length === 3);
      expect(await page.inputValue("#tenant")).toBe("notes");
      await page.locator("#query").press("End");
      await page.keyboard.type(" butter");
      await page.waitForFunction(
        () => new URLSearchParams(location.hash.slice(1)).get("q") === "proxy butter",
      );
      expect(new URL(page.url()).hash).toBe("#q=proxy+butter&in=notes");
      await page.locator("h2", { hasText: "in The notes" }).waitFor();
      expect(await page.locator("a.hit").allTextContents()).toEqual(["Cooking"]);
    },
  );

  test("shows a document as its reader wants it, at the section that was found, and follows its links", async () => {
    await using page = await visit("/#q=jitter&in=guide");
    await page.locator("a.hit").first().click();
    const heading = page.locator(".prose h2", { hasText: "Jitter" });
    await heading.waitFor();
    expect(await heading.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.locator(".prose td.right").textContent()).toBe("2");
    expect(await page.locator(".prose pre code").textContent()).toBe("retry --now");
    expect(await page.locator(".prose li.task input:checked").count()).toBe(1);
    await page.goto(`${server.url}/#q=password&in=guide&doc=docs%3A%2F%2Fguide%2Fproxies.md`);
    await page.getByRole("link", { name: "retries" }).click();
    await page.locator(".prose h1", { hasText: "Retries" }).waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent === "Jitter");
  });

  test("lets nothing of a hostile document act, and asks nobody else for anything", async () => {
    await using page = await visit("/#q=zebracrossing");
    await page.locator("a.hit").click();
    await page.locator(".prose").waitFor();
    for (const inert of ["bold", "link", "click", "data"]) {
      await page.locator(".prose").getByText(inert, { exact: true }).first().click();
    }
    const found = await page.locator(".prose").evaluate((prose) => ({
      elements: [...prose.querySelectorAll("script, iframe, img, svg, style, object, embed, form, link")]
        .length,
      handlers: [...prose.querySelectorAll("*")].filter((one) =>
        one.getAttributeNames().some((name) => name.startsWith("on") || name === "style"),
      ).length,
      schemes: [...prose.querySelectorAll("a")]
        .map(({ href }) => new URL(href).protocol)
        .filter((scheme) => !/^https?:$/.test(scheme)),
      title: document.title,
    }));
    expect(found).toEqual({
      elements: 0,
      handlers: 0,
      schemes: [],
      title: "Hostile page – Documentation search",
    });
    expect(page.outside).toEqual([]);
  });

  test("loads a picture of a document when it is clicked on, and then only", async () => {
    await using page = await visit("/#q=zebracrossing", { expected: /ERR_|Failed to load/ });
    await page.locator("a.hit").click();
    const picture = page.getByRole("button", { name: "Show picture: x evil.example" });
    await picture.waitFor();
    expect(page.outside).toEqual([]);
    await picture.click();
    await page.getByRole("button", { name: "the picture could not be loaded" }).waitFor();
    expect(page.outside).toEqual(["http://evil.example/e.png"]);
  });
});

describe("the page of serve search, when things go wrong", () => {
  test("asks for the API key, keeps it for the tab alone, and says when it is wrong", async () => {
    await using guarded = await serveSearch(root, {
      DOCS_SEARCH_API_KEY: "correct-key",
      DOCS_SEARCH_STATE_DIR: join(root, "state-2"),
    });
    await using page = await browser.visit({ origin: guarded.url, path: "/", expected: /401/ });
    await page.getByLabel("API key", { exact: true }).fill("wrong-key");
    await page.keyboard.press("Enter");
    await page.getByText("The server rejected this key.").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel("API key", { exact: true }).fill("correct-key");
    await page.keyboard.press("Enter");
    await page.locator(".collection").first().waitFor();
    const kept = await page.evaluate(() => [
      localStorage.length,
      document.cookie,
      Object.values(sessionStorage),
    ]);
    expect(kept).toEqual([0, "", ["correct-key"]]);
  });

  test("says that the server is gone, and goes on when it is asked to", async () => {
    const state = { DOCS_SEARCH_STATE_DIR: join(root, "state-3") };
    const port = ["--port", String(freePort())];
    const own = await serveSearch(root, state, port);
    await using page = await browser.visit({
      origin: own.url,
      path: "/",
      expected: /ERR_(?:CONNECTION_|EMPTY_RESPONSE)/,
    });
    // A page that does not know the tenants yet goes on by itself once they can be had.
    await page.locator(".collection").first().waitFor();
    await own[Symbol.asyncDispose]();
    await page.fill("#query", "proxy");
    await page.getByText("The server does not answer").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const again = await serveSearch(root, state, port);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("a.hit").first().waitFor();
    await again[Symbol.asyncDispose]();
  });

  test("says why a tenant cannot be searched beside what others have", async () => {
    const broken = {
      ...deployment,
      tenants: [deployment.tenants[1], { ...deployment.tenants[0], search: { enabled: false } }],
    };
    const other = writeTree({ ...DOCUMENTS, "deployment.json": JSON.stringify(broken) });
    await using own = await serveSearch(other);
    await using page = await browser.visit({ origin: own.url, path: "/#q=proxy" });
    await page.getByText("1 of 2 collections did not answer").click();
    await page.getByText("Search is disabled for tenant 'guide'").waitFor();
    expect(await page.locator("a.hit").allTextContents()).toEqual(["Cooking"]);
  });
});

describe("the page of serve search, for everyone", () => {
  test.each([false, true])("has no serious fault of accessibility (dark: %p)", async (isDark) => {
    await using page = await visit("/", { isDark });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.fill("#query", "proxy");
    await page.locator("a.hit").first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const path of ["retries.md", "hostile.md"]) {
      await page.goto(`${server.url}/#in=guide&doc=docs%3A%2F%2Fguide%2F${path}`);
      await page.locator(".prose h1").waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  });

  test("fits a screen of 360 pixels", async () => {
    await using page = await visit("/", { width: 360 });
    expect(await scrollsSideways(page)).toBe(false);
    await page.fill("#query", "proxy");
    await page.locator("a.hit").first().click();
    await page.locator(".prose h1").waitFor();
    expect(await scrollsSideways(page)).toBe(false);
  });

  test("works below a base path, with and without the slash behind it", async () => {
    await using own = await serveSearch(root, {
      ARTICLE_EXTRACTOR_BASE_PATH: "/deep/docs",
      DOCS_SEARCH_STATE_DIR: join(root, "state-4"),
    });
    await using page = await browser.visit({ origin: own.url, path: "/deep/docs" });
    expect(page.url()).toBe(`${own.url}/deep/docs/`);
    await page.fill("#query", "proxy");
    await page.locator("a.hit").first().waitFor();
  });
});
