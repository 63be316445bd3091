import { expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until } from "../support/until.ts";

test("/health knows how many documents a tenant has before anybody has searched it", async () => {
  const root = writeDeployment(
    { allow_index_builds: false },
    {},
    { "retries.md": "# Retries\n\nThey double.\n" },
  );
  const state = join(root, "state");
  const index = () => runBinary(["index", "tool"], { cwd: root, env: { DOCS_SEARCH_STATE_DIR: state } });
  try {
    expect((await index()).exitCode).toBe(0);
    // What a server or an index worker has noted is not here: the index came from another machine.
    for (const name of readdirSync(state))
      if (!name.startsWith("tool@")) rmSync(join(state, name), { recursive: true });
    await using served = await Served.start(root);
    const count = async (): Promise<number | null> => {
      const health = (await (await fetch(`${served.url}/health`)).json()) as {
        tenants: { tool: { doc_count: number | null } };
      };
      return health.tenants.tool.doc_count;
    };
    expect(await count()).toBe(2);
    writeFileSync(join(root, "docs/limits.md"), "# Limits\n\nThere are none.\n");
    expect((await index()).exitCode).toBe(0);
    expect(await until(count, (documents) => documents === 3)).toBe(3);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
