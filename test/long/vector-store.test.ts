import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { documentedBlocks } from "../support/documented.ts";
import { outputOf } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");
const PYTHON = join(ROOT, "build/mcp-clients/venv-lancedb/bin/python");
const hasPip =
  Bun.which("python3") !== null && Bun.spawnSync(["python3", "-c", "import venv, ensurepip"]).exitCode === 0;

const SENTENCE = "Boats wait here for the tide, and the keeper writes down each of them. ";
/** A page of two sections, whose chunks change apart from each other. */
const page = (name: string, second: string): string =>
  `<html><head><title>${name}</title></head><body><nav><a href="/">Home</a><a href="/sill">Sill</a></nav><main>
  <h1>${name}</h1><p>About the ${name}. ${SENTENCE.repeat(5)}</p><h2 id="more">More</h2><p>${second}</p></main></body></html>`;

describe.skipIf(!hasPip)("the vector store of docs/how-to/rag.md", () => {
  test("takes the chunks of a crawl, answers, and takes only what has changed from the next crawl", async () => {
    const install = Bun.spawn(["sh", join(ROOT, "scripts/mcp-clients.sh"), "lancedb"], {
      stdout: "pipe",
      stderr: "pipe",
    });
    expect([await install.exited, (await outputOf(install)).stderr]).toEqual([0, expect.any(String)]);
    const program = (await documentedBlocks("docs/how-to/rag.md")).find(({ text }) =>
      text.includes("lancedb"),
    );
    let more = `Leave wide margins below the sill. ${SENTENCE.repeat(5)}`;
    await using site = Bun.serve({
      port: 0,
      fetch: ({ url }) =>
        new Response(
          new URL(url).pathname === "/sill" ? page("Sill", more) : page("Quay", SENTENCE.repeat(6)),
          {
            headers: { "content-type": "text/html" },
          },
        ),
    });
    using directory = temporaryDirectory();
    const load = async (): Promise<string> => {
      const crawl = await runBinary(["crawl", String(site.url), "--jsonl", "--chunks", "--quiet"]);
      expect(crawl.exitCode).toBe(0);
      await Bun.write(join(directory.path, "chunks.jsonl"), crawl.stdout);
      const child = Bun.spawn([PYTHON, "-c", program?.text ?? ""], {
        cwd: directory.path,
        stdout: "pipe",
        stderr: "pipe",
      });
      const { stdout, stderr } = await outputOf(child);
      expect([await child.exited, stderr]).toEqual([0, expect.any(String)]);
      return stdout;
    };
    const first = await load();
    const [, all = "0"] = /^(\d+) new, 0 gone, \1 in all\n/.exec(first) ?? [];
    expect(Number(all)).toBeGreaterThanOrEqual(4);
    expect(first.split("\n")[1]).toBe(`${site.url}sill#more`);
    expect(await load()).toStartWith(`0 new, 0 gone, ${all} in all\n`);
    more = `Nothing stands here now. ${SENTENCE.repeat(5)}`;
    expect(await load()).toStartWith(`1 new, 1 gone, ${all} in all\n`);
  }, 300_000);
});
