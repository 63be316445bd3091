import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveRecordingSite } from "../../support/recording-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const site = forAllTests(serveRecordingSite());
const host = new URL(site.origin).hostname;
const line = (domain: string, name: string): string =>
  [domain, "FALSE", "/", "FALSE", "0", name, "yes"].join("\t");

test.each(["extract", "crawl"])(
  "%s sends the cookies of a file to their own host, and leaves the file alone",
  async (command) => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "cookies.txt");
    const text = `${line(host, "mine")}\n${line("other.test", "theirs")}\n`;
    await writeFile(file, text);
    const state = join(directory.path, "state.json");
    const more = command === "crawl" ? ["--max-pages", "1", "--output-dir", join(directory.path, "out")] : [];
    const before = site.seen.length;
    const words = [
      command,
      `${site.origin}/page`,
      "--cookies",
      file,
      "--storage-state",
      state,
      "--no-browser",
      ...more,
    ];
    const run = await runCommand(words, { env: { ARTICLE_EXTRACTOR_EGRESS: "open" } });
    expect([run.exitCode, run.stderr.includes("error")]).toEqual([0, false]);
    const cookies = site.seen.slice(before).map(({ headers }) => new Headers(headers).get("cookie"));
    expect(cookies).toContain("mine=yes");
    expect(cookies.join()).not.toContain("theirs");
    expect(await Bun.file(file).text()).toBe(text);
    expect(await Bun.file(state).exists()).toBe(false);
  },
);
