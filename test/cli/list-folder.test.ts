import { describe, expect, test } from "bun:test";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parsePage } from "../../src/pages/index.ts";
import { BINARY, cleanEnvironment, runBinary } from "../support/binary.ts";
import { runCommand, wordsOf } from "../support/command.ts";
import { html } from "../support/crawl-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const PROSE = `<p>${"The gate opens at low water, and the boats come in. ".repeat(30)}</p>`;
const TABLES = `<table><tr><th>Name</th><th>Price</th></tr><tr><td>A, "big" one</td><td><b>1</b></td></tr></table>
<ul><li>In a list<table><tr><td>x</td><td>y</td></tr></table></li></ul>`;

/** A site whose pages `/down/…` are down until it is told otherwise. */
function openSite() {
  let isDown = true;
  const seen: string[] = [];
  const server = serveLocal((request) => {
    const { pathname } = new URL(request.url);
    seen.push(pathname);
    if (isDown && pathname.startsWith("/down")) return new Response("down", { status: 500 });
    const body = `<main><h1>${pathname}</h1>${PROSE}${pathname === "/tables" ? `${TABLES}${PROSE}` : ""}</main>`;
    return html(`<title>${pathname}</title>${body}`);
  });
  return {
    url: server.url.origin,
    seen,
    repair: () => {
      isDown = false;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const site = forAllTests(openSite());

/** Types a command in an empty directory that has a list of these pages. */
async function openList(site: { readonly url: string }, pages: readonly string[]) {
  const directory = temporaryDirectory();
  await writeFile(join(directory.path, "urls.txt"), pages.map((page) => `${site.url}${page}\n`).join(""));
  const lines = async (name: string) =>
    (await readFile(join(directory.path, name), "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  return {
    path: (name: string) => join(directory.path, name),
    lines,
    type: (line: string) => runCommand(wordsOf(`${line} --no-browser --retries 0`), { cwd: directory.path }),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

describe("a list becomes a folder", () => {
  test.each(["--output markdown -o pages/", "--output-dir pages"])("with %s", async (option) => {
    await using site = openSite();
    await using list = await openList(site, ["/a", "/down/b", "/c"]);
    const run = await list.type(`--input-file urls.txt ${option}`);
    expect([run.exitCode, run.stdout]).toEqual([1, ""]);
    const host = new URL(site.url).host.replace(":", "_");
    expect((await readdir(list.path("pages"))).toSorted()).toEqual([
      ".article-extractor",
      `${host}__a.md`,
      `${host}__c.md`,
      "manifest.jsonl",
    ]);
    const stored = parsePage(await readFile(list.path(`pages/${host}__a.md`), "utf8"));
    expect(stored).toMatchObject({ url: `${site.url}/a`, title: "/a" });
    const entries = await list.lines("pages/manifest.jsonl");
    expect(entries.map(({ url, status, file_path, error }) => [url, status, file_path, error?.code])).toEqual(
      [
        [`${site.url}/a`, "success", `${host}__a.md`, undefined],
        [`${site.url}/down/b`, "failed", null, "http_status"],
        [`${site.url}/c`, "success", `${host}__c.md`, undefined],
      ],
    );
  });

  test("and the same command goes on where it was left", async () => {
    await using site = openSite();
    await using list = await openList(site, ["/a", "/b", "/c"]);
    await list.type(`${site.url}/a -o pages/`);
    const run = await list.type("--input-file urls.txt -o pages/");
    expect(run).toMatchObject({ exitCode: 0, stdout: "" });
    expect(run.stderr).toContain("1 page of 3 done before\n");
    expect(site.seen.toSorted()).toEqual(["/a", "/b", "/c"]);
  });

  test("and a second run into it is refused while one is under way", async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using server = serveLocal(async () => {
      asked.resolve();
      await answer.promise;
      return html(`<title>Gate</title><main><h1>Gate</h1>${PROSE}</main>`);
    });
    await using list = await openList({ url: server.url.origin }, ["/a", "/b"]);
    const extract = () =>
      runBinary(["--input-file", "urls.txt", "-o", "pages/", "--no-browser"], { cwd: list.path(".") });
    const first = extract();
    await asked.promise;
    const second = await extract();
    expect([second.exitCode, second.stderr]).toEqual([
      2,
      expect.stringMatching(/^error: .*another list is being extracted there/),
    ]);
    answer.resolve();
    expect((await first).exitCode).toBe(0);
    expect((await list.lines("pages/manifest.jsonl")).length).toBe(2);
    expect((await extract()).stderr).toContain("2 pages of 2 done before");
  });

  test.each([
    ["--output-dir pages", "pages", "pages/manifest.jsonl"],
    ["--resume out.jsonl", "out.jsonl", "out.jsonl"],
  ])("%s is one process's; one that is killed leaves it to the next", async (option, place, lines) => {
    const asked = Promise.withResolvers<void>();
    let isHeld = true;
    await using server = serveLocal(async (request) => {
      if (isHeld && request.url.endsWith("/b")) {
        asked.resolve();
        return await new Promise<Response>(() => {});
      }
      return html(`<title>Gate</title><main><h1>Gate</h1>${PROSE}</main>`);
    });
    await using list = await openList({ url: server.url.origin }, ["/a", "/b", "/c"]);
    const words = ["--input-file", "urls.txt", ...option.split(" "), "--no-browser"];
    // The state of both is in one directory, wherever they are started.
    const options = { cwd: list.path("."), env: cleanEnvironment({ XDG_STATE_HOME: list.path("state") }) };
    const first = Bun.spawn([BINARY, ...words], { ...options, stdio: ["ignore", "ignore", "ignore"] });
    await asked.promise;
    await untilTrue(async () => (await readFile(list.path(lines), "utf8")).endsWith("\n"));
    const before = await readFile(list.path(lines), "utf8");
    const second = await runBinary(words, options);
    expect([second.exitCode, second.stderr]).toEqual([
      2,
      expect.stringMatching(
        new RegExp(`^error: ${place}: another list is being extracted there: it has .* open\n$`),
      ),
    ]);
    expect(await readFile(list.path(lines), "utf8")).toBe(before);
    first.kill("SIGKILL");
    await first.exited;
    isHeld = false;
    const third = await runBinary(words, options);
    expect([third.exitCode, third.stderr]).toEqual([0, expect.stringContaining("1 page of 3 done before\n")]);
    expect(await list.lines(lines)).toHaveLength(3);
  });

  test.each([
    ["-o urls.txt/", "urls.txt/ cannot be written: "],
    ["-o urls.txt/below/", "urls.txt/below/ cannot be written: "],
    ["-o nope/x.md", "nope/x.md cannot be written: there is no such directory"],
    ["-o pages/ --output html", "a folder gets Markdown files; --output html goes with -o FILE"],
    ["-o pages/ --file urls.txt", "a folder takes pages of URLs"],
    ["--output-dir pages -o x.md", "--output-dir and --output-file exclude each other"],
  ])("but %s is refused before the first request", async (option, message) => {
    await using site = openSite();
    await using list = await openList(site, ["/a", "/b"]);
    const run = await list.type(`--input-file urls.txt ${option}`);
    expect(run.exitCode).toBeGreaterThan(0);
    expect(run.stderr).toStartWith(`error: ${message}`);
    expect(site.seen).toEqual([]);
  });
});

describe("--retry-failed", () => {
  test.each([
    ["-o pages/", "pages/"],
    ["--resume pages.jsonl", "pages.jsonl"],
  ])("after %s asks for the failed pages and no others", async (option, place) => {
    await using site = openSite();
    const down = Array.from({ length: 7 }, (_, index) => `/down/${index}`);
    await using list = await openList(site, ["/a", ...down]);
    const first = await list.type(`--input-file urls.txt ${option}`);
    expect(first.exitCode).toBe(1);
    const errors = first.stderr.split("\n").filter((line) => line.startsWith("error:"));
    expect(errors.slice(0, 7)).toEqual(
      down.map((page, index) => expect.stringContaining(`urls.txt:${index + 2}: GET ${site.url}${page} `)),
    );
    const command = `article-extractor --retry-failed ${place}`;
    expect(errors.slice(7)).toEqual([
      `error: 7 of 8 pages failed: 7 http_status; ${command} tries only those again`,
    ]);
    const again = await list.type("--input-file urls.txt ".concat(option));
    expect(again.stderr).toEndWith(`error: 7 pages failed before; ${command} tries only those again\n`);
    site.repair();
    site.seen.length = 0;
    expect((await list.type(command.replace("article-extractor ", ""))).exitCode).toBe(0);
    expect(site.seen.toSorted()).toEqual(down);
    const last = await list.type(`--input-file urls.txt ${option}`);
    expect([last.exitCode, site.seen.length]).toEqual([0, 7]);
  });

  test("names what it cannot find", async () => {
    await using site = openSite();
    await using list = await openList(site, ["/a"]);
    expect((await list.type("--retry-failed nope")).stderr).toBe(
      "error: --retry-failed: there is no folder or file nope\n",
    );
  });
});

test("--retry-failed reads local files again, and its place is a word of the shell", async () => {
  await using site = openSite();
  await using list = await openList(site, []);
  await writeFile(list.path("there.html"), `<main><h1>There</h1>${PROSE}</main>`);
  const first = await list.type("--file there.html --file later.html --resume 'my pages.jsonl'");
  expect(first.stderr).toContain(
    "; article-extractor --retry-failed 'my pages.jsonl' tries only those again",
  );
  await writeFile(list.path("later.html"), `<main><h1>Later</h1>${PROSE}</main>`);
  expect(await list.type("--retry-failed 'my pages.jsonl'")).toMatchObject({ exitCode: 0, stderr: "" });
  const lines = await list.lines("my pages.jsonl");
  expect(lines.map((line) => [line.file, line.title])).toEqual([
    ["there.html", "There"],
    ["later.html", undefined],
    ["later.html", "Later"],
  ]);
});

describe("warnings of a list", () => {
  test("of one kind are one line, before the count of the errors", async () => {
    await using site = openSite();
    await using list = await openList(site, ["/a", "/down/b", "/c"]);
    const run = await list.type("--input-file urls.txt --output text --min-words 5000");
    expect(run.stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^error: urls\.txt:2: GET /),
      expect.stringMatching(
        /^warning: 2 pages, the first urls\.txt:1: http:\S+\/a: Content below minimum word count/,
      ),
      expect.stringMatching(/^error: 1 of 3 pages failed: 1 http_status; /),
    ]);
  });
});

describe("--output csv", () => {
  test("is a table of a list, as RFC 4180 has it", async () => {
    await using list = await openList(site, ["/a", "/down/b", '/c,"d"']);
    const run = await list.type("--input-file urls.txt --output csv --fields url,title,http_status");
    expect(run.stdout).toBe(
      [
        "url,title,http_status",
        `${site.url}/a,/a,200`,
        `${site.url}/down/b,,500`,
        `"${site.url}/c,""d""","/c,%22d%22",200`,
        "",
      ].join("\r\n"),
    );
  });

  test("doubles quotes, and keeps line breaks in a cell", async () => {
    await using list = await openList(site, []);
    await writeFile(list.path("a.html"), `<title>The "mill"</title><p>One.</p><p>Two.</p>`);
    const run = await list.type("--file a.html -o a.csv --fields title,text");
    expect(run.exitCode).toBe(0);
    expect(await readFile(list.path("a.csv"), "utf8")).toBe(
      'title,text\r\n"The ""mill""","One.\n\nTwo."\r\n',
    );
  });
});

describe("--tables", () => {
  test("csv writes the tables of a page, and nothing else", async () => {
    await using list = await openList(site, []);
    expect((await list.type(`${site.url}/tables --tables csv`)).stdout).toBe(
      'Name,Price\r\n"A, ""big"" one",1\r\n\r\nx,y\r\n',
    );
  });

  test("json names them with their page", async () => {
    await using list = await openList(site, []);
    const run = await list.type(`${site.url}/tables --tables json`);
    expect(JSON.parse(run.stdout)).toEqual({
      url: `${site.url}/tables`,
      tables: [
        { header: ["Name", "Price"], rows: [['A, "big" one', "1"]] },
        { header: [], rows: [["x", "y"]] },
      ],
    });
  });

  test("fails for an article without any", async () => {
    await using list = await openList(site, []);
    expect(await list.type(`${site.url}/a --tables csv`)).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: `error: the article of ${site.url}/a has no table\n`,
    });
  });
});
