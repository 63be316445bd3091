import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";

const SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru".split(
  " ",
);
const WORDS = 12_000;

/**
 * Made-up words with the frequencies of a natural language: the n-th is 1/n as frequent as the first (Zipf).
 */
export function createVocabulary(random: () => number): {
  /** Returns words as often as they occur in the pages. */
  word(): string;
  /** Returns one of the words that distinguish pages, like those that people search for. */
  telling(): string;
} {
  const words = new Set<string>();
  while (words.size < WORDS) {
    let word = "";
    for (let length = 2 + Math.floor(random() * 3); length > 0; length--)
      word += SYLLABLES[Math.floor(random() * SYLLABLES.length)];
    words.add(word);
  }
  const list = [...words];
  const at = (place: number): string => list[Math.min(WORDS - 1, Math.floor(place))] ?? "";
  return { word: () => at(WORDS ** random() - 1), telling: () => at(50 + (WORDS - 50) * random() ** 2) };
}

export type Vocabulary = ReturnType<typeof createVocabulary>;

const sentence = (words: Vocabulary, length: number): string =>
  `${Array.from({ length }, words.word).join(" ")}.`;

/** Makes a page like those of documentation: five sections of text, one with code; about 3 KB. */
function page(words: Vocabulary): string {
  const lines = [`# ${words.telling()} ${words.telling()} ${words.word()}`, ""];
  for (let section = 0; section < 5; section++) {
    lines.push(`## ${words.telling()} ${words.word()}`, "");
    for (let paragraph = 0; paragraph < 2; paragraph++)
      lines.push(Array.from({ length: 3 }, () => sentence(words, 12)).join(" "), "");
    if (section === 2)
      lines.push("```js", `const ${words.telling()} = ${words.telling()}(${words.word()});`, "```", "");
  }
  return lines.join("\n");
}

/** Writes this many pages below the folder, 100 to a directory. */
export async function writePages(folder: string, count: number, words: Vocabulary): Promise<void> {
  for (let number = 0; number < count; number++) {
    const path = join(folder, String(Math.floor(number / 100)), `page-${number}.md`);
    if (number % 100 === 0) await mkdir(dirname(path), { recursive: true });
    await Bun.write(path, page(words));
  }
}
