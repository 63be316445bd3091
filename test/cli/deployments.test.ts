import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary, runBinary, runShell } from "../support/binary.ts";
import { folderTenant } from "../support/deployment.ts";
import { type GitServer, serveGit } from "../support/git-server.ts";
import { KILLS } from "../support/kills.ts";
import { Served } from "../support/served.ts";
import { gitTenant, SYNC_ENVIRONMENT } from "../support/sync-run.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const WORDS = ["pasta", "granite"] as const;
let server: GitServer;
let work: TemporaryDirectory;
beforeAll(async () => {
  requireBinary();
  work = temporaryDirectory();
  server = await serveGit();
  for (const word of WORDS) {
    const repository = await server.create(word);
    await repository.commit({ "docs/guide.md": `# Guide\n\nThe word of this one is ${word}.\n` });
  }
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  work[Symbol.dispose]();
});

/** The folder of a project with one tenant. */
function project(root: string, number: number, tenant: object): string {
  const folder = join(root, `project-${number}`);
  mkdirSync(folder, { recursive: true });
  const infrastructure = { mcp_host: "127.0.0.1", allow_index_builds: true };
  writeFileSync(join(folder, "deployment.json"), JSON.stringify({ infrastructure, tenants: [tenant] }));
  return folder;
}

const environmentOf = (root: string) => ({ DOCS_SEARCH_STATE_DIR: join(root, "state"), ...SYNC_ENVIRONMENT });

/** Starts a command and kills it after a part of the time that it takes. */
async function kill(words: readonly string[], cwd: string, ms: number): Promise<void> {
  const env = cleanEnvironment(environmentOf(join(cwd, "..")));
  const child = Bun.spawn([BINARY, ...words], { cwd, env, stdio: ["ignore", "ignore", "ignore"] });
  await Bun.sleep(ms);
  child.kill("SIGKILL");
  await child.exited;
}

const timed = async (run: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
};

test(
  "of two deployments that name one directory, one has it, wherever a sync of either is killed",
  async () => {
    const whole = join(work.path, "whole");
    const only = project(whole, 0, gitTenant(`${server.origin}/pasta.git`));
    const env = environmentOf(whole);
    const wholeMs = await timed(() => runBinary(["sync", "--all"], { cwd: only, env }));
    for (let round = 0; round < KILLS; round++) {
      const root = join(work.path, `kills-${round}`);
      const folders = WORDS.map((word, number) =>
        project(
          root,
          number,
          gitTenant(`${server.origin}/${word}.git`, { docs_root_dir: join(root, "data") }),
        ),
      );
      for (const folder of folders) await kill(["sync", "--all"], folder, Math.random() * wholeMs);
      const env = environmentOf(root);
      const ends: boolean[] = [];
      for (const [number, cwd] of folders.entries()) {
        const sync = await runBinary(["sync", "--all"], { cwd, env });
        const search = await runBinary(["search", "handbook", "word"], { cwd, env });
        const has = sync.exitCode === 0;
        expect(has ? "" : sync.stderr).toMatch(
          has ? /^$/ : /belongs to tenant 'handbook' .*deployment\.json/,
        );
        expect([search.exitCode, WORDS.filter((word) => search.stdout.includes(word))]).toEqual(
          has ? [0, [WORDS[number]!]] : [2, []],
        );
        ends.push(has);
      }
      expect(ends.filter(Boolean)).toHaveLength(1);
    }
  },
  20_000 * KILLS,
);

test("servers of two deployments with one state directory and codename answer from their own", async () => {
  const root = join(work.path, "served");
  const folders = WORDS.map((word, number) => {
    const tenant = folderTenant("guide", { docs_root_dir: "docs" });
    const folder = project(root, number, tenant);
    mkdirSync(join(folder, "docs"));
    writeFileSync(join(folder, "docs/guide.md"), `# Guide\n\nThe word of this one is ${word}.\n`);
    return folder;
  });
  const env = { DOCS_SEARCH_STATE_DIR: join(root, "state") };
  await using first = await Served.start(folders[0]!, { env, words: ["-v"] });
  await using second = await Served.start(folders[1]!, { env, words: ["-v"] });
  await using beside = await Served.start(folders[1]!, { env, words: ["-v"] });
  for (const [served, word] of [
    [first, WORDS[0]],
    [second, WORDS[1]],
    [beside, WORDS[1]],
  ] as const) {
    const search = () => served.call("root_search", { tenant_codename: "guide", query: "word" });
    await untilTrue(async () => (await search()).results.length === 1);
    expect((await search()).results[0]?.snippet).toContain(word);
  }
  const leads = (served: Served): boolean => served.said.includes("this process builds and syncs");
  expect([leads(first), leads(second), leads(beside)]).toEqual([true, true, false]);
});

test("a deployment that comes through a pipe has the same state each time", async () => {
  const root = join(work.path, "piped");
  mkdirSync(join(root, "docs"), { recursive: true });
  writeFileSync(join(root, "docs/guide.md"), "# Guide\n\nThe word of this one is pasta.\n");
  const docs = { docs_name: "Guide", docs_root_dir: join(root, "docs") };
  const tenants = [{ source_type: "filesystem", codename: "guide", ...docs }];
  writeFileSync(join(root, "piped.json"), JSON.stringify({ tenants }));
  const env = { DOCS_SEARCH_STATE_DIR: "state" };
  const run = (words: string) =>
    runShell(`article-extractor ${words} --config <(cat piped.json)`, { cwd: root, env, shell: "bash" });
  expect((await run("index guide")).exitCode).toBe(0);
  expect((await run("search guide word")).stdout).toContain("pasta");
});
