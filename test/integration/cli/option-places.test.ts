import { expect, test } from "bun:test";
import { join } from "node:path";
import { CRAWL_COMMAND, EXTRACT_COMMAND } from "../../../src/cli/commands.ts";
import { runCommand } from "../../support/command.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveRecordingSite } from "../../support/recording-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

// How words are read, test/unit/cli/option-places.test.ts tries over the whole table of options.

const site = forAllTests(serveRecordingSite());

/** Needs a browser, prints something else, or contradicts another one. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ..."help version prefer-browser no-browser headed wait-for scroll load-media frontmatter compact".split(
    " ",
  ),
  ..."follow-links discover-sitemaps dry-run jsonl verbose join".split(" "),
]);

const switchesOf = ({ flags }: typeof CRAWL_COMMAND): string[] =>
  flags.flatMap(({ name, placeholder }) =>
    placeholder === undefined && !LEFT_OUT.has(name) ? [`--${name}`] : [],
  );

/** The switches before, around and behind the arguments. */
const orders = (switches: readonly string[], args: readonly string[]): (readonly string[])[] => [
  [...switches, ...args],
  args.flatMap((arg, at) => [arg, ...(at === 0 ? switches : [])]),
  [...args, ...switches],
];

test("extract: switches before and behind the URL", async () => {
  const url = `${site.origin}/page`;
  const switches = switchesOf(EXTRACT_COMMAND);
  expect(switches).toContain("--prefer-http");
  const alone = switches.map((name) => runCommand([name, url, "--output", "text"]));
  const together = orders(switches, [url]).map((args) => runCommand([...args, "--output", "text"]));
  const runs = await Promise.all([...alone, ...together]);
  for (const run of runs) expect([run.exitCode, run.stdout]).toEqual([0, runs[0]?.stdout ?? ""]);
});

test("crawl: switches before, between and behind its URLs leave no page and no switch out", async () => {
  const urls = [`${site.origin}/a`, `${site.origin}/b`];
  const options = ["--output-dir", "out", "--rate-limit", "0", "--max-depth", "0"];
  const configs: unknown[] = [];
  for (const args of orders([...switchesOf(CRAWL_COMMAND), ...options], urls)) {
    using directory = temporaryDirectory();
    const before = site.seen.length;
    const run = await runCommand(["crawl", ...args], { cwd: directory.path });
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
    const asked = site.seen.slice(before).map(({ path }) => path);
    // Neither robots.txt, as --ignore-robots asks, nor one page of two.
    expect(asked.sort()).toEqual(["/a", "/b"]);
    const manifest = await Bun.file(join(directory.path, "out", "manifest.json")).json();
    expect(manifest.total_pages).toBe(2);
    configs.push({ ...manifest.config, output_dir: null });
    expect(configs.at(-1)).toEqual(configs[0]);
  }
});
