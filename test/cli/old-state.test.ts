import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireBinary, runBinary } from "../support/binary.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { crawlWords, FIXTURES, SESSION, SITE, serveFixedSite } from "../support/old-state.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const KEPT = readdirSync(FIXTURES).filter((name) => name.startsWith("state-"));
let served: Awaited<ReturnType<typeof serveFixedSite>>;
beforeAll(async () => {
  requireBinary();
  served = await serveFixedSite();
});
afterAll(async () => await served[Symbol.asyncDispose]());

/** A copy of the state that a version left, and this version run on it. */
function openState(folder: string) {
  const directory = temporaryDirectory();
  cpSync(join(FIXTURES, folder), directory.path, { recursive: true });
  return {
    place: (name: string) => join(directory.path, name),
    root: directory.path,
    run: (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      runBinary(words, {
        cwd: directory.path,
        env: { DOCS_SEARCH_STATE_DIR: "search-state", ...served.env, ...env },
      }),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

/** Makes a database one of a version that is still to come. */
function age(path: string): void {
  using database = new Database(path, { readwrite: true });
  database.run("PRAGMA user_version = 99");
}

test("state of the first version is kept", () => expect(KEPT).toContain("state-0.1.0"));

describe.each(KEPT)("%s", (folder) => {
  test("a crawl that ended half-way goes on, and fetches nothing twice", async () => {
    using state = openState(folder);
    const before = JSON.parse(readFileSync(state.place("crawl/manifest.json"), "utf8"));
    expect(before.successful).toBe(3);
    const asked = served.site.count("/");
    const run = await state.run(crawlWords(6));
    expect([run.exitCode, served.site.count("/")]).toEqual([0, asked]);
    const after = JSON.parse(readFileSync(state.place("crawl/manifest.json"), "utf8"));
    expect([after.job_id, after.successful, after.failed]).toEqual([before.job_id, 6, 0]);
  });

  test("the index of a folder and that of a tenant are searched, and documents fetched", async () => {
    using state = openState(folder);
    const inFolder = await state.run(["search", "--dir=docs", "--index-file=folder.index", "hosts"]);
    expect([inFolder.exitCode, inFolder.stdout]).toEqual([0, expect.stringContaining("proxies.md")]);
    const tenant = await state.run(["search", "tool", "hosts"]);
    expect([tenant.exitCode, tenant.stdout]).toEqual([0, expect.stringContaining("Proxies")]);
    const document = await state.run(["fetch", "tool", "docs://tool/proxies.md"]);
    expect(document.stdout).toContain("NO_PROXY lists hosts");
  });

  test("the book of syncs is read, and a sync goes on with it", async () => {
    using state = openState(folder);
    const run = await state.run(["sync", "--all"]);
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
  });

  test("keys are listed", async () => {
    using state = openState(folder);
    const run = await state.run(["keys", "list"]);
    expect([run.exitCode, run.stdout]).toEqual([0, expect.stringContaining("reader")]);
  });

  test("jobs are listed, with their manifest", async () => {
    using state = openState(folder);
    await using server = await startExtractor({ directory: state.root, env: served.env });
    const { jobs } = (await (await server.get("/crawl")).json()) as { jobs: { status: string }[] };
    expect(jobs.map(({ status }) => status)).toEqual(["completed"]);
  });

  test("a session is sent along", async () => {
    using state = openState(folder);
    const run = await state.run([`${SITE}p/1`, "--no-browser", "--min-words=0"], SESSION);
    expect(run.exitCode).toBe(0);
    expect(served.site.visits.at(-1)?.headers.cookie).toBe("mill=1");
  });

  test("a crawl, jobs and syncs of a newer version are refused in one line, and stay as they are", async () => {
    using state = openState(folder);
    const files = [
      "crawl/.article-extractor/frontier.sqlite",
      "state/jobs.sqlite",
      "search-state/state.sqlite",
    ];
    for (const file of files) age(state.place(file));
    const before = files.map((file) => readFileSync(state.place(file)));
    const crawl = await state.run(crawlWords(6));
    expect([crawl.exitCode, crawl.stderr.trim().split("\n")]).toEqual([
      2,
      [expect.stringContaining("the crawl of another version of this program")],
    ]);
    const sync = await state.run(["sync", "--all"]);
    expect([sync.exitCode, sync.stderr.trim().split("\n")]).toEqual([
      2,
      [expect.stringMatching(/state\.sqlite holds the state of a newer version of this program$/)],
    ]);
    const start = startExtractor({ directory: state.root, env: served.env });
    await expect(start).rejects.toThrow(/jobs\.sqlite holds the jobs of another version of this program"}\n/);
    expect(files.map((file) => readFileSync(state.place(file)))).toEqual(before);
  });

  test("an index of a newer version is refused in one line that says what to do", async () => {
    using state = openState(folder);
    const bytes = readFileSync(state.place("folder.index"));
    // The header of 4096 bytes has the version at byte 8, and ends with its own checksum.
    bytes.writeUInt32LE(99, 8);
    bytes.writeUInt32LE(Bun.hash.crc32(bytes.subarray(0, 4092)), 4092);
    writeFileSync(state.place("folder.index"), bytes);
    const run = await state.run(["search", "--dir=docs", "--index-file=folder.index", "hosts"]);
    expect([run.exitCode, run.stderr.trim().split("\n")]).toEqual([
      1,
      [expect.stringMatching(/has format 99, this version reads \d+; build it again/)],
    ]);
  });
});
