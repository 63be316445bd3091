import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { runCommand } from "../../support/command.ts";
import { writePdf } from "../../support/pdf.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const WORDS = "A PDF with a sentence about gannets, which dive.";
const PDF = writePdf([[{ text: WORDS, x: 60, y: 700 }]], { info: { Title: "Gannets" } });

const START = `<!doctype html><title>Start</title><article><h1>Start</h1><p>${"A page that links to a PDF. ".repeat(9)}
  <a href="/linked.pdf?type=application/pdf">gannets</a></p></article>`;

describe("a document that is a file is read", () => {
  let site: Bun.Server<undefined>;
  beforeAll(() => {
    site = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => {
        const { pathname, searchParams } = new URL(url);
        const type = searchParams.get("type");
        if (pathname === "/start") return new Response(START, { headers: { "content-type": "text/html" } });
        return new Response(PDF, { headers: type === null ? {} : { "content-type": type } });
      },
    });
  });
  afterAll(() => site.stop(true));
  const read = (...words: string[]) => runCommand([...words, "--output", "markdown"], { stdin: PDF });

  test("from a path", async () => {
    using directory = temporaryDirectory();
    await Bun.write(`${directory.path}/gannets.pdf`, PDF);
    const { exitCode, stdout } = await read("--file", `${directory.path}/gannets.pdf`);
    expect([exitCode, stdout]).toEqual([0, `# Gannets\n\n${WORDS}\n`]);
  });

  test("from a path, whose name is the title of one without any", async () => {
    using directory = temporaryDirectory();
    const path = `${directory.path}/sea_birds.pdf`;
    await Bun.write(path, writePdf([[{ text: WORDS, x: 60, y: 700 }]]));
    expect((await read("--file", path)).stdout).toBe(`# sea birds\n\n${WORDS}\n`);
  });

  test("from standard input", async () => {
    expect((await read("--file", "-")).stdout).toBe(`# Gannets\n\n${WORDS}\n`);
  });

  test.each(["application/pdf", "application/octet-stream", "text/html", ""])(
    "from an address, as type %p",
    async (type) => {
      const { exitCode, stdout } = await read(
        `${site.url}gannets?type=${encodeURIComponent(type)}`,
        "--prefer-http",
      );
      expect([exitCode, stdout]).toEqual([0, `# Gannets\n\n${WORDS}\n`]);
    },
  );

  test("and a failure names it", async () => {
    const damaged = await runCommand(["--file", "-"], { stdin: PDF.slice(0, 20) });
    expect([damaged.exitCode, damaged.stderr.split(": ", 3)]).toEqual([
      1,
      ["error", "standard input", "the PDF is damaged"],
    ]);
  });

  test("as a seed of a crawl, while a linked one is skipped", async () => {
    using directory = temporaryDirectory();
    const out = `${directory.path}/pages`;
    const words = ["crawl", `${site.url}start`, "--seed", `${site.url}named.pdf?type=application/pdf`];
    await runCommand([...words, "--output-dir", out, "--no-browser", "--rate-limit", "0"]);
    const { results } = await Bun.file(`${out}/manifest.json`).json();
    type Result = { readonly title: string | null; readonly status: string; readonly reason: string | null };
    expect(results.map(({ title, status, reason }: Result) => [title, status, reason])).toEqual([
      ["Start", "success", null],
      ["Gannets", "success", null],
      [null, "skipped", "content_type"],
    ]);
  });
});
