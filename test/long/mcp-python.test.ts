import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { BINARY } from "../support/binary.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { outputOf } from "../support/local.ts";
import { type McpSite, startMcpSite } from "../support/mcp-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const SCRIPT = join(import.meta.dir, "../../scripts/mcp-python.sh");
const hasPip =
  Bun.which("python3") !== null && Bun.spawnSync(["python3", "-c", "import venv, ensurepip"]).exitCode === 0;

describe.skipIf(!hasPip)("the official client for Python", () => {
  let site: McpSite;
  beforeAll(() => {
    site = startMcpSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** Reads a page through a server: its address, or `--` and the words that start it. */
  async function read(...server: string[]): Promise<unknown> {
    using place = temporaryDirectory();
    const child = Bun.spawn(["sh", SCRIPT, `${site.origin}/short`, ...server], {
      cwd: place.path,
      stdout: "pipe",
      stderr: "pipe",
    });
    const { stdout: out, stderr: err } = await outputOf(child);
    expect([await child.exited, err]).toEqual([0, expect.any(String)]);
    return JSON.parse(out);
  }

  const answer = {
    tools: ["fetch_url", "crawl_site", "crawl_status"],
    result: expect.objectContaining({ title: "Hello", markdown: "# Hello\n\nWord.", error: null }),
  };

  test("reads a page over stdio", async () => {
    expect(await read("--", BINARY, "mcp")).toEqual(answer);
  }, 300_000);

  test("reads a page over HTTP", async () => {
    await using server = await startExtractor();
    expect(await read(`${server.url}/mcp`)).toEqual(answer);
  }, 300_000);
});
