import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { canLoseRights, runBinary } from "../support/binary.ts";
import { Served, type ToolAnswer, writeDeployment } from "../support/served.ts";
import { indexIn } from "../support/state-place.ts";
import { until } from "../support/until.ts";

const indexOf = (root: string): string => indexIn(join(root, "state"), "tool");
const answers = (served: Served, query = "no_proxy", count = 1): Promise<ToolAnswer> =>
  until(
    () => served.search(query),
    ({ error, results }) => error === null && results.length === count,
  );

describe("a damaged index", () => {
  /** A directory whose index was built, then damaged. */
  async function damaged(damage: (path: string) => void): Promise<string> {
    const root = writeDeployment();
    expect(
      (await runBinary(["index", "tool"], { cwd: root, env: { DOCS_SEARCH_STATE_DIR: "state" } })).exitCode,
    ).toBe(0);
    damage(indexOf(root));
    return root;
  }
  const DAMAGES: readonly (readonly [string, (path: string) => void])[] = [
    ["empty", (path) => truncateSync(path, 0)],
    ["cut off", (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2))],
    ["something else", (path) => writeFileSync(path, "hello ".repeat(1000))],
    [
      "flipped in the middle",
      (path) => {
        const bytes = readFileSync(path);
        for (let at = bytes.length >> 1; at < (bytes.length >> 1) + 64; at++)
          bytes[at] = (bytes[at] ?? 0) ^ 0xff;
        writeFileSync(path, bytes);
      },
    ],
  ];

  test.each(DAMAGES)("that is %s is built again", async (_, damage) => {
    await using served = await Served.start(await damaged(damage));
    expect((await answers(served)).results).toMatchObject([{ url: "docs://tool/proxies.md" }]);
  });

  test.each(DAMAGES)(
    "that is %s is told of where nothing may be built, and replaced from outside",
    async (_, damage) => {
      const root = await damaged(damage);
      const config = JSON.parse(readFileSync(join(root, "deployment.json"), "utf8"));
      config.infrastructure.allow_index_builds = false;
      writeFileSync(join(root, "deployment.json"), JSON.stringify(config));
      await using served = await Served.start(root);
      expect((await served.search("no_proxy")).error).toMatch(
        /^Tenant 'tool' has no search index that can be used/,
      );
      const health = await fetch(`${served.url}/health`);
      expect([health.status, await health.json()]).toMatchObject([200, { status: "degraded" }]);
      await runBinary(["index", "tool"], { cwd: root, env: { DOCS_SEARCH_STATE_DIR: "state" } });
      expect((await answers(served)).error).toBeNull();
    },
  );

  test("under a running server does not end what it answers", async () => {
    const root = writeDeployment();
    await using served = await Served.start(root);
    await answers(served);
    writeFileSync(`${indexOf(root)}.new`, "garbage");
    renameSync(`${indexOf(root)}.new`, indexOf(root));
    for (let request = 0; request < 20; request++) expect((await served.search("no_proxy")).error).toBeNull();
    // And it is made again, as soon as a search has seen it.
    const start = await until(
      async () => {
        expect((await served.search("no_proxy")).error).toBeNull();
        return readFileSync(indexOf(root), "latin1").slice(0, 7);
      },
      (now) => now !== "garbage",
    );
    expect(start).not.toBe("garbage");
  });
});

describe("damaged state", () => {
  test.each([
    ["no database", "hello ".repeat(5000)],
    ["empty", ""],
  ])("%s is put aside", async (_, text) => {
    const root = writeDeployment();
    mkdirSync(join(root, "state"));
    writeFileSync(join(root, "state/state.sqlite"), text);
    await using served = await Served.start(root);
    expect((await answers(served)).error).toBeNull();
  });

  test("counts of queries that are no database are put aside, said, and begun anew", async () => {
    const root = writeDeployment({ query_log_days: 7 });
    type Counts = { readonly queries: readonly { readonly query: string }[] };
    const count = async (served: Served, query: string): Promise<void> => {
      await answers(served);
      await served.search(query);
      await until(
        async () => (await (await fetch(`${served.url}/analytics`)).json()) as Counts,
        (counts) => JSON.stringify(counts).includes(query),
      );
    };
    await using first = await Served.start(root);
    await count(first, "proxies");
    first.child.kill();
    await first.child.exited;
    const [name = ""] = readdirSync(join(root, "state")).filter((one) => /^queries.*\.sqlite$/.test(one));
    writeFileSync(join(root, "state", name), "hello ".repeat(5000));
    await using second = await Served.start(root);
    await count(second, "hosts");
    const { status, problems } = (await (await fetch(`${second.url}/health`)).json()) as {
      readonly status: string;
      readonly problems: readonly string[];
    };
    expect([status, problems]).toEqual(["degraded", [expect.stringContaining(`${name}.damaged-`)]]);
    expect(second.said).toContain("the damaged log of queries is put aside");
  });

  test("a state directory that cannot be made leaves a server that says so", async () => {
    const root = writeDeployment({ log_level: "warning" });
    writeFileSync(join(root, "state"), "a file");
    await using served = await Served.start(root, { isSilent: true });
    expect((await served.search("no_proxy")).error).toStartWith("Tenant 'tool' has no search index");
    expect(served.said).toContain("state is kept in memory only");
    expect((await fetch(`${served.url}/health`)).status).toBe(200);
  });
});

test.each([
  ["cut off", '{"tenants": ['],
  ["no JSON", "tenants:\n- a"],
  ["binary", "\u0000\u0001"],
  ["empty", ""],
  ["a list", "[]"],
])("a deployment file that is %s is refused with one line and exit code 2", async (_, text) => {
  const root = writeDeployment();
  writeFileSync(join(root, "deployment.json"), text);
  const { exitCode, stdout, stderr } = await runBinary(["serve", "search", "--port", "0"], { cwd: root });
  expect({ exitCode, stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({
    exitCode: 2,
    stdout: "",
    lines: 1,
  });
  expect(stderr).toStartWith("error: deployment.json");
});

describe("a folder of documents", () => {
  test("that disappears leaves what was indexed, and is read again when it is back", async () => {
    const root = writeDeployment();
    await using served = await Served.start(root);
    await answers(served);
    renameSync(join(root, "docs"), join(root, "away"));
    await fetch(`${served.url}/tool/sync/trigger`, { method: "POST" });
    const status = (): Promise<{ readonly last_error: { readonly code: string } | null }> =>
      fetch(`${served.url}/tool/sync/status`).then((response) => response.json() as never);
    expect((await until(status, ({ last_error }) => last_error !== null)).last_error?.code).toBe(
      "unreadable_input",
    );
    expect((await served.search("no_proxy")).results).toHaveLength(1);
    writeFileSync(join(root, "away/new.md"), "# New\n\nSomething quokka.\n");
    renameSync(join(root, "away"), join(root, "docs"));
    await fetch(`${served.url}/tool/sync/trigger`, { method: "POST" });
    expect((await answers(served, "quokka")).results).toHaveLength(1);
    expect((await until(status, ({ last_error }) => last_error === null)).last_error).toBeNull();
  });

  test.if(canLoseRights)("that may only be read is served", async () => {
    const root = writeDeployment();
    mkdirSync(join(root, "state"));
    for (const path of ["", "docs"]) chmodSync(join(root, path), 0o555);
    chmodSync(join(root, "state"), 0o777);
    const env = { DOCS_SEARCH_STATE_DIR: join(root, "state") };
    const built = await runBinary(["index", "tool"], { cwd: root, env, asOrdinaryUser: true });
    expect(built).toMatchObject({ exitCode: 0, stdout: "indexed 1 document of tool\n" });
    const found = await runBinary(["search", "tool", "no_proxy"], { cwd: root, env, asOrdinaryUser: true });
    expect(found.stdout).toContain("docs://tool/proxies.md");
    for (const path of ["", "docs"]) chmodSync(join(root, path), 0o755);
  });

  test("with links out of it shows nothing of where they lead", async () => {
    const root = writeDeployment();
    mkdirSync(join(root, "secret"));
    writeFileSync(join(root, "secret/key.md"), "# Key\n\nThe xylophone is hidden here.\n");
    symlinkSync("../secret/key.md", join(root, "docs/key.md"));
    symlinkSync("../secret", join(root, "docs/inner"));
    symlinkSync("/etc/passwd", join(root, "docs/passwd.txt"));
    symlinkSync(".", join(root, "docs/loop"));
    await using served = await Served.start(root);
    await answers(served);
    for (const query of ["xylophone", "root nologin"])
      expect((await served.search(query)).results).toEqual([]);
    for (const uri of [
      "docs://tool/key.md",
      "docs://tool/inner/key.md",
      "docs://tool/passwd.txt",
      "docs://tool/../secret/key.md",
    ]) {
      const { error, content } = await served.call("root_fetch", { tenant_codename: "tool", uri });
      expect({ uri, error, content }).toMatchObject({
        error: expect.stringContaining("has no document"),
        content: "",
      });
    }
  });

  test("with huge files and wrong encodings is indexed all the same", async () => {
    const root = writeDeployment();
    const docs = join(root, "docs");
    writeFileSync(
      join(docs, "ten.md"),
      `# Ten\n\nplatypus\n\n${"Many words that fill a file. ".repeat(360_000)}`,
    );
    writeFileSync(join(docs, "line.md"), `# Line\n\nwombat ${"x".repeat(2_000_000)}`);
    writeFileSync(join(docs, "latin.md"), Buffer.from("# Caf\xe9\n\nnumbat\n", "latin1"));
    writeFileSync(join(docs, "utf16.md"), Buffer.from("\ufeff# Wide\n\nbilby\n", "utf16le"));
    writeFileSync(join(docs, "bom.md"), "\ufeff# Mark\n\ndingo\n");
    writeFileSync(join(docs, "binary.md"), Buffer.from([0, 255, 0, 254, 1, 2, 3]));
    writeFileSync(join(docs, "empty.md"), "");
    await using served = await Served.start(root);
    for (const query of ["platypus", "wombat", "numbat", "dingo"])
      expect((await answers(served, query)).results).toHaveLength(1);
    const { content } = await served.call("root_fetch", {
      tenant_codename: "tool",
      uri: "docs://tool/latin.md",
    });
    expect(content).toStartWith("# Café");
  });

  test("that is empty, or is a file, is told of", async () => {
    const root = writeDeployment();
    rmSync(join(root, "docs/proxies.md"));
    await using served = await Served.start(root);
    expect((await answers(served, "no_proxy", 0)).results).toEqual([]);
    const other = writeDeployment({}, { docs_root_dir: "deployment.json" });
    await using wrong = await Served.start(other);
    const { error } = await until(
      () => wrong.search("x"),
      ({ error: said }) => said?.includes("could not be read") === true,
    );
    expect(error).toContain("its documents could not be read; see its sync status");
  });
});
