import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openTenants } from "../../../src/app/index.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { readDeployment } from "../../../src/settings/index.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { openTestTenantApp, testProgram } from "../../support/program.ts";
import { writeTree } from "../../support/search-server.ts";

const ANNOUNCED_WORKER = new URL("../../support/announced-worker.ts", import.meta.url);
const PROSE = "<p>The gate opens at low water, and the miller counts the barges.</p>".repeat(40);

test("documents in HTML and synced pages are extracted by the same workers", async () => {
  const started: unknown[] = [];
  const channel = new BroadcastChannel("extraction-workers");
  channel.onmessage = ({ data }) => started.push(data);
  await using site = serveNumberedSite({ pages: 3 });
  const root = writeTree({ "docs/gates.html": `<title>Gates</title><article>${PROSE}</article>` });
  const tenants = [
    { source_type: "filesystem", codename: "quay", docs_name: "Quay", docs_root_dir: "docs" },
    {
      source_type: "online",
      codename: "mill",
      docs_name: "Mill",
      docs_root_dir: "mill",
      docs_entry_url: `${site.origin}/`,
    },
  ];
  const deployment = {
    ...readDeployment(JSON.stringify({ infrastructure: { crawler_browser_first: false }, tenants }), {
      name: "d.json",
      directory: root,
    }),
    text: "",
    path: join(root, "d.json"),
  };
  {
    const program = testProgram(
      {
        DOCS_SEARCH_STATE_DIR: join(root, "state"),
        ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1",
        ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
      },
      ANNOUNCED_WORKER,
    );
    await using app = openTestTenantApp(program);
    await using open = openTenants(program, { deployment, app, log: silentLog });
    expect((await open.registry.build("quay")).documentCount).toBe(1);
    expect((await open.registry.sync("mill")).documentCount).toBeGreaterThan(0);
  }
  channel.close();
  expect(started).toEqual(["started"]);
  rmSync(root, { recursive: true });
});
