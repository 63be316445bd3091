/**
 * Writes a title as a first-level Markdown heading that shows it literally; only marks that would take effect
 * are escaped.
 */
export function formatHeading(title: string): string {
  const literal = title
    .replace(/\\(?=[!-/:-@[-`{-~])|`|\*(?! )|(?<=[^ ])\*|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|~~/gu, "\\$&")
    .replace(/<(?=[a-z/!?])|&(?=#?\w{1,40};)/gi, "\\$&")
    .replaceAll("](", "]\\(")
    .replace(/(^| )(#+)$/, "$1\\$2");
  return `# ${literal}`;
}
