import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveSite } from "../support/site.ts";

// The built library, used as an installed package from a directory of its own, as its users do.
const ROOT = join(import.meta.dir, "../..");
if (!existsSync(join(ROOT, "dist/lib/library.js")))
  throw new Error("dist/lib is not built: run `make library`");

const project = await mkdtemp(join(tmpdir(), "library-"));
await mkdir(join(project, "node_modules"));
await symlink(ROOT, join(project, "node_modules/article-extractor"));
await writeFile(join(project, "package.json"), '{ "type": "module" }');
const site = await serveSite();
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await rm(project, { recursive: true });
});

const node = Bun.which("node");
const RUNTIMES = [
  { name: "Bun", executable: process.execPath, isMissing: false },
  { name: "Node", executable: node ?? "node", isMissing: node === null },
];

/** Runs a module of the project; its default export is what the module prints as JSON. */
async function run(executable: string, body: string, env: Record<string, string> = {}): Promise<unknown> {
  const file = join(project, `${crypto.randomUUID()}.mjs`);
  const imports = `import { extractArticle, extractArticleFromUrl, Failure } from "article-extractor";`;
  await writeFile(
    file,
    `${imports}\nconst answer = await (async () => { ${body} })();\nconsole.log(JSON.stringify(answer));`,
  );
  const child = Bun.spawn([executable, file], {
    cwd: project,
    env: { PATH: process.env.PATH, ...env },
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(errors);
  return JSON.parse(output);
}

const HTML = JSON.stringify(
  `<html lang="en"><title>Tides</title><article><h1>Tides</h1><p>The <a href="b">sea</a> rises twice a day.</p></article>`,
);
const FAILURE = "catch (error) { return [error instanceof Failure, error.code]; }";

for (const { name, executable, isMissing } of RUNTIMES) {
  describe.skipIf(isMissing)(`the library on ${name}`, () => {
    test("obeys a signal, for a string and for a URL", async () => {
      const body = `const signal = AbortSignal.abort();
        const code = (work) => work.then(() => null, (error) => error.code);
        return [await code(extractArticle(${HTML}, null, { signal })),
          await code(extractArticleFromUrl("http://127.0.0.1:1/", { signal }))];`;
      expect(await run(executable, body)).toEqual(["cancelled", "cancelled"]);
    });

    test("extracts an HTML string with the links made absolute", async () => {
      const body = `const a = await extractArticle(${HTML}, "https://example.org/a");
        return [a.title, a.wordCount, a.markdown, a.text, a.lang, a.byline, a.fetcher];`;
      expect(await run(executable, body)).toEqual([
        "Tides",
        6,
        "# Tides\n\nThe [sea](https://example.org/b) rises twice a day.",
        "The sea rises twice a day.",
        "en",
        null,
        "file",
      ]);
    });

    test("takes options", async () => {
      const body = `const a = await extractArticle(${HTML}, null, { minWordCount: 3, exclude: ["a"] });
        return [a.text, a.warnings];`;
      expect(await run(executable, body)).toEqual(["The rises twice a day.", []]);
    });

    test("gives links, images and structured data where they are asked for", async () => {
      const body = `const page = ${HTML}.replace("rises", '<img src="i.png" alt="i"> rises');
        const fields = ({ links, images, structuredData, language }) => ({ links, images, structuredData, language });
        const include = ["links", "images", "structuredData"];
        return [fields(await extractArticle(page, "https://example.org/a")),
          fields(await extractArticle(page, "https://example.org/a", { include }))];`;
      expect(await run(executable, body)).toEqual([
        { links: null, images: null, structuredData: null, language: "en" },
        {
          links: [{ url: "https://example.org/b", text: "sea" }],
          images: [{ url: "https://example.org/i.png", alt: "i", width: null, height: null }],
          structuredData: { jsonLd: [], microdata: [], openGraph: [] },
          language: "en",
        },
      ]);
    });

    test("fetches and extracts a URL", async () => {
      const body = `const a = await extractArticleFromUrl("${site.origin}/news/borrowed-tools.html");
        return [a.title, a.statusCode, a.finalUrl, a.warnings];`;
      expect(await run(executable, body)).toEqual([
        "What we learned from two years of lending tools",
        200,
        `${site.origin}/news/borrowed-tools.html`,
        [],
      ]);
    });

    test("follows redirects", async () => {
      const body = `const a = await extractArticleFromUrl("${site.origin}/docs"); return a.finalUrl;`;
      expect(await run(executable, body)).toBe(`${site.origin}/docs/`);
    });

    test("refuses what the egress policy refuses", async () => {
      const url = `${site.origin}/news/borrowed-tools.html`;
      const body = `try { await extractArticleFromUrl("${url}", { network: { egress: "public" } }); } ${FAILURE}`;
      expect(await run(executable, body)).toEqual([true, "egress_refused"]);
    });

    test("fails with a code for a page without words, a wrong URL and a closed port", async () => {
      const attempt = (call: string): string => `try { await ${call}; } ${FAILURE}`;
      expect(await run(executable, attempt('extractArticle("<p> </p>")'))).toEqual([true, "no_content"]);
      expect(await run(executable, attempt('extractArticle("x", "ftp://h/")'))).toEqual([
        true,
        "invalid_url",
      ]);
      const secret = "extractArticleFromUrl('http://user:pwsecret@host:99999/')";
      const message = `try { await ${secret}; } catch (error) { return error.message; }`;
      expect(String(await run(executable, message))).not.toContain("pwsecret");
      const closed = 'extractArticleFromUrl("http://127.0.0.1:9/", { network: { retries: 0 } })';
      expect(await run(executable, attempt(closed))).toEqual([true, "network"]);
    });

    test("goes through the proxy of the environment", async () => {
      const body = `try { await extractArticleFromUrl("http://tides.example/", { network: { retries: 0 } }); } ${FAILURE}`;
      // Nobody listens there: what counts is that the request goes there and nowhere else.
      const answer = await run(executable, body, { HTTP_PROXY: "http://127.0.0.1:9" });
      expect(answer).toEqual([true, "network"]);
    });
  });
}

test("the declarations serve a strict TypeScript program", async () => {
  const source = `import { extractArticle, type ExtractedArticle, type ExtractOptions, Failure } from "article-extractor";
    const options: ExtractOptions = { minWordCount: 1, network: { proxy: null } };
    const article: ExtractedArticle = await extractArticle("<p>x", null, options);
    const words: number = article.wordCount;
    // @ts-expect-error there is no such option
    await extractArticle("<p>x", null, { minWords: 1 });
    export { words, Failure };`;
  await writeFile(join(project, "use.ts"), source);
  const flags = [
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--lib",
    "esnext,dom",
    "--types",
    "",
  ];
  const tsc = Bun.spawn(
    [process.execPath, join(ROOT, "node_modules/.bin/tsc"), ...flags, join(project, "use.ts")],
    {
      cwd: project,
      stdout: "pipe",
    },
  );
  expect(await new Response(tsc.stdout).text()).toBe("");
  expect(await tsc.exited).toBe(0);
});
