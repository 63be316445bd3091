import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { runShell } from "../support/binary.ts";
import { serveRecordingSite } from "../support/recording-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

// A shell makes the words: a string of this program cannot hold them.
const NAME = "caf\\351";
const OTHER = "caf\\350";

const names = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { encoding: "buffer" })).map((name) => name.toString("latin1")).sort();

test.skipIf(process.platform !== "linux")(
  "names of files that are no UTF-8 are read and written byte for byte",
  async () => {
    await using site = serveRecordingSite();
    using directory = temporaryDirectory();
    const run = (script: string) =>
      runShell(`set -e; name=$(printf '${NAME}'); other=$(printf '${OTHER}'); ${script}`, {
        cwd: directory.path,
      });

    const file = await run(
      `printf '<p>first word</p>' > "$name"; printf '<p>second</p>' > "$other"
     article-extractor -q --output text --file "$name"; article-extractor -q --output text --file="$other"`,
    );
    expect(file).toEqual({ exitCode: 0, stdout: "first word\nsecond\n", stderr: "" });

    const list = await run(
      `rm "$name" "$other"; echo ${site.origin}/a > "$name"
     article-extractor -q --output text --input-file "$name" -o "$other"
     article-extractor -q --output text --input-file "$name" -o"$other"; rm "$name"; cat "$other" | wc -l`,
    );
    expect([list.exitCode, list.stderr, Number(list.stdout) > 0]).toEqual([0, "", true]);
    expect(await names(directory.path)).toEqual(["caf\xe8"]);

    const crawl = await run(
      `for again in 1 2; do article-extractor crawl ${site.origin}/a --output-dir "$name/d$other" --max-depth 0 --rate-limit 0; done
     mv "$name/d$other" plain; rmdir "$name"; rm "$other"`,
    );
    expect([crawl.exitCode, crawl.stdout]).toEqual([0, ""]);
    expect(crawl.stderr).toMatch(/every page and its outcome: caf\ufffd\/dcaf\ufffd\/manifest\.json\n/);
    expect(await names(directory.path)).toEqual(["plain"]);
    expect(await names(`${directory.path}/plain`)).toContain("manifest.json");
    const manifest = JSON.parse(readFileSync(`${directory.path}/plain/manifest.json`, "utf8"));
    expect([manifest.total_pages, manifest.config.output_dir]).toEqual([1, "caf\udce9/dcaf\udce8"]);

    const inside = await run(
      `mkdir "$name"; cd "$name"; printf '<p>word</p>' > p.html
     for again in 1 2; do article-extractor -q --output text --file p.html -o out.txt; done; cat out.txt`,
    );
    expect(inside).toEqual({ exitCode: 0, stdout: "word\n", stderr: "" });
  },
);

test.skipIf(process.platform !== "linux")("other words that are no UTF-8 are refused by name", async () => {
  for (const [script, what] of [
    [`article-extractor - --select "$(printf '${NAME}')"`, "the value of --select"],
    [`article-extractor doctor --env-file "$(printf '${NAME}')"`, "the value of --env-file"],
    [`article-extractor validate "$(printf '${NAME}')"`, "an argument"],
  ]) {
    const run = await runShell(script ?? "");
    expect(run).toEqual({ exitCode: 2, stdout: "", stderr: `error: ${what} is not UTF-8: "caf\ufffd"\n` });
  }
});

test("white space at the ends of a file's name is part of it", async () => {
  const run = await runShell(
    `printf '<p>word</p>' > ' a '; article-extractor -q --output text --file ' a ' -o 'b ' && cat 'b '`,
  );
  expect(run).toEqual({ exitCode: 0, stdout: "word\n", stderr: "" });
});
