import { expect } from "bun:test";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const page = (words: number): Response =>
  new Response(
    `<html><head><title>The weir</title></head><body><article><h1>The weir</h1><p>${"water ".repeat(words)}</p></article></body></html>`,
    { headers: { "content-type": "text/html" } },
  );
const site = forAllTests(serveLocal((request) => page(Number(new URL(request.url).pathname.slice(1)))));
const server = forAllTests(await startExtractor());

const extract = async (words: number): Promise<Record<string, unknown>> => {
  const response = await server.post("/", { url: `${site.url.origin}/${words}` });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
};

statement("Extraction result", "title | string | Article title.", async () => {
  expect((await extract(200)).title).toBe("The weir");
});

statement("Extraction result", "word_count | integer | Words in the extracted content.", async () => {
  for (const words of [160, 200, 333]) expect((await extract(words)).word_count).toBe(words);
});

statement("Extraction result", "warnings | array of string, or null", async () => {
  expect((await extract(3)).warnings).toEqual([expect.any(String)]);
});

statement("Extraction result", "Null when there are none.", async () => {
  expect((await extract(200)).warnings).toBeNull();
});
