import { describe, expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { openLibraryProject, RUNTIMES } from "../support/library-project.ts";

const project = forAllTests(await openLibraryProject());

/** A page of some number, and a source of many that says how far it was read and whether it was closed. */
const SETUP = `
  const html = (n) => \`<html lang="en"><title>Tide \${n}</title><article><p>The sea rises for the \${n}. time.</p></article>\`;
  const seen = { read: 0, isClosed: false };
  async function* pages(count) {
    try {
      for (let n = 0; n < count; n++) {
        seen.read++;
        yield { html: html(n), url: "https://example.org/" + n, id: "page " + n };
      }
    } finally {
      seen.isClosed = true;
    }
  }`;

for (const { name, executable, isMissing } of RUNTIMES) {
  const run = (body: string): Promise<unknown> => project.run(executable, `${SETUP}\n${body}`);

  describe.skipIf(isMissing)(`many pages on ${name}`, () => {
    test("come in their order, with what the caller knows about them", async () => {
      const body = `const titles = [];
        for await (const { page, index, article, error } of extractArticles(pages(40), { concurrency: 3, minWordCount: 0 }))
          titles.push([index, page.id, article.title, article.url, article.markdown, error]);
        return [titles, seen];`;
      const expected = Array.from({ length: 40 }, (_, n) => [
        n,
        `page ${n}`,
        `Tide ${n}`,
        `https://example.org/${n}`,
        `# Tide ${n}\n\nThe sea rises for the ${n}. time.`,
        null,
      ]);
      expect(await run(body)).toEqual([expected, { read: 40, isClosed: true }]);
    });

    test("may be none, one, or the same again", async () => {
      const body = `const titles = async (pages) => {
          const found = [];
          for await (const { article } of extractArticles(pages)) found.push(article.title);
          return found;
        };
        const set = new Set([{ html: html(1) }]);
        return [await titles([]), await titles(set), await titles(set), await titles([...set, ...set])];`;
      expect(await run(body)).toEqual([[], ["Tide 1"], ["Tide 1"], ["Tide 1", "Tide 1"]]);
    });

    test("are read no further ahead than twice the workers", async () => {
      const body = `let furthest = 0;
        let taken = 0;
        for await (const _ of extractArticles(pages(30), { concurrency: 2 })) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          furthest = Math.max(furthest, seen.read - ++taken);
        }
        return furthest;`;
      expect(await run(body)).toBe(4);
    });

    test("that are bad are results, first, amid and last", async () => {
      const body = `const bad = [null, {}, { html: 5 }, { html: "" }, { html: html(1), url: "ftp://h/" },
          { get html() { throw new Error("gone"); } }];
        const results = [];
        for await (const { index, article, error } of extractArticles([bad[0], { html: html(1) }, ...bad.slice(1)], { concurrency: 2 }))
          results.push([index, article?.title ?? null, error && [error instanceof Failure, error.code]]);
        return results;`;
      const failed = (index: number, code: string) => [index, null, [true, code]];
      expect(await run(body)).toEqual([
        failed(0, "invalid_usage"),
        [1, "Tide 1", null],
        failed(2, "invalid_usage"),
        failed(3, "invalid_usage"),
        failed(4, "no_content"),
        failed(5, "invalid_url"),
        failed(6, "internal"),
      ]);
    });

    test("have a time limit each", async () => {
      const body = `const slow = "<p>x" + '<div class="highlight">'.repeat(2000) + "<p>" + "words of the tide ".repeat(120_000);
        const results = [];
        const all = [{ html: html(0) }, { html: slow }, { html: html(2) }];
        for await (const { article, error } of extractArticles(all, { concurrency: 1, timeLimitMs: 6000, engine: "readability" }))
          results.push(article?.title ?? error.code);
        return results;`;
      expect(await run(body)).toEqual(["Tide 0", "too_complex", "Tide 2"]);
    });

    test("close their source and workers when the loop is left", async () => {
      // The process ends, so no worker is left.
      const body = `for await (const { index } of extractArticles(pages(1000), { concurrency: 2 })) if (index === 2) break;
        return [seen.isClosed, seen.read < 10];`;
      expect(await run(body)).toEqual([true, true]);
    });

    test("end with the error of their source, after the results before it", async () => {
      const body = `function* failing() { yield { html: html(0) }; yield { html: html(1) }; throw new Error("the disk is gone"); }
        const titles = [];
        try {
          for await (const { article } of extractArticles(failing())) titles.push(article.title);
        } catch (error) {
          return [titles, error.message];
        }`;
      expect(await run(body)).toEqual([["Tide 0", "Tide 1"], "the disk is gone"]);
    });

    test("end with `cancelled` when the signal fires, even while the source keeps silent", async () => {
      const body = `const stop = new AbortController();
        async function* silent() { yield { html: html(0) }; await new Promise(() => {}); }
        const codeOf = async (source, options) => {
          try {
            for await (const { index } of extractArticles(source, options)) setTimeout(() => stop.abort(), 20);
          } catch ({ code }) {
            return code;
          }
        };
        return [await codeOf(silent(), { signal: stop.signal }), await codeOf(pages(3), { signal: AbortSignal.abort() })];`;
      expect(await run(body)).toEqual(["cancelled", "cancelled"]);
    });

    test("need a source and right options", async () => {
      const body = `const messageOf = (call) => { try { call(); } catch ({ code, message }) { return [code, message]; } };
        return [messageOf(() => extractArticles("<p>x")), messageOf(() => extractArticles([], { concurrency: 0 })), messageOf(() => extractArticles())];`;
      expect(await run(body)).toEqual([
        [
          "invalid_usage",
          'extractArticles takes pages as an iterable or async iterable, not the text "<p>x"',
        ],
        ["invalid_usage", "extractArticles: concurrency must be a whole number from 1, not the number 0"],
        ["invalid_usage", "extractArticles takes pages as an iterable or async iterable, not undefined"],
      ]);
    });
  });
}
