import { CodeWords } from "./source-text.ts";

/** The number of an element name in the page model; unlisted names get numbers from 200 on. */
export type TagId = number;

// The order is part of the trained model (the tag number is a feature): append, never insert.
const NAMES = `html head body title meta link base script style noscript template
 p div span a li ul ol dl dt dd h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr td th
 article section main header footer nav aside address hgroup search figure figcaption blockquote pre
 details summary dialog form fieldset legend label button input select option optgroup textarea datalist
 img picture source br hr wbr b i em strong u s small mark sub sup code kbd samp var q cite abbr time
 dfn bdi bdo ruby rt rp del ins big tt font center nobr strike iframe object embed video audio canvas svg
 math track map area param frame frameset applet portal menu dir noframes noembed output progress meter
 slot data listing xmp plaintext col colgroup title-svg path g use lite-youtube`.split(/\s+/);

const IDS: ReadonlyMap<string, TagId> = new Map(NAMES.map((name, index) => [name, index + 1]));

/** The first number of names that are not listed. */
export const FIRST_UNKNOWN_TAG = 200;
/** Further names share the last number: no page needs them, and tables stay small. */
export const TAG_LIMIT = 2048;

/** Returns the number of a listed element name; 0 for any other. */
export const tagId = (name: string): TagId => IDS.get(name) ?? 0;

const LISTED_NAMES = new CodeWords(NAMES);

/** Returns the number of the listed element name at these UTF-16 units, in any case; 0 for any other. */
export const tagAt = (codes: Uint16Array, start: number, end: number): TagId =>
  LISTED_NAMES.find(codes, start, end) + 1;

/**
 * Returns the name of a listed element; `div` for any other, because an unknown element is a box to a reader.
 */
export const tagName = (id: TagId): string => NAMES[id - 1] ?? "div";

/** One bit per property of a tag that the scanner asks for on each element. */
export const TagTrait = {
  /** The element has no content and no end tag. */
  void: 1,
  /** The element starts a new block of text. */
  block: 2,
  /**
   * The element is "special" in the sense of the HTML standard: an inline end tag does not close through it.
   */
  special: 4,
  /** End tags outside of the element do not reach through it (table cells and similar). */
  scope: 8,
  /** The element's text is not text of the page. */
  textless: 16,
  /** The element may stand in a head. */
  head: 32,
  /** The element closes an open paragraph when it starts. */
  closesParagraph: 64,
  /** The element is a block whose neighbours follow line by line in plain text. */
  line: 128,
  /** The element is a cell of a table row. */
  cell: 256,
} as const;

const TRAITS = new Uint16Array(TAG_LIMIT);

function give(trait: number, names: string): void {
  for (const name of names.split(/\s+/)) TRAITS[tagId(name)]! |= trait;
}

give(
  TagTrait.void,
  "meta link base input img br hr wbr source track area param embed col frame keygen basefont",
);
give(
  TagTrait.block,
  `html body p div li ul ol dl dt dd h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr td th article
   section main header footer nav aside address hgroup search figure figcaption blockquote pre details
   summary dialog form fieldset legend button hr center menu dir listing xmp select option optgroup
   textarea iframe noscript template title`,
);
give(
  TagTrait.special,
  `p div li ul ol dl dt dd table caption thead tbody tfoot tr td th article section main header footer nav
   aside address hgroup search figure figcaption blockquote pre details summary dialog form fieldset button
   center menu dir listing body html template select h1 h2 h3 h4 h5 h6`,
);
give(TagTrait.scope, "html table caption td th template object");
give(
  TagTrait.textless,
  `script style title svg iframe select option optgroup datalist textarea object embed applet canvas audio
   video map head noframes noembed portal progress meter math`,
);
give(TagTrait.head, "title meta link base script style noscript template head html");
give(
  TagTrait.closesParagraph,
  `address article aside blockquote center details dialog dir div dl dd dt li fieldset figcaption figure footer
   form header hgroup main menu nav ol p pre section search summary ul h1 h2 h3 h4 h5 h6 hr listing table`,
);
give(TagTrait.line, "li tr dt dd summary button option label");
give(TagTrait.cell, "td th");
TRAITS[0] = 0;

/** Returns the traits of a tag number as bits of `TagTrait`. */
export const traitsOf = (id: TagId): number => TRAITS[id] ?? 0;

/** Numbers of the tags that code asks for by name. */
export const Tag = {
  html: tagId("html"),
  head: tagId("head"),
  body: tagId("body"),
  title: tagId("title"),
  meta: tagId("meta"),
  link: tagId("link"),
  base: tagId("base"),
  script: tagId("script"),
  style: tagId("style"),
  noscript: tagId("noscript"),
  template: tagId("template"),
  p: tagId("p"),
  div: tagId("div"),
  span: tagId("span"),
  a: tagId("a"),
  li: tagId("li"),
  ul: tagId("ul"),
  ol: tagId("ol"),
  menu: tagId("menu"),
  dl: tagId("dl"),
  dt: tagId("dt"),
  dd: tagId("dd"),
  h1: tagId("h1"),
  h2: tagId("h2"),
  h3: tagId("h3"),
  h4: tagId("h4"),
  h5: tagId("h5"),
  h6: tagId("h6"),
  table: tagId("table"),
  caption: tagId("caption"),
  thead: tagId("thead"),
  tbody: tagId("tbody"),
  tfoot: tagId("tfoot"),
  tr: tagId("tr"),
  td: tagId("td"),
  th: tagId("th"),
  article: tagId("article"),
  section: tagId("section"),
  main: tagId("main"),
  header: tagId("header"),
  footer: tagId("footer"),
  nav: tagId("nav"),
  aside: tagId("aside"),
  figure: tagId("figure"),
  figcaption: tagId("figcaption"),
  blockquote: tagId("blockquote"),
  pre: tagId("pre"),
  textarea: tagId("textarea"),
  xmp: tagId("xmp"),
  details: tagId("details"),
  summary: tagId("summary"),
  dialog: tagId("dialog"),
  form: tagId("form"),
  button: tagId("button"),
  label: tagId("label"),
  input: tagId("input"),
  img: tagId("img"),
  picture: tagId("picture"),
  source: tagId("source"),
  br: tagId("br"),
  hr: tagId("hr"),
  b: tagId("b"),
  strong: tagId("strong"),
  code: tagId("code"),
  time: tagId("time"),
  area: tagId("area"),
  svg: tagId("svg"),
  math: tagId("math"),
} as const;
