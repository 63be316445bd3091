import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { DocsSite } from "../support/docs-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { startSync, webTenant, writeSyncDeployment } from "../support/sync-run.ts";

const site = forAllTests(new DocsSite());
site.fill(4);
const root = await writeSyncDeployment({ tenants: [webTenant(site.sitemap)] });
const sync = () => startSync(root, ["manual"]).done;
expect(await sync()).toMatchObject({ exitCode: 0 });

const state = join(root, "manual/.article-extractor");
const files = readdirSync(state, { recursive: true, withFileTypes: true }).flatMap((entry) =>
  entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
);
const whole = new Map(files.map((path) => [path, readFileSync(path)]));

const DAMAGES: Readonly<Record<string, (content: Buffer) => Buffer>> = {
  cut: (content) => content.subarray(0, Math.floor(content.length / 3)),
  zeros: (content) => Buffer.alloc(content.length),
  garbage: (content) => Buffer.alloc(content.length, "mill"),
  empty: () => Buffer.alloc(0),
};

test("a tenant's state has the files that are damaged below", () => {
  const names = files.map((path) => path.slice(state.length + 1)).sort();
  expect(names).toEqual(expect.arrayContaining(["crawl/frontier.sqlite", "search.index", "website.json"]));
});

for (const path of files)
  test.each(Object.entries(DAMAGES))(`${path.slice(state.length + 1)}: %s`, async (_, damage) => {
    rmSync(join(state, "crawl"), { recursive: true });
    mkdirSync(join(state, "crawl"));
    for (const [each, content] of whole) writeFileSync(each, content);
    writeFileSync(path, damage(readFileSync(path)));
    const { exitCode, stdout } = await sync();
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^manual: 4 documents; .* 0 removed, 0 failed/),
    ]);
    const searched = Bun.spawn([BINARY, "search", "manual", "Page 2"], {
      cwd: root,
      env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state") }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(await new Response(searched.stdout).text()).toContain("/docs/p2");
  });
