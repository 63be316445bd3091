/** Pages that say their title in one of many ways, for tests that try each way in each surrounding. */

/** What stands above a page's heading: lines that only lead somewhere, and those that say something. */
export const LEADING = {
  nothing: "",
  crumbs:
    "<ul class='crumbs'><li><a href='/'>Home</a></li><li><a href='/d'>Manual</a></li><li>Closing a gate</li></ul>",
  trail: "<p><a href='/'>Home</a> › <a href='/d'>Manual</a> › Closing a gate</p>",
  "crumbs in nav": "<nav aria-label='breadcrumb'><ol><li><a href='/'>Home</a></li></ol></nav>",
  "to top": "<a href='#top'>Back to top</a>",
  "to top, below": "<div><a href='#'><span>Back to top</span></a></div>",
  edit: "<a href='/edit/gates.md'>Edit this page</a>",
  "edit and source":
    "<p><a href='/edit/gates.md'>Edit this page</a> | <a href='/raw/gates.md'>View source</a></p>",
  "reading time": "<div><span>5 min read</span></div>",
  "reading time in words": "<p>Reading time: 5 minutes</p>",
  neighbours: "<p><a href='/a'>Previous</a> <a href='/b'>Next</a></p>",
} as const;

export const SAYING = {
  version: ["<span class='version-badge badge'>Version: 2.0.0</span>", "Version: 2.0.0"],
  "version in a box": ["<div><p>Applies to 2.0.0</p></div>", "Applies to 2.0.0"],
  deck: ["<p>What the keepers of the weir do when the tide turns early.</p>", "when the tide turns early"],
} as const;

/** The heading in its wrapper. */
export const HEADINGS = {
  bare: (title: string) => `<h1>${title}</h1>`,
  "in a header": (title: string) => `<header><h1>${title}</h1></header>`,
  "in two boxes": (title: string) => `<div class='markdown'><header><h1>${title}</h1></header></div>`,
  "with a sign": (title: string) =>
    `<div><h1 id=gate>${title}<a class=headerlink href='#gate'>¶</a></h1></div>`,
  "linking to itself": (title: string) => `<h1 id=gate><a href='#gate'>${title}</a></h1>`,
  "with a drawn anchor": (title: string) =>
    `<h1 id=gate><a href='#gate' aria-label='Link'><svg></svg></a>${title}</h1>`,
  "with a spoken anchor": (title: string) =>
    `<h1 id=gate>${title}<a href='#gate'><span>Link to this heading</span></a></h1>`,
  "in a group": (title: string) => `<hgroup><h1>${title}</h1></hgroup>`,
} as const;

const SIDE = Array.from({ length: 14 }, (_, i) => `<li><a href='/d/${i}'>Side topic ${i}</a></li>`).join("");
const NAV = "<nav><a href='/'>Home page</a> <a href='/shop'>Shop front</a></nav>";
const FOOT = "<footer><a href='/privacy'>Privacy rules</a> Copyright 2026 Weirside</footer>";

export const SHELLS = {
  article: (content: string) => `${NAV}<main><article>${content}</article></main>${FOOT}`,
  main: (content: string) => `<header>${NAV}</header><main>${content}</main>${FOOT}`,
  boxes: (content: string) => `<div id=top>${NAV}</div><div class=content>${content}</div><div>${FOOT}</div>`,
  sidebar: (content: string) =>
    `<div class=layout><aside><ul>${SIDE}</ul></aside><div class=doc>${content}</div></div>${FOOT}`,
  bare: (content: string) => `${content}<hr>${FOOT}`,
} as const;

const NOUNS = "river mill farmer stone bridge ledger harbour lantern sluice miller barge orchard".split(" ");
const noun = (seed: number): string => NOUNS[(seed * 7 + (seed >> 2)) % NOUNS.length]!;

export const paragraphs = (count: number, seed = 0): string =>
  Array.from({ length: count }, (_, at) => {
    const i = at + seed;
    return `<p>In year ${1500 + i} the ${noun(i)} of parish ${i} counts ${i + 3} ${noun(i + 5)}s before the ${noun(i + 2)} repairs its last ${noun(i + 1)}.</p>`;
  }).join("");

/** How a page carries its site's name: its title element, what stands in the head, and before the content. */
export const SITES = {
  "a heading in the menu bar": {
    title: "Closing a gate - The Weirside Book",
    before: "<div id=menu-bar><h1 class='menu-title'>The Weirside Book</h1></div>",
  },
  "a heading in the header": {
    title: "Closing a gate — The Weirside Book",
    before: "<header><h1><a href='/'>The Weirside Book</a></h1></header>",
  },
  "a heading beside a menu": {
    title: "Closing a gate | The Weirside Book",
    before: `<div class=side><h1>The Weirside Book</h1><ul>${SIDE}</ul></div>`,
  },
  "the name in front": {
    title: "The Weirside Book: Closing a gate",
    before: "<div class=top><h1>The Weirside Book</h1></div>",
  },
  "the name in brackets": {
    title: "Closing a gate (The Weirside Book)",
    before: "<div class=top><h1>The Weirside Book</h1></div>",
  },
  "og:site_name and og:title": {
    title: "Closing a gate",
    head: "<meta property='og:site_name' content='The Weirside Book'><meta property='og:title' content='The Weirside Book'>",
    before: "<div class=top><a href='/'>The Weirside Book</a></div>",
  },
  "a logo": {
    title: "Closing a gate · The Weirside Book",
    before: "<a class=logo href='/'>The Weirside Book</a>",
  },
  "a logo as og:title": {
    title: "Closing a gate",
    head: "<meta property='og:title' content='The Weirside Book'>",
    before: "<div><a href='/'><img src='/l.png' alt=''> The Weirside Book</a></div>",
  },
  "a heading alone": { title: "Closing a gate", before: "<div><h1>The Weirside Book</h1></div>" },
} as const satisfies Record<string, { title: string; head?: string; before: string }>;

/** A whole page. */
export const titledPage = (title: string, body: string, head = ""): string =>
  `<!doctype html><html lang=en><head><title>${title}</title>${head}</head><body>${body}</body></html>`;
