import { describe, expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { openLibraryProject, RUNTIMES } from "../support/library-project.ts";
import { serveLocal } from "../support/local.ts";
import { writeDocx, writeEpub, writeOdt } from "../support/office.ts";
import { writePdf } from "../support/pdf.ts";

const project = forAllTests(await openLibraryProject());

const PDF = writePdf([[{ text: "Gannets dive.", x: 60, y: 700 }]], { info: { Title: "Gannets" } });
const bytes = (body: Uint8Array): string =>
  `Buffer.from("${Buffer.from(body).toString("base64")}", "base64")`;
const DOCUMENTS: readonly (readonly [name: string, body: Uint8Array, markdown: string])[] = [
  ["PDF", PDF, "# Gannets\n\nGannets dive."],
  ["DOCX", writeDocx("<w:p><w:r><w:t>Terns fly.</w:t></w:r></w:p>"), "# Of Terns\n\nTerns fly."],
  ["ODT", writeOdt("<text:p>Gulls stay.</text:p>"), "# Of Terns\n\nGulls stay."],
  ["EPUB", writeEpub(["<p>Auks swim.</p>"]), "# Of Terns\n\nAuks swim."],
];
const site = forAllTests(
  serveLocal(() => new Response(PDF, { headers: { "content-type": "application/pdf" } })),
);
const CODE = "const codeOf = (work) => work.then(() => null, ({ code }) => code);";

for (const { name, executable, isMissing } of RUNTIMES) {
  describe.skipIf(isMissing)(`the library on ${name}`, () => {
    test.each(DOCUMENTS.map(([kind, body, markdown]) => [kind, body, markdown] as const))(
      "reads the bytes of a document: %s",
      async (_, body, markdown) => {
        const calls = `const bytes = ${bytes(body)};
          return [await extractArticle(bytes), await extractArticle(new Uint8Array(bytes), null, { contentType: "text/html" }),
            await extractArticle(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))].map(({ markdown }) => markdown);`;
        expect(await project.run(executable, calls)).toEqual([markdown, markdown, markdown]);
      },
    );

    test("reads one from an address, and several among pages", async () => {
      const calls = `const { markdown } = await extractArticleFromUrl(${JSON.stringify(site.url)});
        const pages = [{ html: "<p>A page." }, { html: ${bytes(PDF)} }, { html: ${bytes(PDF.slice(0, 20))} }];
        const found = [markdown];
        for await (const { article, error } of extractArticles(pages)) found.push(article?.text ?? error.code);
        return found;`;
      const whole = "# Gannets\n\nGannets dive.";
      expect(await project.run(executable, calls)).toEqual([
        whole,
        "A page.",
        "Gannets dive.",
        "damaged_document",
      ]);
    });

    test("says of others what is wrong, and leaves the caller's globals alone", async () => {
      const bomb = writePdf([[]], { content: Buffer.alloc(70_000_000, " ") });
      const bad = [PDF.slice(0, 20), writePdf([[]]), writePdf([[]], { isEncrypted: true }), bomb];
      const calls = `${CODE} const before = Uint8Array;
        const work = Promise.all([${bad.map((body) => `codeOf(extractArticle(${bytes(body)}))`).join(",")}]);
        await new Promise((resolve) => setTimeout(resolve, 5));
        const isSame = before === Uint8Array && new Uint8Array(100_000_000).length === 100_000_000;
        const signal = AbortSignal.abort();
        return [...await work, isSame, await codeOf(extractArticle(${bytes(PDF)}, null, { signal }))];`;
      expect(await project.run(executable, calls)).toEqual([
        ...["damaged_document", "no_text_layer", "encrypted_document", "too_large"],
        ...[true, "cancelled"],
      ]);
    });
  });
}
