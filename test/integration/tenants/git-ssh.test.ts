import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFile, chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forAllTests } from "../../support/for-all-tests.ts";
import { documentsOf, type GitTenantOptions, gitTenantSource, runSync } from "../../support/git-tenant.ts";
import { serveSsh } from "../../support/ssh-server.ts";
import { untilTrue } from "../../support/until.ts";

let rootDir: string;
let knownHostsFile: string;

const server = forAllTests(await serveSsh());
// ssh and its options must get through names with blanks, quotes and percent signs.
const key = await server.makeKey("deploy key 100%h", { isTaken: true });
const repository = await server.create("hand book");
beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), "git-ssh-"));
  knownHostsFile = join(rootDir, "known hosts' %h");
  await writeFile(knownHostsFile, server.knownHost);
  await repository.commit({ "docs/a.md": "# A", "docs/b.md": "# B", "docs/film.mp4": "x" });
});
afterEach(async () => {
  await rm(rootDir, { recursive: true, force: true });
});

const openSource = ({ tenant, ...options }: Partial<GitTenantOptions> = {}) =>
  gitTenantSource({
    rootDir: join(rootDir, "docs"),
    url: server.url("hand%20book"),
    knownHostsFile,
    tenant: { sshKeyFile: key, ...tenant },
    ...options,
  });

describe("a repository over ssh", () => {
  test("is synced with a deploy key, and then only as far as it has changed", async () => {
    const { source, logText } = openSource();
    expect(await runSync(source)).toMatchObject({ fetched: 2, unchanged: 0 });
    expect([...(await documentsOf(source)).values()].map(({ title }) => title)).toEqual(["A", "B"]);
    expect(await runSync(source)).toMatchObject({ fetched: 0, unchanged: 2 });
    await repository.commit({ "docs/a.md": "# A", "docs/b.md": "# Changed", "docs/c.md": "# C" });
    expect(await runSync(source)).toMatchObject({ fetched: 2, unchanged: 1 });
    expect(logText()).not.toContain(await Bun.file(key).text());
  });

  test("is not trusted before its host's key is known, and the message says how to add it", async () => {
    await writeFile(knownHostsFile, "");
    const failed = await runSync(openSource().source).catch((error: Error) => error.message);
    expect(failed).toContain(`the key of [127.0.0.1]:${server.port} is not in ${knownHostsFile}`);
    const command = /ssh-keyscan -p \d+ \S+/.exec(String(failed))?.[0] ?? "";
    await appendFile(knownHostsFile, await Bun.$`sh -c ${command}`.quiet().text());
    expect(await runSync(openSource().source)).toMatchObject({ fetched: 2 });
  });

  test("is refused when its host's key is another one than before", async () => {
    const other = (
      await Bun.file(`${await server.makeKey(`other-${Date.now()}`, { isTaken: false })}.pub`).text()
    ).split(" ");
    await writeFile(knownHostsFile, `[127.0.0.1]:${server.port} ${other[0]} ${other[1]}\n`);
    await expect(runSync(openSource().source)).rejects.toThrow(/is another one than .* has; if the host/);
  });

  test("says what is wrong with a key: not taken, open to others, missing", async () => {
    const strange = await server.makeKey(`strange-${Date.now()}`, { isTaken: false });
    const sync = (sshKeyFile: string): Promise<unknown> =>
      runSync(openSource({ tenant: { sshKeyFile } }).source);
    await expect(sync(strange)).rejects.toThrow("the host does not take the key in git_ssh_key_file");
    const open = await server.makeKey(`open-${Date.now()}`, { isTaken: true });
    await chmod(open, 0o644);
    await expect(sync(open)).rejects.toThrow("others may read git_ssh_key_file");
    await expect(sync(join(rootDir, "none"))).rejects.toThrow(/git_ssh_key_file: .*none cannot be read/);
  });

  test("uses no key of the user's agent", async () => {
    const agent = Bun.spawn(["ssh-agent", "-D", "-a", join(rootDir, "agent")], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    try {
      const environment = { SSH_AUTH_SOCK: join(rootDir, "agent") };
      const add = () =>
        Bun.$`ssh-add -q ${key}`
          .env({ ...process.env, ...environment })
          .nothrow()
          .quiet();
      await untilTrue(async () => (await add()).exitCode === 0);
      const strange = await server.makeKey(`strange-${Date.now()}`, { isTaken: false });
      const { source } = openSource({ environment, tenant: { sshKeyFile: strange } });
      await expect(runSync(source)).rejects.toThrow("the host does not take the key");
    } finally {
      agent.kill();
      await agent.exited;
    }
  });

  test("is reached through the egress policy only", async () => {
    const before = server.log();
    const { source } = openSource({ caller: { kind: "remote_request" } });
    await expect(runSync(source)).rejects.toMatchObject({ code: "egress_refused" });
    expect(server.log()).toBe(before);
  });
});

describe("a hostile address of a repository", () => {
  test.each([
    "ssh://-oProxyCommand=touch%20MARK/x",
    "ssh://-oProxyCommand=touch MARK/x",
    "ssh://git@-oProxyCommand=touch%20MARK/x",
    "ssh://git@%2doProxyCommand=touch%20MARK/x",
    "ssh://-oProxyCommand=touch%20MARK@127.0.0.1/x",
    "ssh://%2doProxyCommand=x@127.0.0.1/x",
    "ssh://git;touch MARK@127.0.0.1/x",
    "ssh://git@127.0.0.1`touch MARK`/x",
    "ssh://git@host$(touch MARK)/x",
    "ssh://git@127.0.0.1/-oProxyCommand=x",
    "ssh://git@127.0.0.1/?--upload-pack=touch%20MARK",
    "ssh://git@127.0.0.1/x#y",
    "ssh://git:secret@127.0.0.1/x",
    "ssh://127.0.0.1/x",
    "ssh://git@/x",
    "ssh:git@127.0.0.1",
    "git@127.0.0.1:x.git",
    "-oProxyCommand=touch MARK",
    "ext::sh -c touch% MARK",
    "git+ssh://git@127.0.0.1/x",
  ])("is refused before anything is started: %s", async (written) => {
    const mark = join(rootDir, "mark");
    const { source } = openSource({ url: written.replace("MARK", mark) });
    await expect(runSync(source)).rejects.toMatchObject({ code: "invalid_settings" });
    expect(await Bun.file(mark).exists()).toBe(false);
  });

  test("passes as a path that a shell would read otherwise", async () => {
    const mark = join(rootDir, "mark");
    const { source } = openSource({ url: `${server.url("none")}';touch ${mark};'` });
    await expect(runSync(source)).rejects.toMatchObject({ code: "network" });
    expect(await Bun.file(mark).exists()).toBe(false);
  });
});
