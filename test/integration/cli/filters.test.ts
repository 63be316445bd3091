import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { folderTenant as tenant } from "../../support/deployment.ts";
import { writeTree } from "../../support/search-server.ts";

test("a search filters by what HTML, front matter, paths and the deployment say", async () => {
  const html = (lang: string, date: string) =>
    `<html lang="${lang}"><head><title>Quay</title><meta property="article:published_time" content="${date}"></head><body><main><h1>Quay</h1><p>Le bateau est amarr\u00e9 au quai du port, et la mar\u00e9e monte lentement. Boat.</p></main></body></html>`;
  const root = writeTree({
    "old/quay.html": html("fr", "2024-02-29"),
    "old/front.md": "---\nlang: de\ndate: 2020-01-01\n---\n# Front\n\nBoat.\n",
    "old/ja/path.md": "# Path\n\nBoat.\n",
    "new/plain.md": "# Plain\n\nBoat.\n",
    "deployment.json": JSON.stringify({
      tenants: [
        tenant("old", { group: "sea", library: "boat", version: "1.5", allow_index_builds: true }),
        tenant("new", { group: "land", library: "boat", version: "2.0", allow_index_builds: true }),
      ],
    }),
  });
  try {
    expect((await runCommand(["index", "--all"], { cwd: root })).exitCode).toBe(0);
    const found = async (filter: string) => {
      const run = await runCommand(["search", "--all", "--json", "--filter", filter, "boat"], { cwd: root });
      return JSON.parse(run.stdout)
        .results.map(({ url }: { url: string }) => url.replace("docs://", ""))
        .toSorted();
    };
    expect(await found("language:fr")).toEqual(["old/quay.html"]);
    expect(await found("language:de,ja")).toEqual(["old/front.md", "old/ja/path.md"]);
    // A document without a version of its own has its tenant's.
    expect(await found("version:2")).toEqual(["new/plain.md"]);
    expect(await found("version:1.5 language:ja")).toEqual(["old/ja/path.md"]);
    expect(await found("group:land")).toEqual(["new/plain.md"]);
    expect(await found("group:land,sea path:*.md language:de")).toEqual(["old/front.md"]);
    // Several options are one filter.
    const twice = await runCommand(
      ["search", "--all", "--json", "--filter", "language:ja", "--filter", "version:1.5", "boat"],
      { cwd: root },
    );
    expect(JSON.parse(twice.stdout).results).toHaveLength(1);
    // The most frequent first, also of versions that are whole numbers.
    writeFileSync(join(root, "new/other.md"), "# Other\n\nBoat.\n");
    mkdirSync(join(root, "new/v7"));
    writeFileSync(join(root, "new/v7/seven.md"), "# Seven\n\nBoat.\n");
    expect((await runCommand(["index", "--all"], { cwd: root })).exitCode).toBe(0);
    const counted = await runCommand(["search", "--all", "--facets", "boat"], { cwd: root });
    expect(counted.stdout).toContain("  version: 1.5 3, 2.0 2, 7 1\n");
    const refused = await runCommand(["search", "--all", "--filter", "group:lake", "boat"], { cwd: root });
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      "error: filter: no document has group:lake; there are land, sea\n",
    ]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
