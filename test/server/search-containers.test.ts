import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { canContain, IN_CONTAINER } from "../support/containers.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until } from "../support/until.ts";

const buildersIn = (servers: readonly Served[]): number =>
  servers.reduce((count, { said }) => count + said.split("this process builds and syncs").length - 1, 0);

const startIn = (root: string): Promise<Served> => Served.start(root, { within: IN_CONTAINER });

/** Writes a document, and waits until each of the servers finds it. */
async function expectFound(root: string, word: string, servers: readonly Served[]): Promise<void> {
  writeFileSync(join(root, `docs/${word}.md`), `# About ${word}\n\nIt is a ${word}.\n`);
  for (const server of servers) {
    const found = await until(
      () => server.search(word),
      ({ results }) => results.length === 1,
    );
    expect(found).toMatchObject({ error: null, results: [{ url: `docs://tool/${word}.md` }] });
  }
}

type SyncStatus = { readonly state: string; readonly last_started_at: string | null };

const statusOf = async ({ url }: Served): Promise<SyncStatus> =>
  (await fetch(`${url}/tool/sync/status`)).json() as Promise<SyncStatus>;

describe.skipIf(!canContain)(
  "two search servers in containers with one state directory, each with process 1 and one name",
  () => {
    test("both answer, one builds and syncs, and the other goes on with that when it is killed", async () => {
      const root = writeDeployment({ log_level: "info" });
      await using one = await startIn(root);
      const isBuilder = await until(
        () => buildersIn([one]),
        (count) => count === 1,
      );
      expect(isBuilder).toBe(1);
      await using two = await startIn(root);
      await expectFound(root, "ketch", [one, two]);

      const before = await statusOf(two);
      const { status } = await fetch(`${two.url}/tool/sync/trigger`, { method: "POST" });
      expect(status).toBe(202);
      for (const server of [one, two]) {
        const after = await until(
          () => statusOf(server),
          (now) => now.state === "idle" && now.last_started_at !== before.last_started_at,
        );
        expect(after.last_started_at).not.toBe(before.last_started_at);
      }
      expect(buildersIn([one, two])).toBe(1);

      one.child.kill("SIGKILL");
      await one.child.exited;
      await expectFound(root, "yawl", [two]);
      expect(buildersIn([two])).toBe(1);
    });
  },
);
