import { NodeHtmlMarkdown } from "node-html-markdown";
import { formatHeading } from "../heading.ts";

// One instance: its translators are built once.
let translator: NodeHtmlMarkdown | null = null;

/** GitHub-flavoured Markdown of cleaned HTML. */
export function renderMarkdown(html: string): string {
  translator ??= new NodeHtmlMarkdown({
    bulletMarker: "-",
    emDelimiter: "*",
    strongDelimiter: "**",
    maxConsecutiveNewlines: 2,
    keepDataImages: false,
    useInlineLinks: false,
    // The library's own list, and what would be a tag or an entity although the page shows it as text.
    globalEscape: [/[\\`*_~[\]]|<(?=[a-z/!?])|&(?=#?\w+;)/gi, "\\$&"],
  });
  return translator.translate(html).trim();
}

/**
 * A whole document in Markdown: the title as its first-level heading, then the body.
 * @param title null leaves the heading out
 */
export function composeMarkdown(title: string | null, body: string): string {
  if (title === null) return body;
  return body === "" ? formatHeading(title) : `${formatHeading(title)}\n\n${body}`;
}
