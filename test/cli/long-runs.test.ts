import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary } from "../support/binary.ts";
import { serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const VARIABLE = "BUN_JSC_thresholdForFTLOptimizeAfterWarmUp";
const NAME = "article-extract"; // as many letters as the system keeps
const LIST = ["--input-file", "-", "--output", "text", "--quiet"];
const PAGE = "<html lang=en><p>The mill stands by the weir.</p></html>";

let site: ReturnType<typeof serveLocal>;
let isOpen: PromiseWithResolvers<void>;
let visits = 0;

beforeAll(() => {
  requireBinary();
  site = serveLocal(async ({ url }) => {
    visits++;
    if (url.endsWith("/waits")) await isOpen.promise;
    return new Response(PAGE, { headers: { "content-type": "text/html" } });
  });
});
afterAll(() => site.stop(true));

const read = (pid: number, name: string): string => readFileSync(`/proc/${pid}/${name}`, "utf8");
const childrenOf = (pid: number): number[] =>
  read(pid, `task/${pid}/children`).split(" ").map(Number).filter(Boolean);
/** The program below what starts it. */
const programOf = (pid: number): number => childrenOf(pid).map(programOf)[0] ?? pid;
const valuesOf = (pid: number): string[] =>
  read(pid, "environ")
    .split("\0")
    .filter((entry) => entry.startsWith(`${VARIABLE}=`))
    .map((entry) => entry.slice(VARIABLE.length + 1));

type Started = {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What is looked at while the program waits for the page, with its pid and that of what was started. */
  readonly look?: (pid: number, started: number) => void;
};

/** Starts a list in a pipe, of which the second page is answered after a look at the program. */
async function runList({ command, env, look }: Started) {
  using directory = temporaryDirectory();
  isOpen = Promise.withResolvers();
  const before = visits;
  const run = Bun.spawn([...command], {
    cwd: directory.path,
    env: cleanEnvironment(env),
    stdio: ["pipe", "pipe", "pipe"],
  });
  try {
    run.stdin.write(`${site.url}first\n${site.url}waits\n`);
    await run.stdin.end();
    await untilTrue(() => visits - before >= 2 || run.exitCode !== null);
    const pid = programOf(run.pid);
    const values = valuesOf(pid);
    look?.(pid, run.pid);
    isOpen.resolve();
    const [stdout, stderr] = [await new Response(run.stdout).text(), await new Response(run.stderr).text()];
    return { values, exitCode: await run.exited, pages: stdout.split("The mill").length - 1, stderr };
  } finally {
    isOpen.resolve();
    run.kill("SIGKILL");
  }
}

const DONE = { exitCode: 0, pages: 2, stderr: "" };

const isRoot = process.getuid?.() === 0;

// Other systems are left as they are.
describe.skipIf(process.platform !== "linux")("a long run holds the runtime's last compiler back", () => {
  const WAYS: readonly (readonly [how: string, words: readonly string[], isPossible?: boolean])[] = [
    ["by itself", []],
    ["in a session of its own", ["setsid"]],
    ["with nohup", ["nohup"]],
    ["with a limit of time", ["timeout", "100"]],
    // Only root may make a namespace of processes everywhere.
    ["as first process of a container", ["unshare", "-p", "-f", "--kill-child", "--mount-proc"], isRoot],
  ];
  for (const [how, words, isPossible = true] of WAYS)
    test.skipIf(!isPossible)(`started ${how}`, async () => {
      expect(await runList({ command: [...words, BINARY, ...LIST] })).toEqual({
        ...DONE,
        values: ["1000000"],
      });
    });

  test("in the same process, with its name, words, directory, mask and ignored signals", async () => {
    const kept: unknown[] = [];
    const script = 'trap "" HUP; umask 027; echo $$ >&2; cd /; exec "$@"';
    const run = await runList({
      command: ["sh", "-c", script, "sh", BINARY, ...LIST, "--user-agent", 'a  "b" $c\n'],
      look: (pid, started) => {
        const status = read(pid, "status");
        kept.push(pid === started, read(pid, "comm").trim(), readlinkSync(`/proc/${pid}/cwd`));
        kept.push(read(pid, "cmdline").split("\0").slice(0, -1), /^Umask:\s*(\d+)/m.exec(status)?.[1]);
        kept.push(Number.parseInt(/^SigIgn:\s*\w+(\w)$/m.exec(status)?.[1] ?? "", 16) & 1);
      },
    });
    expect([run.values, run.exitCode]).toEqual([["1000000"], 0]);
    expect(kept).toEqual([true, NAME, "/", [BINARY, ...LIST, "--user-agent", 'a  "b" $c\n'], "0027", 1]);
  });

  test("with all variables that it had, those of a service manager among them", async () => {
    const env = { NOTIFY_SOCKET: "/run/notify", EMPTY: "", "with.dot": 'a "b"\n=c' };
    let entries: string[] = [];
    await runList({
      command: [BINARY, ...LIST],
      env,
      look: (pid) => {
        entries = read(pid, "environ").split("\0").slice(0, -1).sort();
      },
    });
    const had = Object.entries(cleanEnvironment(env)).map(([name, value]) => `${name}=${value}`);
    expect(entries).toEqual([...had, `${VARIABLE}=1000000`].sort());
  });

  test("not against the operator's own value", async () => {
    const run = await runList({ command: [BINARY, ...LIST], env: { [VARIABLE]: "5000" } });
    expect(run).toEqual({ ...DONE, values: ["5000"] });
  });

  test("not where a link gives the program another name, which it would lose", async () => {
    using directory = temporaryDirectory();
    const link = join(directory.path, "pages");
    symlinkSync(BINARY, link);
    let name = "";
    const run = await runList({
      command: [link, ...LIST],
      look: (pid) => {
        name = read(pid, "comm").trim();
      },
    });
    expect([run, name]).toEqual([{ ...DONE, values: [] }, "pages"]);
  });

  test("not where it would close a file of its parent, whose lock it holds", async () => {
    using directory = temporaryDirectory();
    const lock = join(directory.path, "lock");
    let isFree = true;
    const run = await runList({
      command: ["flock", "--no-fork", lock, BINARY, ...LIST],
      look: () => {
        isFree = Bun.spawnSync(["flock", "--nonblock", lock, "true"]).exitCode === 0;
      },
    });
    expect([run, isFree]).toEqual([{ ...DONE, values: [] }, false]);
  });

  test.skipIf(Bun.which("strace") === null)("not where the system refuses, without a word", async () => {
    const refused = "inject=execve:error=EPERM"; // after the start of the program
    const run = await runList({
      command: ["strace", "-f", "-o", "/dev/null", "-e", refused, BINARY, ...LIST],
    });
    expect(run).toEqual({ ...DONE, values: [] });
  });

  test("and so do the processes of a server, from their start", async () => {
    using directory = temporaryDirectory();
    const server = Bun.spawn([BINARY, "serve", "extractor", "--host", "127.0.0.1", "--port", "0"], {
      cwd: directory.path,
      env: cleanEnvironment({ WEB_CONCURRENCY: "2", ARTICLE_EXTRACTOR_STATE_DIR: directory.path }),
      stdio: ["ignore", "ignore", "ignore"],
    });
    try {
      const values = (): string[][] => [server.pid, ...childrenOf(server.pid)].map(valuesOf);
      // The system shows no environment of a process while it begins the program.
      await untilTrue(() => values().length === 3 && values().every((found) => found.length > 0));
      expect(values()).toEqual([["1000000"], ["1000000"], ["1000000"]]);
    } finally {
      server.kill();
      await server.exited;
    }
  });

  test("which no browser sees", async () => {
    using directory = temporaryDirectory();
    const browser = join(directory.path, "chromium");
    writeFileSync(browser, `#!/bin/sh\nenv > '${directory.path}/seen'\nexit 1\n`);
    chmodSync(browser, 0o755);
    const env = { ARTICLE_EXTRACTOR_BROWSER_PATH: browser, TMPDIR: directory.path };
    await runList({ command: [BINARY, ...LIST, "--prefer-browser"], env, look: () => isOpen.resolve() });
    const seen = readFileSync(join(directory.path, "seen"), "utf8");
    expect(seen).toContain("TMPDIR=");
    expect(seen).not.toContain("BUN_JSC");
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const)
    test(`and is ended by a ${signal} at any moment of its start`, async () => {
      for (let waitedMs = 0; waitedMs < 60; waitedMs += 3) {
        const run = Bun.spawn([BINARY, ...LIST], {
          env: cleanEnvironment(),
          stdin: "pipe",
          stderr: "ignore",
        });
        await Bun.sleep(waitedMs);
        run.kill(signal);
        await run.exited; // nobody closes its input
        expect([130, null]).toContain(run.exitCode);
      }
    });
});
