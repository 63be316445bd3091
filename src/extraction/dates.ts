import { type JsonLdObject, textOf } from "./json-ld.ts";
import type { MetaTags, Sourced } from "./meta-tags.ts";

const PUBLISHED_META = [
  "article:published_time",
  "datepublished",
  "date",
  "dc.date",
  "dc.date.issued",
  "dcterms.created",
  "parsely-pub-date",
  "sailthru.date",
  "publishdate",
  "pubdate",
];
const MODIFIED_META = [
  "article:modified_time",
  "datemodified",
  "og:updated_time",
  "last-modified",
  "dcterms.modified",
];

/** The dates of publication and of the last change, ISO 8601; null rather than a guess. */
export function readDates(
  document: Document,
  meta: MetaTags,
  jsonLd: readonly JsonLdObject[],
): { readonly published: Sourced | null; readonly modified: Sourced | null } {
  return {
    published:
      fromJsonLd(jsonLd, "datePublished") ?? fromMeta(meta, PUBLISHED_META) ?? fromTimeElement(document),
    modified: fromJsonLd(jsonLd, "dateModified") ?? fromMeta(meta, MODIFIED_META),
  };
}

function fromJsonLd(objects: readonly JsonLdObject[], property: string): Sourced | null {
  for (const object of objects) {
    const value = isoDate(textOf(object[property]));
    if (value) return { value, source: "json-ld" };
  }
  return null;
}

function fromMeta(meta: MetaTags, names: readonly string[]): Sourced | null {
  for (const name of names) {
    const value = isoDate(meta.get(name) ?? null);
    if (value) return { value, source: "meta" };
  }
  return null;
}

// Only a <time> that says it is the publication's: lists of other stories carry dates too.
function fromTimeElement(document: Document): Sourced | null {
  const element = document.querySelector(
    "time[pubdate], time[itemprop~='datePublished'], article header time[datetime]",
  );
  const value = isoDate(element?.getAttribute("datetime") ?? element?.textContent ?? null);
  return value ? { value, source: "time" } : null;
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/;

/** The date as the page gives it, in ISO form and no more precise; null when it is no real date. */
export function isoDate(text: string | null): string | null {
  const match = ISO.exec(text?.trim() ?? "");
  if (match) {
    const [, year, month, day, time, zone = ""] = match;
    const date = `${year}-${month}-${day}`;
    if (!isRealDate(Number(year), Number(month), Number(day))) return null;
    return time && isRealTime(time, zone)
      ? `${date}T${time}${zone.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2")}`
      : date;
  }
  return writtenDate(text?.trim() ?? "");
}

const isRealTime = (time: string, zone: string): boolean =>
  /^(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d+)?)?$/.test(time) &&
  /^(?:|Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/.test(zone);

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);

// "12 March 2024", "March 12, 2024", also with a day of the week and a time: English only, because a
// month's name is what makes the order of day and month certain.
function writtenDate(text: string): string | null {
  if (text.length > 60) return null;
  const dayFirst = /\b(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})\b/.exec(text);
  const monthFirst = /\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b/.exec(text);
  const [day, monthName, year] = dayFirst
    ? [dayFirst[1], dayFirst[2], dayFirst[3]]
    : [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3]];
  const month = monthNumber(monthName?.toLowerCase() ?? "");
  if (month === 0 || !isRealDate(Number(year), month, Number(day))) return null;
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

// In full or cut short: "Mar" is March, "Marching" is not.
const monthNumber = (name: string): number =>
  name === "" ? 0 : MONTHS.findIndex((month) => month.startsWith(name)) + 1;

function isRealDate(year: number, month: number, day: number): boolean {
  if (year < 1990 || year > 2100 || month < 1 || month > 12) return false;
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
