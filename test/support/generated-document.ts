import fc from "fast-check";

/** A page whose content is known: what must come through, and what must not. */
export type GeneratedDocument = {
  readonly html: string;
  /** Words of each block of the content, in page order. */
  readonly wanted: readonly string[];
  /** Words of the frame around the content. */
  readonly unwanted: readonly string[];
};

/** HTML of one block of the content, and the words in it. */
type Block = { readonly html: string; readonly words: readonly string[] };

const NOUNS =
  "river mill farmer stone bridge ledger harbour lantern sluice barge orchard market weir gate tide rope".split(
    " ",
  );
const VERBS = "counts carries mends lifts watches measures paints closes opens repairs follows trades".split(
  " ",
);

/** A sentence that no other number gives. */
function sentence(number: number): string {
  const noun = (step: number): string => NOUNS[(number * step + step) % NOUNS.length]!;
  const verb = VERBS[(number * 7) % VERBS.length]!;
  return `In parish ${number} the ${noun(5)} ${verb} ${number % 90} ${noun(3)}s before the ${noun(11)} of the ${noun(7)} is closed again.`;
}

const paragraph = (n: number): Block => ({ html: `<p>${sentence(n)}</p>`, words: [sentence(n)] });

/** Every kind of block that authors write, by name; a number makes each one's words its own. */
const BLOCKS: Readonly<Record<string, (n: number) => Block>> = {
  paragraph,
  "short paragraph": (n) => ({ html: `<p>See gate ${n}.</p>`, words: [`See gate ${n}.`] }),
  announcement: (n) => ({
    html: `<p>Run the command of gate ${n}:</p><pre><code>weir open --gate ${n}</code></pre>`,
    words: [`Run the command of gate ${n}:`, `weir open --gate ${n}`],
  }),
  section: (n) => ({
    html: `<h2 id="part-${n}">Part ${n}</h2>${paragraph(n).html}`,
    words: [`Part ${n}`, sentence(n)],
  }),
  "short section": (n) => ({
    html: `<h3>Licence ${n}</h3><p>MIT-${n}</p>`,
    words: [`Licence ${n}`, `MIT-${n}`],
  }),
  "linked section": (n) => ({
    html: `<h2>Licence ${n}</h2><p><a href="/licence/${n}">MIT of the millers ${n}</a></p>`,
    words: [`Licence ${n}`, `MIT of the millers ${n}`],
  }),
  "highlighted code": (n) => ({
    html: `<figure class="highlight bash"><table><tr><td class="gutter"><pre><span class="line">1</span><br><span class="line">2</span></pre></td><td class="code"><pre><span class="line">npm install weir-${n}</span><br><span class="line">npm test</span></pre></td></tr></table></figure>`,
    words: [`npm install weir-${n}`],
  }),
  "framed code": (n) => ({
    html: `<div class="expressive-code"><figure class="frame not-content"><pre data-language="js"><code><div class="ec-line"><div class="code">open(gate${n});</div></div></code></pre></figure></div>`,
    words: [`open(gate${n});`],
  }),
  "remark in a table": (n) => ({
    html: `<div class="admonitionblock important"><table><tr><td class="icon"><div class="title">Important</div></td><td class="content"><div class="paragraph"><p>Clone the gate ${n}, and run it</p></div></td></tr></table></div>`,
    words: [`Clone the gate ${n}, and run it`],
  }),
  "text in a box": (n) => ({ html: `<div>${sentence(n)}</div>`, words: [sentence(n)] }),
  method: (n) => ({
    html: `<dl class="py method"><dt class="sig sig-object py" id="lift-${n}">lift_${n}(depth)</dt><dd><p>Lift it ${n}.</p></dd></dl>`,
    words: [`lift_${n}(depth)`, `Lift it ${n}.`],
  }),
  code: (n) => ({
    html: `<pre><code class="language-sh">weir plan --table quay${n}\nweir close quay${n}</code></pre>`,
    words: [`weir plan --table quay${n}`, `weir close quay${n}`],
  }),
  "bare code": (n) => ({
    html: `<pre>alpha = ${n}\n  beta = alpha + ${n}</pre>`,
    words: [`beta = alpha + ${n}`],
  }),
  table: (n) => ({
    html: `<table><tr><th>Key</th><th>Default</th></tr><tr><td>port_${n}</td><td>80${n}</td></tr><tr><td>host_${n}</td><td>quay${n}</td></tr></table>`,
    words: [`port_${n}`, `80${n}`, `host_${n}`],
  }),
  list: (n) => ({
    html: `<ul><li>first the upper gate ${n}</li><li>then the lower gate ${n}</li></ul>`,
    words: [`first the upper gate ${n}`, `then the lower gate ${n}`],
  }),
  steps: (n) => ({
    html: `<ol><li>lift ${n}</li><li>turn ${n}<ul><li>half a turn ${n}</li></ul></li></ol>`,
    words: [`lift ${n}`, `turn ${n}`, `half a turn ${n}`],
  }),
  "link list": (n) => ({
    html: `<h2>See also ${n}</h2><ul><li><a href="/guide/${n}a">Reading tide table ${n}</a></li><li><a href="/guide/${n}b">Closing gate ${n} by hand</a></li></ul>`,
    words: [`See also ${n}`, `Reading tide table ${n}`, `Closing gate ${n} by hand`],
  }),
  definitions: (n) => ({
    html: `<dl><dt>datum ${n}</dt><dd>The level that counts as ${n}.</dd></dl>`,
    words: [`datum ${n}`, `The level that counts as ${n}.`],
  }),
  figure: (n) => ({
    html: `<figure><img src="/mill-${n}.png" alt="The mill"><figcaption>The mill in ${n}, before the flood.</figcaption></figure>`,
    words: [`The mill in ${n}, before the flood.`],
  }),
  quotation: (n) => ({
    html: `<blockquote><p>Stones keep count ${n}.</p></blockquote>`,
    words: [`Stones keep count ${n}.`],
  }),
  details: (n) => ({
    html: `<details><summary>Older tables ${n}</summary><p>They are kept in tower ${n}.</p></details>`,
    words: [`Older tables ${n}`, `They are kept in tower ${n}.`],
  }),
  signature: (n) => ({
    html: `<h3>quay_${n}(depth, *, tide=None)</h3><p>Opens ${n}.</p>`,
    words: [`quay_${n}(depth, *, tide=None)`, `Opens ${n}.`],
  }),
};

/** What sites put around their content, by name: HTML, and words that give it away. */
const FRAME = {
  nav: [`<nav><a href="/">Home page</a> <a href="/shop">Shop front</a></nav>`, "Shop front"],
  footer: [`<footer><a href="/privacy">Privacy rules</a> Copyright 2026 Weirside</footer>`, "Privacy rules"],
  sidebar: [
    `<aside class="sidebar"><ul>${Array.from({ length: 20 }, (_, i) => `<li><a href="/d/${i}">Side topic ${i}</a></li>`).join("")}</ul></aside>`,
    "Side topic 7",
  ],
  pager: [
    `<nav class="pager"><a href="/before">Previous: Sluices</a> <a href="/after">Next: Harbours</a></nav>`,
    "Next: Harbours",
  ],
  cookies: [
    `<div class="cookie-banner" role="dialog"><p>We use cookies to measure visits.</p><button>Accept all cookies</button></div>`,
    "Accept all cookies",
  ],
  related: [
    `<aside class="related-posts"><h2>Related posts</h2><ul><li><a href="/x">A winter on the weir</a></li><li><a href="/y">Who owns the tide</a></li></ul></aside>`,
    "A winter on the weir",
  ],
} as const;

const contents = (body: string): string => {
  const titles = [...body.matchAll(/<h2[^>]*>(.*?)<\/h2>/g)].map(
    ([, title]) => `<li><a href="#x">${title}</a></li>`,
  );
  return titles.length < 2 ? "" : `<nav class="toc"><p>On this page</p><ul>${titles.join("")}</ul></nav>`;
};

type Parts = Readonly<Record<keyof typeof FRAME | "contents", string>>;

/** The places where sites of one kind put content and frame. */
const SHELLS: Readonly<Record<string, (body: string, parts: Parts) => string>> = {
  article: (body, { nav, footer, related, cookies }) =>
    `<header>${nav}</header><main><article>${body}</article>${related}</main>${footer}${cookies}`,
  main: (body, { nav, footer, pager, cookies, contents: toc }) =>
    `${cookies}${nav}<main>${body}</main>${toc}${pager}${footer}`,
  sidebar: (body, { nav, sidebar, footer, pager, contents: toc }) =>
    `<header>${nav}</header><div class="layout">${sidebar}<div class="content">${body}${pager}</div>${toc}</div>${footer}`,
  "plain div": (body, { nav, footer, related }) =>
    `<div id="top">${nav}</div><div class="content">${body}</div>${related}<div id="bottom">${footer}</div>`,
};

export const BLOCK_KINDS: readonly string[] = Object.keys(BLOCKS);
export const SHELL_NAMES: readonly string[] = Object.keys(SHELLS);

/** A page of these kinds of blocks, in this order, inside a shell with some of the frame's parts. */
export function documentOf(
  kinds: readonly string[],
  shell: string,
  frame: readonly string[] = Object.keys(FRAME),
): GeneratedDocument {
  const blocks = kinds.map((kind, index) => BLOCKS[kind]!(index + 1));
  const body = `<h1>Gates</h1>\n${blocks.map(({ html }) => html).join("\n")}`;
  const shown = Object.entries(FRAME).map(([name, [html]]) => [name, frame.includes(name) ? html : ""]);
  const parts = { ...Object.fromEntries(shown), contents: frame.includes("contents") ? contents(body) : "" };
  return {
    html: `<!doctype html><html lang="en"><head><title>Gates</title></head><body>${SHELLS[shell]!(body, parts)}</body></html>`,
    wanted: blocks.flatMap(({ words }) => words),
    unwanted: ["On this page", ...Object.values(FRAME).map(([, words]) => words)],
  };
}

/** Blocks of any kind in any order, in any shell; at least one paragraph among them says what the page is about. */
export const generatedDocument = (maxBlocks: number): fc.Arbitrary<GeneratedDocument> =>
  fc
    .record({
      kinds: fc.array(fc.constantFrom("paragraph", ...BLOCK_KINDS), {
        minLength: 1,
        maxLength: maxBlocks,
        size: "max",
      }),
      shell: fc.constantFrom(...SHELL_NAMES),
      frame: fc.subarray([...Object.keys(FRAME), "contents"]),
      at: fc.nat(),
    })
    .map(({ kinds, shell, frame, at }) => {
      const place = at % (kinds.length + 1);
      return documentOf(
        [...kinds.slice(0, place), "paragraph", "paragraph", ...kinds.slice(place)],
        shell,
        frame,
      );
    });
