import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until, untilTrue } from "../support/until.ts";

const TWO = { uvicorn_workers: 2, log_level: "info" };

/** State and parent of a process, null when there is none (proc(5), "/proc/pid/stat"). */
function statOf(pid: number | string): { readonly state: string; readonly parent: number } | null {
  try {
    const [state = "", parent = ""] =
      readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

const isAlive = (pid: number | string): boolean => !["Z", undefined].includes(statOf(pid)?.state);

/** The living processes that the supervisor started. */
const copiesOf = ({ child }: Served): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isAlive(name) && statOf(name)?.parent === child.pid)
    .map(Number);

const aliveAccordingToHealth = async ({ url }: Served): Promise<number> => {
  const response = await fetch(`${url}/health`, { headers: { connection: "close" } });
  return ((await response.json()) as { infrastructure: { processes: { alive: number } } }).infrastructure
    .processes.alive;
};
const leadersIn = (said: string): number => said.split("this process builds and syncs").length - 1;

// What processes there are is read from /proc.
describe.if(process.platform === "linux")("two processes on one port", () => {
  test("answer on when one is killed, and are two again", async () => {
    await using served = await Served.start(writeDeployment(TWO));
    await untilTrue(async () => (await served.search("no_proxy")).error === null);
    const [first = 0, ...others] = copiesOf(served);
    expect(others).toHaveLength(1);
    process.kill(first, "SIGKILL");
    // As a zombie it may have threads left, and with them its sockets.
    await untilTrue(() => statOf(first) === null);
    for (let request = 0; request < 50; request++) expect((await served.search("no_proxy")).error).toBeNull();
    expect(
      await until(
        () => copiesOf(served).length,
        (count) => count === 2,
      ),
    ).toBe(2);
    expect(
      await until(
        () => aliveAccordingToHealth(served),
        (count) => count === 2,
      ),
    ).toBe(2);
    expect(served.said).toContain("process died");
    expect(copiesOf(served)).not.toContain(first);
  });

  test("have one builder, and another one when it is killed", async () => {
    const root = writeDeployment(TWO);
    await using served = await Served.start(root);
    await untilTrue(async () => (await served.search("no_proxy")).error === null);
    expect(leadersIn(served.said)).toBe(1);
    // The builder has said so with its own number; killing both in turn gets it, and the last one has taken over.
    for (const pid of copiesOf(served)) process.kill(pid, "SIGKILL");
    await untilTrue(() => leadersIn(served.said) === 2);
    expect(leadersIn(served.said)).toBe(2);
    writeFileSync(join(root, "docs/retries.md"), "# Retries\n\nBack-off doubles.\n");
    const found = await until(
      () => served.search("doubles").catch(() => null),
      (answer) => answer?.results.length === 1,
    );
    expect(found?.results).toMatchObject([{ url: "docs://tool/retries.md" }]);
  });

  test("count together", async () => {
    await using served = await Served.start(writeDeployment(TWO));
    for (let request = 0; request < 40; request++) await served.call("list_tenants", {});
    const counted = async (): Promise<string | undefined> => {
      const text = await (await fetch(`${served.url}/metrics`, { headers: { connection: "close" } })).text();
      return /mcp_calls_total\{tool="list_tenants",outcome="success"\} (\d+)/.exec(text)?.[1];
    };
    expect(await until(counted, (count) => count === "40")).toBe("40");
  });

  test("take a sync that either of them was asked for", async () => {
    await using served = await Served.start(writeDeployment(TWO));
    const status = async (): Promise<{ last_started_at: string | null; state: string }> =>
      (await fetch(`${served.url}/tool/sync/status`, { headers: { connection: "close" } })).json() as never;
    let last = await until(
      status,
      ({ last_started_at, state }) => last_started_at !== null && state === "idle",
    );
    for (let request = 0; request < 4; request++) {
      const before = last.last_started_at;
      const { status: code } = await fetch(`${served.url}/tool/sync/trigger`, {
        method: "POST",
        headers: { connection: "close" },
      });
      expect(code).toBe(202);
      last = await until(status, (now) => now.last_started_at !== before && now.state === "idle");
      expect(last.last_started_at).not.toBe(before);
    }
  });

  test.each(["SIGTERM", "SIGINT"] as const)("end together on %s, with exit code 0", async (signal) => {
    await using served = await Served.start(writeDeployment(TWO));
    const copies = copiesOf(served);
    served.child.kill(signal);
    expect(await served.child.exited).toBe(0);
    expect(copies.filter(isAlive)).toEqual([]);
  });

  test("do not outlive the one that started them", async () => {
    await using served = await Served.start(writeDeployment(TWO));
    const copies = copiesOf(served);
    expect(copies).toHaveLength(2);
    served.child.kill("SIGKILL");
    expect(
      await until(
        () => copies.filter(isAlive),
        (left) => left.length === 0,
      ),
    ).toEqual([]);
  });
});

describe("several processes are refused", () => {
  test("on a port that is taken, by processes that share theirs too", async () => {
    await using served = await Served.start(writeDeployment(TWO));
    const words = ["serve", "search", "--port", new URL(served.url).port];
    for (const root of [writeDeployment(TWO), writeDeployment()]) {
      const { exitCode, stderr } = await runBinary(words, { cwd: root });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
      expect(stderr).toContain("the port is in use");
    }
  });

  test("without a place for what they share", async () => {
    const root = writeDeployment({ uvicorn_workers: 2 });
    const { exitCode, stderr } = await runBinary(["serve", "search", "--port", "0"], {
      cwd: root,
      env: { DOCS_SEARCH_STATE_DIR: join(root, "deployment.json") },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("several processes need a state directory");
  });
});

test("two processes sync through the proxy of the environment", async () => {
  await using proxy = await startForwardProxy({ credentials: null, hosts: {} });
  const tenant = { source_type: "online", docs_root_dir: "docs", docs_entry_url: "http://docs.example/" };
  await using _ = await Served.start(writeDeployment(TWO, tenant), {
    env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, ARTICLE_EXTRACTOR_RETRIES: "0" },
  });
  const lines = await until(
    async () => (await proxy.requests()).map(({ line }) => line).join("\n"),
    (asked) => asked.includes("docs.example"),
  );
  expect(lines).toContain("docs.example");
});
