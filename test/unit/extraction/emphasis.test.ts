import { describe, expect, test } from "bun:test";
import { articleOf, PROSE, pageWith } from "../../support/extraction.ts";

const SHEET =
  "<style>.c1{color:#000;font-weight:700;text-decoration:none}.c2{font-style:italic}.c3{font-weight:400}.c4{font-weight:700;font-style:italic}</style>";
const markdownOf = async (html: string, head = SHEET): Promise<string> =>
  (await articleOf(pageWith(html, head))).markdown ?? "";

describe("words that a style makes stand out are marked,", () => {
  const WAYS: Readonly<Record<string, readonly [span: string, written: string]>> = {
    "bold by a class": ['<span class="c1">four barges</span>', "**four barges**"],
    "italic by a class": ['<span class="c2">four barges</span>', "*four barges*"],
    "both by a class": ['<span class="c4">four barges</span>', "_**four barges**_"],
    "bold by its own style": [
      '<span style="color: red; font-weight: bold">four barges</span>',
      "**four barges**",
    ],
    "italic by its own style": ['<font style="font-style:italic">four barges</font>', "*four barges*"],
    "not by another class": ['<span class="c3">four barges</span>', "counts four barges before"],
  };
  for (const [way, [span, written]] of Object.entries(WAYS))
    for (const block of ["p", "li", "blockquote"])
      test(`${way} in <${block}>`, async () => {
        const inner = `<${block}>The miller counts ${span} before the gate closes, and writes them down.</${block}>`;
        expect(await markdownOf(block === "li" ? `<ul>${inner}</ul>` : inner)).toContain(written);
      });
});

describe("a style marks nothing", () => {
  test("where all of a paragraph or a heading has it", async () => {
    const whole = '<span class="c1">The miller counts four barges before the gate closes.</span>';
    const markdown = await markdownOf(
      `<p>${whole}</p><h2><span class="c1">Open</span> a gate</h2><p>${PROSE}</p>`,
    );
    expect(markdown).not.toContain("**");
    expect(markdown).toContain("## Open a gate");
  });

  test("twice", async () => {
    const span = '<b><span class="c1">four</span></b>';
    expect(await markdownOf(`<p>The miller counts ${span} barges before the gate closes.</p>`)).toContain(
      "counts **four** barges",
    );
  });
});

describe("a link by way of a page that counts clicks leads where it says:", () => {
  const LINKS = {
    "https://www.search.test/url?q=https://ledger.test/book?a%3D1&amp;sa=D": "https://ledger.test/book?a=1",
    "https://l.social.test/l.php?u=https%3A%2F%2Fledger.test%2Fa&amp;h=1": "https://ledger.test/a",
    "https://site.test/away.php?to=https%3A%2F%2Fledger.test%2Fa": "https://ledger.test/a",
    "https://site.test/redirect/?url=/own": "https://site.test/redirect/?url=/own",
    "https://site.test/login?url=https%3A%2F%2Fledger.test%2Fa":
      "https://site.test/login?url=https%3A%2F%2Fledger.test%2Fa",
    "https://site.test/out?url=javascript:alert(1)": "https://site.test/out?url=javascript:alert(1)",
  };
  for (const [href, target] of Object.entries(LINKS))
    test(href, async () => {
      const { markdown } = await articleOf(
        pageWith(`<p>All is in the <a href="${href}">ledger</a> of the mill.</p>`),
      );
      expect(markdown?.replaceAll("\\", "")).toContain(
        `[ledger](${target.replace("alert(1)", "alert%281%29")}`.slice(0, 40),
      );
      expect(markdown).not.toMatch(/\]\(javascript/);
    });
});

test("a title that an export writes as a paragraph is not repeated", async () => {
  const { title, text } = await articleOf(
    `<html><head><title>Gate guide</title></head><body><p class="title"><span>Gate guide</span></p><h1>Open a gate</h1><p>${PROSE}</p><p>${PROSE}</p></body></html>`,
  );
  expect(title).toBe("Gate guide");
  expect(text).not.toContain("Gate guide");
});
