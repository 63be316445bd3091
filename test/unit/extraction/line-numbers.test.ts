import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

const LINES = ["gauge = read()", "    wait(3)", "", "print(gauge)"];

/** The shapes in which highlighters write the number of a line before it. */
const ROWS: Readonly<Record<string, (line: string, number: number) => string>> = {
  "with a class": (line, number) => `<span class="linenumber">${number}</span><span>${line}\n</span>`,
  "that nobody can select": (line, number) =>
    `<span style="display:flex"><span style="white-space:pre;user-select:none;margin-right:.4em"> ${number}</span><span>${line}\n</span></span>`,
  "with no mark": (line, number) => `<span>${number}</span><span>${line}\n</span>`,
  "in rows with no mark": (line, number) =>
    `<span style="display:flex"><span style="padding-right:1em">${number}</span><span>${line}\n</span></span>`,
  "in rows without breaks": (line, number) =>
    `<span style="display: block"><span>${number}</span><span>${line}</span></span>`,
  "in boxes": (line, number) => `<div><i>${number}</i><span>${line}</span></div>`,
};

describe("numbers of lines are no code", () => {
  for (const [shape, row] of Object.entries(ROWS)) {
    for (const start of [1, 9, 98]) {
      test(`${shape} from ${start} on`, async () => {
        const rows = LINES.map((line, index) => row(line, start + index)).join("");
        const { markdown, text } = await articleOf(
          pageWith(`<pre><code class="language-python">${rows}</code></pre>`),
        );
        expect(markdown).toContain(`\`\`\`python\n${LINES.join("\n")}\n\`\`\``);
        expect(text).toContain(LINES.join("\n"));
      });
    }
  }
});

describe("numbers in the cell before the code", () => {
  const table = (numbers: string, code: string): string =>
    pageWith(
      `<table class="x1"><tr><td class="x2"><pre>${numbers}</pre></td><td class="x3"><pre>${code}</pre></td></tr></table>`,
    );
  test.each([
    ["with line breaks", "9\n10\n11\n12"],
    ["with elements", "<i>1</i><br><i>2</i><br><i>3</i><br><i>4</i><br>"],
  ])("are left out, %s and without a known class", async (_, numbers) => {
    const { markdown } = await articleOf(table(numbers, LINES.join("\n")));
    expect(markdown).toContain(`\`\`\`\n${LINES.join("\n")}\n\`\`\``);
    expect(markdown).not.toMatch(/^\d+$/m);
  });
  test("stay where they do not count", async () => {
    expect((await articleOf(table("10\n20\n40", LINES.join("\n")))).markdown).toContain("10\n20\n40");
  });
});

describe("numbers of the code stay", () => {
  for (const [name, code] of Object.entries({
    "of a list": "<span>1</span>\n<span>2</span>\n<span>3</span>",
    "with a class": '<span class="number">1</span> mill\n<span class="number">2</span> mills',
    "in columns": "<span>1</span>,mill\n<span>2</span>,mills",
    "that do not count on": "<span>10</span> mill\n<span>20</span> mills",
    "of some lines": "<span>1</span> mill\nnone\n<span>2</span> mills",
  })) {
    test(name, async () => {
      const { markdown } = await articleOf(pageWith(`<pre><code>${code}</code></pre>`));
      expect(markdown).toContain(`\`\`\`\n${code.replace(/<[^>]{1,40}>/g, "")}\n\`\`\``);
    });
  }
});
