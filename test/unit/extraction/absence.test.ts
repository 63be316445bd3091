import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { extractBody } from "../../../src/extraction/index.ts";
import { sayMissing } from "../../../src/extraction/no-article.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";

/** What sites write above their error pages. */
const SAYINGS: Readonly<Record<string, readonly string[]>> = {
  English: ["Page not found", "That page doesn’t exist", "Oops! That page can’t be found.", "Nothing found"],
  German: ["Seite nicht gefunden", "Diese Seite existiert nicht", "Seite nicht mehr verfügbar"],
  French: ["Page introuvable", "Cette page n’existe pas", "Page non trouvée"],
  Spanish: ["Página no encontrada", "La página no existe", "No se ha podido encontrar la página"],
  Portuguese: ["Página não encontrada", "A página não existe"],
  Italian: ["Pagina non trovata", "La pagina non esiste"],
  Dutch: ["Pagina niet gevonden", "Deze pagina bestaat niet"],
  Swedish: ["Sidan hittades inte", "Sidan finns inte", "Sidan kunde inte hittas"],
  Danish: ["Siden blev ikke fundet", "Siden findes ikke"],
  Norwegian: ["Siden ble ikke funnet", "Siden finnes ikke"],
  Finnish: ["Sivua ei löytynyt", "Sivua ei löydy"],
  Polish: ["Nie znaleziono strony", "Strona nie istnieje", "Strona nie została znaleziona"],
  Czech: ["Stránka nenalezena", "Stránka neexistuje", "Stránka nebyla nalezena"],
  Slovak: ["Stránka nenájdená", "Stránka nebola nájdená"],
  Hungarian: ["Az oldal nem található"],
  Romanian: ["Pagina nu a fost găsită", "Pagina nu există"],
  Russian: ["Страница не найдена", "Страница не существует"],
  Ukrainian: ["Сторінку не знайдено", "Сторінка не існує"],
  Bulgarian: ["Страницата не е намерена"],
  Greek: ["Η σελίδα δεν βρέθηκε", "Η σελίδα δεν υπάρχει"],
  Turkish: ["Sayfa bulunamadı", "Sayfa mevcut değil"],
  Arabic: ["الصفحة غير موجودة", "لم يتم العثور على الصفحة"],
  Persian: ["صفحه یافت نشد"],
  Hebrew: ["הדף לא נמצא"],
  Hindi: ["पृष्ठ नहीं मिला"],
  Thai: ["ไม่พบหน้านี้"],
  Vietnamese: ["Không tìm thấy trang"],
  Indonesian: ["Halaman tidak ditemukan"],
  Japanese: ["ページが見つかりません", "ページが見つかりませんでした"],
  Chinese: ["找不到页面", "页面不存在", "找不到網頁"],
  Korean: ["페이지를 찾을 수 없습니다"],
  "no language": [
    "404",
    "404 | Weirside",
    "Weirside – 404",
    "Error 404",
    "HTTP 404",
    "404 error",
    "Fehler 404",
    "410 Gone",
  ],
};

const OTHERS = [
  "The 404 bus to the mill",
  "Peugeot 404",
  "Room 410, first floor",
  "Lost and found",
  "How the gate was found",
  "Die Mühle am Fluss",
  "La page des moulins",
  "Die Seite 404 des Hauptbuchs",
  "Application",
  "",
];

describe("the title of an error page", () => {
  for (const [language, sayings] of Object.entries(SAYINGS))
    test(`is recognised in ${language}`, () => {
      const written = sayings.flatMap((saying) => [saying, saying.toUpperCase(), `${saying} | Weirside`]);
      // Capitals of Turkish need its own rules.
      const read = language === "Turkish" ? written.filter((saying) => !/İ|I/.test(saying)) : written;
      expect(read.filter((saying) => !sayMissing([saying]))).toEqual([]);
      expect(sayMissing(["Weirside", sayings[0] ?? ""])).toBe(true);
    });

  test("is not any other title, also with its number in it", () => {
    expect(OTHERS.filter((title) => sayMissing([title]))).toEqual([]);
  });
});

const words = (count: number): string =>
  Array.from({ length: count }, (_, index) => `word${index % 9}`).join(" ");
const document = (title: string, heading: string, body: string): string =>
  `<!doctype html><html><head><title>${title}</title></head><body><main><h1>${heading}</h1>${body}</main></body></html>`;

const extract = (html: string) =>
  extractBody({
    kind: "html",
    body: html,
    url: null,
    options: { ...DEFAULT_EXTRACTION, renderings: ["markdown"] },
  });

const saying = fc.constantFrom(...Object.values(SAYINGS).flat());
const plain = fc.constantFrom("The mill at the river", "Opening a gate", "Tides");

test("a page says that it is missing in its title or heading and in at most 60 words", async () => {
  await fc.assert(
    fc.asyncProperty(
      saying,
      plain,
      fc.integer({ min: 5, max: 300 }),
      fc.boolean(),
      async (said, other, count, inTitle) => {
        const [title, heading] = inTitle ? [said, other] : [other, said];
        const { article, saysMissing } = await extract(document(title, heading, `<p>${words(count)}.</p>`));
        expect(saysMissing).toBe((article?.wordCount ?? Number.POSITIVE_INFINITY) <= 60);
      },
    ),
    { numRuns: 150 },
  );
});

test("what an article says in its text is not said of the page", async () => {
  await fc.assert(
    fc.asyncProperty(saying, plain, fc.integer({ min: 5, max: 80 }), async (said, title, count) => {
      const body = `<p>${words(count)}.</p><p>It said: ${said}, and the miller went home.</p><p>${words(9)}.</p>`;
      expect((await extract(document(title, title, body))).saysMissing).toBe(false);
    }),
    { numRuns: 100 },
  );
});

test("a page of 60 words may say that it is missing, one of 61 is an article", async () => {
  const said = await Promise.all(
    [60, 61].map((count) => extract(document("Page not found", "Page not found", `<p>${words(count)}.</p>`))),
  );
  expect(said.map(({ article, saysMissing }) => [article?.wordCount, saysMissing])).toEqual([
    [60, true],
    [61, false],
  ]);
});
