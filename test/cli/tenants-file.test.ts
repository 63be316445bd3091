import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY, canLoseRights, cleanEnvironment, runBinary } from "../support/binary.ts";
import { KILLS } from "../support/kills.ts";
import {
  add,
  environment,
  file,
  makeFolder,
  read,
  root,
  run,
  setUp,
  tearDown,
  tenantsOf,
} from "../support/tenants-run.ts";

beforeEach(setUp);
afterEach(tearDown);

const COMMENTED = `\ufeff// Our documentation
{
	"infrastructure": { "allow_index_builds": true, }, // indexes are built here
	"tenants": [
		/* the first */
		{ "source_type": "filesystem", "codename": "first", "docs_name": "First", "docs_root_dir": "first" }, // its end
		// more to come
	],
}
`.replaceAll("\n", "\r\n");

describe("the file", () => {
  beforeEach(() => makeFolder("docs", "a.md"));

  test("keeps comments, order, indentation, line breaks and mark when a tenant is added, and is the same again without it", async () => {
    writeFileSync(file(), COMMENTED);
    await add("docs", "--codename", "second");
    const added = [
      "\t\t{",
      '\t\t\t"source_type": "filesystem",',
      '\t\t\t"codename": "second",',
      '\t\t\t"docs_name": "docs",',
      '\t\t\t"docs_root_dir": "docs"',
      "\t\t},",
    ].join("\r\n");
    expect(read()).toBe(COMMENTED.replace("// more to come", `// more to come\r\n${added}`));
    expect(await run("remove", "second")).toMatchObject({ exitCode: 0, stdout: "" });
    expect(read()).toBe(COMMENTED);
    expect(JSON.parse((await run("remove", "first", "--json")).stdout)).toEqual({
      removed: "first",
      file: file(),
    });
    expect(read()).toContain("/* the first */");
    expect(read()).not.toContain("codename");
  });

  test.each([
    ['{"tenants": [}', "line 1, column 14"],
    ['{"tenants": [], "tennants": 1}', "tennants: unknown field"],
    ["", "not JSON"],
    ['{"tenants": [], "tenants": []}', "its list of tenants cannot be changed"],
    [Buffer.from([0x7b, 0xe4, 0x7d]), "is not UTF-8"],
  ])("that is broken, %p, is refused and left as it is", async (content, message) => {
    writeFileSync(file(), content);
    for (const words of [
      ["add", "docs", "--yes"],
      ["remove", "first"],
    ]) {
      const { exitCode, stderr } = await run(...words);
      expect(exitCode).toBeGreaterThan(0);
      if (words[0] === "add") expect(stderr).toContain(message);
    }
    expect(readFileSync(file())).toEqual(Buffer.from(content));
  });

  test("behind a link is changed, and the link stays one; its mode stays too", async () => {
    mkdirSync(join(root, "etc"));
    writeFileSync(join(root, "etc/real.json"), '{"tenants": []}');
    chmodSync(join(root, "etc/real.json"), 0o640);
    symlinkSync("etc/real.json", file());
    await add("docs", "--codename", "one");
    expect(lstatSync(file()).isSymbolicLink()).toBe(true);
    expect(tenantsOf(readFileSync(join(root, "etc/real.json"), "utf8"))).toHaveLength(1);
    expect(statSync(join(root, "etc/real.json")).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(root, "etc"))).toEqual(["real.json"]);
    rmSync(join(root, "etc/real.json"));
    await add("docs", "--codename", "two");
    expect(lstatSync(file()).isSymbolicLink()).toBe(true);
    expect(tenantsOf()[0]?.codename).toBe("two");
  });

  test.if(canLoseRights)("in a directory that may not be written is left as it is", async () => {
    writeFileSync(file(), '{"tenants": []}');
    chmodSync(root, 0o555);
    const { exitCode, stderr } = await runBinary(["tenants", "add", "docs", "--yes"], {
      cwd: root,
      env: { ...environment(), DOCS_SEARCH_STATE_DIR: mkdtempSync(join(tmpdir(), "state-")) },
      asOrdinaryUser: true,
    });
    chmodSync(root, 0o777);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: "error: deployment.json cannot be written: permission denied\n",
    });
    expect(read()).toBe('{"tenants": []}');
  });

  test("loses nothing when many commands change it at once", async () => {
    const names = ["one", "two", "three", "four", "five", "six"];
    for (const name of names) makeFolder(name, "a.md");
    await add("docs", "--codename", "going");
    const runs = await Promise.all([
      ...names.map((name) => run("add", name, "--yes")),
      run("remove", "going"),
    ]);
    expect(runs.map(({ exitCode }) => exitCode)).toEqual(runs.map(() => 0));
    expect(
      tenantsOf()
        .map(({ codename }) => codename)
        .sort(),
    ).toEqual([...names].sort());
  });

  test(`is the old or the new one when the command is killed at ${KILLS} moments, and the next is not kept waiting`, async () => {
    await add("docs", "--codename", "first");
    const before = read();
    makeFolder("more", "a.md");
    const startedAt = performance.now();
    await add("more");
    const wholeMs = performance.now() - startedAt;
    const after = read();
    for (let kill = 0; kill < KILLS; kill++) {
      writeFileSync(file(), before);
      const child = Bun.spawn([BINARY, "tenants", "add", "more", "--yes"], {
        cwd: root,
        env: cleanEnvironment(environment()),
        stdio: ["ignore", "ignore", "ignore"],
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), (wholeMs * (kill + 0.5)) / KILLS);
      await child.exited;
      clearTimeout(timer);
      expect([before, after]).toContain(read());
      writeFileSync(file(), before);
      await add("more");
      expect(read()).toBe(after);
    }
  });
});
