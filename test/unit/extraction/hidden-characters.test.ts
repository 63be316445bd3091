import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { articleOf, extract, innerText, jsonLd, PAGE_URL, pageWith } from "../../support/extraction.ts";

const HIDDEN: Readonly<Record<string, string>> = {
  "zero-width space": "\u200b",
  "word joiner": "\u2060",
  "invisible times": "\u2062",
  "byte order mark": "\ufeff",
  "soft hyphen": "\u00ad",
  "combining grapheme joiner": "\u034f",
  "left-to-right mark": "\u200e",
  "Arabic letter mark": "\u061c",
  "right-to-left override": "\u202e",
  "pop directional formatting": "\u202c",
  "first strong isolate": "\u2068",
  "tag letter": "\u{e0041}",
  "cancel tag": "\u{e007f}",
  "Hangul filler": "\u3164",
  "annotation anchor": "\ufff9",
  noncharacter: "\ufdd0",
  bell: "\u0007",
  "next line": "\u0085",
  "lone zero-width joiner": "\u200d",
  "lone zero-width non-joiner": "\u200c",
  "selector of a letter": "\ufe0f",
  "ideographic selector of a letter": "\u{e0101}",
};

/** Characters that change the one before them, where they can. */
const SHAPERS = new Set([
  "\u200c",
  "\u200d",
  "\ufe0f",
  "\ufe01",
  "\u{e0100}",
  "\u{e0101}",
  "\u{e0130}",
  "\u{e0155}",
]);
const NEVER_SHOWN = Object.values(HIDDEN).filter((character) => !SHAPERS.has(character));

/** All that an extraction says, as one text; line breaks and tabs aside it shows every character. */
async function everything(html: string, url: string | null = PAGE_URL): Promise<string> {
  const { article, links } = await extract(html, { url });
  return [article, links]
    .flatMap((part) =>
      JSON.stringify(part, (_key, value) => (typeof value === "string" ? encodeURI(value) : value)),
    )
    .map(decodeURI)
    .join("\n");
}

const pageHiding = (secret: string): string =>
  pageWith(
    `<p>a${secret}b <a href="/r${secret}" title="t${secret}">link${secret}</a></p>
     <img src="i${secret}.png" alt="alt${secret}" title="t${secret}" width="${secret}10">
     <p lang="e${secret}n" dir="${secret}">x</p><ol start="${secret}2" type="${secret}"><li value="${secret}3">y</li></ol>
     <pre>c${secret}ode</pre><blockquote cite="q${secret}">z</blockquote><time datetime="${secret}">t</time>`,
    `<title>T${secret}</title><meta name="description" content="d${secret}"><meta property="og:site_name" content="s${secret}">
     <meta name="author" content="w${secret}">${jsonLd({ "@type": "Article", author: `w${secret}` })}`,
  );

describe("characters that nobody sees", () => {
  for (const [name, character] of Object.entries(HIDDEN)) {
    test(`such as a ${name} are in no rendering and no metadata`, async () => {
      for (const url of [PAGE_URL, null]) {
        expect(await everything(pageHiding(character), url)).not.toContain(character);
        const code = `&#x${character.codePointAt(0)?.toString(16)};`;
        expect(await everything(pageHiding(code), url)).not.toContain(character);
      }
    });
  }

  test("do not come through Markdown and plain text bodies either", async () => {
    const body = "# T\u200bitle\n\nign\u202eore \u{e0041}\u{e0042}this ![a\u200bb](/i.png)";
    for (const kind of ["markdown", "plain"] as const) {
      const article = await articleOf(body, { kind });
      const said = [article.title, article.text, article.markdown, article.content].join("\n");
      expect(said).not.toMatch(/[\u200b\u202e\u{e0041}\u{e0042}]/u);
      expect(article.text).toContain("ignore this");
    }
  });

  test("leave the words around them together", async () => {
    expect(innerText((await articleOf(pageWith("<p>hy\u00adphen\u200bated</p>"))).text)).toBe("hyphenated");
  });

  test("spell no secret as a run of joiners or selectors behind one character", async () => {
    const secret = `🙂${"\u200d\u200c".repeat(40)} ☂${"\ufe0f\ufe01\u{e0130}".repeat(40)} 葛${"\u{e0100}\u{e0155}".repeat(40)}`;
    const { text } = await articleOf(pageWith(`<p>${secret}</p>`));
    expect([...text].filter((character) => SHAPERS.has(character))).toHaveLength(3);
  });
});

describe("characters that shape what people see", () => {
  for (const visible of [
    "👩‍👩‍👧 family",
    "❤️ heart",
    "1️⃣ keycap",
    "می‌خواهم",
    "क्‍ष",
    "葛\u{e0100}城",
    "👍🏽‍ x",
    "😶‍🌫️ fog",
  ]) {
    test(`stay in ${visible}`, async () => {
      const article = await articleOf(pageWith(`<p>${visible}</p>`));
      expect(innerText(article.text)).toBe(visible);
      expect(article.markdown).toContain(visible);
    });
  }
});

test("no text keeps a character that shows nothing, whatever stands around it", async () => {
  const characters = fc.constantFrom(..."ab 🙂葛ن❤", ...Object.values(HIDDEN));
  await fc.assert(
    fc.asyncProperty(fc.array(characters, { maxLength: 30 }), async (parts) => {
      const { text } = await articleOf(pageWith(`<p>x${parts.join("")}</p>`));
      const characters = [...text.slice(0, text.lastIndexOf("\n"))];
      for (const [index, character] of characters.entries()) {
        expect(NEVER_SHOWN).not.toContain(character);
        if (SHAPERS.has(character)) expect("ab \n").not.toContain(characters[index - 1] ?? " ");
      }
    }),
    { numRuns: 150 },
  );
});
