/** The bytes of each character in an encoding, percent-encoded; built when a page needs them. */
const TABLES = new Map<string, ReadonlyMap<string, string>>();

/**
 * Encodes the query of a link as browsers do: in the encoding of its page (WHATWG URL, "query state"). The rest of the
 * link is left to the URL parser.
 * @param encoding a name of the WHATWG Encoding Standard; those without an encoder (UTF-8, UTF-16, ISO-2022-KR …) change nothing
 */
export function encodeQuery(href: string, encoding: string): string {
  const name = encoding.toLowerCase();
  if (name === "iso-2022-jp") return href.replace(/\?[^#]*/, encodeIso2022Jp);
  if (/^(?:utf-|iso-2022|replacement|x-user)/.test(name)) return href;
  return href.replace(/\?[^#]*/, (query) =>
    query.replace(/[^\0-\x7f]/gu, (char) => {
      return (TABLES.get(name) ?? tableOf(name)).get(char) ?? unknown(char);
    }),
  );
}

const unknown = (char: string): string => `%26%23${char.codePointAt(0)}%3B`;

/** Characters that ISO-2022-JP replaces by others, besides half-width kana in general. */
const STAND_INS: Readonly<Record<string, string>> = {
  "\u2212": "\uFF0D",
  "\uFF9E": "\u309B",
  "\uFF9F": "\u309C",
};
/** The Roman set is ASCII with these two characters in the places of a backslash and a tilde. */
const ROMAN: Readonly<Record<string, string>> = { "\u00A5": "\\", "\u203E": "~" };

/**
 * Encodes as the Encoding Standard says for ISO-2022-JP: escape sequences switch between ASCII, the Roman set and JIS X
 * 0208, whose pairs of bytes are those of EUC-JP without the high bits.
 */
function encodeIso2022Jp(query: string): string {
  const pairs = TABLES.get("euc-jp") ?? tableOf("euc-jp");
  let set = "(B";
  let encoded = "";
  const add = (next: string, text: string): void => {
    encoded += next === set ? text : `%1B${next}${text}`;
    set = next;
  };
  for (const written of query) {
    const char =
      STAND_INS[written] ?? (/[\uFF61-\uFF9F]/.test(written) ? written.normalize("NFKC") : written);
    const pair = char < "\x80" ? undefined : pairs.get(char);
    if (char < "\x80") add(set === "(J" && !/[\\~]/.test(char) ? set : "(B", char);
    else if (ROMAN[char] !== undefined) add("(J", ROMAN[char]);
    else if (pair !== undefined)
      add(
        "$B",
        pair.replace(/%(..)/g, (_, hex) => inQuery(Number.parseInt(hex, 16) - 0x80)),
      );
    else add(set === "$B" ? "(B" : set, unknown(char));
  }
  add("(B", "");
  return encoded;
}

/** A byte of a query; the special-query percent-encode set of the URL Standard, for the bytes of JIS X 0208. */
function inQuery(byte: number): string {
  const char = String.fromCharCode(byte);
  return /["#'<>]/.test(char) ? `%${byte.toString(16).toUpperCase()}` : char;
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
      // The bytes do not form a character.
    }
  };
  for (let lead = 0x80; lead <= 0xff; lead++) add(lead);
  if (!/^(?:gb|big5|euc-|shift_jis)/.test(name)) return table;
  for (let lead = 0x81; lead <= 0xfe; lead++) for (let trail = 0x40; trail <= 0xfe; trail++) add(lead, trail);
  return table;
}
