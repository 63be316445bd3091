import { expect, test } from "bun:test";
import { docsUrl } from "../../../src/urls/index.ts";
import { rankIn } from "../../support/search/searching.ts";
import { buildAnalysis, openFixture } from "../../support/search/segment-fixture.ts";

test("a letter with a hundred thousand words behind it finds the most frequent ones", async () => {
  const documents = Array.from({ length: 20 }, (_, document) => ({
    url: docsUrl("wide", `p${document}`),
    title: "x",
    markdown: `${Array.from({ length: 5000 }, (_, n) => `a${(n * 20 + document).toString(36)}zq`).join(" ")} ${document < 9 ? "aztec" : ""}`,
  }));
  await using index = await openFixture(documents);
  const found = rankIn(index.segment, "a").map(({ url }) => Number(url.slice("docs://wide/p".length)));
  for (let document = 0; document < 9; document++) expect(found).toContain(document);
  expect(found.length).toBeLessThanOrEqual(9 + 7);
  expect(() => rankIn(index.segment, "a", { options: { deadline: performance.now() } })).toThrow(
    "longer than its limit",
  );
});

test("an end with fifty thousand compounds before it finds the most frequent ones", async () => {
  const letters = (n: number) =>
    [...n.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join("");
  const documents = Array.from({ length: 10 }, (_, document) => ({
    url: docsUrl("wide", `p${document}`),
    title: "x",
    markdown: `${Array.from({ length: 5000 }, (_, n) => `kopf${letters(n * 10 + document)}bank`).join(" ")} kopf datenbank daten`,
  }));
  await using index = await openFixture(documents, { analysis: buildAnalysis("default", "de") });
  const found = rankIn(index.segment, "Bank", { settings: { language: "de" } });
  expect(found).toHaveLength(10);
  expect(rankIn(index.segment, "Kopf", { settings: { language: "de" } })).toHaveLength(10);
});
