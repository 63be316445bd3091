import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FetchedArticle } from "../../src/articles/index.ts";
import type { ExtractedArticle, ExtractFromUrlOptions, NetworkOptions } from "../../src/library/index.ts";
import type { EXTRACTION, FETCHING, NETWORK, OptionTable, ValueOf } from "../../src/options/index.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { LIBRARY, openLibraryProject, RUNTIMES } from "../support/library-project.ts";

const project = forAllTests(await openLibraryProject({ isLinked: false }));
await succeed([process.execPath, "pm", "pack", "--quiet", "--destination", project.path], LIBRARY);
const archive = (await readdir(project.path)).find((name) => name.endsWith(".tgz"));
if (archive === undefined) throw new Error("nothing was packed");
await succeed([process.execPath, "add", "--no-progress", `./${archive}`], project.path);

async function succeed(command: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(command, { cwd, stdout: "ignore", stderr: "pipe" });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(errors);
}

test("a project that installs it gets this package and no other", async () => {
  const files = await readdir(join(project.path, "node_modules"), { recursive: true });
  expect(files.filter((file) => file.endsWith("package.json"))).toEqual([
    "article-extractor-cli/package.json",
  ]);
});

/** The bundler's comment above each module, with the name of the package that it is from. */
const MODULE = /^\/\/ (?:.*\/)?node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\/.*$/gm;

test("it holds nothing of what only the program needs, and the licences of the rest", async () => {
  const names = await Array.fromAsync(new Bun.Glob("*.js").scan(LIBRARY));
  const modules = await Promise.all(names.map((name) => Bun.file(join(LIBRARY, name)).text()));
  for (const other of ["consola", "hono", "playwright-core", "valibot", "@mozilla/readability"])
    expect(modules.some((text) => text.includes(`node_modules/${other}/`))).toBe(false);
  const licenses = await Bun.file(join(LIBRARY, "LICENSES-OF-PACKAGES.txt")).text();
  const named = modules.flatMap((text) => [...text.matchAll(MODULE)]).map(([, name]) => name);
  expect(named).toContain("linkedom");
  expect(named.filter((name) => !licenses.includes(`${name} `))).toEqual([]);
});

for (const { name, executable, isMissing } of RUNTIMES) {
  describe.skipIf(isMissing)(`installed, on ${name}`, () => {
    test("it extracts a page, and many", async () => {
      const body = `const page = { html: "<title>Tides</title><p>The <i>sea</i> rises twice a day." };
        const titles = [(await extractArticle(page.html, null, { exclude: ["i"] })).text];
        for await (const { article } of extractArticles([page, page])) titles.push(article.text);
        return titles;`;
      const whole = "The sea rises twice a day.";
      expect(await project.run(executable, body)).toEqual(["The rises twice a day.", whole, whole]);
    });

    test("it gives the parts of a page that answer a query", async () => {
      const body = `const html = "<title>Mill</title><h2 id=hours>Hours</h2><p>The mill opens at nine." +
          "<p>Nobody counts the wheels of the carts.".repeat(40);
        const article = await extractArticle(html, null, { query: "when does it open?", maxTokens: 50 });
        const refused = await extractArticle(html, null, { maxTokens: 50 }).catch(({ code }) => code);
        return [article.markdown.includes("## Hours (#hours)\\n\\nThe mill opens at nine."),
          article.text.includes("The mill opens at nine."), article.text.length < 300, article.wordCount, refused];`;
      expect(await project.run(executable, body)).toEqual([true, true, true, 286, "invalid_usage"]);
    });

    test("it says which packages the other engine needs", async () => {
      const body = `try { await extractArticle("<p>x", null, { engine: "readability" }); }
        catch ({ code, message }) { return [code, message]; }`;
      const message = "the engine readability needs the packages @mozilla/readability and node-html-markdown";
      expect(await project.run(executable, body)).toEqual(["invalid_usage", message]);
    });
  });
}

test("its declarations serve a strict TypeScript program that checks them too", async () => {
  const complaints = await project.check(`
    import { extractArticle, extractArticles, extractArticleFromUrl, type ExtractedArticle, type ExtractOptions, Failure, type PageSource } from "article-extractor-cli";
    const options: ExtractOptions = { minWordCount: 1, favor: "recall", select: null };
    const article: ExtractedArticle = await extractArticle(new Uint8Array(), null, { ...options, contentType: "text/html" });
    const words: number = article.wordCount;
    const page: "article" | "documentation" | "forum" | "product" | "collection" | "listing" | "service" | null = article.pageType;
    await extractArticleFromUrl("https://h/", { network: { proxy: null } });
    async function* pages(): AsyncGenerator<PageSource & { readonly id: number }> { yield { html: "<p>x", id: 1 }; }
    for await (const result of extractArticles(pages(), { concurrency: 2 })) {
      const id: number = result.page.id;
      if (result.error) throw new Failure(result.error.code, String(id));
      const title: string | null = result.article.title;
      // @ts-expect-error an article that is there has no error
      result.error.code;
      void title;
    }
    // @ts-expect-error there is no such option
    await extractArticle("<p>x", null, { minWords: 1 });
    // @ts-expect-error a page is text or bytes
    await extractArticle(5);
    export { words, page };`);
  expect(complaints).toBe("");
});

test("its declarations are plain types that stand there as they are read", async () => {
  const files = (await readdir(join(LIBRARY, "types"), { recursive: true })).filter((name) =>
    name.endsWith(".ts"),
  );
  expect(files.sort()).toEqual(
    ["articles", "extract", "index", "types"]
      .map((name) => `library/${name}.d.ts`)
      .concat("base/failure.d.ts")
      .sort(),
  );
  for (const file of files) {
    const text = await Bun.file(join(LIBRARY, "types", file)).text();
    expect(text).not.toMatch(/\b(?:Omit|Pick|Partial|Exclude|Extract|ReturnType|Parameters|Required)</);
    // Everything that a program may name says what it is.
    const names = [...text.matchAll(/^export declare (?:function|class) (\w+)/gm)];
    for (const { index } of names) expect(text.slice(0, index).trimEnd()).toEndWith("*/");
  }
});

/** Never, or the fields that one type has and the other does not name. */
type Unnamed = Exclude<
  // Only the index of a tenant needs the anchors, and only people look at the blocks.
  | Exclude<keyof FetchedArticle["article"], "anchors" | "blocks">
  | Exclude<keyof FetchedArticle, "article" | "timings" | "body">,
  keyof ExtractedArticle
>;

/** The options of a table under their names in the library, with every value that they may have. */
type OfLibrary<T extends OptionTable> = {
  [Key in keyof T as T[Key] extends { readonly library: infer Name extends string } ? Name : never]:
    | (T[Key]["kind"] extends { readonly type: "headers" }
        ? Readonly<Record<string, string>>
        : ValueOf<T[Key]["kind"]>)
    | (T[Key]["byDefault"] extends null ? null : never);
};
/** Whether the library's own types name these options, and take all of their values. */
type Takes<T extends OptionTable, Options> = [Exclude<keyof OfLibrary<T>, keyof Options>] extends [never]
  ? OfLibrary<T> extends Options
    ? true
    : never
  : never;

test("its types name every field that an article has, and every choice", () => {
  // The compiler checks these; a field that is new in the program must be written into the library's types too.
  const isComplete: [Unnamed] extends [never] ? true : Unnamed = true;
  const ofPages: Takes<typeof EXTRACTION, ExtractFromUrlOptions> = true;
  const ofNetwork: Takes<typeof NETWORK & typeof FETCHING, NetworkOptions> = true;
  expect([isComplete, ofPages, ofNetwork]).toEqual([true, true, true]);
});
