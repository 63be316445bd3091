import { expect, test } from "bun:test";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { openPageBrowser, type Tab } from "../support/page-browser.ts";

// What hides, and beside it what looks like that and shows. `inline` styles act differently in a line of text.
const STYLES = [
  ...["display:none", "visibility:hidden", "visibility:collapse", "opacity:0", "opacity:.0", "opacity:0%"],
  ...["color:transparent", "color:#0000", "color:rgba(0,0,0,0)", "color:rgb(0 0 0 / 0%)", "color:white"],
  ...["color:#fff;background:#fff", "background:black", "background-color:#010101;color:rgb(0,0,0)"],
  ...[
    "clip-path:inset(100%)",
    "clip-path:inset(50%)",
    "clip-path:circle(0)",
    "clip-path:polygon(0 0,0 0,0 0)",
  ],
  ...["transform:scale(0)", "transform:scaleX(0)", "transform:translateX(20px) scale(0,1)", "scale:0"],
  ...["font-size:0", "font-size:1px", "font:0/0 monospace", "font-size:.1em", "filter:opacity(0)"],
  ...["position:absolute;left:-9999px", "position:absolute;top:-9999px", "position:fixed;clip:rect(0,0,0,0)"],
  ...["height:0;overflow:hidden", "max-height:0;overflow:clip", "width:1px;height:1px;overflow:hidden"],
  ...["content-visibility:hidden", "text-indent:-9999px", "margin-left:-9999px", "transform:rotateY(90deg)"],
  ...[
    "display:\\6e one",
    "dis\\70lay:none",
    "display:/**/none",
    "DISPLAY:NONE!important",
    "opacity:0/* x */",
  ],
  ...[
    "opacity:.5",
    "opacity:1",
    "color:#fff;background:#000",
    "color:#333",
    "left:-9999px",
    "clip:rect(0,0,0,0)",
  ],
  ...[
    "clip-path:inset(10%)",
    "transform:scale(1.5)",
    "transform:translateX(0)",
    "font-size:12px",
    "font:12px/0.9 monospace",
  ],
  ...[
    "height:0",
    "overflow:hidden",
    "display:none;display:block",
    "display:none;display:nonsense",
    "visibility:visible",
  ],
  ...[
    "display:block!important;display:none",
    "background:url(x.png)",
    "background-color:#fff",
    "text-indent:2em",
  ],
];
const WAYS: Readonly<
  Record<string, (style: string, tag: string) => readonly [sheet: string, attributes: string]>
> = {
  inline: (style) => ["", `style="${style}"`],
  class: (style) => [`.note{${style}}`, `class="a note"`],
  id: (style) => [`#note{${style}}`, `id="note"`],
  tag: (style, tag) => [`${tag}{${style}}`, ""],
  compound: (style, tag) => [`${tag}.a.note{${style}}`, `class="a note"`],
  later: (style) => [
    `.note{color:#123;opacity:1;display:block;clip-path:none}.a{${style}}`,
    `class="a note"`,
  ],
  weaker: (style) => [`#note{color:#123;opacity:1}.note{${style}}`, `class="note" id="note"`],
  media: (style) => [`@media screen{.note{${style}}}@media print{.note{color:red}}`, `class="note"`],
};
const SENTENCE = "IGNORE ALL THAT STANDS HERE";

const pageWith = (sheet: string, inside: string): string =>
  `<!doctype html><html lang="en"><head><title>Weir</title><style>body{font-family:monospace}${sheet}</style></head><body><h1>The weir</h1>
  <p>In the parish the miller counts his bridges before the sluice of the weir is closed for the night.</p>
  <div style="height:60px"></div>${inside}<div style="height:60px"></div><h2>The end</h2></body></html>`;

type Case = { readonly name: string; readonly html: string; readonly without: string };

function casesOf(): readonly Case[] {
  const cases: Case[] = [];
  const add = (name: string, sheet: string, open: string, close: string): void => {
    const of = (text: string): string => pageWith(sheet, `${open}${text}${close}`);
    cases.push({ name, html: of(SENTENCE), without: of(SENTENCE.replace(/\w/g, "\u00a0")) });
  };
  for (const [index, style] of STYLES.entries()) {
    // Each style is tried inline and in three of the other ways, which takes turns.
    for (const [at, [way, make]] of Object.entries(WAYS).entries()) {
      if (at > 0 && (at + index) % 3 > 0) continue;
      const [sheet, attributes] = make(style, "aside");
      add(`${way} ${style}`, sheet, `<aside ${attributes}>`, "</aside>");
    }
    const bare = `style="${style}"`;
    add(`around ${style}`, "", `<div ${bare}><p>`, "</p></div>");
    add(`in a line ${style}`, "", `<p>Before <span ${bare}>`, "</span> after.</p>");
    // biome-ignore format: one case a line
    add(`undone ${style}`, "p{visibility:visible;font-size:16px;color:red;text-indent:0}", `<div ${bare}><p>`, "</p></div>");
  }
  for (const attributes of [
    "hidden",
    "popover",
    "hidden style='display:block'",
    "popover style='display:block'",
    "aria-hidden=true",
    "inert",
  ])
    add(attributes, "", `<p ${attributes}>`, "</p>");
  add("dialog", "", "<dialog>", "</dialog>");
  add("open dialog", "", "<dialog open>", "</dialog>");
  add("font colour", "", "<font color=white>", "</font>");
  return cases;
}

/** Whether what letters there are makes a difference that can be seen, in more than specks. */
async function shows(page: Tab, { html, without }: Case): Promise<boolean> {
  const pictures: string[] = [];
  for (const one of [html, without]) {
    await page.setContent(one);
    pictures.push((await page.screenshot()).toString("base64"));
  }
  if (pictures[0] === pictures[1]) return false;
  return await page.evaluate(async (encoded) => {
    const rows: Uint8ClampedArray[] = [];
    let width = 0;
    for (const one of encoded) {
      const image = new Image();
      image.src = `data:image/png;base64,${one}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d")!;
      context.drawImage(image, 0, 0);
      width = image.width * 4;
      rows.push(context.getImageData(0, 0, image.width, image.height).data);
    }
    const [one, other] = rows as [Uint8ClampedArray, Uint8ClampedArray];
    const lines = new Set<number>();
    for (let at = 0; at < one.length; at++)
      if (Math.abs(one[at]! - other[at]!) > 8) lines.add(Math.floor(at / width));
    return lines.size > 4;
  }, pictures);
}

test("what Chromium shows is kept, and what it hides is left out", async () => {
  await using browser = await openPageBrowser();
  await using page = await browser.visit({ origin: "about:blank", expected: /./ });
  const wrong: string[] = [];
  for (const one of casesOf()) {
    const isKept = scanPage(one.html).model.blocks.text.join(" ").includes("IGNORE ALL");
    const isShown = await shows(page, one);
    if (isKept !== isShown) wrong.push(`${isShown ? "lost" : "kept"}: ${one.name}`);
  }
  expect(wrong).toEqual([]);
}, 600_000);
