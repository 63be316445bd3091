/** A date written in a text. */
export type WrittenDate = {
  /** The date as an ISO 8601 calendar date. */
  readonly day: string;
  /** The reading with day and month swapped; null when only one reading is a date. */
  readonly alternative: string | null;
  /** Whether the page's language leaves open which of the two readings is meant. */
  readonly isAmbiguous: boolean;
  readonly start: number;
  readonly end: number;
};

const NAME = "([\\p{L}\\p{M}]{3,14})";
const ORDINAL = "(?:st|nd|rd|th|er|º|ª|\\.)?";
const OF = "(?:(?:of|de|del|di|d')\\s?)?";

/** A form of written dates, with the groups that hold day, month and year. */
type Form = {
  readonly pattern: RegExp;
  readonly read: (groups: RegExpExecArray, lang: string | null) => Reading | null;
};

type Reading = Pick<WrittenDate, "day" | "alternative" | "isAmbiguous">;

const certain = (day: string): Reading => ({ day, alternative: null, isAmbiguous: false });

const reading = (year: number, month: number, day: number): Reading | null => {
  const written = isoDay(year, month, day);
  return written === null ? null : certain(written);
};

const named = (year = "", month = "", day = "", lang: string | null = null): Reading | null =>
  reading(Number(year), monthNumber(month, lang), Number(day));

const FORMS: readonly Form[] = [
  // 12 March 2024, 12. März 2024, 12 de marzo de 2024, 12-Mar-2024
  {
    pattern: new RegExp(
      `(?<![\\d\\p{L}])(\\d{1,2})${ORDINAL}[\\s-]${OF}${NAME}\\.?,?[\\s-]${OF}(\\d{4})(?!\\d)`,
      "gu",
    ),
    read: ([, day, month, year], lang) => named(year, month, day, lang),
  },
  // March 12, 2024
  {
    pattern: new RegExp(`(?<!\\p{L})${NAME}\\.?\\s(\\d{1,2})${ORDINAL},?\\s(\\d{4})(?!\\d)`, "gu"),
    read: ([, month, day, year], lang) => named(year, month, day, lang),
  },
  // 2024. március 12.
  {
    pattern: new RegExp(`(?<!\\d)(\\d{4})\\.?\\s(?:m\\.\\s)?${NAME}\\.?\\s(\\d{1,2})(?!\\d)`, "gu"),
    read: ([, year, month, day], lang) => named(year, month, day, lang),
  },
  // 2024年3月12日
  {
    pattern: /(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]/gu,
    read: ([, year, month, day]) => reading(Number(year), Number(month), Number(day)),
  },
  // 2024-03-12, 2024/3/12, 2024. 3. 12
  {
    pattern: /(?<![\d/.-])(\d{4})([-/.])\s?(\d{1,2})\2\s?(\d{1,2})(?!\d)/g,
    read: ([, year, , month, day]) => reading(Number(year), Number(month), Number(day)),
  },
  // 12.03.2024, 3/12/2024, 12.03.24
  {
    pattern: /(?<![\d/.-])(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d/-]|\.\d)/g,
    read: numericDay,
  },
];

// Only the United States and a few other countries write the month first, and never with dots.
function numericDay(
  [, first = "", separator, second = "", year = ""]: RegExpExecArray,
  lang: string | null,
): Reading | null {
  if (year.length === 2 && (first.length < 2 || second.length < 2)) return null;
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  const [one, two] = [Number(first), Number(second)];
  const dayFirst = isoDay(fullYear, two, one);
  const monthFirst = isoDay(fullYear, one, two);
  if (dayFirst === null || monthFirst === null || dayFirst === monthFirst) {
    const day = dayFirst ?? (separator === "." ? null : monthFirst);
    return day === null ? null : certain(day);
  }
  if (separator === ".") return certain(dayFirst);
  const isUnknown = lang === null || /^en(?:-Latn)?$/i.test(lang);
  const isMonthFirst = isUnknown || MONTH_FIRST.test(lang);
  const [day, alternative] = isMonthFirst ? [monthFirst, dayFirst] : [dayFirst, monthFirst];
  return { day, alternative, isAmbiguous: isUnknown };
}

const MONTH_FIRST = /^(?:en(?:-Latn)?-(?:US|PH|PR|GU|AS|MH)|es-PR|fil)(?:-|$)/i;

const ARABIC_DIGIT = /[\u0660-\u0669]/;

/**
 * Finds the dates written in a text, in their order. Relative dates ("two days ago") are not found.
 * @param lang BCP 47 tag of the page, for the names of months and the order of day and month
 */
export function findWrittenDates(written: string, lang: string | null): WrittenDate[] {
  const text = ARABIC_DIGIT.test(written)
    ? written.replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    : written;
  if (!/\d/.test(text)) return [];
  const found: WrittenDate[] = [];
  for (const { pattern, read } of FORMS) {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const understood = read(match, lang);
      const [start, end] = [match.index, match.index + match[0].length];
      if (understood === null) {
        // "Page 12 March 2024" must not lose its date to "Page 12".
        pattern.lastIndex = start + 1;
      } else if (!found.some((other) => start < other.end && end > other.start)) {
        found.push({ ...understood, start, end });
      }
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/**
 * Returns the readings of a date that the page can mean. When one reading lies in the future and the other does not,
 * the future one is a mistake.
 * @param today ISO 8601 day; the day after it may have begun elsewhere
 */
export function possibleReadings({ day, alternative, isAmbiguous }: WrittenDate, today: string): string[] {
  if (alternative === null) return [day];
  const past = [day, alternative].filter((reading) => daysBetween(today, reading) <= 1);
  if (past.length === 1) return past;
  return isAmbiguous ? [day, alternative] : [day];
}

/** The names of the twelve months by language, folded, each with its number. */
const monthsByLanguage = new Map<string, ReadonlyMap<string, number>>();
const MAX_LANGUAGES = 80;
const SHORTEST_NAME = 3;

// Pages often declare the language of their template instead of their own.
const COMMON_LANGUAGES = ["de", "es", "fr", "it", "pt", "nl", "pl", "ru", "tr", "sv"];

/**
 * Returns the number of the month that a word names: in full or abbreviated in English and in this language, in full
 * in a few others; 0 for any other word. The names come from the Unicode Common Locale Data Repository.
 * @param lang BCP 47 tag of the page, or null
 */
function monthNumber(word: string, lang: string | null): number {
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

// Many languages use another grammatical case for the month in a date than for the month alone.
function readNames(language: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const month of ["long", "short"] as const) {
    for (const day of [undefined, "numeric"] as const) {
      const options = { month, day, timeZone: "UTC", calendar: "gregory" } as const;
      // An unknown language must not fall back to the machine's own.
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

/** Tells whether this is a real day between 1990 and 2100; other dates do not belong to pages. */
export function isRealDay(year: number, month: number, day: number): boolean {
  if (year < 1990 || year > 2100 || month < 1 || month > 12) return false;
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Formats an ISO 8601 calendar date; null when there is no such day. */
export function isoDay(year: number, month: number, day: number): string | null {
  if (!isRealDay(year, month, day)) return null;
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

/** Counts the whole days from the first ISO date to the second. */
export const daysBetween = (first: string, second: string): number =>
  Math.round((Date.parse(second.slice(0, 10)) - Date.parse(first.slice(0, 10))) / 86_400_000);

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/;
/** The context in which dates in words are read. */
export type DateContext = {
  /** The page's BCP 47 tag, for the names of months and the order of day and month. */
  readonly lang: string | null;
  /** Today as an ISO 8601 day. */
  readonly today: string;
};

/** Longer texts are sentences that happen to contain a date. */
const MAX_WRITTEN_CHARS = 60;

/** Reads a date as an ISO date, no more precise than the page gives it; null when it is not a real date. */
export function isoDate(text: string | null, { lang, today }: DateContext): string | null {
  const written = text?.trim() ?? "";
  const match = ISO.exec(written);
  if (match) {
    const [, year, month, day, time, zone = ""] = match;
    const date = `${year}-${month}-${day}`;
    if (!isRealDay(Number(year), Number(month), Number(day))) return null;
    return time && isRealTime(time, zone)
      ? `${date}T${time}${zone.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2")}`
      : date;
  }
  if (written.length > MAX_WRITTEN_CHARS) return null;
  const [first] = findWrittenDates(written, lang);
  const [day, ...others] = first ? possibleReadings(first, today) : [];
  return day === undefined || others.length > 0 ? null : day;
}

const isRealTime = (time: string, zone: string): boolean =>
  /^(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d+)?)?$/.test(time) &&
  /^(?:|Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/.test(zone);
