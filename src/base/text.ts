import { basename, extname } from "node:path";

/** The words of a text in lower case: its runs of letters and digits. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The title of a document that has none, from its path or address. */
export const titleOfName = (path: string): string => basename(path, extname(path)).replace(/[-_]+/g, " ");

/** Percent-decodes a text; one that is not encoded well stays as it is. */
export function decodeLoosely(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text as HTML shows it between tags. */
export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** A text as the value of an attribute in double quotes. */
export const escapeAttribute = (text: string): string => escapeHtml(text).replaceAll('"', "&quot;");

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

/** A word as POSIX shells read it; plain words stay as they are. */
export const quoteForShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The words of a literal text, which white space separates. */
type WordsIn<Text extends string, Seen = never> = Text extends `${infer Word} ${infer Rest}`
  ? WordsIn<Rest, Seen | OneWord<Word>>
  : Seen | OneWord<Text>;
type OneWord<Word extends string> = Word extends `${infer Start}\n` ? Start : Word extends "" ? never : Word;

/** Splits a literal text into its words, which the type knows. */
export const wordsIn = <const Text extends string>(text: Text): readonly WordsIn<Text>[] =>
  text.split(/\s+/) as WordsIn<Text>[]; // what the type says of the text

/** Turns a table of words by what they mean into the meaning of each word. */
export const meaningsIn = <Meaning extends string>(
  words: Readonly<Record<Meaning, string>>,
): Readonly<Record<string, Meaning>> =>
  Object.fromEntries(
    Object.entries<string>(words).flatMap(
      ([meaning, all]) => all.split(/\s+/).map((word) => [word, meaning as Meaning]), // the keys of the table
    ),
  );

/** Turns a table whose keys are lists of words into the value of each word. */
export const byWord = <Value>(table: Readonly<Record<string, Value>>): ReadonlyMap<string, Value> =>
  new Map(
    Object.entries(table).flatMap(([words, value]) =>
      words.split(/\s+/).map((word) => [word, value] as const),
    ),
  );
