import { expect, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DocsSite, htmlPage, proseOf } from "../support/docs-site.ts";
import { serveGit } from "../support/git-server.ts";
import { KILLS } from "../support/kills.ts";
import { Served } from "../support/served.ts";
import {
  gitTenant,
  SYNC_ENVIRONMENT,
  startSync,
  webTenant,
  writeSyncDeployment,
} from "../support/sync-run.ts";
import { until } from "../support/until.ts";

const PAGES = 50;

const textOf = (index: number, edition: number): string =>
  `${proseOf(`${index}`, 60)} printed as edition${edition}.`;

test(
  "a sync or an index build that is killed at any moment leaves whole documents to search",
  async () => {
    await using site = new DocsSite();
    await using server = await serveGit();
    const repository = await server.create("killed");
    const publish = async (edition: number): Promise<void> => {
      const files: Record<string, string> = {};
      for (let index = 0; index < PAGES; index++) {
        const title = `Leaflet ${index} edition${edition}`;
        files[`docs/p${index}.md`] = `# ${title}\n\n${textOf(index, edition)}`;
        site.pages.set(`/docs/p${index}`, { body: htmlPage(title, textOf(index, edition)) });
      }
      await repository.commit(files);
      for (const [name, text] of Object.entries(files)) await Bun.write(join(root, name), text);
    };
    const root = await writeSyncDeployment({
      infrastructure: { allow_index_builds: false },
      tenants: [
        gitTenant(`${server.origin}/killed.git`),
        webTenant(site.sitemap),
        { source_type: "filesystem", codename: "folder", docs_name: "Folder", docs_root_dir: "docs" },
      ],
    });
    await mkdir(join(root, "docs"));
    await publish(0);
    expect((await startSync(root, ["--all"]).done).exitCode).toBe(0);
    const startedAt = performance.now();
    await publish(1);
    expect((await startSync(root, ["--all"]).done).exitCode).toBe(0);
    const wholeMs = performance.now() - startedAt;

    await using served = await Served.start(root, { env: SYNC_ENVIRONMENT });
    /** Editions of the documents that a search finds, every one of which must be of one edition throughout. */
    const editionsOf = async (tenant: string): Promise<string[]> => {
      const answer = await served.call("root_search", {
        tenant_codename: tenant,
        query: "leaflet printed",
        size: 100,
      });
      expect(answer.error).toBeNull();
      expect(answer.results).toHaveLength(PAGES);
      return answer.results.map(({ title, snippet }) => {
        const edition = /edition\d+/.exec(title)?.[0] ?? "none";
        for (const word of snippet.match(/edition\d+/g) ?? []) expect(word).toBe(edition);
        return edition;
      });
    };
    for (let kill = 0; kill < KILLS; kill++) {
      await publish(kill + 2);
      const { child, done } = startSync(root, ["--all"]);
      await Bun.sleep(Math.random() * wholeMs);
      child.kill("SIGKILL");
      await done;
      // A repository is of one commit, a folder of when its index was built; a site may change while it is crawled.
      for (const tenant of ["handbook", "folder"]) expect(new Set(await editionsOf(tenant)).size).toBe(1);
      await editionsOf("manual");
    }
    // The first one goes on with a crawl that was cut off, which may have begun editions ago.
    for (let round = 0; round < 2; round++) {
      const { exitCode, stderr } = await startSync(root, ["--all"]).done;
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    }
    for (const tenant of ["handbook", "manual", "folder"]) {
      const isLast = (editions: string[]): boolean =>
        editions.every((edition) => edition === `edition${KILLS + 1}`);
      expect(isLast(await until(() => editionsOf(tenant), isLast))).toBe(true);
    }
    await rm(root, { recursive: true });
  },
  20_000 * KILLS,
);
