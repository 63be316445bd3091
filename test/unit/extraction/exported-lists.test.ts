import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

const ITEMS = ["Oil the hinge of the gate.", "Count the barges at noon.", "Close the weir in the evening."];
const join = (write: (item: string, index: number) => string): string => ITEMS.map(write).join("\n");
const markdownOf = async (html: string): Promise<string> =>
  (await articleOf(pageWith(`<p>What to do at the weir:</p>${html}`))).markdown ?? "";
const written = (mark: (index: number) => string): string =>
  ITEMS.map((item, index) => `${mark(index)} ${item}`).join("\n");

describe("numbered lists that count on are one list", () => {
  test("with numbers that count on", async () => {
    const lists = join((item, index) => `<ol start="${index + 1}"><li>${item}</li></ol>`);
    expect(await markdownOf(lists)).toContain(written((index) => `${index + 1}.`));
  });

  test("inside an item", async () => {
    const inner = join((item, index) => `<ol start="${index + 4}"><li>${item}</li></ol>`);
    expect(await markdownOf(`<ul><li>Each day:${inner}</li><li>Rest.</li></ul>`)).toContain(
      written((index) => `  ${index + 4}.`),
    );
  });

  test("but not where each has its own numbers", async () => {
    const numbered = await markdownOf(join((item) => `<ol><li>${item}</li></ol>`));
    expect(numbered).toContain(`1) ${ITEMS[1]}`);
  });
});

/** How tools write tasks without a box that a browser would show. */
const TASKS: Readonly<Record<string, (items: string) => string>> = {
  "a class of the item": () =>
    `<ul class="inline-task-list">${join((item, index) => `<li class="${index === 1 ? "" : "checked"}"><span>${item}</span></li>`)}</ul>`,
  "a class of its text": () =>
    `<ul class="to-do-list">${join(
      (item, index) =>
        `<li><div class="box"></div> <span class="to-do-children-${index === 1 ? "un" : ""}checked">${item}</span></li>`,
    )}</ul>`,
};

describe("tasks that tell by names what is done", () => {
  for (const [shape, write] of Object.entries(TASKS)) {
    test(shape, async () => {
      expect(await markdownOf(write(""))).toContain(written((index) => (index === 1 ? "- [ ]" : "- [x]")));
    });
  }

  test("but no list of checked things", async () => {
    const list = `<ul class="checklist">${join((item) => `<li class="checked">${item}</li>`)}</ul>`;
    expect(await markdownOf(list)).toContain(written(() => "-"));
  });
});

describe("a panel of code", () => {
  test("has its language and its title", async () => {
    const markdown = await markdownOf(
      `<div class="code panel"><div class="codeHeader panelHeader"><b>gate.sh</b></div><div class="codeContent"><pre data-syntaxhighlighter-params="brush: bash; gutter: false; theme: Weir">gate --open\n  --slow</pre></div></div>`,
    );
    expect(markdown).toContain("**gate.sh**\n\n```bash\ngate --open\n  --slow\n```");
  });
});
