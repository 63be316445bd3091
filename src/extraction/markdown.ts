import { formatHeading } from "../base/heading.ts";

/**
 * A whole document in Markdown: the title as its first-level heading, then the body.
 * @param title null leaves the heading out
 */
export function composeMarkdown(title: string | null, body: string): string {
  if (title === null) return body;
  return body === "" ? formatHeading(title) : `${formatHeading(title)}\n\n${body}`;
}
