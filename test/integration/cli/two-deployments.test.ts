import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { runCommand } from "../../support/command.ts";
import { TestRepository } from "../../support/git-server.ts";
import { serveLocal } from "../../support/local.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const WORDS = ["pasta", "granite"] as const;
const textOf = (word: string): string =>
  `# Guide\n\nThe word of this source is ${word}, and no other one of them all.\n`;
const KINDS = ["filesystem", "git", "online"] as const;

/** How one of two deployments with the same codename is told from the other, or not. */
type Deployment = {
  readonly name: string | null;
  readonly kind: (typeof KINDS)[number];
  /** The number of its source. */
  readonly source: 0 | 1;
  readonly isShared: boolean;
};
const DEPLOYMENT: fc.Arbitrary<Deployment> = fc.record({
  name: fc.constantFrom(null, "alpha", "beta"),
  kind: fc.constantFrom(...KINDS),
  source: fc.constantFrom(0, 1),
  isShared: fc.oneof(
    { arbitrary: fc.constant(true), weight: 3 },
    { arbitrary: fc.constant(false), weight: 1 },
  ),
});
/** Two that differ in any of their parts, but rarely in all. */
const PAIR = fc
  .tuple(DEPLOYMENT, DEPLOYMENT, fc.subarray(["name", "kind", "source", "isShared"], { maxLength: 2 }))
  .map(([one, other, parts]): [Deployment, Deployment] => [
    one,
    { ...one, ...Object.fromEntries(Object.entries(other).filter(([part]) => parts.includes(part))) },
  ]);

const work = temporaryDirectory();
const repositories: string[] = [];
const sites: { readonly url: string; stop(force: boolean): unknown }[] = [];
beforeAll(async () => {
  for (const [number, word] of WORDS.entries()) {
    const repository = await TestRepository.create(join(work.path, `repository-${number}.git`));
    await repository.commit({ "docs/guide.md": textOf(word) });
    repositories.push(`file://${repository.path}`);
    const body = `<title>Guide</title><main><h1>Guide</h1>${`<p>The word of this site is ${word}, and no other one.</p>`.repeat(20)}</main>`;
    const site = serveLocal((request) =>
      new URL(request.url).pathname === "/guide"
        ? new Response(`<!doctype html>${body}`, { headers: { "content-type": "text/html" } })
        : new Response("none", { status: 404 }),
    );
    sites.push({ url: site.url.href, stop: (force) => site.stop(force) });
  }
});
afterAll(() => {
  for (const site of sites) site.stop(true);
  work[Symbol.dispose]();
});

/** Projects with a deployment file each, which have one state directory and one more directory in common. */
class World {
  readonly root: string;
  readonly projects: readonly Deployment[];

  constructor(...projects: readonly Deployment[]) {
    this.root = join(work.path, crypto.randomUUID());
    this.projects = projects;
    for (const [number, project] of projects.entries()) this.write(number, project);
  }

  write(number: number, { name, kind, source, isShared }: Deployment): void {
    const folder = this.folder(number);
    mkdirSync(join(folder, "docs"), { recursive: true });
    const shared = join(this.root, kind === "filesystem" ? `docs-${source}` : "data");
    const docs = isShared ? shared : kind === "filesystem" ? "docs" : "data";
    if (kind === "filesystem") {
      const place = isShared ? shared : join(folder, "docs");
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, "guide.md"), textOf(WORDS[source]));
    }
    const tenant = {
      source_type: kind,
      codename: "guide",
      docs_name: "Guide",
      docs_root_dir: docs,
      ...(kind === "git" && { git_repo_url: repositories[source], git_subpaths: ["docs"] }),
      ...(kind === "online" && { docs_entry_url: `${sites[source]?.url}guide` }),
    };
    const infrastructure = { allow_index_builds: true, crawler_browser_first: false };
    writeFileSync(
      join(folder, "deployment.json"),
      JSON.stringify({ ...(name !== null && { name }), infrastructure, tenants: [tenant] }),
    );
  }

  folder(number: number): string {
    return join(this.root, `project-${number}`);
  }

  get state(): string {
    return join(this.root, "state");
  }

  run(number: number, ...words: readonly string[]) {
    const env = {
      DOCS_SEARCH_STATE_DIR: this.state,
      DOCS_SEARCH_GIT_PROTOCOLS: "file",
      ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
      ARTICLE_EXTRACTOR_RETRIES: "0",
    };
    return runCommand(words, { cwd: this.folder(number), env });
  }

  /** The words that a search finds, and how it ended. */
  async search(number: number) {
    const { exitCode, stdout, stderr } = await this.run(number, "search", "guide", "word source site");
    return { exitCode, found: WORDS.filter((word) => stdout.includes(word)), stderr };
  }
}

const FOREIGN = /cannot use .* belongs to tenant 'guide'/;

describe("two deployments with the same codename", () => {
  test("never answer from or overwrite what the other has, and name it", async () => {
    const step = fc.record({ who: fc.constantFrom(0, 1), what: fc.constantFrom("sync", "index") });
    await fc.assert(
      fc.asyncProperty(PAIR, fc.array(step, { minLength: 2, maxLength: 4 }), async (pair, steps) => {
        const world = new World(...pair);
        const identity = (who: number): string => pair[who]?.name ?? `file ${who}`;
        const place = (who: number): string => {
          const { kind, source, isShared } = pair[who]!;
          if (kind === "filesystem") return `${identity(who)} ${isShared ? `docs-${source}` : who}`;
          return isShared ? "data" : `data of ${who}`;
        };
        const isOne = (a: number, b: number): boolean =>
          a === b ||
          (pair[a]!.name !== null &&
            pair[a]!.name === pair[b]!.name &&
            pair[a]!.kind === pair[b]!.kind &&
            pair[a]!.source === pair[b]!.source);
        const holders = new Map<string, { who: number; isSynced: boolean; isIndexed: boolean }>();
        for (const { who, what } of steps) {
          const { kind } = pair[who]!;
          const held = holders.get(place(who)) ?? { who, isSynced: kind === "filesystem", isIndexed: false };
          const isRefused = !isOne(held.who, who);
          const { exitCode, stderr } = await world.run(who, what, "guide");
          if (isRefused) {
            expect(stderr).toMatch(FOREIGN);
            expect(stderr).toContain(join(world.folder(held.who), "deployment.json"));
            expect(exitCode).not.toBe(0);
          } else {
            held.isSynced ||= what === "sync";
            held.isIndexed ||= held.isSynced;
            expect([what, exitCode, stderr]).toEqual([what, held.isSynced ? 0 : exitCode, stderr]);
            holders.set(place(who), held);
          }
          for (const other of [0, 1]) {
            const answer = await world.search(other);
            const has = holders.get(place(other));
            const finds = has?.isIndexed && isOne(has.who, other);
            expect([other, answer.found]).toEqual([other, finds ? [WORDS[pair[other]!.source]] : []]);
            if (!finds) expect(answer.exitCode).not.toBe(0);
          }
        }
      }),
      { numRuns: 16 },
    );
  }, 600_000);
});

const folder = (more: Partial<Deployment> = {}): Deployment => ({
  name: null,
  kind: "filesystem",
  source: 0,
  isShared: false,
  ...more,
});
const online = (more: Partial<Deployment> = {}): Deployment => folder({ kind: "online", ...more });
const placesIn = (state: string): readonly string[] =>
  readdirSync(state).filter((name) => name.startsWith("guide@"));

describe("one deployment", () => {
  test("is the same through links to its file and to its folders", async () => {
    const world = new World(folder());
    symlinkSync(world.folder(0), join(world.root, "project-1"));
    mkdirSync(world.folder(2));
    symlinkSync(join(world.folder(0), "deployment.json"), join(world.folder(2), "linked.json"));
    expect((await world.run(0, "index", "guide")).exitCode).toBe(0);
    expect((await world.search(1)).found).toEqual(["pasta"]);
    expect((await world.run(1, "index", "guide")).stdout).toContain("guide");
    expect(placesIn(world.state)).toHaveLength(1);
    // Its paths are relative to the link, so that its folder is another one.
    const beside = await world.run(2, "search", "guide", "word", "--config", "linked.json");
    expect([beside.exitCode, beside.stdout]).toEqual([1, ""]);
  });

  test.each(["git", "online"] as const)(
    "takes the state of a %s tenant along when it is moved or copied",
    async (kind) => {
      const world = new World(folder({ kind }));
      expect((await world.run(0, "sync", "guide")).exitCode).toBe(0);
      cpSync(world.folder(0), world.folder(1), { recursive: true });
      renameSync(world.folder(0), world.folder(2));
      for (const number of [1, 2]) {
        expect((await world.search(number)).found).toEqual(["pasta"]);
        const again = await world.run(number, "sync", "guide");
        expect([again.exitCode, again.stdout]).toEqual([
          0,
          expect.stringContaining("0 fetched, 1 unchanged"),
        ]);
      }
    },
  );

  test("keeps what it had when it is given a name, and another one may not have it", async () => {
    const world = new World(online({ isShared: true }), online({ isShared: true }));
    expect((await world.run(0, "sync", "guide")).exitCode).toBe(0);
    world.write(0, online({ isShared: true, name: "alpha" }));
    expect((await world.search(0)).found).toEqual(["pasta"]);
    expect((await world.run(0, "sync", "guide")).exitCode).toBe(0);
    world.write(0, online({ isShared: true, name: "beta" }));
    expect((await world.search(0)).stderr).toContain("of the deployment 'alpha', ");
    expect((await world.search(1)).exitCode).toBe(2);
  });

  test.each(["git", "online"] as const)(
    "goes on with another source of a %s tenant, without answers of the former",
    async (kind) => {
      const world = new World(folder({ kind }));
      expect((await world.run(0, "sync", "guide")).exitCode).toBe(0);
      world.write(0, folder({ kind, source: 1 }));
      const between = await world.search(0);
      expect([between.found, between.exitCode]).toEqual([[], 1]);
      expect((await world.run(0, "sync", "guide")).exitCode).toBe(0);
      expect((await world.search(0)).found).toEqual(["granite"]);
    },
  );

  test("is told by validate, doctor and the list of tenants who has its directory, and others go on", async () => {
    const world = new World(online({ isShared: true }), online({ isShared: true, source: 1 }));
    expect((await world.run(0, "sync", "guide")).exitCode).toBe(0);
    const validated = await world.run(1, "validate", "deployment.json");
    expect([validated.exitCode, validated.stderr]).toEqual([0, expect.stringMatching(FOREIGN)]);
    const doctor = await world.run(1, "doctor");
    expect([doctor.exitCode, doctor.stdout]).toEqual([1, expect.stringMatching(FOREIGN)]);
    expect((await world.run(1, "tenants", "list")).stdout).toContain("foreign_state");
    expect((await world.run(1, "fetch", "guide", `${sites[0]?.url}guide`)).exitCode).toBe(2);
    expect((await world.run(0, "doctor")).stdout).toContain("1 document, indexed");
  });
});

describe("the index of a folder", () => {
  test("is not that of a tenant, nor the other way round", async () => {
    const world = new World(online(), folder());
    const data = join(world.folder(0), "data");
    mkdirSync(data);
    writeFileSync(join(data, "own.md"), "# Own\n\nA page of the folder itself.\n");
    expect((await world.run(0, "index", "--dir=data")).exitCode).toBe(0);
    const refused = await world.run(0, "sync", "guide");
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`belongs to the folder ${data}`),
    ]);
    expect((await world.run(0, "search", "--dir=data", "own")).exitCode).toBe(0);
    rmSync(join(data, ".article-extractor"), { recursive: true });
    expect((await world.run(0, "sync", "guide")).exitCode).toBe(0);
    for (const words of [["index"], ["search", "own"]]) {
      const { exitCode, stderr } = await world.run(0, ...words, "--dir=data");
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("belongs to tenant 'guide'")]);
    }
    expect((await world.search(0)).found).toEqual(["pasta"]);
  });

  test("is its own wherever both are moved, and no other folder's", async () => {
    const world = new World(folder(), folder({ source: 1 }));
    const file = "--index-file=guide.index";
    expect((await world.run(0, "index", "--dir=docs", file)).exitCode).toBe(0);
    cpSync(world.folder(0), world.folder(2), { recursive: true });
    expect((await world.run(2, "search", "--dir=docs", file, "word")).stdout).toContain("pasta");
    mkdirSync(join(world.folder(0), "other"));
    writeFileSync(join(world.folder(0), "other/guide.md"), textOf("granite"));
    for (const words of [["index"], ["search", "word"]]) {
      const { exitCode, stderr } = await world.run(0, ...words, "--dir=other", file);
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining(`belongs to the folder ${join(world.folder(0), "docs")}`),
      ]);
    }
  });
});
