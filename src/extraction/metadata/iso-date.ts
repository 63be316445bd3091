import { isRealDay } from "./calendar.ts";
import { findWrittenDates, possibleReadings } from "./written-dates.ts";

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/;
/** What dates in words are read by. */
export type DateContext = {
  /** BCP 47 tag of the page, for the names of months and for the order of day and month. */
  readonly lang: string | null;
  /** ISO 8601 day. */
  readonly today: string;
};

/** Longer texts are sentences that happen to hold a date. */
const MAX_WRITTEN_CHARS = 60;

/**
 * The date as the page gives it, in ISO form and no more precise; null when it is no real date.
 */
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
