import type { PageFacts } from "./page/page-model.ts";
import { parseDocument } from "./parse.ts";

/**
 * A small document of what a page says about itself, for readers of metadata: no content, so it costs
 * little to build.
 */
export function factsDocument(facts: PageFacts): Document {
  const head = [`<title>${escapeHtml(facts.title)}</title>`];
  for (const [name, content] of facts.meta) {
    head.push(`<meta property="${escapeHtml(name)}" content="${escapeHtml(content)}">`);
  }
  for (const json of facts.jsonLd) head.push(`<script type="application/ld+json">${json}</script>`);
  const body = facts.headings.map((heading) => `<h1>${escapeHtml(heading)}</h1>`);
  for (const author of facts.authors) body.push(`<a rel="author">${escapeHtml(author)}</a>`);
  for (const time of facts.times) {
    if (!time.isPublication && !time.isInArticleHeader) continue;
    const datetime = time.datetime === null ? "" : ` datetime="${escapeHtml(time.datetime)}"`;
    body.push(`<time pubdate${datetime}>${escapeHtml(time.text)}</time>`);
  }
  const attributes = [attribute("lang", facts.htmlLang ?? facts.bodyLang), attribute("dir", facts.dir)].join(
    "",
  );
  return parseDocument(
    `<html${attributes}><head>${head.join("")}</head><body>${body.join("")}</body></html>`,
  );
}

const attribute = (name: string, value: string | null): string =>
  value === null ? "" : ` ${name}="${escapeHtml(value)}"`;

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
