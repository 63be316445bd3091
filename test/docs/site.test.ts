import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { type DocsPage, htmlPath, readPages } from "../../scripts/docs/pages.ts";
import { renderPage } from "../../scripts/docs/render.ts";
import { writeSite } from "../../scripts/docs/site.ts";
import { BINARY } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");
const out = forAllTests(temporaryDirectory()).path;
const pages = await readPages(join(ROOT, "docs"), null);
beforeAll(() => writeSite(pages, { directory: out, base: "/manual/" }));

const anchorsOf = (page: DocsPage): readonly string[] => page.headings.map(({ anchor }) => anchor);

describe("the pages of the documentation", () => {
  test.each(pages.map((page) => [page.path, page] as const))(
    "%s has a title and a description",
    (_, page) => {
      expect(page.title.length).toBeGreaterThan(2);
      expect(page.description).toMatch(/^.{20,200}[.:]$/);
      expect(page.headings.filter(({ level }) => level === 1)).toHaveLength(1);
    },
  );

  test.each(pages.map((page) => [page.path, page] as const))(
    "%s has only links that lead somewhere",
    async (_, page) => {
      const broken: string[] = [];
      for (const { address } of page.links) {
        if (/^(?:https?:|mailto:)/.test(address)) continue;
        const [path = "", fragment] = address.split("#", 2);
        const target = path === "" ? page.path : posix.join(posix.dirname(page.path), path);
        const found = pages.find((one) => one.path === target);
        if (found && fragment !== undefined && !anchorsOf(found).includes(fragment)) broken.push(address);
        const file = join(ROOT, "docs", target);
        if (!found && !(await Bun.file(file).exists()) && !isFolder(file)) broken.push(address);
      }
      expect(broken).toEqual([]);
    },
  );

  test("other documents of the repository have only links that lead somewhere", async () => {
    const broken: string[] = [];
    for (const path of ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/README.md"]) {
      const { links, headings } = renderPage(await Bun.file(join(ROOT, path)).text(), () => null);
      for (const { address } of links) {
        if (/^(?:https?:|mailto:)/.test(address)) continue;
        const [target = "", fragment] = address.split("#", 2);
        const file = posix.join(posix.dirname(path), target);
        const page = pages.find((one) => posix.join("docs", one.path) === file);
        const anchors = target === "" ? headings.map(({ anchor }) => anchor) : page && anchorsOf(page);
        if (fragment !== undefined && anchors && !anchors.includes(fragment))
          broken.push(`${path}: ${address}`);
        if (!(await Bun.file(join(ROOT, file)).exists()) && !isFolder(join(ROOT, file)))
          broken.push(`${path}: ${address}`);
      }
    }
    expect(broken).toEqual([]);
  });
});

const isFolder = (path: string): boolean => {
  try {
    return readdirSync(path).length > 0;
  } catch {
    return false;
  }
};

describe("the site", () => {
  const read = (path: string): string => readFileSync(join(out, path), "utf8");

  test("has each page as HTML and as Markdown, and links between neighbours", () => {
    for (const [at, page] of pages.entries()) {
      expect(read(page.path)).toBe(page.markdown);
      const html = read(htmlPath(page.path));
      expect(html).toContain(
        `<link rel="alternate" type="text/markdown" href="${posix.basename(page.path)}">`,
      );
      expect(html.includes('rel="prev"')).toBe(at > 0);
      expect(html.includes('rel="next"')).toBe(at < pages.length - 1);
      expect(html.match(/aria-current="page"/g)).toHaveLength(1);
    }
  });

  test("loads and leads to nothing that is not there, and nothing from elsewhere", () => {
    const broken: string[] = [];
    for (const page of pages) {
      const html = read(htmlPath(page.path));
      const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
      for (const [, attribute, address = ""] of html.matchAll(/ (href|src)="([^"]+)"/g)) {
        if (attribute === "src" && /^\w+:/.test(address)) broken.push(address);
        if (/^\w+:/.test(address)) continue;
        const [path = "", fragment] = address.split("#", 2);
        const file = path === "" ? htmlPath(page.path) : posix.join(dirname(page.path), path);
        const text = read(file);
        const isThere = path === "" ? ids.has(fragment) : text.includes(` id="${fragment}"`);
        if (fragment !== undefined && !isThere) broken.push(address);
      }
      expect(html).not.toMatch(/<script>|<style|\son\w+=|style="/);
    }
    expect(broken).toEqual([]);
  });

  test("is light: a page at once, the search when somebody searches", () => {
    const weigh = (...paths: readonly string[]): number =>
      paths.reduce((total, path) => total + gzipSync(read(path)).length, 0);
    const largest = Math.max(...pages.map(({ path }) => weigh(htmlPath(path))));
    expect(largest + weigh("assets/docs.css", "assets/docs.js", "assets/icon.svg")).toBeLessThan(60_000);
    expect(weigh("assets/search.js")).toBeLessThan(45_000);
    expect(weigh("assets/documents.js")).toBeLessThan(200_000);
  });

  test("is built by its command, below any path", async () => {
    using directory = temporaryDirectory();
    const target = join(directory.path, "site");
    const build = Bun.spawn(
      [process.execPath, join(ROOT, "scripts/docs.ts"), "--out", target, "--base", "/a/b"],
      { stdout: "pipe" },
    );
    expect(await new Response(build.stdout).text()).toBe(`${pages.length} pages in ${target}\n`);
    expect(readFileSync(join(target, "404.html"), "utf8")).toContain('href="/a/b/assets/docs.css"');
    expect(readFileSync(join(target, "index.html"), "utf8")).toBe(read("index.html"));
  });

  test("finds the page about a task before the tables that name its words", () => {
    type Found = readonly { readonly places: readonly { readonly address: string }[] }[];
    const window = createContext({ performance });
    for (const name of ["documents", "search"]) runInContext(read(`assets/${name}.js`), window);
    const search: (query: string) => Found = runInContext("docsSearch", window);
    const first = (query: string): string => search(query)[0]?.places[0]?.address ?? "nothing";
    const tasks = {
      "resume a crawl": "how-to/crawl.html#resume-a-crawl",
      "use it from python": "how-to/python.html",
      "feed embeddings": "how-to/rag.html",
      "set up mcp": "how-to/mcp.html",
      "behind a login": "how-to/login.html",
      "run every night": "how-to/cron.html",
      "certificate is refused": "troubleshooting.html#the-certificate-is-refused",
      "robots.txt": "crawl.html",
      "--deny-prefix": "crawl.html#options",
    };
    for (const [query, page] of Object.entries(tasks))
      expect([query, first(query)]).toEqual([query, expect.stringContaining(page)]);
    expect([search(""), search("qqqqzzzz")].map((hits) => hits.length)).toEqual([0, 0]);
  });

  test("lists its pages for language models", () => {
    const list = read("llms.txt");
    for (const { title, path } of pages.slice(1)) expect(list).toContain(`- [${title}](${path}): `);
  });

  test("has a page for unknown addresses that finds the site from any of them", () => {
    const html = read("404.html");
    expect(html).toContain('href="/manual/assets/docs.css"');
    expect(html).toContain('href="/manual/index.html"');
    expect(html).toContain('data-root="/manual/"');
  });

  test("says which page the list lacks", async () => {
    using directory = temporaryDirectory();
    const write = (path: string, text: string): void => writeFileSync(join(directory.path, path), text);
    mkdirSync(join(directory.path, "how-to"));
    write("README.md", "# Pages\n\nAll of them.\n\n## Start\n\n- [A](a.md): the first page.\n");
    write("a.md", "# A\n\nText.\n");
    expect((await readPages(directory.path, null)).map(({ path }) => path)).toEqual(["README.md", "a.md"]);
    write("how-to/b.md", "# B\n\nText.\n");
    expect(readPages(directory.path, null)).rejects.toThrow("README.md does not list how-to/b.md");
    write("README.md", "# Pages\n\n- [A](a.md): one.\n- [B](how-to/b.md): two.\n- [A](a.md): one.\n");
    expect(readPages(directory.path, null)).rejects.toThrow("lists a page twice");
    write("README.md", "# Pages\n\n- [A](a.md)\n");
    expect(readPages(directory.path, null)).rejects.toThrow('"[A](a.md)" is no entry');
  });

  test("links to files of the repository once somebody has said where it is", async () => {
    const linked = await readPages(join(ROOT, "docs"), "https://forge.example/a/b");
    const security = linked.find(({ path }) => path === "SECURITY.md");
    expect(security?.html).toContain('href="https://forge.example/a/b/blob/main/scripts/deploy"');
    expect(pages.find(({ path }) => path === "SECURITY.md")?.html).not.toContain('scripts/deploy"');
  });
});

describe("a page as HTML", () => {
  const html = (markdown: string): string => renderPage(markdown, (address) => address).html;

  test("has stable anchors, each once", () => {
    const { headings } = renderPage("# A\n\n## Use `--x`\n\n## Use\n\n## Use\n", () => null);
    expect(headings.map(({ anchor }) => anchor)).toEqual(["a", "use---x", "use", "use-1"]);
  });

  test("shows markup in its text as text", () => {
    expect(html('# A\n\n`<b>` & "x" <script>alert(1)</script>\n')).not.toContain("<script");
    expect(html('# A <i onclick="x">\n')).not.toContain("onclick");
    expect(html("```sh\necho '</code><script>'\n```\n")).toContain("&lt;/code&gt;&lt;script&gt;");
    expect(html('[x](a"onclick="y)')).not.toContain('"onclick');
  });

  test("leaves out comments, and tells commands from what they print", () => {
    expect(html("<!-- options -->\n\nText.\n").trim()).toBe("<p>Text.</p>");
    expect(html("```console\n$ a\nb --x\n```\n")).toContain('<span class="command">$ a</span>\nb --x');
    expect(html("`--b-c`")).toContain('<code><span class="option">--b-c</span></code>');
    expect(html("```sh\na --b-c=<d> x--y\n```\n")).toContain(
      'a <span class="option">--b-c</span>=&lt;d&gt; x--y',
    );
  });

  test("says what it cannot show", () => {
    expect(() => html("![picture](x.png)")).toThrow("no image");
  });
});

test("the pages are a collection of the program's own server, whose test queries find something", async () => {
  using state = temporaryDirectory();
  const program = async (...words: readonly string[]): Promise<string> => {
    const child = Bun.spawn([BINARY, ...words, "--config", join(ROOT, "deployment.json")], {
      cwd: state.path,
      env: { PATH: process.env.PATH, HOME: state.path, DOCS_SEARCH_STATE_DIR: state.path },
      stdout: "pipe",
      stderr: "pipe",
    });
    const said = await new Response(child.stdout).text();
    expect([await new Response(child.stderr).text(), await child.exited]).toEqual(["", 0]);
    return said;
  };
  const validate = Bun.spawnSync([BINARY, "validate", join(ROOT, "deployment.json")]);
  expect([validate.stderr.toString(), validate.exitCode]).toEqual(["", 0]);
  expect(await program("index", "article-extractor")).toBe(
    `indexed ${pages.length} documents of article-extractor\n`,
  );
  const { tenants } = await Bun.file(join(ROOT, "deployment.json")).json();
  for (const query of Object.values<string[]>(tenants[0].test_queries).flat())
    expect(await program("search", "article-extractor", query)).toContain("docs://article-extractor/");
});
