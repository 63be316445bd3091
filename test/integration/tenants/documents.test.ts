import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DocsSite } from "../../support/docs-site.ts";
import { serveGit } from "../../support/git-server.ts";
import { runSync } from "../../support/git-tenant.ts";
import { writeDocx, writeEpub, writeOdt } from "../../support/office.ts";
import { type PdfText, writePdf } from "../../support/pdf.ts";
import { folderTenant, openRegistry, type TestRegistry } from "../../support/search-server.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { openWebBench, titlesOf } from "../../support/web-bench.ts";

const line = (text: string, y = 700, size = 10): PdfText => ({ text, x: 60, y, size });
const PDF = writePdf(
  [
    [line("Gannets dive from thirty metres.")],
    [line("Where they nest", 700, 20), line("Gannets nest on cliffs.", 660)],
    [line("They come back."), line("What they eat", 600, 20), line("Gannets eat mackerel.", 560)],
  ],
  { info: { Title: "Gannets" }, outline: [{ title: "Where they nest", page: 2 }] },
);
/** Documents, and what is none although its name says so. */
const FILES: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> = {
  "birds.md": "# Birds\n\nAll about birds of the sea.\n",
  "gannets.pdf": PDF,
  "UPPER.PDF": writePdf([[line("Puffins dig.")], [line("Kittiwakes cry their name.")], [line("Skuas rob.")]]),
  "terns.docx": writeDocx(
    "<w:p><w:r><w:t>Terns fly to the antarctic.</w:t></w:r></w:p>",
  ) as Uint8Array<ArrayBuffer>,
  "gulls.odt": writeOdt("<text:p>Gulls steal chips.</text:p>") as Uint8Array<ArrayBuffer>,
  "auks.epub": writeEpub(["<h1>Auks</h1><p>Auks swim under water.</p>"]) as Uint8Array<ArrayBuffer>,
  "damaged.pdf": PDF.slice(0, 30),
  "locked.pdf": writePdf([[line("Nobody reads this.")]], { isEncrypted: true }),
  "scanned.pdf": writePdf([[]]),
  "bomb.pdf": writePdf([[]], { content: Buffer.alloc(100_000_000, " ") }),
  "text.docx": "This is no archive.",
};
const UNREAD = ["bomb.pdf", "damaged.pdf", "locked.pdf", "scanned.pdf", "text.docx"];

describe("documents that are files are found", () => {
  using place = temporaryDirectory();
  const site = new DocsSite();
  let git: Awaited<ReturnType<typeof serveGit>>;
  let registry: TestRegistry;

  beforeAll(async () => {
    git = await serveGit();
    await (await git.create("birds")).commit(
      Object.fromEntries(
        Object.entries(FILES).map(([name, body]) => [
          `docs/${name}`,
          { mode: "100644", content: body } as const,
        ]),
      ),
    );
    site.write(
      "/docs/",
      "Start",
      Object.keys(FILES).map((name) => `/docs/${name}`),
    );
    site.intercept = (request) => {
      const body = FILES[new URL(request.url).pathname.slice("/docs/".length)];
      if (body === undefined) return null;
      return new Response(body, { headers: { "content-type": "application/octet-stream" } });
    };
    registry = openRegistry({
      infrastructure: { allow_index_builds: true, crawler_browser_first: false },
      tenants: [
        folderTenant("folder", FILES),
        {
          ...{ source_type: "git", codename: "repository", docs_name: "Repository" },
          ...{ docs_root_dir: `${place.path}/git`, git_subpaths: ["docs"], git_strip_prefix: "docs" },
          git_repo_url: `${git.origin}/birds.git`,
        },
        {
          ...{ source_type: "online", codename: "website", docs_name: "Website" },
          ...{ docs_root_dir: `${place.path}/site`, enable_crawler: true },
          docs_entry_url: `${site.origin}/docs/`,
        },
      ],
    });
    for (const { codename } of registry.list()) await registry.sync(codename);
  });
  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
    await git[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const hitsOf = async (codename: string, query: string) =>
    (await registry.search(codename, query, { size: 3, wordMatch: false, timeoutMs: 30_000 })).hits;

  describe.each([["folder"], ["repository"], ["website"]])("in a %s", (codename) => {
    test.each([
      ["kittiwakes", "UPPER.PDF"],
      ["antarctic", "terns.docx"],
      ["chips", "gulls.odt"],
      ["auks swim", "auks.epub"],
    ])("by their words: %s", async (query, name) => {
      expect((await hitsOf(codename, query))[0]?.url).toEndWith(`/${name}`);
    });

    test.each([
      ["gannets dive", "Gannets", "page=1", "dive from thirty metres"],
      ["gannets nest cliffs", "Gannets", "page=2", "nest on cliffs"],
      ["eat mackerel", "Gannets", "page=3", "eat mackerel"],
      ["kittiwakes", null, "page=2", "^Kittiwakes cry their name.$"],
    ])("with the page of a PDF: %s", async (query, title, anchor, words) => {
      const [hit] = await hitsOf(codename, query);
      if (title !== null) expect(hit?.title).toBe(title);
      expect(hit).toMatchObject({ anchor, snippet: expect.stringMatching(new RegExp(words)) });
    });
  });

  test.each([["folder"], ["repository"]])(
    "and those of a %s that cannot be read are left out",
    async (codename) => {
      const left = await registry.leftOut(codename);
      expect(left.map(({ path }) => path.replace("docs/", "")).sort()).toEqual(UNREAD);
      expect(new Set(left.map(({ reason }) => reason))).toEqual(new Set(["failed"]));
      expect(left.map(({ detail }) => detail).join("\n")).toMatch(
        /unpacks to more[\s\S]*password[\s\S]*no text/,
      );
    },
  );

  test("and those of a website are pages that failed", async () => {
    const { counts } = await registry.status("website");
    expect(counts).toMatchObject({ fetched: 8, failed: 4 });
  });
});

test("files that cannot be read do not keep the pages of a website that it no longer has", async () => {
  await using bench = await openWebBench();
  const { site } = bench;
  const locked = writePdf([[line("Nobody reads this.")]], { isEncrypted: true });
  site.intercept = ({ url }) =>
    url.endsWith(".pdf") ? new Response(url.endsWith("big.pdf") ? BIG : locked) : null;
  const link = (...paths: readonly string[]) =>
    site.write("/docs/", "Start", [...paths, "/docs/locked.pdf", "/docs/big.pdf"]);
  link("/docs/old", "/docs/new");
  site.write("/docs/old", "Old");
  site.write("/docs/new", "New");
  const tenant = { docs_entry_url: `${site.origin}/docs/`, enable_crawler: true };
  const web = bench.open(tenant, { environment: { ARTICLE_EXTRACTOR_MAX_BYTES: "100000" } });
  await runSync(web.source);
  expect(await titlesOf(web)).toEqual(["New", "Old", "Start"]);
  link("/docs/new");
  await runSync(web.source);
  await runSync(web.source);
  expect(await titlesOf(web)).toEqual(["New", "Start"]);
});

const BIG = Buffer.concat([PDF, Buffer.alloc(200_000)]);
