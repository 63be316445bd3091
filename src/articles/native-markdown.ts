import { findFrontMatter } from "../base/front-matter.ts";
import { type Article, foldedWords } from "../extraction/index.ts";
import { addressesIn, scanBlocks } from "../markdown/index.ts";
import type { PageUrl } from "../urls/index.ts";

/** Share of the page's words that its Markdown has to hold. */
const MIN_SHARE = 0.9;
/** How often the words of the page its Markdown may have, for content behind tabs; more is a whole site in one file. */
const MAX_GROWTH = 2;

/**
 * Why the Markdown is not that of the article; null when it is.
 * @param source the Markdown as it was fetched
 */
export function doubtOf(article: Article, own: Article, source: string): string | null {
  if (own.markdown === null) return "it is empty";
  const titles = [own.title, titleInFrontMatter(source)];
  const wanted = foldedWords(article.title ?? "").join(" ");
  if (!titles.some((title) => isSameTitle(wanted, foldedWords(title ?? "").join(" "))))
    return `its title is ${JSON.stringify(own.title)}, and that of the page ${JSON.stringify(article.title)}`;
  const words = foldedWords(article.text);
  const others = foldedWords(own.text);
  const share = shareHeld(words, others);
  if (share < MIN_SHARE) return `it holds ${Math.floor(share * 100)} % of the page's words`;
  if (others.length > words.length * MAX_GROWTH + MIN_WORDS)
    return `it has ${others.length} words, and the page ${words.length}`;
  return null;
}

const MIN_WORDS = 100;

const isSameTitle = (wanted: string, title: string): boolean =>
  title !== "" &&
  wanted !== "" &&
  (` ${wanted} `.includes(` ${title} `) || ` ${title} `.includes(` ${wanted} `));

const titleInFrontMatter = (source: string): string | null =>
  /^title\s*[:=][ \t]*(.+)$/m.exec(findFrontMatter(source)?.written ?? "")?.[1] ?? null;

/** The share of the words that others hold, each as often as it stands there. */
function shareHeld(words: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  let held = 0;
  for (const word of words) {
    const count = left.get(word) ?? 0;
    if (count > 0) held++;
    left.set(word, count - 1);
  }
  return words.length === 0 ? 0 : held / words.length;
}

/** The article with the Markdown of an answer in the place of its own, and with the anchors of its headings there. */
export function withMarkdown(article: Article, own: Article, base: PageUrl): Article {
  const markdown = withAbsoluteAddresses(own.markdown!, base);
  const anchors = article.anchors && anchorsIn(markdown, article.markdown!, article.anchors);
  return { ...article, markdown, anchors };
}

/** Relative addresses lead elsewhere once the text leaves its site. */
function withAbsoluteAddresses(markdown: string, base: PageUrl): string {
  let text = "";
  let at = 0;
  for (const { address, start, end } of addressesIn(markdown)) {
    if (/^(?:[a-z][a-z0-9+.-]*:|#|$)/i.test(address) || !URL.canParse(address, base)) continue;
    text += markdown.slice(at, start) + new URL(address, base).href;
    at = end;
  }
  return text + markdown.slice(at);
}

type Anchors = NonNullable<Article["anchors"]>;

/** The anchors of a page's headings, at the same headings of its own Markdown. */
function anchorsIn(markdown: string, page: string, anchors: Anchors): Anchors {
  const idsOf = new Map<string, string[]>();
  for (const { text, start } of headingsOf(page)) {
    const ids = anchors.filter((anchor) => anchor.start === start).map(({ id }) => id);
    if (ids.length > 0) idsOf.set(text, [...(idsOf.get(text) ?? []), ids[0]!]);
  }
  const found = anchors.filter(({ start }) => start < 0);
  for (const { text, start } of headingsOf(markdown)) {
    const id = idsOf.get(text)?.shift();
    if (id !== undefined) found.push({ id, start });
  }
  return found;
}

function headingsOf(markdown: string): readonly { readonly text: string; readonly start: number }[] {
  const headings: { readonly text: string; readonly start: number }[] = [];
  let isHeading = false;
  scanBlocks(markdown, {
    begin: ({ kind }) => {
      isHeading = kind === "heading";
    },
    line: (start, end) => {
      if (!isHeading) return;
      const text = foldedWords(markdown.slice(start, end)).join(" ");
      headings.push({ text, start: markdown.lastIndexOf("\n", start) + 1 });
      isHeading = false;
    },
  });
  return headings;
}
