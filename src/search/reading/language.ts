import { LANGUAGES, type Language } from "../types.ts";

/** So many documents show the language of a collection, and so many characters of each. */
const MAX_DOCUMENTS = 40;
const PROSE_CHARS = 1000;
const FEWEST_CHARS = 100;

/** Where prose is looked for; what comes later is no other language. */
const READ_CHARS = 20_000;

const FENCE = /^ {0,3}(?:```|~~~)/;
const NO_PROSE = /`[^`\n]*`|(?:https?:\/\/|www\.)\S+/g;
const SHORTEST_LINE = 30;

const ENGLISH = /\b(?:the|of|and|to|is|for|that|with|this|are|you|from|by)\b/gi;
/** In English prose one word in four is one of these. */
const CHARS_PER_WORD = 100;

/**
 * The language of most of some documents, by a sample of their prose; English when it shows none that has terms
 * of its own.
 */
export async function languageOf(texts: readonly string[]): Promise<Language> {
  const step = Math.max(1, texts.length / MAX_DOCUMENTS);
  const votes = new Map<Language, number>();
  for (let at = 0; at < texts.length; at += step) {
    const language = await languageOfProse(proseOf(texts[Math.floor(at)]!));
    if (language) votes.set(language, (votes.get(language) ?? 0) + 1);
  }
  let best: Language = "en";
  for (const language of LANGUAGES) if ((votes.get(language) ?? 0) > (votes.get(best) ?? 0)) best = language;
  return best;
}

function proseOf(text: string): string {
  let prose = "";
  let isCode = false;
  for (const line of text.slice(0, READ_CHARS).split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    // Front matter, tables, markup and lists of names are short or begin with a sign.
    else if (!isCode && line.length >= SHORTEST_LINE && /^(?:[-*>] )?\p{L}/u.test(line)) {
      prose += `${line.replace(NO_PROSE, " ")} `;
      if (prose.length >= PROSE_CHARS) break;
    }
  }
  return prose.slice(0, PROSE_CHARS);
}

async function languageOfProse(prose: string): Promise<Language | null> {
  if (prose.length < FEWEST_CHARS) return null;
  if ((prose.match(ENGLISH)?.length ?? 0) >= prose.length / CHARS_PER_WORD) return "en";
  // The language tables take 60 ms and 40 MB to load, and English documents do without them.
  const { detectLanguage } = await import("../../base/detect-language.ts");
  const found = detectLanguage(prose);
  return LANGUAGES.find((language) => language === found) ?? null;
}
