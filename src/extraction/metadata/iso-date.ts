import { isRealDay } from "./calendar.ts";
import { findWrittenDates } from "./written-dates.ts";

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/;
/** Longer texts are sentences that happen to hold a date. */
const MAX_WRITTEN_CHARS = 60;

/**
 * The date as the page gives it, in ISO form and no more precise; null when it is no real date.
 * @param lang BCP 47 tag of the page, for dates in words and for the order of day and month
 */
export function isoDate(text: string | null, lang: string | null): string | null {
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
  return first && first.alternative === null ? first.day : null;
}

const isRealTime = (time: string, zone: string): boolean =>
  /^(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d+)?)?$/.test(time) &&
  /^(?:|Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/.test(zone);
