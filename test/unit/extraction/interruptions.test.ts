import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const paragraph = (number: number): string =>
  `<p>Kiln ${number} at the ford was built in ${1700 + number} from clay of the eastern bank, and it burned for nine days at a time. What it made
  went down the river in flat boats, ${number + 2} loads a summer, and came to the roofs of the harbour.</p>`;
const PARAGRAPHS = [1, 2, 3, 4, 5].map(paragraph);

async function textWith(between: string): Promise<string> {
  const main = PARAGRAPHS.toSpliced(2, 0, between).join("");
  const html = `<!doctype html><html lang="en"><head><title>Kilns at the ford - Ford Gazette</title></head><body><header><a href="/">Ford Gazette</a></header>
  <main><article><h1>Kilns at the ford</h1>${main}</article></main><footer><p>© 2024 Ford Gazette.</p></footer></body></html>`;
  const text = (await extract(html)).article?.text ?? "";
  for (const number of [1, 2, 3, 4, 5]) expect(text).toContain(`Kiln ${number} at the ford`);
  return text;
}

describe("a pointer to another story is not part of an article, in", () => {
  const WORDS = {
    English: "Read also",
    German: "Lesen Sie auch",
    French: "À lire aussi",
    Spanish: "Lea también",
    Portuguese: "Leia também",
    Italian: "Leggi anche",
    Dutch: "Lees ook",
    Polish: "Czytaj także",
    Czech: "Přečtěte si také",
    Swedish: "Läs också",
    Russian: "Читайте также",
    Greek: "Διαβάστε επίσης",
    Chinese: "延伸阅读",
    Japanese: "関連記事",
  };
  for (const [language, words] of Object.entries(WORDS)) {
    const link = '<a href="/n/7">Stray barge sinks twice</a>';
    const FORMS = {
      "one line": `<p>${words}: ${link}</p>`,
      "a bold line": `<p><strong>${words.toUpperCase()}: ${link}</strong></p>`,
      "a box with a label": `<div class="b"><h4>${words}</h4><ul><li>${link}</li><li>${link}</li></ul></div>`,
    };
    for (const [form, markup] of Object.entries(FORMS))
      test(`${language}, as ${form}`, async () => expect(await textWith(markup)).not.toMatch(/Stray barge/));
  }

  test("but a line that only begins like one is", async () => {
    const site = '<p>Website: <a href="https://ford.test/">the kilns of the ford</a></p>';
    expect(await textWith(site)).toContain("Website: the kilns of the ford");
    const said =
      "Read more than one ledger before you believe the figures of the potters, she told us at the ford.";
    expect(await textWith(`<p>${said}</p>`)).toContain(said);
  });
});

describe("what asks readers for something is not part of an article:", () => {
  const BOXES = {
    "a box with a form":
      '<div class="k"><h4>Letters</h4><p>The best of the week in your inbox.</p><form><input type="email"><button>Join</button></form></div>',
    "a field without a form":
      '<section><h3>Letters</h3><p>Five stories in your inbox.</p><input type=email placeholder="Mail"></section>',
    "an aside that leads away": '<aside><p>Support your inbox: <a href="/m">become a member</a>.</p></aside>',
    "a label of an advertisement": "<div><span>Advertisement</span></div>",
  };
  for (const [kind, markup] of Object.entries(BOXES))
    test(kind, async () => expect(await textWith(markup)).not.toMatch(/inbox|Advertisement/));

  test("but what stands beside the field of a calculator is", async () => {
    const bricks =
      '<form>For <input type="text" value="9"> roofs</form><ul><li>900 bricks of clay</li><li>9 bags of lime</li></ul>';
    expect(await textWith(`<div>${bricks}</div>`)).toContain("900 bricks of clay");
  });
});

describe("what sells a subscription is not part of an article:", () => {
  const WORDS = ["Subscribe now", "Start your free trial", "Jetzt abonnieren", "Je m’abonne", "Подписаться"];
  const OFFER = "Choose the plan that suits you: four weeks for one euro, then nine a month.";
  const OFFERS: Readonly<Record<string, (words: string) => string>> = {
    "with a button": (words) =>
      `<div class="o"><h2>Go on with a plan</h2><p>${OFFER}</p><button>${words}</button><p>Already a reader? <a href="/in">Log in</a></p></div>`,
    "with a link": (words) => `<section><p>${OFFER}</p><p><a href="/plans">${words}</a></p></section>`,
  };
  for (const words of WORDS)
    for (const [form, offer] of Object.entries(OFFERS))
      test(`${words}, ${form}`, async () =>
        expect(await textWith(offer(words))).not.toContain("Choose the plan"));

  test("but a sentence about subscribing is", async () => {
    const said = "Whoever wants the tiles can <a href='/t'>subscribe</a> to a load a year, the potters say.";
    expect(await textWith(`<p>${said}</p>`)).toContain("to a load a year");
  });
});

describe("the line that ends a letter is not part of it,", () => {
  const letter = (last: string): string =>
    `<!doctype html><html lang="en"><head><title>Lake letter</title></head><body><table role="presentation"><tr><td><h1>Lake letter</h1></td></tr>${[1, 2, 3].map((number) => `<tr><td>${paragraph(number)}</td></tr>`).join("")}<tr><td>${last}</td></tr></table></body></html>`;
  const LINES = [
    'You receive this letter because you signed up. <a href="/u">Unsubscribe</a>',
    'Sie erhalten diesen Brief auf Wunsch. <a href="/u">Abmelden</a>',
    'Vous recevez cette lettre à votre demande. <a href="/u">Se désabonner</a>.',
    'Вы подписаны на это письмо. <a href="/u">Отписаться</a>',
  ];
  for (const line of LINES)
    test(line.replace(/<[^>]+>/g, ""), async () => {
      const text = (await extract(letter(line))).article?.text ?? "";
      expect(text).toContain("Kiln 3 at the ford");
      expect(text).not.toContain(line.slice(0, 12));
    });
});
