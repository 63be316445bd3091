import { describe, expect, test } from "bun:test";
import type { Language } from "../../../src/search/index.ts";
import { LANGUAGES } from "../../../src/search/testing.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { rankIn, searchIn } from "../../support/search/searching.ts";
import { buildAnalysis, openFixture } from "../../support/search/segment-fixture.ts";

/** Builds an index in a language; the answer finds the numbers of the texts that a query finds. */
async function inLanguage(language: Language, texts: readonly string[]) {
  const index = await openFixture(
    texts.map((markdown, n) => ({ url: docsUrl("site", `${n}`), title: "x", markdown })),
    { analysis: buildAnalysis("default", language) },
  );
  return {
    ...index,
    find: (query: string, wordMatch = false): number[] =>
      rankIn(index.segment, query, { settings: { language }, options: { wordMatch } }).map(({ url }) =>
        Number(url.slice("docs://site/".length)),
      ),
    snippet: (query: string): string | undefined =>
      searchIn(index.segment, query, { settings: { language }, options: { snippetStyle: "html" } })[0]
        ?.snippet,
    [Symbol.asyncDispose]: () => index[Symbol.asyncDispose](),
  };
}

const PLURALS: Readonly<Record<Language, readonly [one: string, many: string]>> = {
  da: ["hest", "hestene"],
  de: ["Haus", "Häuser"],
  en: ["gate", "gates"],
  es: ["canción", "canciones"],
  fi: ["talo", "talot"],
  fr: ["cheval", "chevaux"],
  it: ["libro", "libri"],
  nl: ["boek", "boeken"],
  no: ["hest", "hestene"],
  pt: ["casa", "casas"],
  ru: ["книга", "книги"],
  sv: ["flicka", "flickor"],
};

describe("a plural finds the singular and the other way round", () => {
  test.each([...LANGUAGES])("in %s", async (language) => {
    const [one, many] = PLURALS[language];
    await using index = await inLanguage(language, [`x ${one} y.`, `x ${many} y.`, "z."]);
    for (const query of [one, many, many.toUpperCase(), `${one} y`, `y ${many}`])
      expect(index.find(query).toSorted()).toEqual([0, 1]);
    expect(index.find(many, true)).toEqual([1]);
    expect(index.find(`"${one}"`)).toEqual([0]);
    expect(index.snippet(many)).toContain(`<mark>${many}</mark>`);
  });
});
