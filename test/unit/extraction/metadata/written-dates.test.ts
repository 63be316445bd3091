import { describe, expect, test } from "bun:test";
import { findWrittenDates } from "../../../../src/extraction/metadata/date.ts";

const days = (text: string, lang: string | null): string[] =>
  findWrittenDates(text, lang).map(({ day }) => day);

describe("a written date", () => {
  const written: readonly (readonly [text: string, lang: string | null, day: string])[] = [
    ["12. März 2024", "de", "2024-03-12"],
    ["12 de marzo de 2024", "es-MX", "2024-03-12"],
    ["le 1er févr. 2021", "fr", "2021-02-01"],
    ["30 de Maio de 2019", "pt", "2019-05-30"],
    ["12 maart 2024 om 3", "nl", "2024-03-12"],
    ["20 września 2023", "pl", "2023-09-20"],
    ["12 марта 2024", "ru", "2024-03-12"],
    ["12 Ιανουαρίου 2024", "el", "2024-01-12"],
    ["2024. március 12.", "hu", "2024-03-12"],
    ["2024 m. kovo 12 d.", "lt", "2024-03-12"],
    ["2024年3月12日", "ja", "2024-03-12"],
    ["2024년 3월 12일", "ko", "2024-03-12"],
    ["١٢ مارس ٢٠٢٤", "ar", "2024-03-12"],
    ["Posted March 12th, 2024 by Ann", "en", "2024-03-12"],
    ["Page 12 March 2024", "en", "2024-03-12"],
    ["17.05.21", "de", "2021-05-17"],
    ["2024/3/12", null, "2024-03-12"],
    ["25/4/2024", null, "2024-04-25"],
  ];
  for (const [text, lang, day] of written) {
    test(`is read from ${JSON.stringify(text)}`, () => {
      expect(days(text, lang)).toEqual([day]);
    });
  }

  test("is read in a common language although the page claims another", () => {
    expect(days("12. Dezember 2024", "en-US")).toEqual(["2024-12-12"]);
  });

  for (const text of [
    "yesterday",
    "3 days ago",
    "12 Marching 2024",
    "31 June 2024",
    "v1.2.21",
    "12:30 2024",
    "1. 5 2024",
  ]) {
    test(`is none in ${JSON.stringify(text)}`, () => {
      expect(days(text, "en")).toEqual([]);
    });
  }

  test("in numbers follows the order of the page's country", () => {
    expect(days("3/4/2024", "en-US")).toEqual(["2024-03-04"]);
    expect(days("3/4/2024", "en-GB")).toEqual(["2024-04-03"]);
    expect(days("3.4.2024", "en-US")).toEqual(["2024-04-03"]);
  });

  test("in numbers has two readings where the country is unknown", () => {
    for (const lang of ["en", null]) {
      expect(findWrittenDates("3/4/2024", lang)).toMatchObject([
        { day: "2024-03-04", alternative: "2024-04-03", isAmbiguous: true },
      ]);
    }
    expect(findWrittenDates("3/4/2024", "fr")).toMatchObject([{ day: "2024-04-03", isAmbiguous: false }]);
  });

  test("is found each time, in order, with its place", () => {
    const text = "From 12 March 2024 to 2024-03-14";
    expect(findWrittenDates(text, "en").map(({ start, end }) => text.slice(start, end))).toEqual([
      "12 March 2024",
      "2024-03-14",
    ]);
  });
});
