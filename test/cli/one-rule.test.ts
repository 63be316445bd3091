import { describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { html } from "../support/crawl-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const LINKS = `<ul>${["Weirs", "Sluices", "Gates"].map((name) => `<li><a href="/${name}">${name} of the river</a></li>`).join("")}</ul>`;
const TOC = `<div class="toc toctree-wrapper compound">${LINKS}</div>`;
const PAGES: Readonly<Record<string, string>> = {
  "/login": `<h1>Sign in</h1><form method="post"><input name="user"><input type="password" name="word"><button>Sign in</button></form>`,
  "/heading": "<main><h1>Weirs</h1></main>",
  "/chapter": `<main><h1>Weirs</h1>${TOC}</main>`,
};
const server = serveLocal((request) => {
  const { pathname } = new URL(request.url);
  const body = PAGES[pathname] ?? "<p>Water.</p>";
  return html(`<title>${/<h1>(.{1,50})<.h1>/.exec(body)?.[1] ?? "Water"}</title><body>${body}</body>`);
});
forAllTests({ [Symbol.asyncDispose]: () => server.stop(true) });

type Ends = Readonly<Record<string, string>>;
type Entry = { readonly url: string; readonly success?: boolean; readonly status?: string };

/** What becomes of each page: `success`, or the code of its failure. */
const endsOf = (entries: readonly (Entry & { readonly error?: { readonly code: string } | null })[]): Ends =>
  Object.fromEntries(entries.map(({ url, error }) => [new URL(url).pathname, error?.code ?? "success"]));

describe("what is an article", () => {
  const urls = Object.keys(PAGES).map((path) => new URL(path, server.url).href);
  const expected = {
    "/login": "no_content",
    "/heading": "no_content",
    "/chapter": "success",
  };

  test("is one for a list", async () => {
    const run = await runCommand([...urls, "--no-browser"]);
    const lines = run.stdout.trimEnd().split("\n");
    expect(endsOf(lines.map((line) => JSON.parse(line)))).toEqual(expected);
  });

  test("and the same for a crawl", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "list.txt"), urls.join("\n"));
    const words = "crawl --sitemap list.txt --no-follow-links --rate-limit 0 --no-browser --output-dir out";
    await runCommand(words.split(" "), { cwd: directory.path });
    const manifest = JSON.parse(await readFile(join(directory.path, "out/manifest.json"), "utf8"));
    expect(endsOf(manifest.results)).toEqual(expected);
  });
});
