import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DocsSite } from "../support/docs-site.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveGit } from "../support/git-server.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { Served } from "../support/served.ts";
import { indexIn } from "../support/state-place.ts";
import { gitTenant, SYNC_ENVIRONMENT, webTenant, writeSyncDeployment } from "../support/sync-run.ts";
import { until } from "../support/until.ts";

const site = forAllTests(serveNumberedSite({ pages: 3 }));

/** Files below a directory that others than their user may reach and touch, with their modes. */
function openToOthers(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const stats = statSync(path);
    const isOpen = (stats.mode & 0o077) !== 0;
    if (stats.isDirectory()) return isOpen ? [`${path} is open`, ...openToOthers(path)] : openToOthers(path);
    // What a directory of our own shuts away may have any mode: git makes its files itself.
    return isOpen && (statSync(directory).mode & 0o077) !== 0 ? [`${path} ${stats.mode.toString(8)}`] : [];
  });
}

/** A directory that the operator has made, and lets everybody read. */
function givenDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "given-"));
  chmodSync(directory, 0o755);
  return directory;
}

test("what serve extractor keeps is for its user alone, in a directory that others may read", async () => {
  const given = givenDirectory();
  // As an earlier version has left it.
  writeFileSync(join(given, "state.sqlite"), "", { mode: 0o644 });
  await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_STATE_DIR: given } });
  const id = await submitJob(server, {
    output_dir: "out",
    seeds: [`${site.origin}/`],
    rate_limit_delay: 0.2,
  });
  await untilJob(server, id, ({ successful }) => successful > 0);
  // While all is open: the databases have their companions.
  const running = readdirSync(given);
  expect(running).toContain("state.sqlite-wal");
  expect(running).toContain("jobs.sqlite-shm");
  expect(openToOthers(given)).toEqual([]);
  for (const name of readdirSync(given).filter(
    (file) => file.includes(".sqlite") && !file.endsWith(".owners"),
  ))
    expect([name, statSync(join(given, name)).mode & 0o777]).toEqual([name, 0o600]);
  const memory = join(server.directory, "out/.article-extractor");
  expect(statSync(memory).mode & 0o777).toBe(0o700);
  // The manifest is written here, and then moved to where others may read it.
  for (const name of readdirSync(memory).filter((file) => file !== "manifest.json.tmp"))
    expect([name, statSync(join(memory, name)).mode & 0o777]).toEqual([name, 0o600]);
  await untilJob(server, id, isOver);
  // The pages are for whoever reads the directory.
  const page = readdirSync(join(server.directory, "out")).find((name) => name.endsWith(".md")) ?? "";
  expect(statSync(join(server.directory, "out", page)).mode & 0o777).toBe(0o666 & ~process.umask());
  rmSync(given, { recursive: true });
});

test("what serve search keeps is for its user alone, in a directory that others may read", async () => {
  await using docs = new DocsSite();
  docs.fill(2);
  await using git = await serveGit();
  const repository = await git.create("modes");
  await repository.commit({ "docs/a.md": "# A\n\nThe lantern stands on the quay.\n" });
  const given = givenDirectory();
  const root = await writeSyncDeployment({
    infrastructure: { allow_index_builds: true },
    tenants: [
      gitTenant(`${git.origin}/modes.git`),
      webTenant(docs.sitemap),
      { source_type: "filesystem", codename: "quay", docs_name: "Quay", docs_root_dir: "quay" },
    ],
  });
  mkdirSync(join(root, "quay"));
  writeFileSync(join(root, "quay/a.md"), "# A\n\nThe lantern.\n");
  {
    await using served = await Served.start(root, {
      env: { ...SYNC_ENVIRONMENT, DOCS_SEARCH_STATE_DIR: given },
    });
    for (const tenant of ["handbook", "manual", "quay"]) {
      const status = await until(
        () => fetch(`${served.url}/${tenant}/sync/status`).then((answer) => answer.json() as Promise<Status>),
        ({ index, state }) => index.doc_count !== null && state === "idle",
      );
      expect([tenant, status.index.doc_count]).not.toEqual([tenant, null]);
    }
    expect(readdirSync(given)).toContain("state.sqlite-wal");
    expect(openToOthers(given)).toEqual([]);
    expect(statSync(indexIn(given, "quay")).mode & 0o777).toBe(0o600);
  }
  const states = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("/.article-extractor"),
  );
  expect(states).toHaveLength(2);
  for (const path of states) {
    expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(join(root, path)).filter((file) =>
      // The manifest is a crawl's, as it stands beside the pages of one.
      /^(?!manifest).*\.(?:index|json)$/.test(file),
    ))
      expect([name, statSync(join(root, path, name)).mode & 0o777]).toEqual([name, 0o600]);
  }
  rmSync(given, { recursive: true });
  rmSync(root, { recursive: true });
});

type Status = { readonly state: string; readonly index: { readonly doc_count: number | null } };
