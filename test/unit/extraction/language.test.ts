import { describe, expect, test } from "bun:test";
import { articleOf } from "../../support/extraction.ts";

// These texts about the tide mill were written for this test.
const TEXTS: Readonly<Record<string, string>> = {
  en: "The mill at the mouth of the river has turned again since the spring. The people who live beside it say that they sleep better with its sound, and that the harbour is theirs once more.",
  de: "Die Mühle an der Mündung des Flusses dreht sich seit dem Frühjahr wieder. Die Leute, die neben ihr wohnen, sagen, dass sie mit ihrem Geräusch besser schlafen und dass der Hafen wieder ihnen gehört.",
  fr: "Le moulin à l'embouchure de la rivière tourne de nouveau depuis le printemps. Les gens qui habitent à côté disent qu'ils dorment mieux avec son bruit et que le port est de nouveau à eux.",
  es: "El molino en la desembocadura del río vuelve a girar desde la primavera. La gente que vive a su lado dice que duerme mejor con su sonido y que el puerto es suyo otra vez.",
  it: "Il mulino alla foce del fiume gira di nuovo dalla primavera. La gente che abita lì accanto dice che dorme meglio con il suo rumore e che il porto è di nuovo suo.",
  pl: "Młyn u ujścia rzeki znowu się obraca od wiosny. Ludzie, którzy mieszkają obok, mówią, że śpią lepiej przy jego dźwięku i że port znowu należy do nich.",
  ru: "Мельница в устье реки снова вращается с весны. Люди, которые живут рядом с ней, говорят, что лучше спят под её звук и что гавань снова принадлежит им.",
  fi: "Joen suulla oleva mylly on pyörinyt taas keväästä lähtien. Sen vieressä asuvat ihmiset sanovat, että he nukkuvat paremmin sen äänen kanssa ja että satama on taas heidän.",
  ja: "川の河口にある水車は春からまた回っています。その隣に住む人々は、その音でよく眠れるようになり、港がふたたび自分たちのものになったと言っています。観光客も毎日のように訪れ、水車小屋のまわりはとてもにぎやかです。",
  zh: "河口的水磨从春天开始又转动起来。住在旁边的人说，他们伴着它的声音睡得更好，港口又重新属于他们了。每天都有许多游客来参观，水磨周围变得十分热闹，孩子们也喜欢在那里玩耍。",
};

const page = (text: string, lang: string | null = null, times = 1): string =>
  `<html${lang === null ? "" : ` lang="${lang}"`}><body><article>${`<p>${text}</p>`.repeat(times)}</article></body></html>`;

describe("the language", () => {
  for (const [language, text] of Object.entries(TEXTS)) {
    test(`of a text in ${language} is told where the page names none`, async () => {
      const { lang, language: told, sources } = await articleOf(page(text));
      expect([lang, told, sources.language]).toEqual([null, language, "text"]);
    });

    test(`of a text in ${language} is what the page says`, async () => {
      const claim = language === "en" ? "en-GB" : `${language}-AQ`;
      expect(await articleOf(page(text, claim))).toMatchObject({
        lang: claim,
        language: claim,
        sources: { language: "lang" },
      });
    });
  }

  test("is not English on a page in another language whose template says so", async () => {
    const { lang, language, sources } = await articleOf(page(TEXTS.de!, "en-US", 3));
    expect([lang, language, sources.language]).toEqual(["en-US", "de", "text"]);
  });

  for (const language of ["ja", "zh"]) {
    test(`is ${language} where a short text of that script is said to be English`, async () => {
      expect(await articleOf(page(TEXTS[language]!, "en"))).toMatchObject({
        language,
        sources: { language: "text" },
      });
    });
  }

  test("is English where an English text quotes another script", async () => {
    expect((await articleOf(page(`${TEXTS.en} ${TEXTS.zh!.slice(0, 40)}`, "en"))).language).toBe("en");
  });

  test("is what the page says where its text is too short or no prose", async () => {
    expect((await articleOf(page("Die Mühle dreht sich.", "en"))).language).toBe("en");
    const names = "Harbour Street 12, Quay Lane 7, Mill Road 3, Ann Quay, Ben Weir, Tide Gate 9. ".repeat(8);
    expect((await articleOf(page(names, "en"))).language).toBe("en");
  });

  test("is null where a text is too short to tell", async () => {
    for (const text of [
      "word",
      "Tides",
      "Hello there, all of you",
      "1 2 3 4 5 6 7 8 9 ".repeat(30),
      "x ".repeat(200),
    ])
      expect((await articleOf(page(text))).language).toBeNull();
  });

  test("is that of a Markdown body, too", async () => {
    expect((await articleOf(`# Mühle\n\n${TEXTS.de}`, { kind: "markdown" })).language).toBe("de");
  });
});
