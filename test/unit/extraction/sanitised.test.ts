import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseHTML } from "linkedom";
import { articleOf, extract, PAGE_URL, pageWith } from "../../support/extraction.ts";

const FORBIDDEN_ELEMENTS =
  "script, style, iframe, frame, object, embed, applet, svg, math, form, input, button, select, textarea, meta, link, base, template, noscript, dialog, video, audio, canvas, title";
// What the type's documentation calls sanitised: these attributes, and no others, on any element.
const ALLOWED_ATTRIBUTES = new Set(
  "href title cite class src alt width height value start reversed type colspan rowspan align scope datetime open dir lang".split(
    " ",
  ),
);

/** Everything that is wrong with a piece of HTML, read as a browser would. */
function faultsOf(html: string): string[] {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const faults = [...document.querySelectorAll(FORBIDDEN_ELEMENTS)].map((element) => element.localName);
  for (const element of document.querySelectorAll("body *")) {
    for (const { name, value } of element.attributes) {
      if (!ALLOWED_ATTRIBUTES.has(name)) faults.push(`${element.localName}[${name}]`);
      if (!["href", "src", "cite"].includes(name)) continue;
      const { protocol } = new URL(value, "https://relative.test/");
      if (!/^(?:https?|mailto|tel|ftp|geo|xmpp):$/.test(protocol)) faults.push(`${name}=${value}`);
    }
  }
  return faults;
}

const contentOf = async (inner: string, url: string | null = PAGE_URL): Promise<string> =>
  (await articleOf(pageWith(inner), { url })).content ?? "";

const URL_ATTACKS = [
  "javascript:alert(1)",
  " javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java&#10;script:alert(1)",
  "java&#9;script:alert(1)",
  "java\r\nscript:alert(1)",
  "&#1;javascript:alert(1)",
  "&#x6A;avascript&colon;alert(1)",
  "javascript&#58;alert(1)",
  "vbscript:msgbox(1)",
  "VBS&#10;CRIPT:x",
  "data:text/html,<script>alert(1)</script>",
  "data:image/svg+xml;base64,AAAA",
  "feed:javascript:alert(1)",
  "view-source:javascript:alert(1)",
  "file:///etc/passwd",
  "blob:https://site.test/1",
];

describe("addresses in the content", () => {
  for (const attack of URL_ATTACKS) {
    test(`are never ${JSON.stringify(attack)}`, async () => {
      const html = `<p>word <a href="${attack}">link</a> <img src="${attack}" alt="picture"> <q cite="${attack}">q</q></p><img srcset="${attack} 2x">`;
      for (const url of [PAGE_URL, null]) {
        const article = await articleOf(pageWith(html), { url });
        expect(faultsOf(article.content ?? "")).toEqual([]);
        expect(article.content).toContain("link");
        expect(article.markdown).not.toMatch(/\]\(\s*(?!https?:)[^)]*script|\(data:/i);
      }
    });
  }

  test("stay relative when the page has no address", async () => {
    expect(await contentOf(`<p><a href="next/page?x=1#y">n</a><img src="a.png"></p>`, null)).toContain(
      `<a href="next/page?x=1#y">n</a><img src="a.png">`,
    );
  });
});

describe("the content", () => {
  const attacks: Readonly<Record<string, string>> = {
    scripts: `<p>a<script>alert(1)</script><SCRIPT SRC=//x.test/x.js></SCRIPT>b</p>`,
    "event handlers": `<p onclick="alert(1)" ONMOUSEOVER=alert(1)>a</p><img src="/x.png" onerror=alert(1) onload="x">`,
    styles: `<style>p{background:url(javascript:x)}</style><p style="position:fixed">a</p>`,
    frames: `<iframe src="https://x.test" srcdoc="<script>alert(1)</script>"></iframe><frameset><frame src=x></frameset>`,
    objects: `<object data="x.swf"><param name=a value=b></object><embed src="x.swf"><applet code=x></applet>`,
    forms: `<form action="https://x.test"><label>Name <input name=a></label><button formaction="javascript:x">go</button><select><option>a</select><textarea>b</textarea></form>`,
    "foreign content": `<svg onload=alert(1)><a xlink:href="javascript:alert(1)"><text>x</text></a><script>alert(1)</script></svg><math><mi href="javascript:x">y</mi></math>`,
    "head elements": `<meta http-equiv=refresh content="0;url=javascript:x"><link rel=stylesheet href=//x.test><base href="https://x.test/"><title>t</title>`,
    "raw text elements": `<xmp><img src=x onerror=alert(1)></xmp><noembed><img src=x onerror=alert(1)></noembed><noframes><img src=x onerror=alert(1)></noframes><noscript><img src=x onerror=alert(1)></noscript>`,
    templates: `<template><script>alert(1)</script></template><custom-element onclick=x><p>in it</p></custom-element><slot name=x>y</slot>`,
    "markup inside attributes": `<img src="/x.png" alt='"><script>alert(1)</script>' title="--&gt;&lt;img src=x onerror=alert(1)&gt;"><p lang='"><script>'>a</p>`,
    "broken tags": `<p/onclick=alert(1)/>a<<script>alert(1)//<</script><a href="/x" "onclick=alert(1)">b</a><img/src="/x.png"/onerror=alert(1)>`,
    comments: `<!--><script>alert(1)</script>--><p>a<!-- b --></p><![CDATA[<script>alert(1)</script>]]><?php echo 1 ?>`,
    "ids and classes": `<p id="location" name="x" class="evil language-js" data-x="1" aria-label="x" role="button" tabindex=0 contenteditable>a</p><pre class="x language-js"><code class="hljs lang-ts onclick">c</code></pre>`,
    "nested escapes": `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
  };
  for (const [what, html] of Object.entries(attacks)) {
    test(`is free of ${what}`, async () => {
      const content = await contentOf(html);
      expect(faultsOf(content)).toEqual([]);
      expect(content).not.toContain("<!--");
    });
  }

  test("selected by the caller is as clean as what was found", async () => {
    const html = `<main><div onclick=x><script>1</script><p style=x>word <a href="javascript:x">y</a></p><form><input></form></div></main>`;
    const { content } = await articleOf(html, { select: "main" });
    expect(faultsOf(content ?? "")).toEqual([]);
    expect(content).toContain("word");
  });

  test("made from a Markdown body is as clean", async () => {
    const body = `word <script>alert(1)</script>\n\n[x](javascript:alert(1)) ![y](data:image/png;base64,AAAA) <img src=x onerror=alert(1)>\n\n<iframe src=x></iframe>\n\n<a href="java&#10;script:x">z</a>`;
    for (const url of [PAGE_URL, null]) {
      const { content } = await articleOf(body, { kind: "markdown", url });
      expect(faultsOf(content ?? "")).toEqual([]);
    }
  });

  test("made from a plain text body shows markup as text", async () => {
    const { content } = await articleOf("a <script>alert(1)</script> & b", { kind: "plain" });
    expect(faultsOf(content ?? "")).toEqual([]);
    expect(parseHTML(`<p>${content}</p>`).document.querySelector("pre")?.textContent).toBe(
      "a <script>alert(1)</script> & b",
    );
  });

  test("shows as text what the page shows as text", async () => {
    const article = await articleOf(
      pageWith("<p>Use &lt;script&gt;alert(1)&lt;/script&gt; or &amp;lt; here.</p>"),
    );
    expect(faultsOf(article.content ?? "")).toEqual([]);
    expect(article.text).toContain("Use <script>alert(1)</script> or &lt; here.");
    expect(article.markdown).toContain("Use \\<script>alert(1)\\</script> or \\&lt; here.");
  });
});

test("the content never holds an element, attribute or address that is not allowed", async () => {
  const name = fc.constantFrom(
    "p",
    "div",
    "a",
    "img",
    "pre",
    "code",
    "table",
    "tr",
    "td",
    "ul",
    "li",
    "svg",
    "math",
    "script",
    "style",
    "form",
    "input",
    "iframe",
    "object",
    "template",
    "noscript",
    "font",
    "x-y",
    "h1",
    "body",
    "html",
    "title",
    "textarea",
    "details",
  );
  const attribute = fc.constantFrom(
    "href",
    "src",
    "srcset",
    "onclick",
    "onerror",
    "style",
    "class",
    "id",
    "title",
    "alt",
    "lang",
    "dir",
    "cite",
    "datetime",
    "width",
    "xlink:href",
    "formaction",
    "srcdoc",
    "data-src",
    "background",
    "action",
    "poster",
    "ping",
    "target",
  );
  const value = fc.oneof(
    fc.constantFrom(...URL_ATTACKS, "/ok", "1", `x' onclick='y`, `"><script>`),
    fc.string({ maxLength: 12 }),
  );
  const quoted = value.map((text) => `"${text.replaceAll('"', "&quot;")}"`);
  const attributes = fc.array(
    fc.tuple(attribute, fc.oneof(quoted, value)).map(([key, text]) => ` ${key}=${text}`),
    { maxLength: 4 },
  );
  const tag = fc
    .tuple(fc.constantFrom("<", "<", "<", "</"), name, attributes)
    .map(([open, element, list]) => `${open}${element}${list.join("")}>`);
  const piece = fc.oneof(
    { weight: 4, arbitrary: tag },
    fc.constantFrom("word ", "<!--", "-->", "]]>", "<", "&lt;script&gt;", '"', "'"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 25 }), fc.boolean(), async (pieces, hasUrl) => {
      const html = `<html><body><main><p>words to keep</p>${pieces.join("")}</main></body></html>`;
      const page = hasUrl ? {} : { url: null };
      for (const select of [null, "main"]) {
        const { article } = await extract(html, { ...page, select });
        expect(faultsOf(article?.content ?? "")).toEqual([]);
      }
    }),
    { numRuns: 400 },
  );
});
