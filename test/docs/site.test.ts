import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { gzipSync } from "node:zlib";
import { htmlPath, readPages, renderPage } from "../../scripts/docs/pages.ts";
import { writeSite } from "../../scripts/docs.ts";
import { BINARY } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");
const out = forAllTests(temporaryDirectory()).path;
const pages = await readPages(join(ROOT, "docs"), null);
beforeAll(() => writeSite(pages, out, "/manual/"));

const OTHERS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/README.md"];
const linked = [
  ...pages.map((page) => ({ ...page, path: posix.join("docs", page.path) })),
  ...OTHERS.map((path) => ({ path, ...renderPage(readFileSync(join(ROOT, path), "utf8"), () => null) })),
];

describe("the pages of the documentation", () => {
  test.each(pages.map((page) => [page.path, page] as const))(
    "%s has a title and a description",
    (_, page) => {
      expect(page.title.length).toBeGreaterThan(2);
      expect(page.description).toMatch(/^.{20,200}[.:]$/);
      expect(page.headings.filter(({ level }) => level === 1)).toHaveLength(1);
    },
  );

  test.each(linked)("$path has only links that lead somewhere", ({ path, links }) => {
    const broken = links.filter((address) => {
      if (/^(?:https?:|mailto:)/.test(address)) return false;
      const [target = "", fragment] = address.split("#", 2);
      const file = target === "" ? path : posix.join(posix.dirname(path), target);
      const headings = linked.find((one) => one.path === file)?.headings;
      const isNamed = headings?.some(({ anchor }) => anchor === fragment) ?? true;
      return !existsSync(join(ROOT, file)) || (fragment !== undefined && !isNamed);
    });
    expect(broken).toEqual([]);
  });
});

describe("the site", () => {
  const read = (path: string): string => readFileSync(join(out, path), "utf8");

  test("has each page as HTML and as Markdown", () => {
    for (const page of pages) {
      expect(read(page.path)).toBe(page.markdown);
      const html = read(htmlPath(page.path));
      expect(html).toContain(`<a rel="alternate" type="text/markdown" href="${posix.basename(page.path)}">`);
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
    expect(weigh("assets/sections.js")).toBeLessThan(200_000);
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
    await expect(readPages(directory.path, null)).rejects.toThrow("README.md does not list how-to/b.md");
    write("README.md", "# Pages\n\n- [A](a.md): one.\n- [B](how-to/b.md): two.\n- [A](a.md): one.\n");
    await expect(readPages(directory.path, null)).rejects.toThrow("lists a page twice");
    write("README.md", "# Pages\n\n- [A](a.md)\n");
    await expect(readPages(directory.path, null)).rejects.toThrow('"[A](a.md)" is no entry');
  });

  test("links to files of the repository once somebody has said where it is", async () => {
    const withRepository = await readPages(join(ROOT, "docs"), "https://forge.example/a/b");
    const security = withRepository.find(({ path }) => path === "SECURITY.md");
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
    expect(html('# A <i onclick="x">\n')).not.toContain("<i");
    expect(html("```sh\necho '</code><script>'\n```\n")).toContain("&lt;/code&gt;&lt;script&gt;");
    expect(html('[x](a"onclick="y)')).not.toContain('"onclick');
  });

  test("leaves out comments", () => {
    expect(html("<!-- options -->\n\nText.\n").trim()).toBe("<p>Text.</p>");
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
