import { expect, test } from "bun:test";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveSite } from "../../support/site.ts";

const server = forAllTests(await startExtractor());
const site = forAllTests(await serveSite());

const ask = async (more: object) => {
  const response = await server.post("/", { url: `${site.origin}/news/borrowed-tools.html`, ...more });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
};

test("a query leaves of Markdown and text the parts that answer it, and all else whole", async () => {
  const { body: whole } = await ask({});
  const word =
    String(whole.text)
      .match(/[a-z]{9,}/g)
      ?.at(-1) ?? "";
  const { body } = await ask({ query: word, max_tokens: 100 });
  expect(String(body.text)).toContain(word);
  expect(String(body.text)).toMatch(/\[… \d+ tokens left out …\]/);
  expect(String(body.markdown)).toStartWith(`# ${whole.title}\n\n`);
  expect(String(body.markdown).length).toBeLessThan(String(whole.markdown).length);
  for (const field of ["title", "word_count", "content", "excerpt"])
    expect([field, body[field]]).toEqual([field, whole[field]]);
});

test("a query without an answer is told in the warnings", async () => {
  const { body } = await ask({ query: "zebra" });
  expect(body.warnings).toContain("no part of the text has words of the query: this is its beginning");
});

test("a limit without a query is 422", async () => {
  const { status, body } = await ask({ max_tokens: 100 });
  expect([status, body.detail]).toEqual([422, "max_tokens: goes with query"]);
});
