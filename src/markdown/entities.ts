// These are the entities that people write; all others are shown as written.
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  larr: "←",
  rarr: "→",
  times: "×",
  middot: "·",
  bull: "•",
  deg: "°",
  euro: "€",
  sect: "§",
  ensp: "\u2002",
  emsp: "\u2003",
  thinsp: "\u2009",
  shy: "\u00ad",
};

/** Decodes the entity at this place. */
export function decodeEntity(
  text: string,
  at: number,
): { readonly text: string; readonly length: number } | null {
  const found = /^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/.exec(text.slice(at, at + 12));
  if (!found) return null;
  const [whole, decimal, hex, name] = found;
  if (name !== undefined) {
    const known = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
    return known === undefined ? null : { text: known, length: whole.length };
  }
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return { text: isCharacter ? String.fromCodePoint(code) : "\ufffd", length: whole.length };
}
