import { NodeHtmlMarkdown } from "node-html-markdown";

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
  return body === "" ? `# ${escapeHeading(title)}` : `# ${escapeHeading(title)}\n\n${body}`;
}

// A title is plain text: what would be markup in it is to be read as it stands. Underscores inside a
// word and a lone "<" or "&" are no markup, and stay as they are.
const escapeHeading = (title: string): string =>
  title.replace(
    /[\\`*[\]]|<(?=[a-z/!?])|&(?=#?\w+;)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/giu,
    (character) => `\\${character}`,
  );
