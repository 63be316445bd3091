/** The bytes of each character in an encoding, percent-encoded; built when a page needs them. */
const TABLES = new Map<string, ReadonlyMap<string, string>>();

/**
 * Encodes the query of a link as browsers do: in the encoding of its page (WHATWG URL, "query state"). The rest of the
 * link is left to the URL parser.
 * @param encoding a name of the WHATWG Encoding Standard; UTF-8, UTF-16 and stateful encodings change nothing
 */
export function encodeQuery(href: string, encoding: string): string {
  const name = encoding.toLowerCase();
  if (/^(?:utf-|iso-2022|replacement|x-user)/.test(name)) return href;
  return href.replace(/\?[^#]*/, (query) =>
    query.replace(/[^\0-\x7f]/gu, (char) => {
      const bytes = (TABLES.get(name) ?? tableOf(name)).get(char);
      return bytes ?? `%26%23${char.codePointAt(0)}%3B`;
    }),
  );
}

function tableOf(name: string): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  TABLES.set(name, table);
  // The types of the runtime list fewer labels than it knows.
  const decoder = new TextDecoder(name as ConstructorParameters<typeof TextDecoder>[0], { fatal: true });
  const add = (...bytes: number[]): void => {
    try {
      const char = decoder.decode(Uint8Array.from(bytes));
      const escaped = bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
      if ([...char].length === 1 && !table.has(char)) table.set(char, escaped);
    } catch {
      // These bytes are no character.
    }
  };
  for (let lead = 0x80; lead <= 0xff; lead++) add(lead);
  if (!/^(?:gb|big5|euc-|shift_jis)/.test(name)) return table;
  for (let lead = 0x81; lead <= 0xfe; lead++) for (let trail = 0x40; trail <= 0xfe; trail++) add(lead, trail);
  return table;
}
