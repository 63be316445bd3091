import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { type CrawlSite, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { writeDocx, writeEpub, writeOdt, zipOf } from "../../support/office.ts";
import { writePdf } from "../../support/pdf.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const app = forAllTests(openTestApp());

const line = (text: string) => [{ text, x: 60, y: 700 }];
const PDF = writePdf([line("Gannets dive from thirty metres."), line("They eat mackerel.")], {
  info: { Title: "Gannets" },
});
/** What the site links to, with its type. */
const LINKED: Readonly<Record<string, readonly [body: Uint8Array, type: string]>> = {
  "/gannets.pdf": [PDF, "application/pdf"],
  "/download?id=7": [PDF.slice(), "application/octet-stream"],
  "/terns.docx": [
    writeDocx("<w:p><w:r><w:t>Terns fly far.</w:t></w:r></w:p>"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ],
  "/gulls.odt": [writeOdt("<text:p>Gulls stay.</text:p>"), "application/vnd.oasis.opendocument.text"],
  "/auks.epub": [writeEpub(["<p>Auks swim.</p>"]), "application/epub+zip"],
  "/damaged.pdf": [PDF.slice(0, 30), "application/pdf"],
  "/locked.pdf": [writePdf([line("Nobody reads this.")], { isEncrypted: true }), "application/pdf"],
  "/scanned.pdf": [writePdf([[]]), "application/pdf"],
  "/bomb.pdf": [writePdf([[]], { content: Buffer.alloc(100_000_000, " ") }), "application/pdf"],
  "/large.pdf": [Buffer.concat([PDF, Buffer.alloc(400_000)]), "application/pdf"],
  "/sheet.xlsx": [
    zipOf({ "[Content_Types].xml": "<Types/>", "xl/a.xml": "<a/>" }),
    "application/octet-stream",
  ],
  "/picture.png": [Buffer.from("\x89PNG"), "image/png"],
  "/private/secret.pdf": [PDF, "application/pdf"],
};

describe("a crawl that reads documents", () => {
  let site: CrawlSite;
  beforeAll(() => {
    const answers = Object.entries(LINKED).map(([path, [body, type]]) => [
      path,
      () => new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }),
    ]);
    site = serveCrawlSite({
      "/": page("Home", Object.keys(LINKED)),
      "/robots.txt": () => new Response("User-agent: *\nDisallow: /private/"),
      ...Object.fromEntries(answers),
    });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const outcomesOf = async (changes: Parameters<typeof crawlSite>[2]) => {
    const result = await crawlSite(app, site, changes, { network: { maxBytes: 300_000 } });
    return Object.keys(LINKED).map((path) => {
      const outcome = result.outcomeOf(path);
      return [path, outcome?.status, outcome?.error?.code ?? outcome?.reason ?? outcome?.title];
    });
  };

  test("stores those that pages link to, and says of the others why not", async () => {
    expect(await outcomesOf({ readsDocuments: true })).toEqual([
      ["/gannets.pdf", "success", "Gannets"],
      ["/download?id=7", "success", "Gannets"],
      ["/terns.docx", "success", "Of Terns"],
      ["/gulls.odt", "success", "Of Terns"],
      ["/auks.epub", "success", "Of Terns"],
      ["/damaged.pdf", "failed", "damaged_document"],
      ["/locked.pdf", "failed", "encrypted_document"],
      ["/scanned.pdf", "failed", "no_text_layer"],
      ["/bomb.pdf", "failed", "too_large"],
      ["/large.pdf", "failed", "too_large"],
      ["/sheet.xlsx", "skipped", "content_type"],
      ["/picture.png", "skipped", "content_type"],
      ["/private/secret.pdf", "skipped", "robots"],
    ]);
  });

  test("stays within its scope and its number of pages", async () => {
    const of = { readsDocuments: true, seeds: [`${site.origin}/`], excludeUrls: ["*.pdf"], maxPages: 3 };
    const stored = (await outcomesOf(of)).flatMap(([path, status]) => (status === "success" ? [path] : []));
    expect(stored).toEqual(["/download?id=7", "/terns.docx"]);
  });

  test("skips all of them unless it is asked to", async () => {
    const outcomes = await outcomesOf({});
    expect(outcomes.map(([, status]) => status)).toEqual(outcomes.map(() => "skipped"));
  });

  test("writes them like pages, as files and as lines", async () => {
    using directory = temporaryDirectory();
    const words = ["crawl", `${site.origin}/`, "--documents", "--rate-limit", "0", "--no-browser"];
    const url = `${site.origin}/gannets.pdf`;
    const { stdout } = await runCommand([...words, "--jsonl"]);
    const lines = stdout.trim().split("\n");
    const found = lines.map((text) => JSON.parse(text)).find((article) => article.url === url);
    expect(found).toMatchObject({ title: "Gannets", depth: 1, parent: `${site.origin}/` });
    await runCommand([...words, "--output-dir", directory.path]);
    const { results } = await Bun.file(join(directory.path, "manifest.json")).json();
    type Result = { readonly url: string; readonly file_path: string };
    const { file_path: file } = results.find((result: Result) => result.url === url);
    expect(file).toMatch(/__gannets\.pdf\.md$/);
    const text = await Bun.file(join(directory.path, file)).text();
    expect(text).toContain("# Gannets\n\nGannets dive from thirty metres.\n\nThey eat mackerel.");
    expect(text).toContain("page=2");
  });
});
