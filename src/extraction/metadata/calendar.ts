/** The names of the twelve months by language, folded, each with its number. */
const monthsByLanguage = new Map<string, ReadonlyMap<string, number>>();
const MAX_LANGUAGES = 80;
const SHORTEST_NAME = 3;

// Pages often claim another language than theirs, that of their template.
const COMMON_LANGUAGES = ["de", "es", "fr", "it", "pt", "nl", "pl", "ru", "tr", "sv"];

/**
 * The number of the month that a word names, in full or cut short in English and in this language, in full
 * in a few others; 0 for any other word. The names are those of the Unicode Common Locale Data Repository.
 * @param lang BCP 47 tag of the page, or null
 */
export function monthNumber(word: string, lang: string | null): number {
  const folded = foldName(word);
  for (const language of [lang ?? "en", "en"]) {
    const names = namesOf(language);
    const month = folded.length < SHORTEST_NAME ? names.get(folded) : numberIn(names, folded);
    if (month) return month;
  }
  for (const language of COMMON_LANGUAGES) {
    const month = folded.length > SHORTEST_NAME ? namesOf(language).get(folded) : undefined;
    if (month) return month;
  }
  return 0;
}

// "Sept" is September; "jui" may be June or July, so it is neither.
function numberIn(names: ReadonlyMap<string, number>, folded: string): number {
  const exact = names.get(folded);
  if (exact !== undefined) return exact;
  let found = 0;
  for (const [name, month] of names) {
    if (!name.startsWith(folded) || month === found) continue;
    if (found > 0) return 0;
    found = month;
  }
  return found;
}

const foldName = (name: string): string =>
  name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/(?<![.\s])[.\s]+$/, "");

function namesOf(lang: string): ReadonlyMap<string, number> {
  const language = lang.split("-")[0]?.toLowerCase() ?? "en";
  const known = monthsByLanguage.get(language);
  if (known) return known;
  const names = readNames(language);
  if (monthsByLanguage.size >= MAX_LANGUAGES) monthsByLanguage.clear();
  monthsByLanguage.set(language, names);
  return names;
}

// Many languages write the month of a date in another case than the month alone.
function readNames(language: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const month of ["long", "short"] as const) {
    for (const day of [undefined, "numeric"] as const) {
      const options = { month, day, timeZone: "UTC", calendar: "gregory" } as const;
      // Unknown languages must not fall back to that of the machine.
      const format = new Intl.DateTimeFormat([language, "en"], options);
      for (let index = 0; index < 12; index++) {
        const parts = format.formatToParts(Date.UTC(2023, index, 15));
        const name = foldName(parts.find(({ type }) => type === "month")?.value ?? "");
        if (name.length > 1 && !/\d/.test(name) && !names.has(name)) names.set(name, index + 1);
      }
    }
  }
  return names;
}

/** Whether this day was or will be, between 1990 and 2100: what lies outside is no page's date. */
export function isRealDay(year: number, month: number, day: number): boolean {
  if (year < 1990 || year > 2100 || month < 1 || month > 12) return false;
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** An ISO 8601 calendar date; null when there is no such day. */
export function isoDay(year: number, month: number, day: number): string | null {
  if (!isRealDay(year, month, day)) return null;
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

/** Whole days from the first ISO date to the second. */
export const daysBetween = (first: string, second: string): number =>
  Math.round((Date.parse(second.slice(0, 10)) - Date.parse(first.slice(0, 10))) / 86_400_000);
