import { describe, expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { EXTRACT_FLAGS } from "../../src/cli/flags/pages.ts";
import { DESKTOP_BROWSERS } from "../../src/fetching/http/request-headers.ts";
import { runBinary } from "../support/binary.ts";
import { BLOCKED_PAGES } from "../support/blocked-pages.ts";
import { makeCertificate } from "../support/certificates.ts";
import { page as crawlPage, html, serveCrawlSite } from "../support/crawl-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { framed } from "../support/framed.ts";
import { documentOf } from "../support/generated-document.ts";
import { serveRecordingSite } from "../support/recording-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const site = forAllTests(serveRecordingSite());
const proxy = forAllTests(await startForwardProxy({ credentials: null, hosts: {} }));

const PAGE = `<html><head><title>The mill</title></head><body><article>
<p id="first">The wheel turns. <a href="gate.html">The gate</a> is open.</p>
<p><img src="mill.png" alt="The mill"></p>
<pre><code>weir today</code></pre>
<p class="aside">Nobody cheered.</p></article></body></html>`;

/** The page from stdin as Markdown. */
async function markdown(...args: string[]): Promise<string> {
  const run = await runBinary(["-", "--output", "markdown", "--quiet", ...args], { stdin: PAGE });
  expect([run.exitCode, run.stderr]).toEqual([0, ""]);
  return run.stdout;
}

/** What the site saw of one successful run. */
async function request(...args: string[]) {
  const before = site.seen.length;
  const run = await runBinary([`${site.origin}/page`, "--output", "text", ...args]);
  expect([run.exitCode, run.stderr]).toEqual([0, ""]);
  return site.seen.at(before);
}

/** The lines of a page of some length, in chunks. */
async function chunkLines(...words: string[]): Promise<string[]> {
  const text = Array.from({ length: 30 }, (_, number) => `Weir ${number} opens before the tide.`).join(" ");
  const stdin = `<html><head><title>The mill</title></head><body><article><p>${text}</p></article></body></html>`;
  const run = await runBinary(["-", "--quiet", "--chunks", ...words], { stdin });
  expect(run.exitCode).toBe(0);
  return run.stdout.trim().split("\n");
}

const proxyLines = async () => (await proxy.requests()).map(({ line }) => line);

/** Each option of the help with a test that the option, and nothing else, makes the difference. */
const EFFECTS: Readonly<Record<string, () => Promise<void>>> = {
  file: async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "page.html"), PAGE);
    const run = await runBinary(["--file", "page.html"], { cwd: directory.path });
    expect(JSON.parse(run.stdout)).toMatchObject({ title: "The mill", fetcher: "file" });
  },
  "no-native-markdown": async () => {
    const markdown = "# The mill\n\nThe *wheel* turns in the tide of the morning.\n";
    const html = `<title>The mill</title><link rel="alternate" type="text/markdown" href="/mill.md">
<article><h1>The mill</h1><p>The <em>wheel</em> turns in the tide of the morning.</p></article>`;
    await using twins = serveCrawlSite({
      "/mill": () => new Response(html, { headers: { "content-type": "text/html" } }),
      "/mill.md": () => new Response(markdown, { headers: { "content-type": "text/markdown" } }),
    });
    const words = [`${twins.origin}/mill`, "--fields", "sources,markdown", "--quiet"];
    const taken = JSON.parse((await runBinary(words)).stdout);
    expect(taken.sources.markdown).toEqual({ url: `${twins.origin}/mill.md`, sign: "alternate" });
    const own = JSON.parse((await runBinary([...words, "--no-native-markdown"])).stdout);
    expect(own.sources.markdown).toBeNull();
  },
  "keep-blocked": async () => {
    const { html } = BLOCKED_PAGES["a rate page with the status of a page"] ?? {};
    const read = (...words: string[]) =>
      runBinary(["-", "--output", "text", ...words], { stdin: html ?? "" });
    expect(await read()).toMatchObject({ exitCode: 1, stdout: "" });
    const kept = await read("--keep-blocked");
    expect(kept).toMatchObject({ exitCode: 0, stdout: "Too Many Requests\n\nPlease try again later.\n" });
    expect(kept.stderr).toContain("shows a page that says too many requests");
  },
  "input-file": async () => {
    const run = await runBinary(["--input-file", "-"], { stdin: `${site.origin}/a\n${site.origin}/b\n` });
    const urls = run.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).url);
    expect(urls).toEqual([`${site.origin}/a`, `${site.origin}/b`]);
  },
  url: async () => {
    expect(await markdown()).toContain("(gate.html)");
    expect(await markdown("--url", "https://h.example/docs/")).toContain(
      "(https://h.example/docs/gate.html)",
    );
  },
  output: async () => {
    const output = async (format: string) =>
      (await runBinary(["-", "--quiet", "--output", format], { stdin: PAGE })).stdout;
    expect(JSON.parse(await output("json")).title).toBe("The mill");
    expect(await output("markdown")).toStartWith("# The mill\n\n");
    expect(await output("text")).toStartWith("The mill\n\nThe wheel turns. The gate is open.");
  },
  "output-file": async () => {
    using directory = temporaryDirectory();
    await runBinary(["-", "--output-file", "a.json"], { stdin: PAGE, cwd: directory.path });
    await runBinary(["-", "-o", "b.json"], { stdin: PAGE, cwd: directory.path });
    expect((await readdir(directory.path)).sort()).toEqual(["a.json", "b.json"]);
  },
  "output-dir": async () => {
    using directory = temporaryDirectory();
    await runBinary([`${site.origin}/a`, "--output-dir", "pages"], { cwd: directory.path });
    expect(await readdir(join(directory.path, "pages"))).toContain("manifest.jsonl");
  },
  "retry-failed": async () => {
    using directory = temporaryDirectory();
    const before = site.seen.length;
    await runBinary([`${site.origin}/status/418`, "-f", "-o", "pages/"], { cwd: directory.path });
    await runBinary(["--retry-failed", "pages", "-f"], { cwd: directory.path });
    expect(site.seen.slice(before).map(({ path }) => path)).toEqual(["/status/418", "/status/418"]);
  },
  tables: async () => {
    const table = "<p>Prices of the mill.</p><table><tr><th>Corn</th></tr><tr><td>2</td></tr></table>";
    expect((await runBinary(["-", "--tables", "csv"], { stdin: table })).stdout).toBe("Corn\r\n2\r\n");
  },
  fields: async () => {
    const { stdout } = await runBinary(["-", "--quiet", "--fields", "title,lang"], { stdin: PAGE });
    expect(Object.keys(JSON.parse(stdout))).toEqual(["title", "lang"]);
  },
  compact: async () => {
    const { stdout } = await runBinary(["-", "--compact"], { stdin: PAGE });
    expect(stdout.trimEnd().split("\n").length).toBe(1);
  },
  resume: async () => {
    using directory = temporaryDirectory();
    const run = () => runBinary(["-", "--resume", "a.jsonl"], { stdin: PAGE, cwd: directory.path });
    for (const said of ["", "1 page of 1 done before\n"]) expect((await run()).stderr).toBe(said);
    expect((await Bun.file(join(directory.path, "a.jsonl")).text()).split("\n").length).toBe(2);
  },
  "save-images": async () => {
    using directory = temporaryDirectory();
    const svg = `data:image/svg+xml,${encodeURIComponent("<svg xmlns='http://www.w3.org/2000/svg'/>")}`;
    const page = `# The mill\n\nThe wheel turns, and the gate is open.\n\n![The mill](${svg})\n`;
    await writeFile(join(directory.path, "page.md"), page);
    await runBinary(["--file", "page.md", "--save-images", "-o", "saved.md"], { cwd: directory.path });
    const [name] = await readdir(join(directory.path, "images"));
    expect(await Bun.file(join(directory.path, "saved.md")).text()).toBe(page.replace(svg, `images/${name}`));
  },
  frontmatter: async () => {
    const [first, ...rest] = (await markdown("--frontmatter", "--url", "https://h.example/")).split("---\n");
    expect(first).toBe("");
    expect(rest[0]).toMatch(
      /^url: "?https:\/\/h\.example\/"?\ntitle: "?The mill"?\nextracted_at: "?\d{4}-\d\d-\d\dT[\d:.]+Z"?\nword_count: \d+\n$/,
    );
    expect(rest[1]?.trimStart()).toBe(await markdown("--url", "https://h.example/"));
  },
  "min-words": async () => {
    const run = (n: string) => runBinary(["-", "--output", "text", "--min-words", n], { stdin: PAGE });
    expect((await run("0")).stderr).toBe("");
    const short = await run("1000");
    expect(short.exitCode).toBe(0);
    expect(short.stderr).toMatch(/^warning: Content below minimum word count \(\d+ < 1000\)\n$/);
  },
  "no-images": async () => {
    expect(await markdown()).toContain("![The mill](mill.png)");
    expect(await markdown("--no-images")).not.toContain("mill.png");
  },
  favor: async () => {
    const stdin = documentOf(
      ["paragraph", "paragraph", "paragraph", "paragraph", "link list"],
      "article",
    ).html;
    const holdsLinks = async (args: string[], environment = {}): Promise<boolean> => {
      const run = await runBinary(["-", "--output", "markdown", "--quiet", ...args], {
        stdin,
        env: environment,
      });
      expect([run.exitCode, run.stderr]).toEqual([0, ""]);
      return run.stdout.includes("by hand");
    };
    const setting = { ARTICLE_EXTRACTOR_FAVOR: "precision" };
    expect(await holdsLinks([])).toBe(true);
    expect(await holdsLinks(["--favor", "precision"])).toBe(false);
    expect(await holdsLinks([], setting)).toBe(false);
    expect(await holdsLinks(["--favor", "recall"], setting)).toBe(true);
  },
  "no-system-ca": async () => {
    using directory = temporaryDirectory();
    const tls = await makeCertificate("127.0.0.1");
    await using secure = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls,
      fetch: () => new Response(PAGE, { headers: { "content-type": "text/html" } }),
    });
    const authority = join(directory.path, "authority.pem");
    await writeFile(authority, tls.cert);
    const reads = async (args: string[], environment = {}): Promise<boolean> => {
      // The runtime itself reads the file that SSL_CERT_FILE names.
      const env = { SSL_CERT_DIR: directory.path, ...environment };
      return (
        (await runBinary([String(secure.url), "--no-browser", "--quiet", ...args], { env })).exitCode === 0
      );
    };
    expect(await reads([])).toBe(true);
    expect(await reads(["--no-system-ca"])).toBe(false);
    expect(await reads([], { ARTICLE_EXTRACTOR_SYSTEM_CA: "false" })).toBe(false);
  },
  engine: async () => {
    // node-html-markdown escapes what our own writer knows to be no markup.
    const stdin = framed("<p>Turn the mill_wheel by hand first, and wait for the mill_race to fill.</p>");
    const engineOf = async (args: string[], env = {}): Promise<string> => {
      const run = await runBinary(["-", "--output", "markdown", "--quiet", ...args], { stdin, env });
      expect([run.exitCode, run.stderr]).toEqual([0, ""]);
      expect(run.stdout).toMatch(/mill\\?_race/);
      return run.stdout.includes("mill\\_wheel") ? "readability" : "article-extractor";
    };
    const setting = { ARTICLE_EXTRACTOR_ENGINE: "readability" };
    expect(await engineOf([])).toBe("article-extractor");
    expect(await engineOf(["--engine", "readability"])).toBe("readability");
    expect(await engineOf([], setting)).toBe("readability");
    expect(await engineOf(["--engine", "article-extractor"], setting)).toBe("article-extractor");
  },
  "no-code": async () => {
    expect(await markdown()).toContain("weir today");
    expect(await markdown("--no-code")).not.toContain("weir today");
  },
  select: async () => {
    expect(await markdown("--select", "#first")).not.toContain("Nobody cheered.");
    expect(await markdown("--select", ".aside")).toBe("# The mill\n\nNobody cheered.\n");
  },
  query: async () => {
    expect(await markdown("--query", "the weir")).toContain("weir today");
    const { stderr } = await runBinary(["-", "--output", "text", "--query", "zebra"], { stdin: PAGE });
    expect(stderr).toContain("no part of the text has words of the query");
    for (const other of [
      ["--output", "html"],
      ["--tables", "csv"],
      ["--output-dir", "pages"],
    ]) {
      const refused = await runBinary(["https://h.example/", "--query", "weir", ...other]);
      expect([other, refused.exitCode]).toEqual([other, 2]);
    }
  },
  chunks: async () => {
    const [first = ""] = (await chunkLines()).values();
    expect(JSON.parse(first)).toMatchObject({ title: "The mill", index: 0, page: null });
  },
  "chunk-tokens": async () => {
    expect((await chunkLines("--chunk-tokens", "50")).length).toBeGreaterThan((await chunkLines()).length);
  },
  "chunk-overlap": async () => {
    const textsWith = async (...words: string[]): Promise<string> =>
      (await chunkLines("--chunk-tokens", "50", ...words)).join("");
    const repeated = await textsWith("--chunk-overlap", "20");
    expect(repeated.length).toBeGreaterThan((await textsWith()).length + 100);
  },
  "max-tokens": async () => {
    const items = Array.from(
      { length: 30 },
      (_, number) => `<p>Weir ${number} opens before the tide comes.</p>`,
    );
    const stdin = `<html><body><article>${items.join("")}</article></body></html>`;
    const lengthOf = async (most: string): Promise<number> => {
      const args = ["-", "--output", "markdown", "--query", "weir", "--max-tokens", most];
      return (await runBinary(args, { stdin })).stdout.length;
    };
    expect(await lengthOf("60")).toBeLessThan(220);
    expect(await lengthOf("200")).toBeGreaterThan(300);
    expect((await runBinary(["-", "--max-tokens", "60"], { stdin })).stderr).toContain("goes with --query");
  },
  exclude: async () => {
    const text = await markdown("--exclude", ".aside", "--exclude", "pre");
    expect(text).not.toContain("Nobody cheered.");
    expect(text).not.toContain("weir today");
    expect(text).toContain("The wheel turns.");
  },
  "fail-on-http-error": async () => {
    await using site = serveCrawlSite({
      "/": () => html(crawlPage("The mill").padEnd(600), { status: 404 }),
    });
    const url = `${site.origin}/`;
    for (const [args, expected] of [
      [[], 0],
      [["-f"], 1],
      [["--fail-on-http-error"], 1],
    ] as const) {
      const run = await runBinary([url, "--quiet", ...args]);
      expect([args, run.exitCode]).toEqual([args, expected]);
      expect(run.stderr).toBe(expected === 0 ? "" : `error: GET ${url} answered HTTP 404\n`);
    }
  },
  cookies: async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "cookies.txt");
    await writeFile(file, `${new URL(site.origin).hostname}\tFALSE\t/\tFALSE\t0\tid\t7\n`);
    expect((await request("--cookies", file))?.headers.cookie).toBe("id=7");
    expect((await request())?.headers.cookie).toBeUndefined();
  },
  "user-agent": async () => {
    expect((await request())?.headers["user-agent"]).toStartWith(`article-extractor/${manifest.version}`);
    const asked = await request("--user-agent", "Reader/1.0", "--random-user-agent");
    expect(asked?.headers["user-agent"]).toBe("Reader/1.0");
  },
  "random-user-agent": async () => {
    const sent = (await request("--random-user-agent"))?.headers["user-agent"] ?? "";
    expect(DESKTOP_BROWSERS).toContain(sent);
  },
  header: async () => {
    const sent = await request(
      "--header",
      "X-One: 1",
      "--header",
      "x-one: 2",
      "--header",
      "User-Agent: Own/1",
    );
    expect(sent?.headers).toMatchObject({ "x-one": "1, 2", "user-agent": "Own/1" });
  },
  proxy: async () => {
    await request("--proxy", `127.0.0.1:${proxy.port}`, "--header", "x-through: proxy");
    expect((await proxyLines()).at(-1)).toBe(`GET ${site.origin}/page HTTP/1.1`);
    expect(site.seen.at(-1)?.headers["x-through"]).toBe("proxy");
  },
  "proxy-bypass": async () => {
    const before = (await proxyLines()).length;
    const through = ["--proxy", `http://127.0.0.1:${proxy.port}`];
    await request(...through, "--proxy-bypass", "h.example", "--proxy-bypass", "127.0.0.1");
    expect((await proxyLines()).length).toBe(before);
    await request(...through, "--proxy-bypass", "h.example");
    expect((await proxyLines()).length).toBe(before + 1);
  },
  timeout: async () => {
    const run = await runBinary([`${site.origin}/silent`, "--timeout", "0.2"]);
    const message = `GET ${site.origin}/silent took longer than the limit of a request of 200 ms`;
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
  },
  retries: async () => {
    for (const retries of [0, 1]) {
      const before = site.seen.length;
      const run = await runBinary([`${site.origin}/status/503`, "--retries", `${retries}`]);
      expect(run.stderr).toStartWith(`error: GET ${site.origin}/status/503 answered HTTP 503`);
      expect(run.exitCode).toBe(1);
      expect(site.seen.length - before).toBe(retries + 1);
    }
  },
  "max-bytes": async () => {
    const run = (size: string) => runBinary([`${site.origin}/bytes/5000`, "--max-bytes", size]);
    expect((await run("5k")).exitCode).toBe(0);
    const over = await run("4999");
    expect([over.exitCode, over.stdout]).toEqual([1, ""]);
    expect(over.stderr).toMatch(/^error: .*\/bytes\/5000.* 4999 bytes.*\n$/);
  },
  egress: async () => {
    const before = site.seen.length;
    const refused = await runBinary([`${site.origin}/page`, "--egress", "public"]);
    const message = `the egress policy refuses ${site.origin}/page: the address is not public`;
    expect(refused).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
    expect(site.seen.length).toBe(before);
    await request("--egress", "127.0.0.0/8");
    await request("--egress", "open");
  },
  "env-file": async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "settings"), "ARTICLE_EXTRACTOR_USER_AGENT=FromFile/1\n");
    expect((await request("--env-file", join(directory.path, "settings")))?.headers["user-agent"]).toBe(
      "FromFile/1",
    );
  },
  "log-level": async () => {
    const lines = async (level: string) =>
      (await runBinary([`${site.origin}/page`, "--log-level", level])).stderr.trim().split("\n");
    expect(await lines("warning")).toEqual([""]);
    const levels = (await lines("info")).map((line) => JSON.parse(line).level);
    expect(new Set(levels)).toEqual(new Set(["info"]));
  },
  "log-format": async () => {
    const words = [`${site.origin}/page`, "--log-level", "info", "--log-format"];
    const lines = async (format: string, env = {}) => (await runBinary([...words, format], { env })).stderr;
    const [json, text] = [/^\{"timestamp":"/, /^\d{4}-\S+Z INFO /];
    expect(await lines("json")).toMatch(json);
    expect(await lines("text")).toMatch(text);
    expect(await lines("json", { ARTICLE_EXTRACTOR_LOG_FORMAT: "text" })).toMatch(json);
    expect(await lines("text", { ARTICLE_EXTRACTOR_LOG_FORMAT: "json" })).toMatch(text);
  },
  quiet: async () => {
    const args = ["-", "--output", "text"];
    expect((await runBinary(args, { stdin: PAGE })).stderr).toStartWith("warning: ");
    expect((await runBinary([...args, "--quiet"], { stdin: PAGE })).stderr).toBe("");
    expect((await runBinary([...args, "-q"], { stdin: PAGE })).stderr).toBe("");
    expect((await runBinary(["--file", "missing", "-q"])).stderr).toStartWith("error: ");
  },
  verbose: async () => {
    for (const option of ["--verbose", "-v", "-qv"]) {
      const { stderr } = await runBinary([`${site.origin}/page`, option]);
      expect(stderr).toMatch(/"level":"info","message":"extracted","url":"http:\/\/127\.0\.0\.1:\d+\/page"/);
    }
  },
  "no-color": async () => {
    // With a terminal on stderr: test/cli/terminal.test.ts.
    expect((await runBinary(["--file", "missing", "--no-color"])).stderr).not.toContain("\u001b");
  },
  version: async () => {
    const expected = { exitCode: 0, stdout: `article-extractor ${manifest.version}\n`, stderr: "" };
    expect(await runBinary(["--version"])).toEqual(expected);
    expect(await runBinary(["-V"])).toEqual(expected);
    expect(await runBinary(["licenses", "--version"])).toEqual(expected);
  },
  help: async () => {
    const run = await runBinary(["--help"]);
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toStartWith("Usage: article-extractor [URL ... | -] [options]\n\nExamples:\n");
    expect(await runBinary(["-h"])).toEqual(run);
    expect((await runBinary(["completions", "--help"])).stdout).toStartWith(
      "Usage: article-extractor completions",
    );
  },
};

/** Those about a browser have their file, test/cli/browser-options.test.ts. */
const NEED_BROWSER = new Set(
  "prefer-browser prefer-http no-browser wait-for scroll load-media headed user-interaction-timeout storage-state".split(
    " ",
  ),
);

describe("each option has its effect:", () => {
  for (const { name, help } of EXTRACT_FLAGS.filter((flag) => !NEED_BROWSER.has(flag.name))) {
    test(`--${name}: ${help}`, async () => {
      const effect = EFFECTS[name];
      if (!effect) throw new Error(`--${name} has no test in EFFECTS`);
      await effect();
    });
  }
});

test("the help names every option that works, and no other", async () => {
  const { stdout } = await runBinary(["--help"]);
  for (const { name } of EXTRACT_FLAGS) {
    expect([name, new RegExp(`^ +(?:-\\w, )?--${name}\\b`, "m").test(stdout)]).toEqual([name, true]);
  }
});

test("extract may be said", async () => {
  const args = [`${site.origin}/page`, "--output", "markdown"];
  expect(await runBinary(["extract", ...args])).toEqual(await runBinary(args));
});
