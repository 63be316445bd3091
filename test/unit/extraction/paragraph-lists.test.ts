import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

const ITEMS = [
  "Oil the hinge of the gate before the frost.",
  "Count the barges at noon and write them down.",
  "Close the weir in the evening, when all are home.",
];
const STYLES = ["text-indent:-.25in", "margin-left:36.0pt;text-indent:-18.0pt;mso-list:l0 level1 lfo1"];
const item = (sign: string, words: string, style: string): string =>
  `<p class=MsoListParagraph style='${style}'><span style='font-family:Symbol'>${sign}<span>&nbsp;&nbsp;&nbsp;&nbsp; </span></span>${words}</p>`;
const markdownOf = async (html: string): Promise<string> =>
  (await articleOf(pageWith(`<p>What to do at the weir:</p>${html}`))).markdown ?? "";

describe("paragraphs with a hanging sign are a list", () => {
  for (const style of STYLES) {
    for (const sign of ["·", "•", "o", "§"]) {
      test(`${sign} with ${style}`, async () => {
        const markdown = await markdownOf(ITEMS.map((words) => item(sign, words, style)).join("\n"));
        expect(markdown).toContain(ITEMS.map((words) => `- ${words}`).join("\n"));
      });
    }

    test(`numbers with ${style}`, async () => {
      const markdown = await markdownOf(
        ITEMS.map((words, index) => item(`${index + 3}.`, `<b>${words}</b>`, style)).join("\n"),
      );
      expect(markdown).toContain(ITEMS.map((words, index) => `${index + 3}. **${words}**`).join("\n"));
    });
  }

  test("with inner items", async () => {
    const levels = [1, 2, 1].map((level) => `text-indent:-18.0pt;mso-list:l0 level${level} lfo1`);
    const markdown = await markdownOf(
      ITEMS.map((words, index) => item("·", words, levels[index]!)).join("\n"),
    );
    expect(markdown).toContain(`- ${ITEMS[0]}\n  - ${ITEMS[1]}\n- ${ITEMS[2]}`);
  });

  test("but not what hangs without a sign, or has a sign and does not hang", async () => {
    const hanging = ITEMS.map((words) => `<p style="text-indent:-2em">${words}</p>`).join("");
    expect(await markdownOf(hanging)).not.toContain("- ");
    expect(await markdownOf(`<p>o&nbsp; ${ITEMS[0]}</p>`)).not.toContain("- ");
  });
});
