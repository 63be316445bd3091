import { describe, expect, test } from "bun:test";
import type { Language } from "../../../src/search/index.ts";
import { LANGUAGES } from "../../../src/search/types.ts";
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

// A compound, its parts as somebody types them, and the texts that make the parts words of the collection.
const COMPOUNDS: readonly (readonly [language: Language, compound: string, end: string, head: string])[] = [
  ["de", "Krankenversicherung", "Versicherung", "Kranke"],
  ["de", "Arbeitszeit", "Zeit", "Arbeit"],
  ["de", "Datenbank", "Bank", "Daten"],
  ["de", "Straßenverkehr", "Verkehr", "Straße"],
  ["de", "Hundehütte", "Hütten", "Hund"],
  ["de", "Kinderwagen", "Wagen", "Kind"],
  ["nl", "Ziektekostenverzekering", "Verzekering", "Ziektekosten"],
  ["nl", "Stadsbestuur", "Bestuur", "Stad"],
  ["nl", "Boekenkast", "Kasten", "Boek"],
  ["sv", "Sjukförsäkring", "Försäkring", "Sjuk"],
  ["sv", "Arbetsmarknad", "Marknad", "Arbete"],
  ["sv", "Kontrollpanel", "Panelen", "Kontroll"],
];

describe("a compound", () => {
  test.each(COMPOUNDS)("in %s: %s is found by %s, and by %s", async (language, compound, end, head) => {
    await using index = await inLanguage(language, [`x ${compound} y`, `q ${head} r`, `u ${end} v`, "z"]);
    for (const query of [end, end.toLowerCase(), end.toUpperCase(), `u ${end}`, `${end} u`, `u ${end} v`]) {
      expect(index.find(query)[0]).toBe(2);
      expect(index.find(query)).toContain(0);
    }
    expect(index.find(head)).toContain(0);
    expect(index.find(head)[0]).toBe(1);
    // The parts stand for the compound, which comes first.
    expect(index.find(compound)[0]).toBe(0);
    expect(index.find(compound)).toContain(2);
    expect(index.find(compound, true)).toEqual([0]);
    expect(index.find(end, true)).toEqual([2]);
    expect(index.find(`"${end}"`)).toEqual([2]);
  });

  test("is marked as a whole", async () => {
    await using index = await inLanguage("de", ["Die Krankenversicherung zahlt.", "Kranke warten."]);
    expect(index.find("Versicherung")).toEqual([0]);
    expect(index.snippet("Versicherung")).toContain("<mark>Krankenversicherung</mark>");
  });

  test("needs both parts among the words of the collection", async () => {
    await using index = await inLanguage("de", [
      "Die Verunsicherung wächst.",
      "Die Sicherung hält.",
      "Bank.",
    ]);
    expect(index.find("Sicherung")).toEqual([1]);
  });

  test("is no compound in English", async () => {
    await using index = await inLanguage("en", ["The database is large.", "The base of data.", "Nothing."]);
    expect(index.find("base")).toEqual([1]);
  });

  test("of twenty keeps the eight in the most documents", async () => {
    const heads = Array.from({ length: 20 }, (_, n) => `Kopf${String.fromCharCode(97 + n)}`);
    const texts = heads.map((_, n) =>
      heads
        .slice(n)
        .map((head) => `${head}versicherung`)
        .join(" "),
    );
    await using index = await inLanguage("de", [...texts, heads.join(" "), "Versicherung"]);
    expect(index.find("Versicherung")).toHaveLength(1 + 20);
    await using other = await inLanguage("de", [
      ...heads.map((head) => `${head}versicherung`),
      heads.join(" "),
      "Versicherung",
    ]);
    expect(other.find("Versicherung")).toHaveLength(1 + 8);
  });
});

describe("other spellings of a word", () => {
  test.each([
    ["fr", "Voir l’ancrage.", ["ancrage", "ancrages", "l'ancrage", "d’ancrage", "ANCRAGE"]],
    ["fr", "L'équipement sert.", ["équipement", "equipements", "d'équipement", "qu'équipement"]],
    ["fr", "Un ancrage sert.", ["l'ancrage", "l’ancrage"]],
    ["it", "Uso dell'ormeggio.", ["ormeggio", "l'ormeggio", "sull’ormeggio"]],
    ["de", "Die Übertragung läuft.", ["Uebertragung", "uebertragungen", "Ubertragung"]],
    ["de", "Die Uebersteuerung zeigt.", ["Übersteuerung"]],
    ["de", "Die Übersteuerung zeigt.", ["Uebersteuerung"]],
    ["de", "Eine Datenbankverbindung steht.", ["Datenbank Verbindung"]],
    ["en", "Send an e-mail.", ["email", "E-mail", "e-mail"]],
    ["en", "Send an email.", ["email", "E-mail", "e-mail"]],
    ["en", "The wifi works.", ["Wi-Fi", "wifi", "wi fi"]],
    ["en", "Since v4.5.6 it works.", ["4.5.6", "v4.5.6"]],
    ["en", "Since 4.5.6 it works.", ["4.5.6", "v4.5.6"]],
  ] as const)("in %s: %j is found by %j", async (language, text, queries) => {
    await using index = await inLanguage(language, [text, "Nothing of that."]);
    for (const query of queries) expect([query, index.find(query)]).toEqual([query, [0]]);
  });

  test("are none where the language elides nothing: names with an apostrophe stay whole", async () => {
    for (const language of ["en", "de", "es"] as const) {
      await using index = await inLanguage(language, ["By l'Hospital.", "A hospital.", "By d'Artagnan."]);
      for (const [query, found] of [
        ["l'Hospital", 0],
        ["hospital", 1],
        ["d'Artagnan", 2],
      ] as const)
        expect([language, query, index.find(query)]).toEqual([language, query, [found]]);
      expect(index.find("Artagnan", true)).toEqual([]);
    }
  });

  test("count as the word, in the order of its documents", async () => {
    await using index = await inLanguage("fr", ["x", "x l'ancrage, l'ancrage, l'ancrage", "x ancrage"]);
    expect(index.find("ancrage").toSorted()).toEqual([1, 2]);
  });

  test("a version comes before those of its series", async () => {
    const texts = ["1.2.3", "1.2.30", "1.2", "11.2"].map(
      (version) => `# Harbor ${version}\n\nNews of ${version}.`,
    );
    await using index = await inLanguage("en", texts);
    expect(index.find("1.2")).toEqual([2, 0, 1]);
    expect(index.find("harbor 1.2")[0]).toBe(2);
    expect(index.find("1.2.3")[0]).toBe(0);
    expect(index.find("v1.2")[0]).toBe(2);
  });
});
