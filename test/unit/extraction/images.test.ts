import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

/** The sources of the content's images, without the origin. */
async function sourcesOf(inner: string): Promise<string[]> {
  const { content } = await articleOf(pageWith(inner));
  return [...(content ?? "").matchAll(/<img[^>]* src="https:\/\/site\.test([^"]*)"/g)].map(
    ([, path = ""]) => path,
  );
}

describe("an image", () => {
  const cases: readonly (readonly [what: string, html: string, source: string | null])[] = [
    ["with a plain source keeps it", `<img src="a.png">`, "/dir/a.png"],
    [
      "is the one that a script would load later",
      `<img src="data:image/gif;base64,R0" data-src="/lazy.png">`,
      "/lazy.png",
    ],
    ["with an empty source is the lazy one", `<img src="" data-original="/lazy.png">`, "/lazy.png"],
    ["without any source goes", `<img alt="nothing">`, null],
    ["that is only a placeholder goes", `<img src="data:image/gif;base64,R0">`, null],
    [
      "is the widest of its set",
      `<img src="/s.png" srcset="/m.png 400w, /l.png 1200w, /s.png 200w">`,
      "/l.png",
    ],
    ["is the densest of its set", `<img src="/s.png" srcset="/s.png, /x2.png 2x, /x15.png 1.5x">`, "/x2.png"],
    [
      "has a set without spaces after its commas",
      `<img src="/s.png" srcset="/a.png 1x,/b.png 2x">`,
      "/b.png",
    ],
    [
      "may have commas in its address",
      `<img srcset="/w_100,h_50/a.png 100w, /w_900,h_450/a.png 900w">`,
      "/w_900,h_450/a.png",
    ],
    [
      "has a lazy set beside a placeholder",
      `<img srcset="data:image/gif;base64,R0 1w" data-srcset="/a.png 1x, /b.png 3x">`,
      "/b.png",
    ],
    [
      "is the best of its picture's sources",
      `<picture><source srcset="/a.webp 1x, /b.webp 2x"><img src="/c.png"></picture>`,
      "/b.webp",
    ],
    ["inside a plain picture keeps its source", `<picture><source><img src="/c.png"></picture>`, "/c.png"],
    ["of one pixel goes", `<img src="/track.gif" width="1" height="1">`, null],
    ["of no size goes", `<img src="/track.gif" width="0px" height="0">`, null],
    ["that is a thin line stays", `<img src="/line.png" width="600" height="1">`, "/line.png"],
    ["over ftp goes", `<img src="ftp://site.test/a.png">`, null],
    ["with a broken set keeps its source", `<img src="/a.png" srcset=", ,, ">`, "/a.png"],
  ];
  for (const [what, html, source] of cases) {
    test(what, async () => {
      expect(await sourcesOf(`<p>before</p>${html}<p>after</p>`)).toEqual(source === null ? [] : [source]);
    });
  }

  test("keeps its alternative text, its title and its size, and nothing else", async () => {
    const { content } = await articleOf(
      pageWith(
        `<img src="/a.png" alt="A &quot;mill&quot;" title="Old" width=640 height=480 loading=lazy decoding=async sizes=100vw srcset="">`,
      ),
    );
    expect(content).toContain(
      `<img src="https://site.test/a.png" alt="A &quot;mill&quot;" title="Old" width="640" height="480">`,
    );
  });

  test("with a set of a megabyte of anything is decided on in one pass", async () => {
    for (const set of [
      " ".repeat(1e6),
      `x${" ".repeat(5e5)}x${" ".repeat(5e5)}`,
      ",".repeat(1e6),
      "a, ".repeat(3e5),
      "a ,".repeat(3e5),
      `a ${"1".repeat(1e6)}x`,
    ]) {
      expect(await sourcesOf(`<img src="/a.png" srcset="${set}">`)).toHaveLength(1);
    }
  });
});

describe("a picture that is written in its address", () => {
  const picture = (length: number): string => `data:image/png;base64,${"A".repeat(length)}`;
  const shown = async (html: string, keepsDataPictures = true): Promise<string> =>
    (await articleOf(pageWith(`<p>before</p>${html}<p>after</p>`), { keepsDataPictures })).markdown ?? "";
  const image = (src: string): string => `<img src="${src}" alt="A mill">`;

  test("stays only where it is saved", async () => {
    const src = picture(2000);
    expect(await shown(image(src))).toContain(`![A mill](${src})`);
    expect(await shown(image(src), false)).toBe(await shown(""));
  });

  test.each([
    ["small as a placeholder is", image(picture(900))],
    ["longer than Markdown reads", image(picture(200_000))],
    ["of another type", image(picture(2000).replace("image/png", "text/html"))],
    ["of anything but base64", image(`${picture(2000)}) [x](javascript:alert(1)`)],
    ["of one pixel", `<img width="1" height="1" src="${picture(2000)}">`],
  ])("goes when it is %s", async (_, html) => {
    expect(await shown(html)).toBe(await shown(""));
  });

  test("is not taken where a script would load another one", async () => {
    const html = image(picture(2000)).replace(" alt", ' data-src="/lazy.png" alt');
    expect(await shown(html)).toContain("![A mill](https://site.test/lazy.png)");
  });
});

describe("leaving images out", () => {
  test("changes nothing but the images", async () => {
    const inner = `<figure><img src="/a.png" alt="A"><figcaption>The caption</figcaption></figure><p>Text <img src="/b.png"> goes on.</p><picture><img src="/c.png"></picture><pre><code>&lt;img src="/d.png"&gt;</code></pre>`;
    const whole = await articleOf(pageWith(inner));
    const bare = await articleOf(pageWith(inner), { includeImages: false });
    expect(bare.text).toBe(whole.text);
    // What held nothing but an image, and the space beside it, goes with it.
    const expected = (whole.content ?? "").replace(/<img[^>]*>/g, "").replace("<p></p>", "");
    expect(bare.content).toBe(expected.replace("Text  goes", "Text goes"));
    expect(bare.markdown).not.toContain("![");
    expect(bare.markdown).toContain(`<img src="/d.png">`);
    expect(bare.markdown).toContain("The caption");
  });
});

describe("leaving code out", () => {
  test("changes nothing but the code blocks", async () => {
    const inner = `<p>Call <code>run()</code> so:</p><pre><code class="language-js">run();</code></pre><p>Then wait <img src="/b.png">.</p>`;
    const whole = await articleOf(pageWith(inner));
    const bare = await articleOf(pageWith(inner), { includeCode: false });
    expect(bare.text).toBe(whole.text.replace("run();\n\n", ""));
    expect(bare.content).toBe((whole.content ?? "").replace(/<pre>.*?<\/pre>/s, ""));
    expect(bare.markdown).toBe((whole.markdown ?? "").replace("```js\nrun();\n```\n\n", ""));
  });
});
