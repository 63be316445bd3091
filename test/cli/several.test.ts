import { describe, expect, test } from "bun:test";
import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary, runBinary } from "../support/binary.ts";
import { runCommand } from "../support/command.ts";
import { serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const page = (title: string): string =>
  `<title>${title}</title><p>${"The gate opens at low water. ".repeat(40)}</p>`;

type Line = {
  readonly url?: string;
  readonly file?: string;
  readonly title?: string;
  readonly error?: object;
};

const readLines = (text: string): Line[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const nameOf = ({ file, url }: Line): string => file ?? new URL(url ?? "").pathname;

/** A site whose page `/held` answers only when it is let go. */
function openSite() {
  const held = Promise.withResolvers<void>();
  const seen: string[] = [];
  const server = serveLocal(async (request) => {
    const { pathname } = new URL(request.url);
    seen.push(pathname);
    if (pathname === "/held") await held.promise;
    return new Response(page(pathname), { headers: { "content-type": "text/html" } });
  });
  return {
    urls: (...names: readonly string[]) => names.map((name) => `${server.url}${name}`),
    seen,
    letGo: held.resolve,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** A directory with the pages `a.html`, `b.html` and `c.html`. */
async function openFiles() {
  const directory = temporaryDirectory();
  for (const name of ["a", "b", "c"]) await writeFile(join(directory.path, `${name}.html`), page(name));
  return {
    path: directory.path,
    read: (name: string) => readFile(join(directory.path, name), "utf8"),
    write: (name: string, text: string) => writeFile(join(directory.path, name), text),
    run: (args: readonly string[], stdin = "") => runBinary(args, { cwd: directory.path, stdin }),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

describe("several pages", () => {
  test("are several URLs, several --file, several --input-file, and all of them together", async () => {
    await using site = openSite();
    await using files = await openFiles();
    await files.write("one.txt", `${site.urls("3")[0]}\n`);
    await files.write("two.txt", `${site.urls("4")[0]}\n`);
    const [first = "", second = ""] = site.urls("1", "2");
    const CASES: readonly (readonly [args: readonly string[], names: readonly string[]])[] = [
      [
        [first, second],
        ["/1", "/2"],
      ],
      [
        ["--file", "a.html", "--file", "b.html"],
        ["a.html", "b.html"],
      ],
      [
        ["--input-file", "one.txt", "--input-file", "two.txt"],
        ["/3", "/4"],
      ],
      [
        ["--input-file", "one.txt", "--file", "b.html", first, "-", second, "--file", "a.html"],
        ["/1", "-", "/2", "b.html", "a.html", "/3"],
      ],
      [
        [first, first],
        ["/1", "/1"],
      ],
    ];
    for (const [args, names] of CASES) {
      const run = await files.run(args, page("stdin"));
      expect([run.exitCode, run.stderr]).toEqual([0, ""]);
      expect(readLines(run.stdout).map(nameOf)).toEqual([...names]);
    }
    const { stdout } = await files.run(["--file", "a.html", "--file", "b.html", "--output", "text"]);
    expect(stdout).toMatch(/^a\n\nThe gate[^\n]*\n\n---\n\nb\n\nThe gate[^\n]*\n$/);
  });

  test("go into one file with -o, whose ending says in which form", async () => {
    await using files = await openFiles();
    const pages = ["--file", "a.html", "--file", "b.html"];
    await files.run([...pages, "-o", "both.md"]);
    expect((await files.read("both.md")).match(/^# [ab]$/gm)).toEqual(["# a", "# b"]);
    await files.run([...pages, "-o", "both.html"]);
    expect((await files.read("both.html")).match(/^<!doctype html>$/gm)?.length).toBe(2);
  });

  test("of which one cannot be read are still all tried", async () => {
    await using files = await openFiles();
    const run = await files.run(["--file", "a.html", "--file", "none.html", "--file", "b.html"]);
    const message = "none.html cannot be read: there is no such file";
    expect([run.exitCode, run.stderr]).toEqual([1, `error: ${message}\n`]);
    const lines = readLines(run.stdout);
    expect(lines.map(nameOf)).toEqual(["a.html", "none.html", "b.html"]);
    expect(lines[1]).toEqual({
      file: "none.html",
      http_status: null,
      success: false,
      error: { code: "unreadable_input", message },
    } as Line);
  });

  test("are not begun where one of the typed words means nothing", async () => {
    await using site = openSite();
    const [url = ""] = site.urls("1");
    for (const [args, message] of [
      [[url, "no url"], '"no url" is not an http or https URL'],
      [[url, "-", "--file", "-"], "standard input can be read only once"],
      [["-", "--input-file", "-"], "standard input can be read only once"],
      [
        ["--file", "a", "--file", "b", "--url", url],
        "--url gives one --file or standard input an address; it goes with nothing else",
      ],
    ] as const)
      expect(await runCommand(args)).toEqual({ exitCode: 2, stdout: "", stderr: `error: ${message}\n` });
    expect(site.seen).toEqual([]);
  });
});

/** Starts the program in the directory. */
function start(cwd: string, args: readonly string[]) {
  requireBinary();
  const child = Bun.spawn([BINARY, ...args], {
    cwd,
    env: cleanEnvironment(),
    stdio: ["ignore", Bun.file(join(cwd, "out")), "pipe"],
    timeout: 100_000,
    killSignal: "SIGKILL",
  });
  return {
    async kill(signal: NodeJS.Signals) {
      child.kill(signal);
      return { stderr: await new Response(child.stderr).text(), exitCode: await child.exited };
    },
  };
}

describe("an interruption", () => {
  const NAMES = ["1", "2", "held", "4", "5", "6", "7", "8"];

  test("keeps what is done, says how many pages are left, and --resume does those", async () => {
    await using site = openSite();
    await using files = await openFiles();
    const urls = site.urls(...NAMES);
    const child = start(files.path, [...urls, "--resume", "all.jsonl"]);
    // Lines come as soon as those before them are written, while the third page is waited for.
    const linesOf = () => files.read("all.jsonl").then(readLines, () => []);
    await untilTrue(async () => (await linesOf()).length >= 2 && site.seen.includes("/6"));
    const { exitCode, stderr } = await child.kill("SIGINT");
    const written = readLines(await files.read("all.jsonl")).map(nameOf);
    expect(written).toEqual(NAMES.map((name) => `/${name}`).filter((name) => written.includes(name)));
    expect(written).not.toContain("/held");
    expect([exitCode, stderr]).toEqual([
      130,
      `error: interrupted; ${8 - written.length} of 8 pages left; the same command continues from here\n`,
    ]);
    site.letGo();
    const before = [...site.seen];
    const resumed = await files.run([...urls, "--resume", "all.jsonl"]);
    expect(resumed).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: `${written.length} pages of 8 done before\n`,
    });
    const names = readLines(await files.read("all.jsonl")).map(nameOf);
    expect(names.toSorted()).toEqual(NAMES.map((name) => `/${name}`).toSorted());
    expect(site.seen.slice(before.length).toSorted()).toEqual(
      names.filter((name) => !written.includes(name)).toSorted(),
    );
  });

  test("makes the file of -o with what is done, and leaves an older one alone where nothing is", async () => {
    await using site = openSite();
    await using files = await openFiles();
    await files.write("out.md", "older");
    const idle = start(files.path, [...site.urls("held", "held?again"), "-o", "out.md"]);
    await untilTrue(() => site.seen.length === 2);
    expect((await idle.kill("SIGINT")).stderr).toBe("error: interrupted; 2 of 2 pages left\n");
    expect(await files.read("out.md")).toBe("older");
    const busy = start(files.path, [...site.urls("1", "held"), "-o", "out.jsonl"]);
    await untilTrue(async () => {
      const aside = (await readdir(files.path)).find((name) => name.endsWith(".tmp"));
      return aside !== undefined && (await files.read(aside)) !== "";
    });
    expect((await busy.kill("SIGTERM")).stderr).toBe(
      "error: interrupted; 1 of 2 pages left; --resume out.jsonl continues from here\n",
    );
    expect(readLines(await files.read("out.jsonl")).map(nameOf)).toEqual(["/1"]);
    expect((await readdir(files.path)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe("a rule between pages", () => {
  for (const form of ["markdown", "text"])
    test(`stands between ${form} pages only, wherever one fails`, async () => {
      await using files = await openFiles();
      const extract = async (...names: readonly string[]) => {
        const args = names.flatMap((name) => ["--file", `${name}.html`]);
        return (await files.run([...args, "--output", form])).stdout;
      };
      const whole = await extract("a", "b");
      for (const names of [
        ["none", "a", "b"],
        ["a", "none", "b"],
        ["a", "b", "none"],
      ] as const)
        expect([names, await extract(...names)]).toEqual([names, whole]);
      expect(await extract("none", "gone")).toBe("");
    });
});

describe("--resume", () => {
  test("makes of every beginning of its file the same whole", async () => {
    await using files = await openFiles();
    const args = ["a", "b", "none", "a", "c"].flatMap((name) => ["--file", `${name}.html`]);
    expect((await files.run([...args, "--resume", "whole.jsonl"])).exitCode).toBe(1);
    const whole = await readFile(join(files.path, "whole.jsonl"));
    const breaks = [...whole.keys()].filter((at) => whole[at] === 0x0a);
    const cuts = [0, 1, 2, 5, 9, ...breaks.flatMap((at) => [at - 1, at, at + 1]), whole.length - 400];
    for (const cut of cuts) {
      await writeFile(join(files.path, "part.jsonl"), whole.subarray(0, cut));
      const run = await files.run([...args, "--resume", "part.jsonl"]);
      // A page that failed before is not tried again, and counts.
      expect([cut, run.exitCode, run.stdout]).toEqual([cut, 1, ""]);
      expect([cut, await files.read("part.jsonl")]).toEqual([cut, whole.toString()]);
    }
  });

  test("drops the NUL bytes that a crash of the machine leaves behind", async () => {
    await using files = await openFiles();
    await files.run(["--file", "a.html", "--resume", "out.jsonl"]);
    const line = await files.read("out.jsonl");
    await appendFile(join(files.path, "out.jsonl"), `{"file":"b.ht${"\0".repeat(100)}`);
    await files.run(["--file", "a.html", "--file", "b.html", "--resume", "out.jsonl"]);
    expect(await files.read("out.jsonl")).toStartWith(line);
    expect(readLines(await files.read("out.jsonl")).map(nameOf)).toEqual(["a.html", "b.html"]);
  });

  test("tells pages by their address, so a list may grow, shrink and be sorted anew", async () => {
    await using site = openSite();
    await using files = await openFiles();
    const run = (...names: readonly string[]) =>
      files.run([...site.urls(...names), "--resume", "out.jsonl", "--compact", "--fields", "title,url"]);
    await run("1", "2?utm_source=x", "3#part");
    await run("5", "3", "4", "2", "5");
    expect(readLines(await files.read("out.jsonl")).map(({ title }) => title)).toEqual([
      "/1",
      "/2",
      "/3",
      "/5",
      "/4",
      "/5",
    ]);
    expect(site.seen.toSorted()).toEqual(["/1", "/2", "/3", "/4", "/5"]);
  });

  test("says why the exit code is 1 where pages failed before", async () => {
    await using files = await openFiles();
    const resume = (...names: readonly string[]) =>
      files.run([...names.flatMap((name) => ["--file", name]), "--resume", "out.jsonl"]);
    await resume("a.html", "none.html");
    expect(await resume("a.html", "none.html", "b.html")).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "2 pages of 3 done before\n" +
        "error: 1 page failed before; article-extractor --retry-failed out.jsonl tries only those again\n",
    });
    expect(await resume("a.html", "b.html")).toMatchObject({
      exitCode: 0,
      stderr: "2 pages of 2 done before\n",
    });
  });

  test("refuses standard output, which cannot be read again", async () => {
    await using files = await openFiles();
    expect(await files.run(["--file", "a.html", "--resume", "-"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "error: --resume needs a file that can be read again, not standard output\n",
    });
    expect((await readdir(files.path)).toSorted()).toEqual(["a.html", "b.html", "c.html"]);
  });

  test("refuses what is not a regular file", async () => {
    await using files = await openFiles();
    for (const [path, message] of [
      ["/dev/null", "/dev/null is not a regular file, which --resume needs"],
      [".", ". cannot be written: it is a directory, not a file"],
      ["no/out", "no/out cannot be written: there is no such directory"],
    ] as const)
      expect(await files.run(["--file", "a.html", "--resume", path])).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: `error: ${message}\n`,
      });
  });
});

describe.skipIf(Bun.which("script") === null)("on a terminal (needs script, of util-linux)", () => {
  /** What a terminal shows while the pages are extracted; the held one is let go when the text has come. */
  async function watch(command: (list: string) => string, shows: string | null): Promise<string> {
    await using site = openSite();
    await using files = await openFiles();
    await files.write("list", `${[...site.urls("1", "2"), "no url", ...site.urls("held")].join("\n")}\n`);
    if (shows === null) site.letGo();
    await files.write("run.sh", `stty cols 80 rows 24\n${command("list")}\n`);
    const child = Bun.spawn(["script", "-qec", "sh run.sh", "/dev/null"], {
      cwd: files.path,
      env: cleanEnvironment({ TERM: "xterm" }),
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 100_000,
      killSignal: "SIGKILL",
    });
    let shown = "";
    for await (const piece of child.stdout) {
      shown += new TextDecoder().decode(piece);
      if (shows !== null && shown.includes(shows)) site.letGo();
    }
    return shown;
  }

  test("one line tells how many pages are done and failed, how fast, and the time left", async () => {
    const shown = await watch(
      (list) => `article-extractor --input-file ${list} -o out.jsonl`,
      "2 of 4 pages done · 1 failed",
    );
    expect(shown).toMatch(/0 of 4 pages done · 0 failed · 0\.0\/s · ETA -:--/);
    expect(shown).toMatch(/2 of 4 pages done · 1 failed · \d+(?:\.\d)?\/s · ETA (?:\d+:\d\d|-:--)/);
    expect(shown).toEndWith("\r\u001b[K"); // and goes when all is done
  });

  test("no line is drawn among the pages, with --quiet, or for one page", async () => {
    expect(await watch((list) => `article-extractor --input-file ${list} --compact`, null)).not.toContain(
      "pages done",
    );
    expect(await watch((list) => `article-extractor -q --input-file ${list} > out`, null)).not.toContain(
      "pages done",
    );
    expect(await watch(() => "article-extractor --file a.html > out", null)).toBe("");
  });
});
