import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openQueryLog } from "../../src/server/api/search/query-log.ts";
import { runCommand } from "../support/command.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const { path: root } = forAllTests(temporaryDirectory());
mkdirSync(join(root, "state"));
const infrastructure = { query_log_days: 30 };
writeFileSync(join(root, "deployment.json"), JSON.stringify({ infrastructure, tenants: [] }));

const queries = (...words: string[]) =>
  runCommand(["queries", "--quiet", ...words], { cwd: root, env: { DOCS_SEARCH_STATE_DIR: "state" } });

describe("queries", () => {
  test("says so where nothing has been counted", async () => {
    const { exitCode, stdout, stderr } = await queries();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("no queries have been logged: there is no");
  });

  test("shows what is asked most, finds nothing and is not opened, as text and as JSON", async () => {
    const path = /there is no (\S+\.sqlite)/.exec((await queries()).stderr)?.[1] ?? "";
    let now = Date.now() - 60_000;
    using log = openQueryLog({
      path,
      days: 30,
      now: () => now,
      onTrouble: (error) => expect(error).toBeNull(),
    });
    log.searched({ client: "me", query: "gate", urls: ["docs://a/b.md"] });
    now += 10_000;
    log.read({ days: 30, size: 1 });
    expect((await queries()).stdout).toStartWith("1 search of 1 query since ");
    for (const query of ["gate", "zeppelin"]) {
      log.searched({ client: "me", query, urls: query === "gate" ? ["docs://a/b.md"] : [] });
      now += 10_000;
    }
    log.fetched("docs://a/b.md");
    const { since } = log.read({ days: 30, size: 1 });
    expect(await queries()).toEqual({
      exitCode: 0,
      stdout: `3 searches of 2 queries since ${since}\n\nMost frequent:\n      2  gate\n      1  zeppelin\n\nWithout hits:\n      1  zeppelin\n\nWithout a click:\n      1  gate\n`,
      stderr: "",
    });
    const { stdout } = await queries("--json", "--size", "1", "--days", "1");
    expect(JSON.parse(stdout)).toMatchObject({
      searches: 3,
      queries: 2,
      frequent: [{ query: "gate", searches: 2, without_hits: 0, followed: 1 }],
      without_hits: [{ query: "zeppelin" }],
      without_click: [{ query: "gate" }],
    });
    // Another deployment with the same state directory has searches of its own.
    writeFileSync(join(root, "other.json"), JSON.stringify({ infrastructure, tenants: [] }));
    expect((await queries("--config", "other.json")).exitCode).toBe(1);
  });

  test.each([
    [["--days", "0"], "--days must be"],
    [["--size", "1001"], "--size must be"],
    [["gate"], "queries takes no arguments"],
  ])("%j is refused", async (words, message) => {
    const { exitCode, stderr } = await queries(...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) });
  });
});
