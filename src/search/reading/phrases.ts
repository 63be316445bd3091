// Phrases of Markdown, made of what documents in other languages say.

/**
 * A text as a phrase that shows it literally. Only marks that would take effect are escaped, and a `<` becomes
 * an entity, so that no text is taken for hidden markup.
 */
export const literal = (text: string): string =>
  text
    .replace(
      /\\(?=[!-/:-@[-`{-~])|`|\*(?!\s)|(?<=\S)\*|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|~~|\$(?=\S)|\](?=[([]|$)|\[(?=\^)/gu,
      "\\$&",
    )
    .replace(/&(?=#?\w{1,40};)/g, "&amp;")
    .replace(/<(?=[a-z/!?]|$)/gi, "&lt;");

/** A text without its line breaks and what stands around them. */
export const oneLine = (text: string): string =>
  text.includes("\n")
    ? text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .join(" ")
    : text.trim();

/** A span of code, in one line. */
export function codeSpan(code: string): string {
  const line = oneLine(code);
  if (line === "") return "";
  let longest = 0;
  for (const [run] of line.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  const gap = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${gap}${line}${gap}${fence}`;
}

export function strong(phrase: string): string {
  const inner = phrase.trim();
  return inner === "" || inner.includes("**") ? inner : `**${inner}**`;
}
