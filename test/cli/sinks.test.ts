import { describe, expect, test } from "bun:test";
import { constants } from "node:fs";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cleanEnvironment, requireBinary, runShell } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveRecordingSite } from "../support/recording-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Every command that prints, `SITE` being the origin of a site. */
const COMMANDS = [
  "--file page.html --output markdown",
  "--file page.html --output text",
  "--input-file urls.txt --output json --retries 0",
  "--input-file urls.txt --output markdown --retries 0",
  "--input-file bad.txt --output text",
  "crawl SITE/a SITE/b --jsonl --max-depth 0 --rate-limit 0 --concurrency 1",
  "crawl SITE/a SITE/b --dry-run",
  "index --dir docs",
  "search --dir docs gate",
  "search quay gate",
  "search --all gate --json",
  "fetch quay docs://quay/gates.md",
  "serve search --stdio < calls.jsonl",
  "schema",
  "completions bash",
  "licenses",
  "doctor --json",
  "validate deployment.json",
  "--help",
  "--version",
] as const;

const CALLS = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
].map((call) => JSON.stringify({ jsonrpc: "2.0", ...call }));

const WORDS = "The gate opens at low water, and the miller counts the barges. ";
const KEPT = "kept line\n";

/** Without a real browser, which `doctor` would start each time. */
const ENVIRONMENT = { DOCS_SEARCH_STATE_DIR: "state", ARTICLE_EXTRACTOR_BROWSER_PATH: "/bin/false" };

/** Runs a script of bash in a directory with something to read for every command. */
const run = (script: string) => runShell(script, { shell: "bash", cwd: directory.path, env: ENVIRONMENT });

const read = (name: string): Promise<string> => readFile(join(directory.path, name), "utf8");

const site = forAllTests(serveRecordingSite());
const directory = forAllTests(temporaryDirectory());
const write = (name: string, text: string) => writeFile(join(directory.path, name), text);
await mkdir(join(directory.path, "docs"));
await write("docs/gates.md", `# Gates\n\n${WORDS}\n`);
await write("page.html", `<title>Gates</title><article><p>${WORDS.repeat(60)}</p></article>`);
await write("urls.txt", `${site.origin}/a\n${site.origin}/status/500\n${site.origin}/b\n`);
await write("bad.txt", "no url\n");
await write("calls.jsonl", `${CALLS.join("\n")}\n`);
await write("large", KEPT.repeat(100_000));
const quay = { source_type: "filesystem", codename: "quay", docs_name: "Quay", docs_root_dir: "docs" };
await write("deployment.json", JSON.stringify({ tenants: [quay] }));
const indexed = await run("article-extractor index quay && article-extractor index --dir docs");
if (indexed.exitCode !== 0) throw new Error(indexed.stderr);

// Times, sizes and process ids differ from run to run.
const withoutNumbers = (text: string): string => text.replace(/\d+(?:\.\d+)?/g, "0");

describe("the output of", () => {
  for (const command of COMMANDS) {
    test(`${command} comes behind what a file holds, whole, and is the same in every sink`, async () => {
      const program = `article-extractor ${command.replaceAll("SITE", site.origin)}`;
      const into = await run(`
        p() { ${program} 2> /dev/null; }
        p | cat > pipe
        printf '${KEPT.trim()}\\n' > small; p >> small
        cp large appended; p >> appended
        rm -f shared; (p; echo between; p) > shared
        (p; echo closed $? >&2) >&-
        p | head -c 1 > first; echo "ended \${PIPESTATUS[0]}" >&2
        ${program} > /dev/full; echo full $? >&2`);
      const [printed, ...sinks] = await Promise.all(
        ["pipe", "small", "appended", "shared", "first"].map(async (name) =>
          withoutNumbers(await read(name)),
        ),
      );
      expect(sinks).toEqual([
        KEPT + printed,
        KEPT.repeat(100_000) + printed,
        `${printed}between\n${printed}`,
        printed!.slice(0, 1),
      ]);
      const isPrinting = printed !== "";
      expect(isPrinting).toBe(!command.includes("bad.txt"));
      const [closed = "", ended = "", ...full] = into.stderr.trimEnd().split("\n");
      expect([closed, ended]).toEqual([
        expect.stringMatching(/^closed [01]$/),
        expect.stringMatching(/^ended [01]$/),
      ]);
      expect(full.at(-1)).toBe("full 1");
      if (isPrinting)
        expect(full).toContainEqual(
          expect.stringMatching(/standard output cannot be written: no space is left on the device("\})?$/),
        );
      expect(into.stderr).not.toMatch(/^ +at |a fault of/m);
    });
  }
});

describe("stderr in a file", () => {
  test("comes behind what the file holds, and in order with stdout where both share it", async () => {
    await run(`
      cp large errors; article-extractor --file missing.html 2>> errors
      article-extractor --input-file urls.txt --retries 0 --output text > both 2>&1
      (article-extractor --file missing.html; article-extractor --version) > shared 2>&1`);
    const missing = "error: missing.html cannot be read: there is no such file\n";
    expect(await read("errors")).toBe(KEPT.repeat(100_000) + missing);
    expect(await read("both")).toMatch(
      /^Tide tables\n[\s\S]*\nerror: urls\.txt:2: .*\n\n---\n\nTide tables\n/,
    );
    expect(await read("shared")).toMatch(/^error: missing.*\narticle-extractor /);
  });
});

describe("a pipe that another process has made non-blocking", () => {
  // dd sets the flag on the pipe itself and leaves it there.
  const NON_BLOCKING = "dd if=/dev/null oflag=nonblock status=none";

  test.skipIf(process.platform !== "linux")(
    "takes all of stdout from its slow reader's point of view",
    async () => {
      const { stdout, stderr } = await run(`
      { ${NON_BLOCKING}; article-extractor licenses; } | (sleep 0.3; cat) | sha256sum
      article-extractor licenses | sha256sum
      test "$(article-extractor licenses | wc -c)" -gt 100000`);
      const [slow, plain] = stdout.trimEnd().split("\n");
      expect([slow, stderr]).toEqual([plain, ""]);
    },
  );

  test.skipIf(process.platform !== "linux")("takes all of stderr", async () => {
    const { stdout } = await run(`
      seq -f 'no url %g' 5000 > many.txt
      { ${NON_BLOCKING}; article-extractor --input-file many.txt --output text; } 2>&1 >&1 | (sleep 0.3; cat)`);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.pop()).toStartWith("error: 5000 of 5000 pages failed: ");
    expect(lines.map((line) => line.slice(0, 23).trimEnd())).toEqual(
      lines.map((_, index) => `error: many.txt:${index + 1}: "no`.slice(0, 23).trimEnd()),
    );
    expect(lines.length).toBe(5000);
  });
});

describe("a reader", () => {
  /** A named pipe that is read only when the test says so: Bun would read one of its own ahead. */
  async function openPipe(name: string) {
    await run(`rm -f ${name}; mkfifo ${name}`);
    const file = await open(join(directory.path, name), constants.O_RDWR | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(4096);
    let said = "";
    return {
      async readUntil(pattern: RegExp): Promise<string> {
        for (let match = pattern.exec(said); ; match = pattern.exec(said)) {
          if (match) return match[1] ?? "";
          const read = await file.read(buffer).catch(() => null); // empty as yet
          if (read === null) await Bun.sleep(10);
          else said += buffer.toString("utf8", 0, read.bytesRead);
        }
      },
      said: () => said,
      [Symbol.asyncDispose]: () => file.close(),
    };
  }

  // The shell opens the pipe anew, so that it is a blocking one for the program.
  const spawn = (command: string) => {
    requireBinary();
    return Bun.spawn(["bash", "-c", `exec article-extractor ${command}`], {
      cwd: directory.path,
      env: cleanEnvironment(ENVIRONMENT),
      stdio: ["ignore", "ignore", "ignore"],
      killSignal: "SIGKILL",
      timeout: 60_000,
    });
  };

  test("that is slow gets 50 MB whole", async () => {
    await writeFile(join(directory.path, "big.txt"), `${WORDS.repeat(8)}\n\n`.repeat(100_000));
    const program = "article-extractor --file big.txt --output text --max-bytes 60000000";
    const { stdout } = await run(`
      ${program} > big; sha256sum < big; wc -c < big; rm big
      ${program} | while dd bs=256k count=8 iflag=fullblock status=none of=part && test -s part
        do cat part; sleep 0.02; done | sha256sum`);
    const [whole, bytes, slow] = stdout.split("\n");
    expect(Number(bytes)).toBeGreaterThan(50_000_000);
    expect(slow).toBe(whole!);
  });

  test("that never reads holds up no SIGINT", async () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `${site.origin}/${index}${"x".repeat(1000)}\n`);
    await writeFile(join(directory.path, "sitemap.txt"), lines.join(""));
    await using pipe = await openPipe("unread");
    const child = spawn("crawl --sitemap sitemap.txt --dry-run --max-pages 1000 --ignore-robots > unread");
    await pipe.readUntil(/()x/); // it has begun, and will fill the pipe again
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
  });

  test("that reads the log late holds up no server, and gets every line", async () => {
    await using pipe = await openPipe("log");
    const child = spawn("serve search --host 127.0.0.1 --port 0 --log-level info 2> log");
    const address = await pipe.readUntil(/"url":"(http:\S+?)\/mcp".*\n/);
    const paths = Array.from({ length: 1000 }, (_, index) => `/${index}/${"x".repeat(100)}`); // a pipe holds 64 KiB
    for (const path of paths) expect((await fetch(address + path)).status).toBe(404);
    await pipe.readUntil(/()"path":"\/999\/x+"/);
    const log = pipe.said();
    expect(log.split("\n").flatMap((line) => /"path":"(.*?)"/.exec(line)?.[1] ?? [])).toEqual(paths);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });
});
