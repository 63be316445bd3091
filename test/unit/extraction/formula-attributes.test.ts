import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

const markdownOf = async (html: string): Promise<string> =>
  (await articleOf(pageWith(`<p>The level is ${html} at noon.</p>`))).markdown ?? "";

describe("the source of a formula in an attribute", () => {
  for (const attribute of ["data-math", "data-tex", "data-latex", "data-formula"]) {
    test(`stands for what is drawn: ${attribute}`, async () => {
      const drawn = "<span>h</span><sub><span>0</span></sub>";
      const markdown = await markdownOf(`<span class="f" ${attribute}="h_0 + \\frac{1}{2}">${drawn}</span>`);
      expect(markdown).toContain("The level is $h_0 + \\frac{1}{2}$ at noon.");
    });
    test(`is none where it is a setting: ${attribute}`, async () => {
      for (const value of ["true", "3", "inline", ""])
        expect(await markdownOf(`<span class="f" ${attribute}="${value}">two ells</span>`)).toContain(
          "The level is two ells at noon.",
        );
    });
  }

  test("in a box is a block", async () => {
    const { markdown } = await articleOf(
      pageWith(`<div class="f" data-math="h = 2w"><span>h = 2w</span></div>`),
    );
    expect(markdown).toContain("$$\nh = 2w\n$$");
  });
});
