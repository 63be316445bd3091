import { escapeAttribute, escapeHtml, formatHeading } from "../base/text.ts";
import type { Article } from "./types.ts";

/**
 * Composes a whole Markdown document: the title as its first-level heading, then the body.
 * @param title null leaves the heading out
 */
export function composeMarkdown(title: string | null, body: string): string {
  if (title === null) return body;
  return body === "" ? formatHeading(title) : `${formatHeading(title)}\n\n${body}`;
}

/**
 * A whole document in Markdown with the anchors of its page. Without a heading the title would be no section,
 * and would not appear in what is fetched.
 */
export function composeDocument({
  title,
  markdown,
  anchors,
}: Pick<Article, "title" | "markdown" | "anchors">) {
  const body = markdown ?? "";
  const document = composeMarkdown(title, body);
  const before = document.length - body.length;
  const moved = anchors?.map(({ id, start }) => ({ id, start: start < 0 ? 0 : start + before }));
  return { title: title ?? "", markdown: document, ...(moved && { anchors: moved }) };
}

type PageParts = Pick<Article, "title" | "lang" | "dir" | "content">;

/**
 * Composes a whole HTML document that a browser or another program can read by itself: the title as its first-level
 * heading, then the cleaned content.
 */
export function composeHtml({ title, lang, dir, content }: PageParts): string {
  const language = lang === null ? "" : ` lang="${escapeAttribute(lang)}"`;
  const direction = dir === null ? "" : ` dir="${escapeAttribute(dir)}"`;
  const name = escapeHtml(title ?? "");
  const heading = title === null ? "" : `<h1>${name}</h1>\n`;
  return `<!doctype html>
<html${language}${direction}>
<head><meta charset="utf-8"><title>${name}</title></head>
<body>
${heading}${content ?? ""}
</body>
</html>`;
}
