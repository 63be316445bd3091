import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Sentences in languages whose pages are old enough to be in an encoding of their own, and those encodings: in the file
 * a line with the language and its encodings, and one for each sentence.
 */
export const LANGUAGE_SAMPLES = Object.fromEntries(
  readFileSync(join(import.meta.dir, "../fixtures/language-samples.txt"), "utf8")
    .trimEnd()
    .split("\n\n")
    .map((part) => {
      const [head = "", ...sentences] = part.split("\n");
      const [language = "", encodings = ""] = head.split(": ");
      return [language, { encodings: encodings.split(" "), sentences }] as const;
    }),
);

/** Text in an encoding of one or two bytes a character, the other way round than the runtime's decoder. */
export function encodeAs(text: string, encoding: string): Uint8Array {
  const codes = codesOf(encoding);
  return Uint8Array.from(
    [...text].flatMap((character) => {
      const code = codes.get(character);
      if (code === undefined) throw new Error(`${JSON.stringify(character)} is not in ${encoding}`);
      return code;
    }),
  );
}

const TABLES = new Map<string, ReadonlyMap<string, readonly number[]>>();

function codesOf(encoding: string): ReadonlyMap<string, readonly number[]> {
  const known = TABLES.get(encoding);
  if (known) return known;
  const decoder = new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0], { fatal: true });
  const codes = new Map<string, readonly number[]>();
  const note = (...bytes: number[]): void => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if ([...character].length === 1 && !codes.has(character)) codes.set(character, bytes);
    } catch {
      // These bytes are no character of it.
    }
  };
  for (let byte = 0; byte < 256; byte++) note(byte);
  if (/^(?:shift_jis|euc-|big5|gb)/.test(encoding))
    for (let lead = 0x81; lead < 255; lead++) for (let trail = 0x40; trail < 255; trail++) note(lead, trail);
  TABLES.set(encoding, codes);
  return codes;
}
