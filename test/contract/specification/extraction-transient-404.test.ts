import { expect } from "bun:test";
import { runBinary } from "../../support/binary.ts";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const TEXT = "The wheel of the mill turns slowly all day, and the water falls over the weir. ".repeat(12);
const BODIES: Readonly<Record<string, string>> = {
  article: `<title>Mill</title><article>${TEXT}</article>`,
  main: `<title>Mill</title><main>${TEXT}</main>`,
  paragraph: `<title>Mill</title><div><p>${TEXT}</p></div>`,
  without: `<title>Mill</title><div>${TEXT}</div>`,
  small: "<title>Mill</title><article><p>Small.</p></article>",
  // Only scripts bring the text.
  application: `<title>Mill</title><div id=root></div><script>root.innerHTML = ${JSON.stringify(`<article><h1>Mill</h1><p>${TEXT}</p></article>`)}</script>`,
};
const seen: string[] = [];
const site = forAllTests(
  serveLocal((request) => {
    const { pathname } = new URL(request.url);
    seen.push(pathname);
    const [, status = "404", name = ""] = pathname.split("/");
    const headers = { "content-type": "text/html; charset=utf-8" };
    return new Response(BODIES[name] ?? "", { status: Number(status), headers });
  }),
);
const server = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_BROWSER_PATH: "none" } }));

const WARNING = "Extracted after HTTP 404 (SPA/client-rendered)";
const ask = async (path: string) => {
  const response = await server.post("/", { url: site.url.origin + path });
  return {
    status: response.status,
    body: (await response.json()) as { readonly warnings?: string[]; readonly text?: string },
  };
};

statement(
  "Transient 404 handling 1",
  "When a fetch returns 404 or 410, the HTML is inspected before failing.",
  async () => {
    for (const status of [404, 410]) expect((await ask(`/${status}/article`)).status).toBe(200);
    expect((await ask("/403/article")).status).toBe(502);
  },
);

for (const [words, name] of [
  ["If it contains an `<article>`", "article"],
  ["`<main>`", "main"],
  ["or paragraph tag", "paragraph"],
] as const)
  statement("Transient 404 handling 1", words, async () => {
    expect((await ask(`/404/${name}`)).status).toBe(200);
    expect((await ask("/404/without")).status).toBe(502);
  });

statement("Transient 404 handling 1", "and is larger than 500 bytes, extraction proceeds", async () => {
  expect((await ask("/404/small")).status).toBe(502);
  expect((await ask("/404/paragraph")).body.text).toContain("The wheel of the mill");
});

statement(
  "Transient 404 handling 2",
  "appends the warning `Extracted after HTTP 404 (SPA/client-rendered)` to `warnings`",
  async () => {
    expect((await ask("/404/article")).body.warnings).toContain(WARNING);
    expect((await ask("/200/article")).body.warnings ?? []).not.toContain(WARNING);
  },
);

statement(
  "Transient 404 handling 3",
  "the extractor retries with the browser fetcher (if installed) before giving up",
  async () => {
    const url = `${site.url.origin}/404/application`;
    const run = await runBinary([url, "--prefer-http"]);
    expect([run.exitCode, run.stderr]).toEqual([0, expect.any(String)]);
    const { fetcher, text, warnings } = JSON.parse(run.stdout);
    expect([fetcher, text]).toEqual(["browser", expect.stringContaining("The wheel of the mill")]);
    expect(warnings).toContain(WARNING);
    expect(
      (await runBinary([url, "--prefer-http"], { env: { ARTICLE_EXTRACTOR_BROWSER_PATH: "none" } })).exitCode,
    ).toBe(1);
  },
);

statement(
  "Errors",
  "Fetch gets 404/410 but the body is usable | Extraction succeeds with a warning",
  async () => {
    for (const status of [404, 410]) {
      const { body } = await ask(`/${status}/main`);
      expect(body.warnings?.filter((warning) => warning.startsWith("Extracted after HTTP 4"))).toHaveLength(
        1,
      );
    }
  },
);

statement("Errors", "Target answers 429 | Exponential backoff", async () => {
  const before = seen.length;
  const run = await runBinary([`${site.url.origin}/429/article`, "-v", "--retries", "3"]);
  expect(seen.length - before).toBe(4);
  const waits = run.stderr
    .split("\n")
    .filter((line) => line.includes('"trying again"'))
    .map((line) => JSON.parse(line).wait_ms as number);
  expect(waits).toHaveLength(3);
  for (const [i, ms] of waits.entries()) expect(ms).toBeLessThanOrEqual(1000 * 2 ** i);
});
