import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { runCommand } from "../../support/command.ts";
import { writePdf } from "../../support/pdf.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const WORDS = "A PDF with a sentence about gannets, which dive.";
const PDF = writePdf([[{ text: WORDS, x: 60, y: 700 }]], { info: { Title: "Gannets" } });

describe("a document that is a file is read", () => {
  let site: Bun.Server<undefined>;
  beforeAll(() => {
    site = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => {
        const type = new URL(url).searchParams.get("type");
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
});
