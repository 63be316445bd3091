import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BINARY, cleanEnvironment, runShell } from "../support/binary.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { openPageBrowser, type PageVisit } from "../support/page-browser.ts";
import { freePorts, serveSampleSite } from "../support/sample-site.ts";
import { Served } from "../support/served.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/*
 * What three newcomers want in their first hour, each as the fewest commands or clicks that do it: somebody who feeds a
 * pipeline, somebody who works with an agent, and somebody who runs a server.
 */

const port = freePorts();
const sample = forAllTests(await serveSampleSite({ http: port, https: port + 1 }));
const browser = forAllTests(await openPageBrowser());
const SITE = sample.http.origin;
const place = forAllTests(temporaryDirectory());
const folder = join(place.path, "work");
mkdirSync(folder);
const ENVIRONMENT = {
  HOME: join(place.path, "home"),
  DOCS_SEARCH_STATE_DIR: join(place.path, "state"),
  ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
  ARTICLE_EXTRACTOR_RETRIES: "0",
  ARTICLE_EXTRACTOR_BROWSER_PATH: "none",
  ARTICLE_EXTRACTOR_KEYS_FILE: join(place.path, "keys.json"),
  DOCS_SEARCH_GIT_PROTOCOLS: "https,http,file",
};
mkdirSync(ENVIRONMENT.HOME);
writeFileSync(
  join(folder, "urls.txt"),
  ["/news/borrowed-tools.html", "/news/tide-mill-turns-again.html", "/nowhere.html"]
    .map((path) => `${SITE}${path}\n`)
    .join(""),
);
cpSync(join(import.meta.dir, "../site/docs"), join(folder, "manual"), { recursive: true });
for (const command of [
  "git init -q -b main book && cp manual/*.html book && cd book",
  "git add . && git -c user.name=a -c user.email=a@example.org commit -qm one && git clone -q --bare . ../book.git",
]) {
  const { exitCode, stderr } = await runShell(command, {
    cwd: join(folder, command.startsWith("git add") ? "book" : ""),
  });
  if (exitCode !== 0) throw new Error(stderr);
}

/** The commands or clicks that each errand took. */
const steps = new Map<string, string>();
afterAll(() => {
  const lines = [...steps].map(([errand, took]) => `  ${took.padEnd(12)} ${errand}`);
  console.log(`${steps.size} errands, with the commands or clicks of each:\n${lines.join("\n")}`);
});

type Shown = { readonly exitCode?: number; readonly stdout?: RegExp; readonly stderr?: RegExp };

/** An errand of commands, of which the last one answers it; all others have to succeed. */
function errand(name: string, commands: readonly string[], shown: Shown): void {
  test(name, async () => {
    steps.set(name, `${commands.length} command${commands.length === 1 ? "" : "s"}`);
    for (const [index, command] of commands.entries()) {
      const isLast = index === commands.length - 1;
      const result = await runShell(command, { shell: "bash", cwd: folder, env: ENVIRONMENT });
      const exitCode = isLast ? (shown.exitCode ?? 0) : 0;
      expect({ command, ...result }).toMatchObject({
        exitCode,
        ...(isLast && shown.stdout && { stdout: expect.stringMatching(shown.stdout) }),
        ...(isLast && shown.stderr && { stderr: expect.stringMatching(shown.stderr) }),
      });
    }
  }, 60_000);
}

describe("somebody who feeds a pipeline", () => {
  errand("one page as Markdown", [`article-extractor ${SITE}/news/borrowed-tools.html --output markdown`], {
    stdout: /^# What we learned from two years of lending tools\n/,
  });
  errand(
    "title and date of a page",
    [`article-extractor ${SITE}/news/borrowed-tools.html --fields title,published_date --compact`],
    {
      stdout: /^\{"title":"What we learned[^"]*","published_date":"2025-11-12"\}\n$/,
    },
  );
  errand("a saved page from a pipe", ["cat manual/install.html | article-extractor - --output text"], {
    stdout: /install/i,
  });
  errand("a list as one file each", ["article-extractor --input-file urls.txt -o pages/ ; ls pages"], {
    stdout: /borrowed-tools.*\.md\n.*tide-mill.*\.md\nmanifest\.jsonl\n$/s,
    stderr: /1 failed/,
  });
  errand(
    "only what failed, again",
    ["article-extractor --input-file urls.txt -o again/ || true", "article-extractor --retry-failed again"],
    {
      exitCode: 1,
      stderr: /nowhere\.html/,
    },
  );
  errand(
    "a list as a table",
    ["article-extractor --input-file urls.txt --output csv --fields url,title,word_count || true"],
    {
      stdout: /^url,title,word_count\r?\n.*borrowed-tools\.html,What we learned/,
    },
  );
  errand("the tables of a page", [`article-extractor ${SITE}/docs/configuration.html --tables csv`], {
    stdout: /,/,
  });
  errand(
    "a whole site in a folder",
    [`article-extractor crawl ${SITE}/ --output-dir site`, "ls site/*.md | wc -l"],
    { stdout: /^1\d\n$/ },
  );
  errand("why a page of the site is not there", ["grep drafts site/manifest.json"], {
    stdout: /robots/,
  });
  errand("a crawl that is cut says so", [`article-extractor crawl ${SITE}/ --max-pages 3 --output-dir few`], {
    stderr: /at most 3 pages \(--max-pages\)/,
  });
  errand("what changed since the last crawl", [`article-extractor crawl ${SITE}/ --output-dir site`], {
    stderr: /unchanged/,
  });
});

describe("somebody who works with an agent", () => {
  errand(
    "search a folder",
    [
      "article-extractor index --dir manual",
      "article-extractor search --dir manual --size 1 'what is a datum'",
    ],
    {
      stdout: /^1\. Configuration reference\n.*#terms\n/,
    },
  );
  errand(
    "documentation from a folder",
    [
      "article-extractor tenants add manual --codename weir --yes",
      "article-extractor sync weir",
      "article-extractor search weir --size 1 'what is a datum'",
    ],
    {
      stdout: /#terms\n/,
    },
  );
  errand(
    "documentation from a repository",
    [
      "article-extractor tenants add book.git --codename book --yes",
      "article-extractor sync book",
      "article-extractor search book --size 1 datum",
    ],
    {
      stdout: /^1\. /,
    },
  );
  errand(
    "documentation from a website",
    [
      `article-extractor tenants add ${SITE}/docs/ --codename online --yes`,
      "article-extractor sync online",
      "article-extractor search online --size 1 datum",
    ],
    {
      stdout: /configuration\.html#terms\n/,
    },
  );
  errand("why a page is not found", [`article-extractor tenants why ${SITE}/news/index.html`], {
    exitCode: 1,
    stdout: /./,
  });
  errand(
    "another name for a tenant",
    ["article-extractor tenants rename book manual-of-git", "article-extractor tenants list"],
    { stdout: /manual-of-git/ },
  );
  errand("a section of a document", ["article-extractor fetch weir 'docs://weir/configuration.html#terms'"], {
    stdout: /Datum/,
  });
  errand("what sets up a client", ["article-extractor mcp --print-config cursor"], { stdout: /"command":/ });

  test("an agent reads a page and searches over stdin", async () => {
    const transport = new StdioClientTransport({
      command: BINARY,
      args: ["mcp", "--config", join(folder, "deployment.json")],
      env: cleanEnvironment(ENVIRONMENT),
    });
    const client = new Client({ name: "errand", version: "1" });
    await client.connect(transport as never);
    try {
      const page = await client.callTool({
        name: "fetch_url",
        arguments: { url: `${SITE}/news/borrowed-tools.html` },
      });
      const found = await client.callTool({
        name: "root_search",
        arguments: { query: "what is a datum", tenant_codename: "*" },
      });
      steps.set("an agent reads a page and searches over stdin", "2 calls");
      expect(JSON.stringify(page.content)).toContain("two years of lending tools");
      expect(JSON.stringify(found.structuredContent)).toContain('"anchor":"terms"');
    } finally {
      await client.close();
    }
  }, 60_000);
});

describe("somebody who runs a server", () => {
  errand("does this machine suffice", ["article-extractor doctor"], { stdout: /disk/i });
  errand("is the deployment right", ["article-extractor validate deployment.json"], { stdout: /3 tenants/ });
  errand("every documentation, now", ["article-extractor sync --all"], { stdout: /weir: 5 documents/ });
  errand("a key for a client", ["article-extractor keys add ci --service extractor"], { stdout: /\w{20}/ });
  errand(
    "the end of a key",
    [
      "article-extractor keys revoke ci --service extractor",
      "article-extractor keys list --service extractor",
    ],
    { stdout: /^(?!.*\bci\b)/s },
  );
  errand(
    "pages of a tenant left out",
    ["article-extractor tenants set online --exclude /docs/install", "article-extractor sync online"],
    {
      stdout: /1 removed/,
    },
  );
  errand("what people searched for", ["article-extractor queries"], {
    exitCode: 1,
    stderr: /query_log_days/,
  });
});

/** A person in front of a page, whose clicks and lines are counted. */
class Person {
  readonly page: PageVisit;
  acts = 0;

  constructor(page: PageVisit) {
    this.page = page;
  }

  /** Fills a field and presses Enter. */
  async types(field: string, text: string): Promise<void> {
    this.acts++;
    await this.page.getByLabel(field).first().fill(text);
    await this.page.keyboard.press("Enter");
  }

  async clicks(name: string | RegExp): Promise<void> {
    this.acts++;
    const named = this.page.getByRole("link", { name }).or(this.page.getByRole("button", { name }));
    await named.or(this.page.getByRole("tab", { name })).first().click();
  }

  sees = (text: string | RegExp): Promise<void> => this.page.getByText(text).first().waitFor();
}

/** An errand in a browser, as the clicks and typed lines that do it. */
function errandOnPage(name: string, where: () => string, work: (person: Person) => Promise<void>): void {
  const errand = async (): Promise<void> => {
    const { origin, pathname: path } = new URL(where());
    await using page = await browser.visit({ origin, path });
    page.setDefaultTimeout(20_000);
    const person = new Person(page);
    await work(person);
    steps.set(name, `${person.acts} click${person.acts === 1 ? "" : "s"}`);
  };
  test(name, errand, 60_000);
}

describe("anybody with a browser, before serve extractor", () => {
  let server: Awaited<ReturnType<typeof startExtractor>>;
  const home = () => server.url;
  beforeAll(async () => {
    server = await startExtractor({ env: { ARTICLE_EXTRACTOR_BROWSER_PATH: "none" } });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  errandOnPage("reads a page", home, async (person) => {
    await person.types("Address of the page", `${SITE}/news/borrowed-tools.html`);
    await person.sees("Two years ago we put our spare tools on a shelf");
  });
  errandOnPage("sees why a part was left out", home, async (person) => {
    await person.types("Address of the page", `${SITE}/news/borrowed-tools.html`);
    await person.clicks(/Blocks|Kept/);
    await person.page.locator(".block:not(.kept)").first().waitFor();
  });
  errandOnPage("crawls a site", home, async (person) => {
    await person.clicks("Crawls");
    await person.types("Start URLs", `${SITE}/`);
    await person.clicks("Start crawl");
    await person.page.getByRole("button", { name: "Manifest" }).waitFor();
  });
});

describe("anybody with a browser, before serve search", () => {
  let server: Served;
  const home = () => server.url;
  beforeAll(async () => {
    server = await Served.start(folder, { env: ENVIRONMENT });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  errandOnPage("finds a section and reads it where it begins", home, async (person) => {
    await person.types("Search the documentation", "what is a datum");
    await person.clicks(/Configuration reference/);
    await person.page.locator(".prose").getByText("Datum").first().waitFor();
  });
  errandOnPage(
    "learns why a page is missing",
    () => `${home()}/status`,
    async (person) => {
      await person.types("Address", `${SITE}/docs/install.html`);
      console.log(await person.page.locator("#why-answer").textContent());
      await person.sees(/refuses it/);
    },
  );
  errandOnPage("gets a search box for a site", home, async (person) => {
    await person.clicks("Search box");
    await person.page.locator("code", { hasText: "<script" }).first().waitFor();
  });
});
