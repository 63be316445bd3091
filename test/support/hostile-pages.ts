/** A page made to cost much. */
export type HostilePage = {
  readonly name: string;
  readonly parts: number;
  readonly build: (parts: number) => string;
  /** Whether the words of an article stand beside what costs. */
  readonly holdsArticle: boolean;
};

const PROSE = "The mill wheel turns again since spring, and the miller has opened the sluice for visitors. ";
const ARTICLE = `<article><h1>The mill</h1>${`<p>${PROSE.repeat(4)}</p>`.repeat(6)}</article>`;

const each = (parts: number, part: (index: number) => string): string =>
  Array.from({ length: parts }, (_, index) => part(index)).join("");

/** Each asks for work that a careless reader repeats for every part; real content stands beside it. */
export const HOSTILE_PAGES: readonly HostilePage[] = [
  page("nested divs", 100_000, (n) => "<div>".repeat(n) + ARTICLE),
  page(
    "nested spans before a long text",
    100_000,
    (n) => `${ARTICLE}${"<span>".repeat(n)}${"x".repeat(1_000_000)}`,
  ),
  page("nested lists", 50_000, (n) => ARTICLE + "<ul><li>".repeat(n)),
  page("nested code", 20_000, (n) => `${ARTICLE}${'<div class="highlight">'.repeat(n)}${PROSE.repeat(5000)}`),
  page("nested preformatted text", 20_000, (n) => `${ARTICLE}${"<pre>".repeat(n)}<i hidden>x</i>${PROSE}`),
  page("tables in tables", 10_000, (n) => `${"<table><tr><td>".repeat(n)}${ARTICLE}`),
  page("a million attributes", 1_000_000, (n) => `<p ${each(n, (i) => `a${i}=b `)}>x</p>${ARTICLE}`),
  page(
    "attributes of megabytes",
    2_000_000,
    (n) =>
      `<p title="${"x".repeat(n)}" class="${"nav ".repeat(n / 4)}" style="${"a:b;".repeat(n / 4)}">x</p>${ARTICLE}`,
  ),
  page(
    "different classes and ids",
    100_000,
    (n) => each(n, (i) => `<p class="c${i} d${i}" id="i${i}">${i}</p>`) + ARTICLE,
  ),
  page("classes in entities", 50_000, (n) => each(n, (i) => `<p class="c&amp;${i}">${i}</p>`) + ARTICLE),
  page("unclosed links", 100_000, (n) => ARTICLE + each(n, (i) => `<a href="/p${i}">link ${i}`)),
  page(
    "links on a long base",
    100_000,
    (n) =>
      `<base href="https://h.test/${"x".repeat(8000)}/">${ARTICLE}${each(n, (i) => `<a href="p${i}">${i}</a>`)}`,
  ),
  page("unclosed paragraphs", 200_000, (n) => ARTICLE + each(n, (i) => `<p>word ${i}`)),
  page("unclosed formatting", 50_000, (n) => ARTICLE + each(n, (i) => `<b><i><u><p>word ${i}`)),
  page("formatting that crosses", 50_000, (n) => ARTICLE + each(n, (i) => `<b>x<i>${i}</b>y</i>`)),
  page(
    "end tags of nothing",
    300_000,
    (n) => `${ARTICLE}${"<div>".repeat(1000)}${"</span></p></li>".repeat(n / 3)}`,
  ),
  page(
    "style sheets",
    50_000,
    (n) => each(n, (i) => `<style>.s${i}{display:block}.h${i}{display:none}</style>`) + ARTICLE,
  ),
  page(
    "rules of one sheet",
    30_000,
    (n) =>
      `<style>${each(n, (i) => `.a${i} .b:hover,.h${i}{display:none}`)}</style>${each(5000, (i) => `<p class="h${i}">x</p>`)}${ARTICLE}`,
  ),
  page(
    "comments in a style sheet",
    200_000,
    (n) => `<style>${"/*".repeat(n)}</style><style>${"{".repeat(n)}</style>${ARTICLE}`,
  ),
  page(
    "permalinks of one heading",
    50_000,
    (n) => `${ARTICLE}<h2>${'word <a href="#x">#</a>'.repeat(n)}</h2><p>${PROSE}</p>`,
  ),
  page(
    "links of one heading",
    50_000,
    (n) => `${ARTICLE}<h2>${'word <a href="#x">more</a> '.repeat(n)}</h2><p>${PROSE}</p>`,
  ),
  page(
    "cells of one row",
    100_000,
    (n) => `${ARTICLE}<article><table><tr>${`<td>${PROSE}`.repeat(10)}${"<td>x".repeat(n)}</table></article>`,
  ),
  page(
    "empty cells",
    100_000,
    (n) => `<article>${ARTICLE}<table>${"<tr>".repeat(3)}${"<td>".repeat(n)}<td>x</table></article>`,
  ),
  page(
    "rows of different length",
    20_000,
    (n) =>
      `<article>${ARTICLE}<table>${each(n, (i) => `<tr><td>a${"<td>b".repeat(i % 20)}`)}</table></article>`,
  ),
  page(
    "images",
    50_000,
    (n) => `<article>${ARTICLE}${each(n, (i) => `<img src="${i}.png" alt="x">`)}<p>${PROSE}</p></article>`,
  ),
  page("line breaks", 200_000, (n) => `<article>${ARTICLE}<p>${"word<br>".repeat(n)}</p></article>`),
  page(
    "lines of code",
    100_000,
    (n) => `<article>${ARTICLE}<pre>${"<div>let x = 1;</div>".repeat(n)}</pre></article>`,
  ),
  page("entities", 300_000, (n) => `${ARTICLE}<p>${"&amp;x&#8217;&bogus; ".repeat(n / 3)}</p>`),
  page(
    "ampersands",
    500_000,
    (n) => `${ARTICLE}<p>${"&".repeat(n)}</p><a title="${"&".repeat(n)}" href="?${"&a".repeat(n)}">x</a>`,
  ),
  page("stray less-than signs", 500_000, (n) => `${ARTICLE}<p>${"< ".repeat(n)}</p>`),
  page("declarations that never end", 100_000, (n) => ARTICLE + "<![CDATA[".repeat(n)),
  page("scripts that never end", 100_000, (n) => `${ARTICLE}<script>${"<script></scrip".repeat(n)}`),
  page(
    "JSON-LD that nests",
    200_000,
    (n) => `<script type="application/ld+json">${"[".repeat(n)}${"]".repeat(n)}</script>${ARTICLE}`,
  ),
  page(
    "objects of JSON-LD",
    100_000,
    (n) =>
      `<script type="application/ld+json">[${each(n, (i) => `{"@type":"Article","headline":"h${i}"},`)}{}]</script>${ARTICLE}`,
  ),
  page(
    "a long article body in JSON-LD",
    50_000,
    (n) =>
      `<script type="application/ld+json">{"@type":"Article","articleBody":${JSON.stringify(each(n, (i) => `Word${i} of the mill `))}}</script><p>x</p>`,
  ),
  page(
    "preloaded posts",
    20_000,
    (n) =>
      `<div data-preloaded='${JSON.stringify({ topic: JSON.stringify({ post_stream: { posts: Array.from({ length: n }, (_, i) => ({ username: `u${i}`, cooked: `post ${i} ${PROSE}` })) } }) }).replaceAll("'", "&#39;")}'></div><p>x</p>`,
  ),
  page(
    "preloaded signs",
    500_000,
    (n) =>
      `<div data-preloaded='${JSON.stringify({ a: JSON.stringify({ post_stream: { posts: [{ cooked: "<".repeat(n) }] } }) })}'></div><p>x</p>`,
  ),
  page(
    "state that nests",
    300_000,
    (n) => `<script type="application/json">${'{"a":'.repeat(n)}1${"}".repeat(n)}</script><p>x</p>`,
  ),
  page("meta elements", 100_000, (n) => each(n, (i) => `<meta name="n${i}" content="${i}">`) + ARTICLE),
  page("headings", 50_000, (n) => `<article>${each(n, (i) => `<h2>Heading ${i}</h2>`)}</article>${ARTICLE}`),
  page(
    "footnotes",
    20_000,
    (n) =>
      `<article>${ARTICLE}<p>${each(n, (i) => `x<sup><a href="#fn${i}" id="r${i}">${i}</a></sup>`)}</p><ol>${each(n, (i) => `<li id="fn${i}">note ${i} <a href="#r${i}">b</a></li>`)}</ol></article>`,
  ),
  page("white space", 3_000_000, (n) => `${ARTICLE}<p>x${" ".repeat(n)}y</p>`),
  page("one word", 3_000_000, (n) => `${ARTICLE}<p>${"x".repeat(n)}</p>`),
  page("words without spaces", 300_000, (n) => `${ARTICLE}<p>${"水車".repeat(n)}</p>`),
  page(
    "combining characters",
    300_000,
    (n) => `${ARTICLE}<p>e${"\u0301".repeat(n)}</p><p>${"\u200d\ufe0f".repeat(n)}</p>`,
  ),
];

function page(name: string, parts: number, build: (parts: number) => string): HostilePage {
  return { name, parts, build, holdsArticle: build(1).includes(PROSE) };
}
