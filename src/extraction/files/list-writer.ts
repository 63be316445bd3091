/** A paragraph with its place in lists: level 0 for none. */
export type ListedHtml = { readonly html: string; readonly level: number; readonly isNumbered: boolean };

/** Puts paragraphs that each say their level into lists within lists. */
export function writeLists(parts: readonly ListedHtml[]): string {
  const open: string[] = [];
  const html: string[] = [];
  const closeTo = (level: number): void => {
    while (open.length > level) html.push(`</li></${open.pop()}>`);
  };
  for (const { html: content, level, isNumbered } of parts) {
    const name = isNumbered ? "ol" : "ul";
    closeTo(level);
    if (level > 0 && open.length === level) {
      if (open.at(-1) === name) html.push("</li>");
      else closeTo(level - 1);
    }
    if (level > 0 && open.length === level) html.push("<li>");
    // A level that is left out is one item in another.
    while (open.length < level) {
      open.push(name);
      html.push(`<${name}><li>`);
    }
    html.push(content);
  }
  closeTo(0);
  return html.join("");
}
