import type { PageUrl } from "../urls/index.ts";

/** Longer URLs are built by loops, not by people (RFC 9110, section 4.1, asks for support of 8000). */
const MAX_URL_LENGTH = 2000;
const MAX_SEGMENTS = 30;
/** `/a/b/a/b/a/b` and `/x/x/x`: a relative link on a page that answers under every path. */
const MAX_REPEATS = 3;
const MAX_SAME_SEGMENT = 5;
const MAX_PARAMETERS = 16;
const MAX_SAME_PARAMETER = 4;
/** `/a//b` happens; `/a///b` and `/a//b//c` are made by a link that adds a slash each time. */
const MAX_EMPTY_SEGMENTS = 1;
/** A text that was escaped once too often, and again on each page: `&amp;amp;`, `%2525`. */
const GROWING_ESCAPE = /(?:amp(?:;|%3b)){2}|%25(?:25)+/i;
const ESCAPED_AMPERSAND = /(?:&|%26)amp(?:;|%3b)/gi;
/** Calendars lead from month to month for ever; a page about a date years from now has not been written. */
const MAX_CALENDAR_MONTHS = 12;
const MAX_FUTURE_MONTHS = 24;

/**
 * Whether a URL looks like one of endlessly many that a site makes up: very long, with repeated path
 * segments, runs of slashes, escapes of escapes, endless parameters, or a calendar's page far from now.
 * @param now decides what is far, in ms since 1970
 */
export function isTrap(url: PageUrl, now: number): boolean {
  if (url.length > MAX_URL_LENGTH) return true;
  const pathStart = url.indexOf("/", url.indexOf("//") + 2);
  const queryStart = url.indexOf("?", pathStart);
  const path = queryStart < 0 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const query = queryStart < 0 ? "" : url.slice(queryStart + 1);
  if (hasSlashRuns(path) || GROWING_ESCAPE.test(url)) return true;
  if ((path.match(ESCAPED_AMPERSAND)?.length ?? 0) > 1) return true;
  return hasRepeats(path) || (query !== "" && hasEndlessParameters(query)) || isFarCalendar(path, query, now);
}

function hasSlashRuns(path: string): boolean {
  let empty = 0;
  for (let at = path.indexOf("//"); at >= 0; at = path.indexOf("//", at + 1)) {
    // An archive's path may hold the address of what it keeps.
    if (path[at - 1] !== ":") empty++;
    if (empty > MAX_EMPTY_SEGMENTS) return true;
  }
  return false;
}

function hasRepeats(path: string): boolean {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.length < MAX_REPEATS) return false;
  if (segments.length > MAX_SEGMENTS) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) {
    const count = (counts.get(segment) ?? 0) + 1;
    if (count >= MAX_SAME_SEGMENT) return true;
    counts.set(segment, count);
  }
  // Most paths name nothing twice, and then nothing can repeat in a row.
  if (counts.size === segments.length) return false;
  for (let period = 1; period * MAX_REPEATS <= segments.length; period++)
    if (repeatsInARow(segments, period)) return true;
  return false;
}

function repeatsInARow(segments: readonly string[], period: number): boolean {
  let equal = 0;
  for (let at = period; at < segments.length; at++) {
    // A date such as /1/1/1 or a page such as /2/2 repeats by chance; words do not.
    const isSame = segments[at] === segments[at - period] && !/^\d+$/.test(segments[at] ?? "");
    equal = isSame ? equal + 1 : 0;
    if (equal >= period * (MAX_REPEATS - 1)) return true;
  }
  return false;
}

function hasEndlessParameters(query: string): boolean {
  const pairs = query.split("&");
  if (pairs.length > MAX_PARAMETERS) return true;
  if (pairs.length < 2) return false;
  const counts = new Map<string, number>();
  for (const pair of pairs) {
    const name = pair.split("=", 1)[0] ?? "";
    const count = (counts.get(name) ?? 0) + 1;
    if (count >= MAX_SAME_PARAMETER) return true;
    counts.set(name, count);
  }
  return false;
}

const CALENDAR_WORD =
  /(?:^|[/_?&=.-])(?:calendar|kalender|calendrier|calendario|agenda|events?|termine|month|day|date)(?:$|[/_?&=.-])/i;
const PATH_DATE = /(?:^|\/)((?:19|20|21)\d\d)[/-](0?[1-9]|1[0-2])(?=$|[/-])/;
const QUERY_DATE = /(?:^|[&=])((?:19|20|21)\d\d)-(0[1-9]|1[0-2])(?=$|[&-])/;
const QUERY_YEAR = /(?:^|&)(?:[a-z]{1,20}[_-])?(?:year|yr|y|jahr)=((?:19|20|21)\d\d)(?=$|&)/i;
const QUERY_MONTH = /(?:^|&)(?:[a-z]{1,20}[_-])?(?:month|mon|m|monat)=(0?[1-9]|1[0-2])(?=$|&)/i;

function isFarCalendar(path: string, query: string, now: number): boolean {
  const months = monthOf(path, query);
  if (months === null) return false;
  const today = new Date(now);
  const away = months - (today.getUTCFullYear() * 12 + today.getUTCMonth());
  if (away > MAX_FUTURE_MONTHS) return true;
  const isCalendar = CALENDAR_WORD.test(path) || CALENDAR_WORD.test(`?${query}`);
  return isCalendar && Math.abs(away) > MAX_CALENDAR_MONTHS;
}

/** Months since the year 0 of the date that the URL names, null when it names none. */
function monthOf(path: string, query: string): number | null {
  const dated = PATH_DATE.exec(path) ?? (query === "" ? null : QUERY_DATE.exec(query));
  if (dated) return Number(dated[1]) * 12 + Number(dated[2]) - 1;
  const year = query === "" ? null : QUERY_YEAR.exec(query);
  if (!year) return null;
  return Number(year[1]) * 12 + Number(QUERY_MONTH.exec(query)?.[1] ?? 1) - 1;
}
