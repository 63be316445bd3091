const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: " ",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  ndash: "–",
  mdash: "—",
  hellip: "…",
};

/**
 * Decodes character references that a template escaped twice when it wrote a text into an attribute or into JSON.
 * "&lt;" stays, because text about markup means it.
 */
export function unescapeTwice(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]{3,6}));/gi,
    (reference, decimal, hex, name) => {
      if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? reference;
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      return code >= 32 && code <= 0x10ffff ? String.fromCodePoint(code) : reference;
    },
  );
}
