import { expect, test } from "bun:test";
import { articleOf, PROSE, pageWith } from "../../support/extraction.ts";

const CODE = '<div class="highlight hl-python"><pre><span class="n">flow</span>.head()</pre></div>';
const cell = (output: string): string =>
  `<div class="jp-Cell jp-CodeCell"><div class="in"><div class="prompt">In [1]:</div>${CODE}</div><div class="out">${output}</div></div>`;

test("what code gave stands below it, however small", async () => {
  const table =
    "<table><thead><tr><th></th><th>mill</th></tr></thead><tbody><tr><th>0</th><td>Upper 2 1</td></tr></tbody></table>";
  const plot = '<img src="/plot.png" alt="Flow by month" width="400" height="300">';
  const { markdown } = await articleOf(
    pageWith(
      `${cell(table)}<p>${PROSE}</p>${cell(plot)}<p>${PROSE}</p>${cell(table.replace("Upper", "Lower"))}`,
    ),
  );
  expect(markdown).toContain("Upper 2 1");
  expect(markdown).toContain("![Flow by month]");
  expect(markdown).toContain("Lower 2 1");
  expect(markdown?.match(/flow\.head\(\)/g)).toHaveLength(3);
});

test("a field that readers can only read shows its text, such as a citation to copy", async () => {
  const cited = "@article{toldvik2019,\n  title={Ledgers of a ferry},\n  year={2019}\n}";
  const { markdown } = await articleOf(pageWith(`<textarea readonly rows="6">${cited}</textarea>`));
  expect(markdown).toContain(`\`\`\`\n${cited}\n\`\`\``);
});

test("but not what readers write, or the code that embeds the page elsewhere", async () => {
  const fields = `<textarea>Write to us about the ferry here</textarea><textarea readonly>&lt;b>bold&lt;/b><iframe src="/e"></iframe></textarea>`;
  const { markdown } = await articleOf(pageWith(fields));
  expect(markdown).not.toMatch(/Write to us|iframe/);
});
