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

test("an export of a word processor keeps its short paragraphs, captions and notes", async () => {
  const styled = (name: string, text: string): string => `<p class="${name}">${text}</p>`;
  const prose = (number: number, note = ""): string =>
    styled(
      "Normal",
      `In ${1500 + number} the miller counts ${number} barges before the harbour closes its last gate, and writes them down.${note}`,
    );
  const item = (text: string): string =>
    `<p class="ListParagraph" style="text-indent:-.25in"><span style="font-family:Symbol">·<span>&nbsp;&nbsp; </span></span>${text}</p>`;
  const note = '<a href="#_n1" name="_r1"><span class="Ref"><span>[1]</span></span></a>';
  const body = [
    `<h1>Open a gate</h1>${prose(1, note)}${item("First river item")}${item("Second river item")}${prose(2)}${prose(3)}`,
    `<p class="Normal"><img width="300" height="200" src="g.png"></p>${styled("Caption", "Figure 1: the north gate")}`,
  ].join("");
  const notes = `<div><hr><div id="n1"><p class="NoteText"><a href="#_r1" name="_n1"><span>[1]</span></a> The ledger lies in the mill.</p></div></div>`;
  const { markdown } = await articleOf(
    `<html><head><title>Gate guide</title></head><body lang="en"><div class="Section1">${body}</div>${notes}</body></html>`,
  );
  for (const kept of ["- First river item", "- Second river item", "Figure 1: the north gate", "[^1]"])
    expect(markdown).toContain(kept);
  expect(markdown).toMatch(/^\[\^1\]: The ledger lies in the mill/m);
});

describe("a short list without links shares the fate of what it stands beside,", () => {
  const lists = {
    "split into lists of one item":
      '<ul class="b"><li>First item</li></ul><ul class="b"><li>Second item</li></ul>',
    "with one item": '<ul class="t"><li><span>Oil the hinge</span></li></ul>',
  };
  for (const [form, list] of Object.entries(lists))
    test(form, async () => {
      const markdown = await markdownOf(list);
      for (const [item] of list.matchAll(/[A-Z][a-z ]+(?=<)/g))
        expect(markdown).toMatch(new RegExp(`^[-*] ${item}$`, "m"));
    });
});
